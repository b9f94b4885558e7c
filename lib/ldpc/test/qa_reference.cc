// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the reference decoders against exact inference, hand-computed results and a
 * published curve, and the float decoders against sum-product. */

#include "ldpc/model/reference.h"
#include "qa_support.h"

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

// Returns the decisions of exact bitwise inference, by trying every codeword.
std::vector<std::uint8_t> exact(const ldpc_code& code, const std::vector<double>& llr)
{
    const ldpc_encoder_kernel encoder(code);
    std::vector<double> zero(code.n(), 0), one(code.n(), 0);
    for (unsigned m = 0; m < 1u << code.k(); ++m) {
        std::vector<std::uint8_t> message, word(code.n());
        for (unsigned i = 0; i < code.k(); ++i) {
            message.push_back(m >> i & 1);
        }
        encoder.encode(message.data(), word.data());
        double likelihood = 1;
        for (unsigned i = 0; i < code.n(); ++i) {
            likelihood *= std::exp(word[i] ? -llr[i] / 2 : llr[i] / 2);
        }
        for (unsigned i = 0; i < code.n(); ++i) {
            (word[i] ? one : zero)[i] += likelihood;
        }
    }
    std::vector<std::uint8_t> bits;
    for (unsigned i = 0; i < code.n(); ++i) {
        bits.push_back(one[i] > zero[i]);
    }
    return bits;
}

// Returns the number of frame errors of layered sum-product for the short code of rate
// 3/4 with BPSK and 50 iterations.
unsigned frame_errors(double eb_n0_db, unsigned frames, unsigned seed)
{
    const auto code = ldpc_code::dvbs2("short", "3/4");
    std::mt19937 random(seed);
    unsigned errors = 0;
    for (unsigned f = 0; f < frames; ++f) {
        // A QPSK symbol carries two such BPSK values.
        const double es = eb_n0_db + 10 * std::log10(2.0 * code.k() / code.n());
        const auto t = qa::transmit(code, es, random);
        const std::vector<double> llr(t.llr.begin(), t.llr.end());
        const auto r =
            reference::sum_product(code, ldpc_schedule::layered, llr, 50, true);
        errors += !std::equal(t.message.begin(), t.message.end(), r.bits.begin());
    }
    return errors;
}

} // namespace

TEST(ldpc_reference, TreeCode_DecodesExactlyBySumProduct)
{
    // Checks {0, 1, 2}, {2, 3, 4}, {4, 5, 6} form a tree.
    std::istringstream text("7 3\n2 3\n1 1 2 1 2 1 1\n3 3 3\n"
                            "1 0\n1 0\n1 2\n2 0\n2 3\n3 0\n3 0\n"
                            "1 2 3\n3 4 5\n5 6 7\n");
    const auto code = ldpc_code::from_alist(text, "tree");
    std::mt19937 random(4);
    std::normal_distribution<double> value(0.5, 1.5);
    for (unsigned trial = 0; trial < 300; ++trial) {
        std::vector<double> llr;
        for (unsigned i = 0; i < 7; ++i) {
            llr.push_back(value(random));
        }
        const auto wanted = exact(code, llr);
        for (const auto schedule : { ldpc_schedule::layered, ldpc_schedule::flooding }) {
            EXPECT_EQ(reference::sum_product(code, schedule, llr, 10, false).bits,
                      wanted);
        }
    }
}

TEST(ldpc_reference, FrameTooNoisyForMinSum_DecodesBySumProduct)
{
    // At an Es/N0 of 0.95 dB, sum-product decodes this code of rate 1/2, and min-sum
    // without an offset does not.
    const auto code = ldpc_code::dvbs2("normal", "1/2");
    std::mt19937 random(2);
    const auto t = qa::transmit(code, 0.95, random);
    const std::vector<double> llr(t.llr.begin(), t.llr.end());
    EXPECT_EQ(reference::sum_product(code, ldpc_schedule::layered, llr, 50, true).bits,
              t.codeword);
    const auto r = reference::min_sum(code, llr, 50, true);
    EXPECT_EQ(r.iterations, 50u);
    EXPECT_GT(r.unsatisfied, 0u);
}

