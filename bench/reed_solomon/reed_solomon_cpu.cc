// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rates of the Reed-Solomon encoder and decoder on one core, in bits of
 * codewords per second of CPU time. The result is the best of several rounds, because
 * other programs slow some rounds down. Every codeword of the code (255, 223) has the
 * same number of errors. Phil Karn's decoder in gr-fec, decode_rs_8(), is measured in the
 * same rounds.
 *
 * Usage: reed_solomon_cpu [ROUNDS] */

#include "common/cpu_variant.h"
#include "json.h"
#include "rounds.h"
#include <gnuradio/gpufec/reed_solomon.h>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <numeric>
#include <random>
#include <stdexcept>

#ifdef GPUFEC_WITH_GR_FEC
extern "C" {
#include <gnuradio/fec/rs.h>
}
#endif

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;

// All frames together have about 100 kB, so they stay in the L2 cache.
constexpr unsigned codewords = 400;

double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct measured {
    std::string what, variant;
    unsigned interleaving, errors;
    std::function<double()> round; // returns the CPU time for all codewords
    double best = 1e9;
};

bytes make_frames(const reed_solomon_encoder_kernel& encoder, unsigned errors)
{
    std::mt19937 random(1);
    const auto& code = encoder.code();
    const auto depth = encoder.interleaving(), size = depth * code.n();
    bytes frames(codewords / depth * size);
    for (std::size_t at = 0; at < frames.size(); at += size) {
        bytes message(depth * code.k());
        std::generate(
            message.begin(), message.end(), [&] { return std::uint8_t(random()); });
        encoder.encode(message.data(), &frames[at]);
        for (unsigned i = 0; i < depth; ++i) {
            std::vector<unsigned> places(code.n());
            std::iota(places.begin(), places.end(), 0);
            std::shuffle(places.begin(), places.end(), random);
            for (unsigned e = 0; e < errors; ++e) {
                frames[at + places[e] * depth + i] ^= 1 + random() % 255;
            }
        }
    }
    return frames;
}

void check(int count, unsigned errors)
{
    if (count != int(errors)) {
        throw std::runtime_error("a codeword was decoded incorrectly");
    }
}

measured decoding(const reed_solomon_code& code,
                  unsigned interleaving,
                  unsigned errors,
                  const std::string& variant)
{
    const reed_solomon_decoder_kernel decoder(code, interleaving, variant);
    const auto frames =
        make_frames(reed_solomon_encoder_kernel(code, interleaving), errors);
    const auto round = [=] {
        auto received = frames;
        std::vector<int> counts(codewords);
        const auto begin = cpu_seconds();
        for (unsigned f = 0; f < codewords / interleaving; ++f) {
            decoder.decode(&received[f * interleaving * code.n()],
                           &counts[f * interleaving]);
        }
        const auto end = cpu_seconds();
        for (const auto count : counts) {
            check(count, errors);
        }
        return end - begin;
    };
    return { "decode", variant, interleaving, errors, round };
}

measured encoding(const reed_solomon_code& code, unsigned interleaving)
{
    const reed_solomon_encoder_kernel encoder(code, interleaving);
    const auto frames = make_frames(encoder, 0);
    const auto round = [=] {
        bytes encoded(frames.size());
        const auto size = interleaving * code.n();
        const auto begin = cpu_seconds();
        for (std::size_t at = 0; at < frames.size(); at += size) {
            encoder.encode(&frames[at], &encoded[at]);
        }
        const auto end = cpu_seconds();
        if (encoded != frames) {
            throw std::runtime_error("a codeword was encoded incorrectly");
        }
        return end - begin;
    };
    return { "encode", "", interleaving, 0, round };
}

#ifdef GPUFEC_WITH_GR_FEC
measured gr_fec_decoding(unsigned errors)
{
    const auto code = reed_solomon_code::standard("ccsds-223-conventional");
    const auto frames = make_frames(reed_solomon_encoder_kernel(code), errors);
    const auto round = [=] {
        auto received = frames;
        std::vector<int> counts(codewords);
        const auto begin = cpu_seconds();
        for (unsigned f = 0; f < codewords; ++f) {
            counts[f] = decode_rs_8(&received[f * code.n()], nullptr, 0);
        }
        const auto end = cpu_seconds();
        for (const auto count : counts) {
            check(count, errors);
        }
        return end - begin;
    };
    return { "gr-fec decode_rs_8", "", 1, errors, round };
}
#endif

void measure_all(int rounds)
{
    const auto code = reed_solomon_code::standard("ccsds-223");
    std::vector<measured> all;
    for (const auto& variant : cpu_variants()) {
        for (const unsigned interleaving : { 1u, 5u }) {
            for (const unsigned errors : { 0u, 1u, 16u }) {
                all.push_back(decoding(code, interleaving, errors, variant));
            }
        }
    }
    for (const unsigned interleaving : { 1u, 5u }) {
        all.push_back(encoding(code, interleaving));
    }
#ifdef GPUFEC_WITH_GR_FEC
    for (const unsigned errors : { 0u, 1u, 16u }) {
        all.push_back(gr_fec_decoding(errors));
    }
#endif
    for (int r = 0; r < rounds; ++r) {
        for (auto& m : all) {
            m.best = std::min(m.best, m.round());
        }
    }
    auto rows = json::array();
    for (const auto& m : all) {
        rows.add(
            json::object({ { "name", m.what },
                           { "variant", m.variant },
                           { "interleaving", m.interleaving },
                           { "errors", m.errors },
                           { "bits_per_cpu_s", codewords * code.n() * 8 / m.best } }));
    }
    std::cout << json::object({ { "benchmark", "reed_solomon_cpu" },
                                { "what",
                                  "(255, 223) of CCSDS, one thread, best of all rounds, "
                                  "on a machine with other load" },
                                { "rounds", rounds },
                                { "results", rows } })
                     .to_string()
              << '\n';
}

} // namespace

int main(int argc, char** argv)
{
    return bench::main_of_rounds(argc, argv, 200, measure_all);
}
