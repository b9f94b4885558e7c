// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Times batches from filled slots to decoded slots, for benchmarks. */

#ifndef INCLUDED_GPUFEC_LAB_SLOT_TIMER_H
#define INCLUDED_GPUFEC_LAB_SLOT_TIMER_H

#include "pipeline/pipeline.h"
#include <chrono>

namespace gr::gpufec {

//! All slots of \p on are filled, and every batch is \p job. Nothing is in flight.
template <class Job>
class slot_timer
{
public:
    slot_timer(pipeline<Job>& on, const Job& job) : d_pipeline(on), d_job(job) {}

    //! Batches a second, over \p duration seconds, with every slot in flight.
    double rate(double duration)
    {
        const auto begin = clock::now();
        std::size_t batches = 0;
        while (since(begin) < duration) {
            while (d_pipeline.filling()) {
                d_pipeline.submit(d_job);
            }
            batches += take();
        }
        while (!d_pipeline.empty()) {
            batches += take();
        }
        return batches / since(begin);
    }

    //! Seconds from the submission of one batch to its completion, alone.
    double latency()
    {
        const auto begin = clock::now();
        d_pipeline.submit(d_job);
        while (!take()) {
        }
        return since(begin);
    }

private:
    using clock = std::chrono::steady_clock;

    static double since(clock::time_point begin)
    {
        return std::chrono::duration<double>(clock::now() - begin).count();
    }

    bool take()
    {
        if (!d_pipeline.wait(std::chrono::milliseconds(100))) {
            return false;
        }
        d_pipeline.release();
        return true;
    }

    pipeline<Job>& d_pipeline;
    const Job d_job;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LAB_SLOT_TIMER_H */
