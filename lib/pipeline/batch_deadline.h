// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The latency limit: how long a batch that is not full may wait for more input. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H
#define INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H

#include "common/ranges.h"
#include "deadline_timer.h"
#include <atomic>
#include <optional>

namespace gr::gpufec {

//! Deadline for submitting a batch that is not full.
//! \tparam Timer deadline_timer, or a replacement with a simulated clock in tests
template <class Timer>
class basic_batch_deadline
{
public:
    using clock = typename Timer::clock;

    //! \p ring is called from another thread when a deadline expires.
    basic_batch_deadline(double latency_ms, std::function<void()> ring)
        : d_timer([this, ring = std::move(ring)] {
              d_rung = true;
              ring();
          })
    {
        set_latency_ms(latency_ms);
    }

    //! Sets the limit in ms, also for a batch that is already waiting.
    //! \throws std::invalid_argument if \p ms is negative or not finite
    void set_latency_ms(double ms)
    {
        require_from_0("max_latency_ms", ms);
        d_latency_ms = ms;
        if (d_since) {
            arm();
        }
    }

    //! Starts the deadline of the open batch unless it was started before.
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

    //! Returns whether the deadline has expired. This function is called for every frame
    //! and reading the clock is slow, so the timer's flag is checked first. If the flag
    //! is set, the clock still decides, because an earlier deadline may have set the
    //! flag.
    bool over() const { return d_since && d_rung && clock::now() >= d_when; }

private:
    void arm()
    {
        using milliseconds = std::chrono::duration<double, std::milli>;
        const milliseconds latency(d_latency_ms);
        // A deadline beyond the range of the clock never expires.
        const bool never = latency >= milliseconds(clock::time_point::max() - *d_since);
        d_when = never
                     ? clock::time_point::max()
                     : *d_since +
                           std::chrono::duration_cast<typename clock::duration>(latency);
        d_rung = clock::now() >= d_when;
        d_timer.set(d_when);
    }

    double d_latency_ms = 0;
    // Time from which the batch has been waiting.
    std::optional<typename clock::time_point> d_since;
    typename clock::time_point d_when = clock::time_point::max();
    std::atomic<bool> d_rung{ false };
    Timer d_timer; // last member, because the timer's thread writes d_rung
};

using batch_deadline = basic_batch_deadline<deadline_timer>;

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BATCH_DEADLINE_H */
