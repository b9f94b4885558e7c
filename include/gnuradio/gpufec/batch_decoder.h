// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_BATCH_DECODER_H
#define INCLUDED_GPUFEC_BATCH_DECODER_H

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace gr::gpufec {

//! The device a decoder runs on has failed; what was in flight there is lost.
class device_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

//! The largest batch that a decoder takes, and the host memory one slot needs for it.
struct batch_limits {
    std::size_t pieces = 0;       //!< parallel blocks, codewords or frames
    std::size_t input_bytes = 0;  //!< host memory of the input of a full batch
    std::size_t output_bytes = 0; //!< host memory of the output of a full batch
    std::size_t status_bytes =
        0; //!< host memory of the per-piece status, 0 if there is none
};

//! Where the input of a batch lies, and where its output and its status go.
struct batch_memory {
    const std::byte* input;
    std::byte* output;
    std::byte* status;
};

/*!
 * \brief A machine that decodes many independent pieces of work at a time.
 *
 * Every decoder of this module, on every backend, has this shape. A caller
 * owns \em slots: numbered triples of host memory. It fills the input of one,
 * submits it, may go on with the next, and collects each once finished. A slot
 * belongs to the decoder from submit() until finished() has returned true.
 *
 * \tparam Job what the decoder must know of one batch; each decoder defines its own.
 *
 * One thread at a time may call a decoder.
 */
template <class Job>
class batch_decoder
{
public:
    virtual ~batch_decoder() = default;

    virtual batch_limits limits() const = 0;

    //! "cuda" or "cpu"
    virtual std::string backend() const = 0;

    //! What decodes, for a log line: the device's name, or the instruction set.
    virtual std::string device() const = 0;

    //! Prepares host memory for fast transfers; called once for each buffer of a slot,
    //! and for memory that input is lent from. Returns whether it could.
    virtual bool page_lock(void* /*memory*/, std::size_t /*bytes*/) { return false; }
    virtual void page_unlock(void* /*memory*/) noexcept {}

    //! \p notify is called, from any thread, each time a batch may have finished.
    virtual void on_completion(std::function<void()> notify) = 0;

    //! Starts decoding. Batches may finish in any order. Throws device_error.
    virtual void submit(unsigned slot, const Job& job, const batch_memory& memory) = 0;

    //! True once the slot's output is complete. Never blocks. Throws device_error.
    virtual bool finished(unsigned slot) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BATCH_DECODER_H */
