// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A timer that calls back once at a given time. Decoders use timers to wake a block when
 * a latency limit or the timeout of a device expires while no input arrives. */

#ifndef INCLUDED_GPUFEC_PIPELINE_DEADLINE_TIMER_H
#define INCLUDED_GPUFEC_PIPELINE_DEADLINE_TIMER_H

#include <condition_variable>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace gr::gpufec {

class deadline_timer
{
public:
    using clock = std::chrono::steady_clock;

    //! The callback \p ring runs on the timer's own thread.
    explicit deadline_timer(std::function<void()> ring);
    ~deadline_timer();

    //! Sets the time of the next callback and cancels an earlier setting.
    void set(clock::time_point when);
    void clear();

private:
    static constexpr auto never = clock::time_point::max();

    void serve();

    const std::function<void()> d_ring;
    std::mutex d_mutex;
    std::condition_variable d_changed;
    clock::time_point d_when = never;
    bool d_stop = false;
    std::thread d_thread;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_DEADLINE_TIMER_H */
