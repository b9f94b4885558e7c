// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A thread pool that processes batches in chunks: for CPU decoders and input copies. */

#ifndef INCLUDED_GPUFEC_PIPELINE_WORKER_POOL_H
#define INCLUDED_GPUFEC_PIPELINE_WORKER_POOL_H

#include <gnuradio/gpufec/api.h>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace gr::gpufec {

class GPUFEC_API worker_pool
{
public:
    //! Function that processes chunk \p chunk (0 … chunks − 1) of a batch on thread
    //! number \p worker (0 … threads() − 1, or threads() in process_one()). Must not
    //! throw.
    using work = std::function<void(std::size_t chunk, unsigned worker)>;

    //! Starts \p threads threads, or fewer if the system refuses some.
    //! \throws std::runtime_error if no thread starts
    explicit worker_pool(unsigned threads);
    ~worker_pool() { stop(); }

    //! Finishes the chunks that have begun, drops the others and ends the threads.
    void stop();

    unsigned threads() const { return d_threads.size(); }

    //! Sets the callback that a pool thread calls after the last chunk of each batch.
    void on_completion(std::function<void()> notify);

    //! Drops the chunks that have not begun. Dropped chunks count as done.
    void drop();

    //! Queues a batch of \p chunks chunks (at least 1). \p slot identifies the batch in
    //! finished().
    void submit(unsigned slot, std::size_t chunks, work w);

    //! Processes the next chunk on the calling thread. Returns whether there was one.
    bool process_one();

    bool finished(unsigned slot);

private:
    struct batch {
        unsigned slot;
        std::size_t chunks;
        std::size_t begun = 0;
        std::size_t done = 0;
        work run;
    };

    void serve(unsigned worker);
    std::list<batch>::iterator waiting();
    void process(std::unique_lock<std::mutex>& lock, unsigned worker);

    std::mutex d_mutex;
    std::condition_variable d_wake;
    std::list<batch> d_batches; // batches with chunks that are not done
    std::function<void()> d_notify = [] {};
    bool d_stop = false;
    std::vector<std::thread> d_threads;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_WORKER_POOL_H */
