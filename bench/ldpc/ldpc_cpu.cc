// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the CPU's LDPC decoder on one thread with full SIMD vectors, from channel
 * values in memory to decisions or soft output in memory, for every code of DVB-S2 and
 * some codes of other standards. Prints one JSON object per line. */

#include "common/cpu_variant.h"
#include "common/host_memory.h"
#include "ldpc/stream/traits.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

using namespace gr::gpufec;

namespace {

constexpr unsigned in_flight = 8; // batches submitted before a wait for the last one

// Times per batch, in seconds.
struct timing {
    double fastest, median; // elapsed time
    double processor; // smallest processor time, which is valid even on a busy machine
};

timing measure(const ldpc::setup& setup, std::size_t frames, unsigned batches)
{
    const auto& code = setup.codes[0];
    auto decoder = ldpc::traits::make_cpu(setup, frames, 1);
    const auto limits = decoder->limits();
    host_memory input(limits.input_bytes), output(limits.output_bytes),
        status(limits.status_bytes);
    std::mt19937 random(1);
    auto* const table = reinterpret_cast<ldpc::frame_place*>(input.data());
    ldpc::job job;
    job.codewords = std::uint32_t(frames);
    job.runs = { { 0, 0, std::uint32_t(frames) } };
    job.input_bytes = ldpc::job::values_offset(frames);
    for (std::uint32_t f = 0; f < frames; ++f) {
        table[f] = {
            std::uint32_t(job.input_bytes), std::uint32_t(job.output_bytes), f, 1
        };
        for (unsigned i = 0; i < code.n(); ++i) {
            // Without early stop, the time does not depend on the values.
            input.data()[job.input_bytes + i] = std::byte(random() % 41 - 20);
        }
        job.input_bytes += setup.frame_input_bytes(code);
        job.output_bytes += setup.frame_output_bytes(code);
    }
    std::vector<double> seconds, processor;
    for (unsigned i = 0; i <= batches; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const auto used = std::clock();
        // With several batches in flight, the decoding thread does not wait for the main
        // thread.
        for (unsigned slot = 0; slot < in_flight; ++slot) {
            decoder->submit(slot, job, { input.data(), output.data(), status.data() });
        }
        while (!decoder->finished(in_flight - 1)) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        const std::chrono::duration<double> time =
            std::chrono::steady_clock::now() - begin;
        if (i > 0) { // The first run is not measured.
            seconds.push_back(time.count() / in_flight);
            processor.push_back(double(std::clock() - used) / CLOCKS_PER_SEC / in_flight);
        }
    }
    std::sort(seconds.begin(), seconds.end());
    return { seconds.front(),
             seconds[seconds.size() / 2],
             *std::min_element(processor.begin(), processor.end()) };
}

std::vector<ldpc_code> codes()
{
    std::vector<ldpc_code> all;
    for (const char* size : { "normal", "short" }) {
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            all.push_back(ldpc_code::dvbs2(size, rate));
        }
    }
    for (const auto& [standard, size, rate] : { std::array{ "nr", "bg1 z384", "22/33" },
                                                { "nr", "bg1 z384", "1/3" },
                                                { "nr", "bg2 z128", "10/20" },
                                                { "ccsds_ar4ja", "1024", "1/2" },
                                                { "ccsds_ar4ja", "16384", "1/2" },
                                                { "ccsds_ar4ja", "4096", "4/5" },
                                                { "ccsds_c2", "8160", "7/8" },
                                                { "wifi", "1944", "1/2" } }) {
        all.push_back(ldpc_code::standard(standard, size, rate));
    }
    return all;
}

} // namespace

// Usage: ldpc_cpu [ITERATIONS [BATCHES [llr|extrinsic]]]
int main(int argc, char** argv)
{
    const unsigned iterations = argc > 1 ? std::atoi(argv[1]) : 10;
    const unsigned batches = argc > 2 ? std::atoi(argv[2]) : 15;
    const std::string output = argc > 3 ? argv[3] : "message";
    for (const auto& code : codes()) {
        ldpc::setup setup;
        setup.codes = { code };
        setup.max_iterations = iterations;
        setup.early_stop = false;
        setup.soft = output == "llr"         ? ldpc_soft_output::posterior
                     : output == "extrinsic" ? ldpc_soft_output::extrinsic
                                             : ldpc_soft_output::none;
        setup.bits = setup.soft == ldpc_soft_output::none;
        const auto frames = ldpc::traits::cpu_batch(setup, 1);
        const auto t = measure(setup, frames, batches);
        const double edges = double(code.edges()) * iterations * frames / 1e9;
        std::printf(
            "{\"cpu\": \"%s\", \"instruction_set\": \"%s\", \"output\": \"%s\", "
            "\"iterations\": %u, \"frames\": %zu, \"G_edge_iterations_per_s\": %.2f, "
            "\"fastest\": %.2f, \"fastest_of_processor_time\": %.2f, "
            "\"information_Mb_per_s\": %.1f}\n",
            code.name().c_str(),
            cpu_variant().c_str(),
            output.c_str(),
            iterations,
            frames,
            edges / t.median,
            edges / t.fastest,
            edges / t.processor,
            code.k() * frames / t.median / 1e6);
        std::fflush(stdout);
    }
}