TEST(ldpc_reference, FloatCheckNode_EqualsHandComputation)
{
    std::istringstream text("5 1\n1 5\n1 1 1 1 1\n5\n1\n1\n1\n1\n1\n1 2 3 4 5\n");
    const auto code = ldpc_code::from_alist(text, "one check");
    const auto messages = [&code](const std::vector<float>& channel, double offset) {
        const auto rule = make_message_rule(
            code, ldpc_algorithm::offset_min_sum, ldpc_precision::float32, offset, -1);
        auto r =
            reference::flooding(code, rule, qa::in_quantised(channel, rule), 1, false)
                .posteriors;
        for (std::size_t i = 0; i < r.size(); ++i) {
            r[i] = r[i] / rule.scale - channel[i];
        }
        return r;
    };
    const auto expect_near = [](const auto& got, const std::vector<double>& wanted) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
        }
    };
    // The check has five edges. The offset of the edge with the smallest magnitude is
    // 101/128 nat and declines with the distance to the next magnitude. The offset of the
    // other edges is 59/128 nat and declines with the distance to the magnitude sent to
    // the first edge. An offset is halved at a distance of 1 nat, is 0 from 2 nats on,
    // and grows at a negative distance. The exact result has 17 significant bits, of
    // which 16 are stored.
    const double first = 59 / 128.0, second = 101 / 128.0;
    const double to_all = 2 - first * (1 - (1 - second / 2) / 2) - 1 / 65536.0;
    expect_near(messages({ 3, -2, 6, 4, 7 }, -1),
                { -to_all, 3 - second / 2, -to_all, -to_all, -to_all });
    expect_near(messages({ 3, 8, 9, 5, 7 }, -1), { 5, 3, 3, 3, 3 });
    // Small magnitudes become 0. Two edges may have the smallest magnitude.
    expect_near(messages({ 0.25f, 0.5f, 3, 3, 3 }, -1), { 0.5, 0, 0, 0, 0 });
    expect_near(messages({ 1, -1, 6, 7, 8 }, -1),
                { first - 1, 1 - first, first - 1, first - 1, first - 1 });
    expect_near(messages({ 3, -2, 6, 4, 7 }, 0.75), { -1.25, 2.25, -1.25, -1.25, -1.25 });
}

// Asserts that 16 frames decode at −2.15 dB. Sum-product has a frame error rate of 1e-3
// at −2.31 dB; int8, whose offset is constant, at −1.85 dB (docs/performance.md).
TEST(ldpc_reference, FloatDecoder_DecodesNearThresholdOfSumProduct)
{
    setup s;
    s.codes = { ldpc_code::standard("dvbs2x", "normal", "13/45") };
    s.precision = ldpc_precision::float32;
    s.max_iterations = 50;
    std::mt19937 random(3);
    std::vector<qa::frame> frames;
    for (unsigned i = 0; i < 16; ++i) {
        const auto llr = qa::transmit(s.codes[0], -2.15, random).llr;
        frames.push_back({ 0, qa::in_quantised(llr, s.rule(s.codes[0])) });
    }
    unsigned valid = 0;
    for (const auto& f : qa::decode(*traits::make_cpu(s, frames.size(), 2), s, frames)) {
        valid += f.status.unsatisfied == 0;
    }
    EXPECT_EQ(valid, frames.size());
}

TEST(ldpc_reference, FrameErrorRate_AgreesWithPublishedCurve)
{
    // The published frame error rate is 3.07e-2 at 2.3 dB (docs/performance.md), on
    // average 4.6 of 150 frames. Fewer than 1 or more than 12 have a probability of about
    // 1 %.
    const auto errors = frame_errors(2.3, 150, 6);
    EXPECT_GE(errors, 1u);
    EXPECT_LE(errors, 12u);
}

// Compares more frames, at two values of Eb/N0; runs only with
// --gtest_also_run_disabled_tests.
TEST(ldpc_reference, DISABLED_LongRun_AgreesWithPublishedCurve)
{
    // The published frame error rates are 3.07e-2 and 1.90e-3; the limits are three
    // standard deviations of the count.
    const auto at_2_3 = frame_errors(2.3, 2000, 7);
    const auto at_2_4 = frame_errors(2.4, 6000, 8);
    std::printf("frame error rate %.3e at 2.3 dB, %.3e at 2.4 dB\n",
                at_2_3 / 2000.0,
                at_2_4 / 6000.0);
    EXPECT_NEAR(at_2_3, 61.4, 3 * std::sqrt(61.4));
    EXPECT_NEAR(at_2_4, 11.4, 3 * std::sqrt(11.4));
}
