// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implementation of deadline_timer, whose thread sleeps until the time of the next
 * callback, or until that time changes. */

#include "deadline_timer.h"
#include <system_error>
#include <stdexcept>
#include <utility>

namespace gr::gpufec {

deadline_timer::deadline_timer(std::function<void()> ring) : d_ring(std::move(ring))
{
    try {
        d_thread = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        throw std::runtime_error("the system cannot start a thread for max_latency_ms (" +
                                 error.code().message() + ")");
    }
}

deadline_timer::~deadline_timer()
{
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_stop = true;
    }
    d_changed.notify_one();
    d_thread.join();
}

void deadline_timer::set(clock::time_point when)
{
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        if (when == d_when) {
            return;
        }
        d_when = when;
    }
    d_changed.notify_one();
}

void deadline_timer::clear() { set(never); }

void deadline_timer::serve()
{
    std::unique_lock<std::mutex> lock(d_mutex);
    while (!d_stop) {
        const auto when = d_when;
        if (when == never) {
            d_changed.wait(lock);
        } else if (clock::now() < when) {
            d_changed.wait_until(lock, when);
        } else {
            d_when = never;
            lock.unlock();
            d_ring();
            lock.lock();
        }
    }
}

} // namespace gr::gpufec
