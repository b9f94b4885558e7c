// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface that all decoders share: options, callbacks, end of input, waiting, and
 * input and output in the caller's memory. */

#ifndef INCLUDED_GPUFEC_DECODER_H
#define INCLUDED_GPUFEC_DECODER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::gpufec {

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

//! Callbacks for completion and logging. Exceptions of the callbacks are discarded.
struct decoder_hooks {
    //! Called from any thread when output may be ready to pull, when an incomplete batch
    //! may be due() for flush(), or when the time limit of a device expires.
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
    unsigned slots = 3; //!< largest number of batches in flight per device, 1 to 16
    //! Longest time in ms that an incomplete batch waits for more input, 0 or more.
    double max_latency_ms = 50;
    backend where = backend::automatic;
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
    std::size_t most = 0;
    bool watch = true; //!< whether decoder::verdict() diagnoses the input
};

/*!
 * \brief Base class of all decoders, which return decoded output in the order of input.
 *
 * A decoder collects input in batches of work items, which the backend decodes while the
 * caller continues. A slot is the memory of one batch. Each decoder adds its own push and
 * pull functions.
 *
 * Only one thread at a time may call a decoder, in the process that created it; a process
 * made by fork() needs a new decoder. After an exception that is not due to a wrong
 * argument, only reset() and the functions that release and unpin memory may be called.
 */
class GPUFEC_API decoder
{
public:
    using level = log_level;
    using hooks = decoder_hooks;
    class engine;

    virtual ~decoder();
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    //! Ends the input. The last batch is decoded even if it is incomplete.
    void finish();
    //! Returns whether a pull would return output now.
    bool ready();
    //! Returns whether an incomplete batch has waited for max_latency_ms.
    bool due() const;
    //! Submits the complete work items of an incomplete batch, unless every slot is in
    //! flight.
    void flush();
    //! Returns whether a push would take nothing until output is pulled, because every
    //! slot is in flight.
    bool full() const;
    //! Returns whether finish() was called and all output has been pulled.
    bool done();
    //! Waits until output is ready, \p limit is over or no batch is in flight. Returns
    //! whether output is ready.
    bool wait(std::chrono::milliseconds limit);
    //! Discards input and output, so that another stream can begin.
    void reset();

    /*!
     * \brief Returns the diagnosis of unsuitable input, naming the parameter to change;
     * "" if the input seems right.
     *
     * The diagnosis reports input in another format or scale, input that does not match
     * the code, and frames that cannot be decoded. The diagnosis is also logged once as a
     * warning, at the latest when done() returns true. docs/limits.md has the rules and
     * their false-alarm probabilities.
     */
    std::string verdict() const;

    //! Sets the longest time in ms that an incomplete batch waits for more input. The new
    //! limit also applies to a batch already waiting.
    //! \throws std::invalid_argument unless \p milliseconds is finite and 0 or more
    void set_max_latency_ms(double milliseconds);

    //! Returns the number of work items (parallel blocks, codewords or frames) per batch.
    std::size_t batch() const;
    //! Returns the current backend, "cuda" or "cpu".
    std::string active_backend() const;
    //! Returns the name of the current device, or the instruction set of the CPU.
    std::string active_device() const;

    //! Returns the size in bytes of the input of all slots. A buffer that input is
    //! borrowed from should hold at least as much.
    std::size_t input_bytes() const;
    //! Returns whether the stream may begin with borrow(). Returns false once the stream
    //! has begun, and for decoders that always copy.
    bool can_borrow() const;
    /*!
     * \brief Takes input like push(), but reads it in place.
     *
     * The items must not change before release_borrowed() has released them.
     * \param items pointer to the oldest item not yet released (in the first call, the
     *        first item of the stream)
     * \param count number of items from there on, including those already borrowed
     * \throws std::runtime_error if the device lacks the memory to convert them
     * \return the number of items that this call borrowed
     */
    std::size_t borrow(const void* items, std::size_t count);
    //! Returns the number of items that are borrowed and not released.
    std::size_t borrowed() const;
    //! Releases the oldest items, up to the first that a batch still needs, and returns
    //! the number of released items.
    std::size_t release_borrowed();
    //! Ends borrowing: waits for the batches in flight and copies the items that are not
    //! yet part of a batch in flight. Afterwards input continues with push().
    void copy_borrowed();
    //! Pins (page-locks) memory to borrow from, so that a GPU can read it. Until
    //! unpin_input(), the slots' own input buffers are not pinned. Returns whether
    //! pinning succeeded.
    bool pin_input(void* memory, std::size_t bytes);
    //! Unpins memory of pin_input(). Call it after copy_borrowed() and before freeing the
    //! memory.
    void unpin_input(void* memory);

    //! Returns the size in bytes of the output of all slots; 0 if output cannot be
    //! written in place.
    std::size_t output_bytes() const;
    /*!
     * \brief Pins (page-locks) memory for later borrow_output() calls.
     *
     * \param memory its first byte
     * \param bytes its size
     * \param replace called when the decoder abandons a device that may still write to
     *        the memory. The function maps other memory with the same contents at the
     *        same addresses and returns whether that succeeded; if not, decoding ends
     *        with an exception.
     * \return whether pinning succeeded
     */
    bool pin_output(void* memory,
                    std::size_t bytes,
                    const std::function<bool()>& replace = {});
    /*!
     * \brief Borrows part of the pinned memory for output that is written in place.
     *
     * A GPU may write there until all submitted output has been pulled; a pull to that
     * address then needs no copy. Packed bits, LLRs and frames can be written in place.
     * One bit per byte requires the option bits_in_place.
     * \param next the address to which the next output will be pulled; all later output
     *        must follow without a gap
     * \param bytes free bytes at \p next
     * \return whether \p bytes is enough for the submitted output that is not pulled yet
     *         and for the output of one more full batch, which then needs no copy; always
     *         true if all submitted output has been pulled
     */
    bool borrow_output(void* next, std::size_t bytes);
    //! Ends borrowing of memory for output: waits for the batches in flight, and keeps
    //! their output in the slots.
    void release_output();
    //! Unpins memory of pin_output(). Call it after release_output() and before freeing
    //! the memory.
    void unpin_output(void* memory);

protected:
    explicit decoder(std::unique_ptr<engine> e);
    //! Returns the engine. \throws std::runtime_error if fork() made this process after
    //! the decoder was created
    engine& inside() const;
    std::unique_ptr<engine> d_engine;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DECODER_H */
