// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares error rates of the Viterbi decoder with maximum likelihood on the same noise
 * and with the union bound (a short version of bench/viterbi/gate-viterbi), and tests the
 * simulation. */

#include "lab/viterbi/distance_spectrum.h"
#include "lab/viterbi/simulation.h"
#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

simulation_options
options_for(const conv_code& code, termination ends, unsigned frame_bits)
{
    simulation_options options{ viterbi_options{ code } };
    options.decoder.termination = ends;
    options.decoder.frame_bits = frame_bits;
    options.decoder.backend = backend::cpu;
    options.reference = true;
    options.seed = 20;
    options.min_errors = 3000;
    options.max_bits = 100'000'000;
    return options;
}

struct gate_case {
    const char* name;
    const char* preset;
    termination ends;
    unsigned frame_bits;
    double ebn0_db;
};

class gate : public testing::TestWithParam<gate_case>
{
};

TEST_P(gate, ErrorRate_EqualsMaximumLikelihood)
{
    const auto& c = GetParam();
    auto options = options_for(conv_code::preset(c.preset), c.ends, c.frame_bits);
    options.ebn0_db = c.ebn0_db;
    const auto result = simulate(options);
    EXPECT_GE(result.reference.errors(), options.min_errors);
    EXPECT_NEAR(result.ratio, 1, 0.05)
        << result.decoded.errors() << " errors against " << result.reference.errors();
    if (c.ends == termination::streaming) { // Frames have fewer errors near their ends.
        EXPECT_GT(test_positions(result.decoded, c.frame_bits).p_value, 1e-4);
    }
}

constexpr auto streaming = termination::streaming;
constexpr auto terminated = termination::terminated;
constexpr auto truncated = termination::truncated;
constexpr auto tailbiting = termination::tailbiting;

INSTANTIATE_TEST_SUITE_P(
    reduced,
    gate,
    testing::Values(gate_case{ "k7_2db", "gps", streaming, 0, 2 },
                    gate_case{ "k7_3db", "ccsds", streaming, 0, 3 },
                    gate_case{ "k7_terminated", "gps", terminated, 8192, 3 },
                    gate_case{ "k7_truncated", "gps", truncated, 1000, 2 },
                    gate_case{ "k7_tailbiting", "wimax", tailbiting, 1200, 2 },
                    gate_case{ "k7_tailbiting_short", "lte", tailbiting, 120, 1.5 },
                    gate_case{ "punctured_3_4", "dvb_3_4", streaming, 0, 3.5 },
                    gate_case{ "punctured_7_8", "dvb_7_8", streaming, 0, 4.5 },
                    gate_case{ "k9", "cdma_1_2", streaming, 0, 2 },
                    gate_case{ "k9_terminated", "umts_1_3", terminated, 500, 1.5 }),
    [](const auto& info) { return info.param.name; });

TEST(error_rate, TerminatedFrames_MatchIndependentSimulation)
{
    auto options = options_for(conv_code(7, { 0171, 0133 }), terminated, 8192);
    options.reference = false;
    options.ebn0_db = 2;
    options.min_errors = 20000;
    const auto result = simulate(options);
    EXPECT_NEAR(result.decoded.rate(), 5.01e-3, 2 * result.decoded.confidence());
}

// The union bound is tight at this Eb/N0. The error rate, with quantised input, is within
// 10 % of the bound.
TEST(error_rate, ShortCode_MeetsTheUnionBound)
{
    const conv_code code(3, { 07, 05 });
    auto options = options_for(code, streaming, 0);
    options.reference = false;
    options.ebn0_db = 5.5;
    options.min_errors = 2000;
    const auto result = simulate(options);
    const double bound = distance_spectrum(code).bit_error_bound(5.5);
    EXPECT_NEAR(result.decoded.rate() / bound, 1, 0.1);
}

// Survivors merge within the default overlap. Each part of a block, including the last,
// therefore has fewer than 1.15 times the error events of maximum likelihood.
TEST(gate, EndOfABlock_HasNoExcessOfErrors)
{
    auto options = options_for(conv_code(7, { 0171, 0133 }), streaming, 0);
    options.ebn0_db = 2;
    options.min_errors = 100'000;
    const auto result = simulate(options);
    const auto decoded = test_positions(result.decoded, 0);
    const auto reference = test_positions(result.reference, 0);
    EXPECT_GT(decoded.p_value, 1e-3);
    ASSERT_EQ(decoded.events.size(), reference.events.size());
    for (std::size_t bin = 0; bin < decoded.events.size(); ++bin) {
        EXPECT_LT(decoded.events[bin], 1.15 * reference.events[bin]) << bin;
    }
}

// Too little overlap raises the error rate above that of maximum likelihood, and error
// events are then not distributed uniformly over the positions in a parallel block.
TEST(gate, TooShortOverlap_RaisesErrorRate)
{
    auto options = options_for(conv_code(7, { 0171, 0133 }), streaming, 0);
    options.decoder.overlap = 16;
    options.decoder.decode_length = 128;
    options.ebn0_db = 3;
    const auto result = simulate(options);
    EXPECT_GT(result.ratio, 1.05);
    EXPECT_LT(test_positions(result.decoded, 0).p_value, 1e-9);
}

TEST(simulation, ThreadsBatchesAndSigns_DoNotChangeResult)
{
    auto options = options_for(conv_code::preset("dvb_3_4"), streaming, 0);
    options.ebn0_db = 3;
    options.max_bits = 2'000'000;
    options.min_errors = 0;
    const auto one = simulate(options);
    options.threads = 3;
    options.decoder.batch = 64;
    options.decoder.slots = 1;
    options.decoder.positive_bit = 0;
    const auto other = simulate(options);
    EXPECT_GT(one.decoded.errors(), 0u);
    EXPECT_EQ(one.decoded.errors(), other.decoded.errors());
    EXPECT_EQ(one.reference.errors(), other.reference.errors());
    EXPECT_EQ(one.errors_by_tenth, other.errors_by_tenth);
}

TEST(simulation, EverySoftFormat_MatchesMaximumLikelihood)
{
    for (const auto format :
         { soft_format::int8, soft_format::float32, soft_format::packed4 }) {
        for (const auto ends : { streaming, terminated }) {
            auto options = options_for(
                conv_code(7, { 0171, 0133 }), ends, ends == streaming ? 0 : 999);
            options.decoder.format = format;
            options.decoder.positive_bit = ends == streaming;
            options.ebn0_db = 2;
            const auto result = simulate(options);
            EXPECT_NEAR(result.ratio, 1, 0.05) << int(format);
            EXPECT_LT(result.decoded.rate(), 8e-3) << int(format);
        }
    }
}

TEST(simulation, WithoutNoise_HasNoErrors)
{
    for (const auto& p : conv_presets()) {
        auto options = options_for(conv_code::preset(p.name),
                                   p.termination,
                                   p.termination == streaming ? 0 : 1000);
        options.reference = false;
        options.ebn0_db = std::numeric_limits<double>::infinity();
        options.max_bits = 1'000'000;
        const auto result = simulate(options);
        EXPECT_GE(result.decoded.bits(), options.max_bits) << p.name;
        EXPECT_EQ(result.decoded.errors(), 0u) << p.name;
    }
}

} // namespace
