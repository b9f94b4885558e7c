// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of all decoders: run options, callbacks, and waiting for results. */

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
 * A decoder throws it with backend::cuda, and for arrays in the device's memory. With
 * backend::automatic other devices or the CPU decode the batches in flight again, and
 * nothing is lost.
 */
class GPUFEC_API device_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

enum class log_level { info, warning, error };

//! Callbacks for completion and logging; exceptions that they throw are discarded.
struct decoder_hooks {
    //! Called from any thread when output may be ready to pull or a batch may be due.
    std::function<void()> wake = [] {};
    //! Receives the messages to log.
    std::function<void(log_level, const std::string&)> log = [](log_level,
                                                                const std::string&) {};
};

//! Options that all decoders share.
struct run_options {
    unsigned batch = 0;         //!< work items per slot; 0: chosen for the device
    unsigned slots = 3;         //!< batches in flight on each device, 1 to 16
    double max_latency_ms = 50; //!< longest wait in ms of a batch that is not full, ≥ 0
    backend where = backend::automatic;
    std::vector<int> devices = { 0 }; //!< 1 to 16 CUDA devices, over which batches rotate
    unsigned threads = 1;             //!< threads of the CPU backend, 1 to 256
    //! Threads that copy the input of the Viterbi and LDPC decoders for a GPU, 1 to 256;
    //! at most 8 are used. 0: as many as \p threads
    unsigned copy_threads = 0;
    //! Timeout in ms for one batch, counted from the end of the previous batch, up to
    //! 1e9; on expiry the device is abandoned. 0: no timeout
    double device_timeout_ms = 10000;
    //! Upper limit of the batch size if \p batch is 0; 0: no limit. Lower this for short
    //! inputs to avoid a large allocation.
    std::size_t most = 0;
    bool watch = true; //!< whether the input is checked, see decoder::verdict()
};

/*!
 * \brief Base class of all decoders, which return decoded output in the order of input.
 *
 * Each decoder adds its own push and pull functions. Only one thread at a time may call a
 * decoder, in the process that created it; a process made by fork() needs a new decoder.
 * After an exception only reset(), and the functions that release and unpin memory, may
 * be called.
 */
class GPUFEC_API decoder
{
public:
    using level = log_level;
    using hooks = decoder_hooks;
    class engine; // the implementation

    virtual ~decoder();
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    //! Ends the input; all of it will be decoded.
    void finish();
    //! Returns whether a pull would return output now.
    bool ready();
    //! Returns whether a batch that is not full has waited for max_latency_ms.
    bool due() const;
    //! Submits the complete work items of a batch that is not full, unless every slot is
    //! in flight.
    void flush();
    //! Returns whether every slot is in flight, so that a push would take nothing.
    bool full() const;
    //! Returns whether finish() was called and all output has been pulled.
    bool done();
    //! Waits until ready() or until \p limit is over; returns whether output is ready.
    bool wait(std::chrono::milliseconds limit);
    //! Discards input and output; the decoder is then as newly constructed.
    void reset();

    /*!
     * \brief Returns the diagnosis of unsuitable input, naming the parameter to change;
     * "" if the input seems right.
     *
     * It is also logged once as a warning, at the latest when done() is true. It reports
     * input in another format or scale, input that does not match the code, and frames
     * that cannot be decoded. docs/limits.md has the rules and their false-alarm
     * probabilities.
     */
    std::string verdict() const;

    //! Sets the latency limit. It also applies to a batch already waiting.
    //! \throws std::invalid_argument
    void set_max_latency_ms(double milliseconds);

    //! Returns the work items (parallel blocks, codewords or frames) per slot.
    std::size_t batch() const;
    //! Returns the current backend, "cuda" or "cpu".
    std::string active_backend() const;
    //! Returns the name of the current device, or the instruction set of the CPU.
    std::string active_device() const;

    //! Returns the input size of all slots, in bytes.
    std::size_t input_bytes() const;
    //! Returns whether a new stream can use borrow(): false after its first item, and for
    //! decoders that only copy.
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
    //! Releases the oldest items that no batch needs any more and returns their number.
    std::size_t release_borrowed();
    //! Waits for the batches in flight and copies all other borrowed items. Afterwards
    //! nothing is borrowed; continue with push().
    void copy_borrowed();
    //! Pins (page-locks) memory to borrow from, so that a GPU can read it. The slots' own
    //! input buffers are unpinned meanwhile. Returns whether it succeeded.
    bool pin_input(void* memory, std::size_t bytes);
    //! Unpins the memory. Call it after copy_borrowed() and before freeing the memory.
    void unpin_input(void* memory);

    //! Returns the output size of all slots, in bytes; 0 if output cannot be written in
    //! place.
    std::size_t output_bytes() const;
    /*!
     * \brief Pins (page-locks) memory for later borrow_output() calls. Returns whether it
     * succeeded.
     *
     * \param memory its first byte
     * \param bytes its size
     * \param replace called when a device is abandoned that may still write there. It
     *        maps other memory with the same contents at the same addresses, and returns
     *        whether it did; if not, decoding ends with an exception.
     */
    bool pin_output(void* memory,
                    std::size_t bytes,
                    const std::function<bool()>& replace = {});
    /*!
     * \brief Borrows part of the pinned memory for output that is written in place.
     *
     * A GPU may write there until all submitted output has been pulled; a pull to that
     * address then needs no copy. Packed bits, LLRs and frames can be written in place,
     * and one bit per byte with the option bits_in_place.
     * \param next the address to which the next output will be pulled, and all output
     *        after it without a gap
     * \param bytes free bytes at \p next
     * \return true if a full batch submitted now can be written in place after the output
     *         still to be pulled, and whenever all submitted output has been pulled;
     *         false if its output would be copied
     */
    bool borrow_output(void* next, std::size_t bytes);
    //! Waits for the batches in flight and keeps their output in the slots; no memory is
    //! borrowed for output any more.
    void release_output();
    //! Unpins the memory. Call it after release_output() and before freeing the memory.
    void unpin_output(void* memory);

protected:
    explicit decoder(std::unique_ptr<engine> e);
    //! Returns the engine. \throws std::runtime_error in a process that fork() made
    engine& inside() const;
    std::unique_ptr<engine> d_engine;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DECODER_H */
