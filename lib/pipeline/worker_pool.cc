// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implementation of worker_pool. A free thread processes the next chunk of the oldest
 * batch that still has chunks to begin. */

#include "worker_pool.h"
#include <system_error>
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gr::gpufec {

worker_pool::worker_pool(unsigned threads)
{
    threads = std::max(1u, threads);
    d_threads.reserve(threads);
    try {
        while (d_threads.size() < threads) {
            const auto i = unsigned(d_threads.size());
            d_threads.emplace_back([this, i] { serve(i); });
        }
    } catch (const std::system_error& error) {
        // The pool works with the threads that did start.
        if (d_threads.empty()) {
            throw std::runtime_error("threads is " + std::to_string(threads) +
                                     ": the system cannot start a thread (" +
                                     error.code().message() + ")");
        }
    }
}

void worker_pool::stop()
{
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_stop = true;
    }
    d_wake.notify_all();
    for (auto& t : d_threads) {
        if (t.joinable()) {
            t.join();
        }
    }
}

void worker_pool::on_completion(std::function<void()> notify)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    d_notify = std::move(notify);
}

void worker_pool::submit(unsigned slot, std::size_t chunks, work w)
{
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_batches.push_back({ slot, chunks, 0, 0, std::move(w) });
    }
    d_wake.notify_all();
}

void worker_pool::drop()
{
    std::unique_lock<std::mutex> lock(d_mutex);
    for (auto b = d_batches.begin(); b != d_batches.end();) {
        b->chunks = b->begun; // the last running chunk then finishes the batch
        b = b->done == b->chunks ? d_batches.erase(b) : std::next(b);
    }
}

bool worker_pool::finished(unsigned slot)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    return std::none_of(d_batches.begin(), d_batches.end(), [slot](const batch& b) {
        return b.slot == slot;
    });
}

// Returns the oldest batch that has chunks to begin.
std::list<worker_pool::batch>::iterator worker_pool::waiting()
{
    return std::find_if(d_batches.begin(), d_batches.end(), [](const batch& b) {
        return b.begun < b.chunks;
    });
}

// Processes a chunk of the batch waiting(), which exists.
void worker_pool::process(std::unique_lock<std::mutex>& lock, unsigned worker)
{
    const auto mine = waiting();
    const auto chunk = mine->begun++;
    lock.unlock();
    mine->run(chunk, worker);
    lock.lock();
    if (++mine->done == mine->chunks) {
        d_batches.erase(mine);
        const auto notify = d_notify;
        lock.unlock();
        notify();
        lock.lock();
    }
}

bool worker_pool::process_one()
{
    std::unique_lock<std::mutex> lock(d_mutex);
    const bool any = waiting() != d_batches.end();
    if (any) {
        process(lock, threads());
    }
    return any;
}

void worker_pool::serve(unsigned worker)
{
    std::unique_lock<std::mutex> lock(d_mutex);
    for (;;) {
        d_wake.wait(lock, [&] { return d_stop || waiting() != d_batches.end(); });
        if (d_stop) {
            return;
        }
        process(lock, worker);
    }
}

} // namespace gr::gpufec
