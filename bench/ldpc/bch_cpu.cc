// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rates of the BCH encoder and decoder on one core, in codeword bits per
 * second. In the case decode/CODE/ERRORS/VARIANT, every frame has ERRORS errors, at
 * different positions in each frame. A code corrects up to t errors, and its decoder
 * reports a failure if ERRORS is t + 1. */

#include "common/cpu_variant.h"
#include <gnuradio/gpufec/bch.h>
#include <benchmark/benchmark.h>
#include <algorithm>
#include <random>
#include <set>

using namespace gr::gpufec;

namespace {

constexpr unsigned frame_count = 64;

using bytes = std::vector<std::uint8_t>;

std::vector<bytes> make_frames(const bch_code& code, unsigned errors)
{
    std::mt19937 random(1);
    const bch_encoder_kernel encoder(code);
    std::vector<bytes> frames;
    for (unsigned f = 0; f < frame_count; ++f) {
        bytes message((code.k() + 7) / 8), frame((code.n() + 7) / 8);
        std::generate(message.begin(), message.end(), random);
        encoder.encode(message.data(), frame.data());
        std::set<unsigned> places;
        while (places.size() < errors) {
            places.insert(random() % code.n());
        }
        for (const auto place : places) {
            frame[place / 8] ^= 0x80 >> place % 8;
        }
        frames.push_back(frame);
    }
    return frames;
}

void decode(benchmark::State& state,
            const bch_code& code,
            unsigned errors,
            const std::string& variant)
{
    const bch_decoder_kernel decoder(code, variant);
    const auto frames = make_frames(code, errors);
    const int expected = errors <= code.t() ? int(errors) : bch_decoder_kernel::failed;
    bytes frame;
    std::uint64_t bits = 0;
    unsigned next = 0;
    for (auto _ : state) {
        frame = frames[next++ % frame_count];
        const auto count = decoder.decode(frame.data());
        if (count != expected) {
            state.SkipWithError("a frame was decoded incorrectly");
            break;
        }
        benchmark::DoNotOptimize(frame.data());
        bits += code.n();
    }
    state.counters["bits"] = benchmark::Counter(bits, benchmark::Counter::kIsRate);
}

void encode(benchmark::State& state, const bch_code& code)
{
    const bch_encoder_kernel encoder(code);
    const auto frames = make_frames(code, 0);
    bytes frame(frames[0].size());
    std::uint64_t bits = 0;
    unsigned next = 0;
    for (auto _ : state) {
        encoder.encode(frames[next++ % frame_count].data(), frame.data());
        benchmark::DoNotOptimize(frame.data());
        bits += code.n();
    }
    state.counters["bits"] = benchmark::Counter(bits, benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char** argv)
{
    auto variants = cpu_variants();
    variants.erase(std::remove(variants.begin(), variants.end(), "avx512"),
                   variants.end());
    for (const auto& [size, rate] : { std::pair("normal", "1/2"),
                                      std::pair("normal", "2/3"),
                                      std::pair("normal", "9/10"),
                                      std::pair("short", "1/4"),
                                      std::pair("short", "8/9") }) {
        const auto code = bch_code::standard("dvbs2", size, rate);
        for (const auto& variant : variants) {
            for (const unsigned errors : { 0u, 1u, 2u, code.t(), code.t() + 1 }) {
                const auto name = "decode/" + code.name() + "/" + std::to_string(errors) +
                                  "/" + variant;
                benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
                    decode(state, code, errors, variant);
                });
            }
        }
        benchmark::RegisterBenchmark(
            ("encode/" + code.name()).c_str(),
            [=](benchmark::State& state) { encode(state, code); });
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
}
