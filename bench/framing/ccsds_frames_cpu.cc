// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of ccsds_frame_finder on one core, in received bits or soft values
 * per second of CPU time. The result is the best of several rounds, because other
 * programs slow some rounds down. The input is noise, or frames without errors that begin
 * at bit 3 of a byte.
 *
 * Usage: ccsds_frames_cpu [ROUNDS] */

#include "common/cpu_variant.h"
#include "framing/test/telemetry.h"
#include "json.h"
#include "rounds.h"
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <stdexcept>

using namespace gr::gpufec;

namespace {

double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

ccsds_framing
framing_of(const std::string& code, unsigned frame_bytes, unsigned interleaving)
{
    ccsds_framing framing;
    framing.code = code;
    framing.frame_bytes = frame_bytes;
    framing.interleaving = interleaving;
    return framing;
}

// Returns the CPU time in which a finder processes all items. Throws an exception unless
// the finder finds the given number of frames.
template <class Item>
double
round(ccsds_frame_finder& finder, const std::vector<Item>& items, std::size_t frames)
{
    constexpr std::size_t piece = 8192;
    finder.reset();
    ccsds_frame frame;
    std::size_t found = 0;
    const auto pull = [&] {
        while (finder.pull(frame)) {
            ++found;
        }
    };
    const double begin = cpu_seconds();
    for (std::size_t i = 0; i < items.size(); i += piece) {
        finder.push(items.data() + i, std::min(piece, items.size() - i));
        pull();
    }
    finder.finish();
    pull();
    const double end = cpu_seconds();
    if (found != frames) {
        throw std::runtime_error("a frame was not found, or a false frame was found");
    }
    return end - begin;
}

template <class Item>
json measured(const std::string& what,
              const ccsds_framing& framing,
              const std::string& variant,
              const std::vector<Item>& items,
              std::size_t frames,
              int rounds)
{
    const bool soft = std::is_signed_v<Item>;
    ccsds_frame_finder finder(framing, soft, variant);
    double best = 1e9;
    for (int r = 0; r < rounds; ++r) {
        best = std::min(best, round(finder, items, frames));
    }
    const double bits = double(items.size()) * (soft ? 1 : 8);
    return json::object({ { "name", what },
                          { "code", framing.code },
                          { "interleaving", framing.interleaving },
                          { "constellation", framing.constellation },
                          { "input", soft ? "int8" : "packed" },
                          { "variant", variant },
                          { "bits_per_cpu_s", bits / best } });
}

void measure_all(int rounds)
{
    constexpr unsigned frames = 200;
    std::mt19937 random(1);
    std::vector<std::uint8_t> noise(1u << 18);
    std::vector<std::int8_t> soft_noise(1u << 20);
    std::generate(noise.begin(), noise.end(), [&] { return std::uint8_t(random()); });
    std::generate(
        soft_noise.begin(), soft_noise.end(), [&] { return std::int8_t(random()); });
    auto rows = json::array();
    for (const auto& variant : cpu_variants()) {
        for (const auto& framing : { framing_of("ccsds-223", 1115, 5),
                                     framing_of("ccsds-223", 223, 1),
                                     framing_of("none", 1115, 1) }) {
            telemetry sent(framing, frames, 2);
            sent.insert(0, 3, 1);
            rows.add(measured("frames", framing, variant, sent.packed(), frames, rounds));
            rows.add(measured("frames", framing, variant, sent.soft(), frames, rounds));
            rows.add(measured("noise", framing, variant, noise, 0, rounds));
        }
        for (const auto* const code : { "c2", "ar4ja-1024-1/2" }) {
            auto framing = framing_of(code, 0, 1);
            telemetry sent(framing, frames, 2);
            sent.insert(0, 3, 1);
            rows.add(measured("frames", framing, variant, sent.soft(), frames, rounds));
            for (const auto* const constellation : { "bpsk", "oqpsk" }) {
                framing.constellation = constellation;
                rows.add(measured("noise", framing, variant, soft_noise, 0, rounds));
            }
        }
    }
    std::cout << json::object({ { "benchmark", "ccsds_frames_cpu" },
                                { "what",
                                  "search for CCSDS frames, and Reed-Solomon decoding, "
                                  "one thread, on a machine with other load" },
                                { "rounds", rounds },
                                { "results", rows } })
                     .to_string()
              << '\n';
}

} // namespace

int main(int argc, char** argv)
{
    return bench::main_of_rounds(argc, argv, 50, measure_all);
}
