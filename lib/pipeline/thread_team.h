// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Threads that divide work with the thread that calls them, and that help a decoder's
 * caller to copy input into slots. */

#ifndef INCLUDED_GPUFEC_PIPELINE_THREAD_TEAM_H
#define INCLUDED_GPUFEC_PIPELINE_THREAD_TEAM_H

#include "worker_pool.h"
#include <condition_variable>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gr::gpufec {

class thread_team
{
public:
    //! \p threads includes the caller's thread. The other threads start when work is
    //! first divided.
    explicit thread_team(unsigned threads) : d_threads(threads) {}

    //! Processes \p units units by calls of work(first, count), which must not throw.
    //! The units are divided into up to \p max_parts parts, at most one for each thread.
    template <class Work>
    void operator()(std::size_t units, std::size_t max_parts, const Work& work)
    {
        const auto parts = std::min<std::size_t>({ d_threads, units, max_parts });
        if (parts <= 1 || !start()) {
            return work(0, units);
        }
        const auto part = [&](std::size_t k) {
            const auto first = units * k / parts;
            work(first, units * (k + 1) / parts - first);
        };
        d_done = false;
        d_helpers->submit(0, parts - 1, [&](std::size_t k, unsigned) { part(k + 1); });
        part(0);
        std::unique_lock<std::mutex> lock(d_mutex);
        d_wake.wait(lock, [this] { return d_done; });
    }

    /*!
     * \brief Begins to process \p chunks chunks by calls of work(chunk), which must not
     * throw.
     *
     * The helper threads process the chunks in ascending order while the caller does
     * other work. All chunks that were begun before must have been waited for.
     */
    template <class Work>
    void begin(std::size_t chunks, const Work& work)
    {
        if (d_ready.size() < chunks) {
            d_ready = std::vector<std::atomic<bool>>(chunks);
        }
        const auto process = [this, work](std::size_t chunk, unsigned) {
            work(chunk);
            d_ready[chunk].store(true, std::memory_order_release);
        };
        std::fill_n(d_ready.begin(), chunks, false);
        if (chunks > 1 && start()) {
            d_helpers->submit(0, chunks, process);
            return;
        }
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            process(chunk, 0);
        }
    }
    //! Returns after a chunk of begin() has been processed. The caller's thread processes
    //! chunks until then.
    void wait(std::size_t chunk)
    {
        while (!d_ready[chunk].load(std::memory_order_acquire)) {
            if (!d_helpers->process_one()) {
                std::this_thread::yield();
            }
        }
    }

private:
    // Starts the helper threads at the first call, and returns whether any helper thread
    // runs. Without helper threads the caller works alone.
    bool start()
    {
        if (!d_helpers && d_threads > 1) {
            try {
                d_helpers.emplace(d_threads - 1);
            } catch (const std::runtime_error&) {
                d_threads = 1;
                return false;
            }
            d_helpers->on_completion([this] {
                const std::lock_guard<std::mutex> lock(d_mutex);
                d_done = true;
                d_wake.notify_one();
            });
        }
        return bool(d_helpers);
    }

    unsigned d_threads;
    std::mutex d_mutex;
    std::condition_variable d_wake;
    bool d_done = false;
    std::vector<std::atomic<bool>> d_ready; // for begin(): whether chunks were processed
    std::optional<worker_pool> d_helpers;   // declared last: threads use other members
};

class copy_team
{
public:
    //! \p threads includes the caller's thread. The other threads start when large input
    //! is first copied.
    explicit copy_team(unsigned threads) : d_team(std::min(threads, max_threads)) {}

    //! Copies \p units units of \p bytes bytes each by calls of copy(first, count), which
    //! must not throw. Large inputs are divided among the threads.
    template <class Copy>
    void operator()(std::size_t units, std::size_t bytes, const Copy& copy)
    {
        d_team(units, units * bytes / least_part, copy);
    }

private:
    // In measurements, more than eight threads did not copy faster.
    static constexpr unsigned max_threads = 8;
    static constexpr std::size_t least_part = 256u << 10;

    thread_team d_team;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_THREAD_TEAM_H */
