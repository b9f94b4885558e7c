// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of a block in a running flowgraph. */

#ifndef INCLUDED_GPUFEC_BENCH_FLOW_RATE_H
#define INCLUDED_GPUFEC_BENCH_FLOW_RATE_H

#include <gnuradio/block.h>
#include <gnuradio/top_block.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace gr::gpufec::bench {

// Returns the CPU seconds of the threads of this process whose names begin with \p name.
// GNU Radio names a thread after its block, and Linux truncates the name.
inline double thread_seconds(const std::string& name)
{
    double seconds = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string comm;
        std::uint64_t ns = 0;
        std::getline(std::ifstream(task.path() / "comm") >> std::ws, comm);
        std::ifstream(task.path() / "schedstat") >> ns;
        seconds += comm.rfind(name.substr(0, 9), 0) == 0 ? double(ns) * 1e-9 : 0;
    }
    return seconds;
}

struct flow_rate {
    double items;             // output items of the block per second
    std::vector<double> load; // CPU seconds per second, of each group of threads
};

// Runs \p graph, and measures \p block for \p seconds seconds after a warm-up of \p
// warmup seconds. For each entry of \p load, \p threads has
// a prefix of the names of the threads to measure.
inline flow_rate measure_flow(const gr::top_block_sptr& graph,
                              const gr::block_sptr& block,
                              double warmup,
                              double seconds,
                              const std::vector<std::string>& threads = {})
{
    using clock = std::chrono::steady_clock;
    graph->start();
    std::this_thread::sleep_for(std::chrono::duration<double>(warmup));
    const auto begin = clock::now();
    const auto before = block->nitems_written(0);
    flow_rate rate;
    for (const auto& name : threads) {
        rate.load.push_back(-thread_seconds(name));
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const auto items = block->nitems_written(0) - before;
    for (std::size_t i = 0; i < threads.size(); ++i) {
        rate.load[i] += thread_seconds(threads[i]);
    }
    const std::chrono::duration<double> took = clock::now() - begin;
    graph->stop();
    graph->wait();
    rate.items = double(items) / took.count();
    for (auto& load : rate.load) {
        load /= took.count();
    }
    return rate;
}

} // namespace gr::gpufec::bench

#endif /* INCLUDED_GPUFEC_BENCH_FLOW_RATE_H */
