// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The latency bound: how long a batch that is not full may wait for more. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H
#define INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H

#include "deadline_timer.h"
#include "refuse.h"
#include <atomic>
#include <cmath>
#include <optional>

namespace gr::gpufec {

class batch_deadline
{
public:
    using clock = deadline_timer::clock;

    //! \p ring is called, from another thread, when a deadline is over.
    batch_deadline(double latency_ms, std::function<void()> ring)
        : d_timer([this, ring = std::move(ring)] {
              d_rung = true;
              ring();
          })
    {
        set_latency_ms(latency_ms);
    }

    //! Also for a batch that waits already. \throws std::invalid_argument
    void set_latency_ms(double ms)
    {
        require(
            std::isfinite(ms) && ms >= 0, "max_latency_ms", ms, "finite values from 0");
        d_latency_ms = ms;
        if (d_since) {
            arm();
        }
    }

    //! The batch has something to send from now on, if it had not before.
    void start()
    {
        if (!d_since) {
            d_since = clock::now();
            arm();
        }
    }

    void stop()
    {
        d_since.reset();
        d_when = clock::time_point::max();
        d_rung = false;
        d_timer.clear();
    }

    //! For each frame, where the clock would cost as much as all else: so the timer is
    //! asked first. It may have rung for a deadline before.
    bool over() const { return d_since && d_rung && clock::now() >= d_when; }

private:
    void arm()
    {
        using milliseconds = std::chrono::duration<double, std::milli>;
        const milliseconds latency(d_latency_ms);
        // What no clock can count to never comes.
        const bool never = latency >= milliseconds(clock::time_point::max() - *d_since);
        d_when = never ? clock::time_point::max()
                       : *d_since + std::chrono::duration_cast<clock::duration>(latency);
        d_rung = clock::now() >= d_when;
        d_timer.set(d_when);
    }

    double d_latency_ms = 0;
    std::optional<clock::time_point> d_since; // the batch waits
    clock::time_point d_when = clock::time_point::max();
    std::atomic<bool> d_rung{ false };
    deadline_timer d_timer; // last: it writes to that
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H */
