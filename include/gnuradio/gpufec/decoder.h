// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What all decoders share: how they run, what they tell, and how results are waited for.
 */

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

//! The device a decoder runs on has failed; what was in flight there is lost.
class GPUFEC_API device_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

enum class log_level { info, warning, error };

//! Whom a decoder tells what happens.
struct decoder_hooks {
    //! Something may have become ready to pull, or due; called from any thread.
    std::function<void()> wake = [] {};
    std::function<void(log_level, const std::string&)> log = [](log_level,
                                                                const std::string&) {};
};

//! How a decoder runs, whatever it decodes.
struct run_options {
    unsigned batch = 0;         //!< pieces of work per slot; 0: chosen from the device
    unsigned slots = 3;         //!< batches in flight on each device, 1 to 16
    double max_latency_ms = 50; //!< the longest that a batch waits to fill, from 0
    backend where = backend::automatic;
    std::vector<int> devices = { 0 }; //!< CUDA devices (1 to 16), dealt batches in turn
    unsigned threads = 1;             //!< of the CPU backend, 1 to 256
    //! Where a GPU decodes, that copy what is pushed to the Viterbi and LDPC decoders, up
    //! to 256, of which 8 are taken; 0: as many as threads says
    unsigned copy_threads = 0;
    //! That a device has for a batch, once those before it are finished, before it is
    //! given up: up to 1e9; 0: for ever
    double device_timeout_ms = 10000;
    //! The largest batch that is chosen where batch is 0; 0: any. Who has little to
    //! decode need not wait for the memory of much.
    std::size_t most = 0;
};

/*!
 * \brief What every decoder is: input goes in, decoded output comes out in order.
 *
 * The decoders add how input is pushed and output is pulled. One thread calls a decoder,
 * of the process that made it: after fork() the other process makes its own. After an
 * exception, reset() is the only call that is of use.
 */
class GPUFEC_API decoder
{
public:
    using level = log_level;
    using hooks = decoder_hooks;
    class engine; // what decodes

    virtual ~decoder();
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;

    //! Nothing more will be pushed or lent: decodes what is there to its end.
    void finish();
    //! Whether a pull would give something at once.
    bool ready();
    //! Whether a batch that is not full has waited for max_latency_ms; flush() sends it.
    bool due() const;
    //! Sends what is complete, though the batch is not full, unless every slot is in
    //! flight.
    void flush();
    //! Whether every slot is in flight, so that a push would take nothing.
    bool full() const;
    //! Whether all that was pushed has been pulled, after finish().
    bool done();
    //! Sleeps until ready() or for \p limit.
    bool wait(std::chrono::milliseconds limit);
    //! Forgets what was pushed: as if newly made.
    void reset();

    //! Also for what waits already. \throws std::invalid_argument
    void set_max_latency_ms(double milliseconds);

    //! Pieces of work per slot: parallel blocks, codewords or frames.
    std::size_t batch() const;
    //! "cuda" or "cpu", and the device: what decodes now.
    std::string active_backend() const;
    std::string active_device() const;

    //! Bytes of input that fill every slot.
    std::size_t input_bytes() const;
    //! Whether lend() can take the place of push(): only from the first item of a stream
    //! on, and not in every decoder.
    bool can_lend() const;
    /*!
     * \brief Takes input as push() does, but leaves it where it is.
     *
     * \p items are all that are there from the oldest that was lent and not taken back,
     * \p count of them. What is lent must stay as it is until taken back.
     * \throws std::runtime_error if the device has not the memory to convert it
     * \return how many it took that it had not taken before
     */
    std::size_t lend(const void* items, std::size_t count);
    //! Items that are lent and not taken back.
    std::size_t lent() const;
    //! Takes back the oldest items lent, as many as are not needed any more, and says how
    //! many.
    std::size_t take_back();
    //! Decodes what is in flight and copies what else is lent: nothing is any more, and
    //! push() goes on.
    void end_lending();
    //! Locks the pages of memory to lend from, so that a GPU reads it by itself, in place
    //! of those that input is copied to. Returns whether it could.
    bool lock_lent(void* memory, std::size_t bytes);
    //! To be called after end_lending(), and before the memory is gone.
    void unlock_lent(void* memory);

    //! Bytes of output that fill every slot; 0 where no memory can be lent for output.
    std::size_t output_bytes() const;
    /*!
     * \brief Locks the pages of memory to lend for output. Returns whether it could.
     *
     * If a GPU is given up that may still write there, \p replace is called: it is to put
     * other memory with the same contents in the place of all of it, and to say whether
     * it did. If not, decoding ends with an exception.
     */
    bool lock_output(void* memory, std::size_t bytes, std::function<bool()> replace = {});
    /*!
     * \brief Lends memory for output, of what was locked: what is pulled next will be
     * pulled to \p next, in one piece with what follows, and \p bytes are free there.
     *
     * A GPU may write them from now on until all of what was submitted is pulled; a pull
     * finds there what it would write. Memory can be lent for packed bits, LLRs and
     * frames, and for one bit per byte if the options have lend_bits.
     * \return whether the output of a full batch that is submitted now has room there, or
     * nothing is to be pulled before it
     */
    bool lend_output(void* next, std::size_t bytes);
    //! Waits for what is in flight; nothing is lent any more, and no output is lost.
    void end_lending_output();
    //! To be called after end_lending_output(), and before the memory is gone.
    void unlock_output(void* memory);

protected:
    explicit decoder(std::unique_ptr<engine> e);
    //! What decodes. \throws std::runtime_error in a process that fork() made
    engine& inside() const;
    std::unique_ptr<engine> d_engine;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DECODER_H */
