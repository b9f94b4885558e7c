// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A machine that decodes many independent pieces of work at a time. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H

#include <gnuradio/gpufec/decoder.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! What failed may pass by itself: the device is busy, or short of something.
class passing_device_error : public device_error
{
public:
    using device_error::device_error;
};

//! A device has not the memory that was asked for; less may be there.
class device_memory_error : public passing_device_error
{
public:
    using passing_device_error::passing_device_error;
};

//! The largest batch that a decoder takes, and the memory one slot needs for it.
struct batch_limits {
    std::size_t pieces = 0;       //!< parallel blocks, codewords or frames
    std::size_t input_bytes = 0;  //!< host memory of the input of a full batch
    std::size_t output_bytes = 0; //!< host memory of the output of a full batch
    std::size_t status_bytes = 0; //!< host memory of the status of each piece
    std::size_t device_bytes = 0; //!< memory of the device
    //! Of the input: what the room writes there even where the caller lends the rest.
    std::size_t table_bytes = 0;
    //! The input of a full batch as its caller has it; 0: as it lies in slots.
    std::size_t raw_bytes = 0;
};

//! What users get of the output of a batch: \p rows of \p bytes each, from \p first on,
//! each \p pitch behind the one before; in no such order if that is 0.
struct output_rows {
    std::size_t first = 0, rows = 0, bytes = 0, pitch = 0;
    std::size_t bits = 0; //!< of each that are given, one per byte; 0: its bytes are

    std::size_t given() const { return bits ? bits : bytes; } //!< bytes, of each
    std::size_t total() const { return rows * given(); }
    bool regular() const { return pitch > 0; }
    //! Whether they lie in the output as they lie where they are given.
    bool as_given() const
    {
        return bits == 0 && first == 0 && (rows == 1 || pitch == bytes);
    }
};

//! Where a device puts these rows, one behind the other, in place of the output; beside
//! it where bits are given, of which that is an eighth.
struct lent_output {
    std::byte* to = nullptr; //!< nullptr: nowhere, all of the output goes to its slot
    output_rows rows;

    bool in_place_of_output() const { return to && rows.bits == 0; }
};

//! Where the input of a batch lies, and where its output and its status go.
struct batch_memory {
    const std::byte* input;
    std::byte* output;
    std::byte* status;
    const std::byte* table = nullptr; //!< the slot's own input, where \p input is lent
    lent_output lent = {};            //!< for devices alone
};

//! How long a step of a batch takes on a device.
struct timed_step {
    std::string name; //!< "copy_in", "kernels", "copy_out", …
    double ms;
};

/*!
 * \brief Decodes batches.
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
    //! and for memory that input or output is lent from. Returns whether it could.
    virtual bool page_lock(void* /*memory*/, std::size_t /*bytes*/) noexcept
    {
        return false;
    }
    virtual void page_unlock(void* /*memory*/) noexcept {}

    //! Makes room to convert input that comes as its caller has it, which a job says.
    //! Returns whether it could.
    virtual bool take_raw() noexcept { return false; }

    //! Makes room for the output as one bit per byte, for memory that is lent for it.
    //! Returns whether it could.
    virtual bool take_bits() noexcept { return false; }

    //! \p notify is called, from any thread, each time a batch may have finished.
    virtual void on_completion(std::function<void()> notify) = 0;

    //! Starts decoding. Batches may finish in any order. Throws device_error.
    virtual void submit(unsigned slot, const Job& job, const batch_memory& memory) = 0;

    //! True once the slot's output is complete. Never blocks. Throws device_error.
    virtual bool finished(unsigned slot) = 0;

    //! Nobody wants what was submitted any more: what has not begun may be left out.
    virtual void drop() noexcept {}

    //! Waits up to \p limit until nothing of what was submitted reads or writes host
    //! memory any more, finished or failed. Returns whether it is so.
    virtual bool quiet(std::chrono::milliseconds /*limit*/) noexcept { return true; }

    //! A device that may still be at work is not asked any more. It calls nobody from
    //! now on; neither it nor the memory that it was given is ever freed.
    virtual void give_up() noexcept {}

    //! Devices only: medians of the steps of \p rounds batches, each alone, while nothing
    //! is in flight.
    virtual std::vector<timed_step>
    time_steps(const Job& /*job*/, const batch_memory& /*memory*/, unsigned /*rounds*/)
    {
        return {};
    }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H */
