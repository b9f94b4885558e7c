// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the cost of ACM. The rate of gpu_ldpc_dvbs2 in a flowgraph is measured twice:
 * with ACM and tags that state the MODCOD of each frame, and without ACM and tags. Noisy
 * frames of normal 1/2 come from ring_source. Prints JSON: information bits per second at
 * the block's output, the mean number of iterations, and the fractions of a core that the
 * threads of the block and of the source use.
 *
 * Usage: ldpc_acm [BACKEND] [SECONDS] [ROUNDS] [EB_N0_DB] */

#include "apps/json.h"
#include "flow_rate.h"
#include "ring_source.h"
#include <gnuradio/blocks/null_sink.h>
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace gr::gpufec;

constexpr unsigned n = 64800, frames = 64;

// Returns noisy codewords of random messages, as int8 LLRs with two steps per nat.
std::vector<std::int8_t> noisy_frames(double ebn0_db)
{
    const ldpc_encoder_kernel encoder(ldpc_code::dvbs2("normal", "1/2"));
    std::mt19937 random(1);
    const double variance = std::pow(10, -ebn0_db / 10); // 1 / (2 · rate · Eb/N0)
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    std::vector<std::uint8_t> message(encoder.code().k()), word(n);
    std::vector<std::int8_t> items;
    for (unsigned f = 0; f < frames; ++f) {
        for (auto& bit : message) {
            bit = random() & 1;
        }
        encoder.encode(message.data(), word.data());
        for (const auto bit : word) {
            const double llr = 2 * (1 - 2 * bit + noise(random)) / variance;
            items.push_back(std::int8_t(std::clamp(std::rint(2 * llr), -127.0, 127.0)));
        }
    }
    return items;
}

struct result {
    double bits_per_s, block, source, iterations;
};

result measure(const std::string& backend,
               const std::vector<std::int8_t>& items,
               bool acm,
               double seconds)
{
    gpu_ldpc_dvbs2_options options;
    options.backend = backend_from_string(backend);
    options.acm = acm;
    options.status_tags = status_tags::none;
    auto block = gpu_ldpc_dvbs2::make(options);
    auto graph = gr::make_top_block("ldpc_acm");
    const auto qpsk_1_2 = pmt::cons(pmt::from_long(4), pmt::PMT_F);
    std::vector<bench::ring_source::tag> tags;
    for (std::size_t at = 0; acm && at < items.size(); at += n) {
        tags.push_back({ at, pmt::mp("XFECFRAME"), qpsk_1_2 });
    }
    auto source =
        gnuradio::make_block_sptr<bench::ring_source>(items, 100u << 20, std::move(tags));
    graph->connect(source, 0, block, 0);
    graph->connect(block, 0, gr::blocks::null_sink::make(1), 0);
    const auto rate =
        bench::measure_flow(graph, block, 0.6, seconds, { "gpu_ldpc", "ring_source" });
    return { 8 * rate.items, rate.load[0], rate.load[1], block->mean_iterations() };
}

} // namespace

int main(int argc, char** argv)
{
    const std::string backend = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
    const double ebn0_db = argc > 4 ? std::atof(argv[4]) : 1.3;
    const auto items = noisy_frames(ebn0_db);
    auto rows = json::array();
    for (int i = 0; i < rounds; ++i) {
        for (const bool acm : { false, true }) {
            const auto r = measure(backend, items, acm, seconds);
            rows.add(json::object({ { "tags", acm ? "each frame" : "none" },
                                    { "bits_per_s", r.bits_per_s },
                                    { "own_thread_of_a_core", r.block },
                                    { "source_of_a_core", r.source },
                                    { "mean_iterations", r.iterations } }));
        }
    }
    std::cout << json::object({ { "benchmark", "ldpc_acm" },
                                { "backend", backend },
                                { "ebn0_db", ebn0_db },
                                { "rounds", rows } })
                     .to_string()
              << '\n';
    return 0;
}
