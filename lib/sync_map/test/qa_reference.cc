// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that the reference decoders agree with test vectors and with one another. */

#include "channel/bsid.h"
#include "qa_vectors.h"
#include "sync_map/code/channel.h"
#include "sync_map/model/reference.h"
#include <gtest/gtest.h>
#include <cmath>

namespace gr::gpufec::sync_map {
namespace {

using reference::frame_problem;
using reference::map_problem;
using reference::map_result;

void expect_close(const map_result& r, const test_vector& v, double tolerance)
{
    EXPECT_TRUE(r.valid);
    EXPECT_LE(largest_difference(r.posteriors, v.posteriors), tolerance) << v.name;
    EXPECT_LE(largest_difference(r.drifts, v.drifts), tolerance) << v.name;
}

TEST(sync_reference, Enumeration_HasPosteriorsOfTestVectors)
{
    const auto all = read_sync_vectors({ "bf_", "rx1_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    EXPECT_EQ(all.size(), 6u);
    for (const auto& v : all) {
        const auto p = frame_problem(v.code, v.channel, v.window, v.received);
        expect_close(reference::enumeration(p), v, 1e-12);
    }
}

TEST(sync_reference, CorridorAndLinearForm_HavePosteriorsOfTestVectors)
{
    const auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    EXPECT_EQ(all.size(), 12u);
    for (const auto& v : all) {
        const auto p = frame_problem(v.code, v.channel, v.window, v.received);
        expect_close(reference::linear(p), v, 1e-10);
        if (v.code.frame_symbols() <= 60) {
            expect_close(reference::corridor(p, v.change), v, 1e-10);
        }
    }
}

TEST(sync_reference, CorridorWith50Digits_AgreesWithDouble)
{
    const sync_code code = codebook_random(4, 5, 6, 11);
    const bsid_model channel(0.05, 0.08, 0.02);
    std::vector<std::uint16_t> message = { 0, 4, 2, 1, 3, 3 };
    std::vector<std::uint8_t> sent(code.frame_bits());
    sync_encoder_kernel(code).encode(message.data(), message.size(), sent.data());
    const auto received = bsid_channel(channel, 5).send(sent);
    const auto p = frame_problem(code, channel, { -8, 9 }, received);
    const drift_range change{ -4, 9 };
    const auto exact = reference::corridor_exact(p, change);
    const auto plain = reference::corridor(p, change);
    EXPECT_LE(largest_difference(exact.posteriors, plain.posteriors), 1e-14);
    EXPECT_LE(largest_difference(exact.drifts, plain.drifts), 1e-14);
    EXPECT_NEAR(exact.log_probability, plain.log_probability, 1e-12);
}

// Returns the weight of all channel paths that send symbols from number t on and receive
// items from number j on, to test enumeration().
double all_paths(const std::vector<std::uint8_t>& sent,
                 const std::vector<std::uint8_t>& received,
                 const bsid_weights& w,
                 std::size_t t,
                 std::size_t j)
{
    if (t == sent.size()) {
        return j == received.size() ? 1 : 0;
    }
    double P = w.deletion * all_paths(sent, received, w, t + 1, j);
    if (j < received.size()) {
        P += w.insertion * all_paths(sent, received, w, t, j + 1);
        P += (sent[t] == received[j] ? w.match : w.mismatch) *
             all_paths(sent, received, w, t + 1, j + 1);
    }
    return P;
}

TEST(sync_reference, Enumeration_EqualsSumOverChannelPaths)
{
    for (const unsigned alphabet : { 2u, 3u }) {
        const auto code = codebook_random(2, 3, 2, 3, alphabet);
        const bsid_model channel(0.15, 0.1, 0.07, alphabet);
        const std::vector<std::uint8_t> received = { 1, 0, 0, 1, 1 };
        const auto p = frame_problem(code, channel, { -4, 6 }, received);
        std::vector<double> L(2 * 3, 0);
        double total = 0;
        for (std::uint16_t a = 0; a < 3; ++a) {
            for (std::uint16_t b = 0; b < 3; ++b) {
                const std::uint16_t message[] = { a, b };
                std::vector<std::uint8_t> sent(4);
                sync_encoder_kernel(code).encode(message, 2, sent.data());
                const double P =
                    all_paths(sent, received, bsid_weights(channel), 0, 0) / 9;
                L[a] += P;
                L[3 + b] += P;
                total += P;
            }
        }
        for (auto& x : L) {
            x /= total;
        }
        const auto r = reference::enumeration(p);
        EXPECT_LE(largest_difference(r.posteriors, L), 1e-14);
        EXPECT_NEAR(r.log_probability, std::log(total), 1e-13);
    }
}

TEST(sync_reference, PriorsAndSoftInput_AllFormsHaveEqualPosteriors)
{
    const auto code = codebook_random(3, 4, 3, 8);
    map_problem p{ code, bsid_model(0.1, 0.12, 0.03), { -12, 12 }, 3, 2, {}, {}, {}, {} };
    for (int j = 0; j < 13; ++j) {
        const double one = 0.5 + 0.49 * std::sin(1.7 * j);
        p.likelihood.insert(p.likelihood.end(), { 1 - one, one });
    }
    for (int m = 0; m < int(p.window.size()); ++m) {
        p.start.push_back(1 + std::cos(m));
        p.end.push_back(std::ldexp(1.0, m));
    }
    for (unsigned k = 0; k < 12; ++k) {
        p.priors.push_back(0.1 + (k % 5));
    }
    const auto brute = reference::enumeration(p);
    for (const auto& r : { reference::linear(p),
                           reference::corridor(p, { -3, 24 }),
                           reference::corridor_exact(p, { -3, 24 }) }) {
        EXPECT_LE(largest_difference(r.posteriors, brute.posteriors), 1e-12);
        EXPECT_LE(largest_difference(r.drifts, brute.drifts), 1e-12);
        EXPECT_NEAR(r.log_probability, brute.log_probability, 1e-10);
    }
}

TEST(sync_reference, ImpossibleFrame_IsUniformAndNotValid)
{
    // This channel makes no errors, so bits that are not a codeword have probability 0.
    const sync_code code(2, 2, 2, { 0, 0, 0, 1, 0, 0, 0, 1 });
    const auto p = frame_problem(code, bsid_model(0, 0, 0), { 0, 0 }, { 1, 1, 1, 1 });
    for (const auto& r : { reference::linear(p),
                           reference::corridor(p, { 0, 0 }),
                           reference::enumeration(p) }) {
        EXPECT_FALSE(r.valid);
        EXPECT_EQ(r.posteriors, std::vector<double>(4, 0.5));
    }
}

} // namespace
} // namespace gr::gpufec::sync_map
