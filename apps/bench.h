// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How the benchmarks of the tool measure, whatever the decoder. */

#ifndef INCLUDED_GPUFEC_APPS_BENCH_H
#define INCLUDED_GPUFEC_APPS_BENCH_H

#include "command.h"
#include <algorithm>
#include <string>
#include <vector>

namespace gr::gpufec {

//! What `bench.run(seconds)` gives in each run, with progress on stderr.
template <class Bench>
std::vector<double> measure_runs(Bench& bench, const bench_settings& settings)
{
    const double a_run = settings.duration / settings.runs;
    progress_line progress;
    bench.run(std::min(0.2, a_run)); // caches, clocks, a full pipeline
    std::vector<double> measured;
    for (int i = 0; i < settings.runs; ++i) {
        progress.show("run " + std::to_string(i + 1) + " of " +
                      std::to_string(settings.runs));
        measured.push_back(bench.run(a_run));
    }
    return measured;
}

struct slot_measurement {
    std::vector<double> rates; //!< from slot to slot, of each run
    double latency;            //!< of one batch alone, seconds, the median
};

//! The same of a benchmark of slots, between whose runs single batches are timed.
template <class Bench>
slot_measurement measure_slots(Bench& bench, const bench_settings& settings)
{
    const double a_run = settings.duration / settings.runs;
    bench.host_to_host(std::min(0.2, a_run));
    slot_measurement m;
    std::vector<double> latencies;
    for (int i = 0; i < settings.runs; ++i) {
        m.rates.push_back(bench.host_to_host(a_run));
        latencies.push_back(bench.latency());
    }
    m.latency = median(latencies);
    return m;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_BENCH_H */
