// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What stands behind a decoder, with the meanings that decoder.h gives the calls. */

#ifndef INCLUDED_GPUFEC_PIPELINE_ENGINE_H
#define INCLUDED_GPUFEC_PIPELINE_ENGINE_H

#include <gnuradio/gpufec/decoder.h>

namespace gr::gpufec {

//! How often this process, or one that it comes from, was made by fork(): counted here,
//! for who asks at each frame would notice the system call getpid(). \throws
//! std::bad_alloc
unsigned forks_so_far();

class decoder::engine
{
public:
    virtual ~engine() = default;

    //! Whether the process is the one that made it, and has its threads.
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
    virtual bool can_lend() const = 0;
    virtual std::size_t lend(const void* items, std::size_t count) = 0;
    virtual std::size_t lent() const = 0;
    virtual std::size_t take_back() = 0;
    virtual void end_lending() = 0;
    virtual bool lock_lent(void* memory, std::size_t bytes) = 0;
    virtual void unlock_lent(void* memory) = 0;

    virtual std::size_t output_bytes() const { return 0; }
    virtual bool lock_output(void*, std::size_t, std::function<bool()>) { return false; }
    virtual bool lend_output(void* /*next*/, std::size_t /*bytes*/) { return true; }
    virtual void end_lending_output() {}
    virtual void unlock_output(void* /*memory*/) {}

private:
    const unsigned d_forks = forks_so_far();
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_ENGINE_H */
