// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Interface between the class decoder and its implementations; decoder.h documents the
 * functions. */

#ifndef INCLUDED_GPUFEC_PIPELINE_ENGINE_H
#define INCLUDED_GPUFEC_PIPELINE_ENGINE_H

#include "input_judge.h"
#include <gnuradio/gpufec/decoder.h>
#include <memory>

namespace gr::gpufec {

//! Returns a number that differs between a process and its forked children: the number of
//! fork() calls between the process that first called this function and this process.
//! Unlike the system call getpid(), this function is fast enough to be called per frame.
//! \throws std::bad_alloc
unsigned forks_so_far();

//! Returns wrappers of \p hooks that discard exceptions and do nothing for empty hooks.
decoder_hooks without_exceptions(decoder_hooks hooks);

class decoder::engine
{
public:
    virtual ~engine() = default;

    //! Returns whether this process created the engine. The engine's threads do not
    //! exist in a forked child.
    bool of_this_process() const { return forks_so_far() == d_forks; }

    virtual void finish() = 0;
    virtual bool ready() = 0;
    virtual bool due() const = 0;
    virtual void flush() = 0;
    virtual bool full() const = 0;
    virtual bool done() = 0;
    virtual bool wait(std::chrono::milliseconds limit) = 0;
    virtual void reset() = 0;
    virtual void set_max_latency_ms(double milliseconds) = 0;
    virtual std::size_t batch() const = 0;
    virtual std::string active_backend() const = 0;
    virtual std::string active_device() const = 0;

    virtual std::size_t input_bytes() const = 0;
    virtual bool can_borrow() const = 0;
    virtual std::size_t borrow(const void* items, std::size_t count) = 0;
    virtual std::size_t borrowed() const = 0;
    virtual std::size_t release_borrowed() = 0;
    virtual void copy_borrowed() = 0;
    virtual bool pin_input(void* memory, std::size_t bytes) = 0;
    virtual void unpin_input(void* memory) = 0;

    virtual std::size_t output_bytes() const { return 0; }
    virtual bool pin_output(void*, std::size_t, const std::function<bool()>&)
    {
        return false;
    }
    virtual bool borrow_output(void* /*next*/, std::size_t /*bytes*/) { return true; }
    virtual void release_output() {}
    virtual void unpin_output(void* /*memory*/) {}

    std::unique_ptr<input_judge> judge; //!< checks the input; may be nullptr

private:
    const unsigned d_forks = forks_so_far();
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_ENGINE_H */
