// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface that all decoders share: options, callbacks, end of input and waiting.
 * pinned_memory.h declares input and output in the caller's memory. */

#ifndef INCLUDED_GPUFEC_DECODER_H
#define INCLUDED_GPUFEC_DECODER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::gpufec {

class memory_in_place;

/*!
 * \brief Error of a device that failed or cannot be used.
 *
 * Decoders throw this error with backend::cuda, and array decoders throw it for input in
 * device memory. With backend::automatic, other devices or the CPU decode the batches in
 * flight again, so that no data is lost.
 */
class GPUFEC_API device_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

//! Severity of a message in the log.
enum class log_level { info, warning, error };

//! Callbacks for completion and logging. Exceptions that they throw are discarded.
struct decoder_hooks {
    //! Called from any thread when output may be ready to pull, when an incomplete batch
    //! may be due() for flush(), or when a batch exceeds device_timeout_ms.
    std::function<void()> wake = [] {};
    //! Receives the messages to log.
    std::function<void(log_level, const std::string&)> log = [](log_level,
                                                                const std::string&) {};
};

//! Options that all decoders share.
struct run_options {
    //! Work items (parallel blocks, codewords or frames) per batch; 0: chosen for the
    //! device.
    unsigned batch = 0;
    //! Maximum number of batches per device that are submitted and not yet pulled, 1
    //! to 16.
    unsigned slots = 3;
    //! Longest time in ms that an incomplete batch waits for more input, 0 or more.
    double max_latency_ms = 50;
    gpufec::backend backend = gpufec::backend::automatic;
    //! Indices of 1 to 16 CUDA devices, which receive batches in rotation.
    std::vector<int> devices = { 0 };
    unsigned threads = 1; //!< threads of the CPU backend, 1 to 256
    //! Threads that copy pushed input of the Viterbi and LDPC decoders for a GPU, 1 to
    //! 256; at most 8 are used. 0: as many as \p threads.
    unsigned copy_threads = 0;
    //! Timeout in ms for one batch, counted from the end of the previous batch, up to
    //! 1e9. On expiry the decoder abandons the device. 0: no timeout.
    double device_timeout_ms = 10000;
    //! Upper limit of the batch size in work items if \p batch is 0; 0: no limit. Lower
    //! this for short inputs to avoid a large allocation.
    std::size_t max_batch = 0;
    bool watch = true; //!< whether decoder::verdict() diagnoses the input
    //! Whether input is borrowed from memory of the device. Batches are then larger if
    //! \p batch is 0, because they need no pinned memory.
    bool input_on_device = false;
};

/*!
 * \brief Base class of all decoders, which return decoded output in the order of input.
 *
 * A decoder collects input in batches of work items, which the backend decodes while the
 * caller continues. A slot is the memory of one batch. Each decoder adds make(), push and
 * pull functions.
 *
 * Only one thread at a time may call a decoder, in the process that created it; a process
 * made by fork() needs a new decoder. After an exception that is not due to a wrong
 * argument, only reset() may be called, and pinned memory may be destroyed.
 */
class GPUFEC_API decoder
{
public:
    virtual ~decoder();
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    //! Ends the input. The last batch is decoded even if it is incomplete.
    virtual void finish() = 0;
    //! Returns whether a pull would return output now.
    virtual bool ready() = 0;
    //! Returns whether an incomplete batch has waited for max_latency_ms.
    virtual bool due() const = 0;
    //! Submits the complete work items of an incomplete batch, if a slot is free. A slot
    //! becomes free when its output has been pulled.
    virtual void flush() = 0;
    //! Returns whether a push would accept no items until output is pulled, because no
    //! slot is free.
    virtual bool full() const = 0;
    //! Returns whether finish() was called and all output has been pulled.
    virtual bool done() = 0;
    //! Waits until output is ready, \p limit has elapsed or no batch is in flight.
    //! Returns whether output is ready.
    virtual bool wait(std::chrono::milliseconds limit) = 0;
    //! Discards input and output, so that another stream can begin.
    virtual void reset() = 0;

    /*!
     * \brief Returns the diagnosis of unsuitable input, naming the parameter to change;
     * "" if no fault was detected.
     *
     * The diagnosis reports input in another format or scale, input that does not match
     * the code, and frames that cannot be decoded. The diagnosis is also logged once as a
     * warning, at the latest when done() returns true. docs/limits.md has the rules and
     * their false-alarm probabilities.
     */
    virtual std::string verdict() const = 0;

    //! Sets the longest time in ms that an incomplete batch waits for more input. The new
    //! limit also applies to a batch that is already waiting.
    //! \throws std::invalid_argument unless \p milliseconds is finite and 0 or more
    virtual void set_max_latency_ms(double milliseconds) = 0;

    //! Returns the number of work items (parallel blocks, codewords or frames) per batch.
    virtual std::size_t batch() const = 0;
    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the name of the current device, or the instruction set of the CPU.
    virtual std::string active_device() const = 0;

protected:
    decoder() = default;

private:
    friend class pinned_input;
    friend class pinned_output;
    //! Returns the decoder's access to the caller's memory; nullptr if the decoder always
    //! copies input and output.
    virtual memory_in_place* in_place() { return nullptr; }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DECODER_H */
