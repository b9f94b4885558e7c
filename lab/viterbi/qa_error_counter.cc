// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests error_counter, which counts errors and error events, and test_positions(). */

#include "lab/viterbi/simulation.h"
#include <gtest/gtest.h>
#include <cmath>

namespace {

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

std::vector<std::uint8_t> wrong_at(std::size_t count, std::vector<std::size_t> positions)
{
    std::vector<std::uint8_t> bits(count);
    for (const auto p : positions) {
        bits[p] = 1;
    }
    return bits;
}

TEST(error_counter, ListedErrors_HaveCountedEventsFramesAndPositions)
{
    const std::vector<std::uint8_t> sent(1000);
    // Three events of 3, 1 and 2 wrong bits, in two of five frames.
    const auto decoded = wrong_at(1000, { 5, 6, 36, 68, 411, 412 });
    error_counter counter(30, 200, 64);
    for (std::size_t i = 0; i < 1000; i += 50) { // calls of 50 bits each
        counter.compare(&sent[i], &decoded[i], 50);
    }
    EXPECT_EQ(counter.bits(), 1000u);
    EXPECT_EQ(counter.errors(), 6u);
    EXPECT_EQ(counter.events(), 3u);
    EXPECT_EQ(counter.frames(), 5u);
    EXPECT_EQ(counter.frame_errors(), 2u);
    EXPECT_DOUBLE_EQ(counter.rate(), 6e-3);
    EXPECT_DOUBLE_EQ(counter.confidence(), 1.96 * std::sqrt(9.0 + 1 + 4) / 1000);
    EXPECT_EQ(counter.events_at()[5], 1u);
    EXPECT_EQ(counter.events_at()[68 - 64], 1u);
    // The error at bit 411 is at position 11 of the frame that begins at bit 400.
    EXPECT_EQ(counter.events_at()[11], 1u);
}

TEST(error_counter, ManyEventsAtOnePosition_HaveSmallPValue)
{
    const std::size_t blocks = 2000, length = 128;
    const std::vector<std::uint8_t> sent(blocks * length);
    std::vector<std::size_t> even, piled;
    for (std::size_t b = 0; b < blocks; ++b) {
        even.push_back(b * length + (b * 77 + 5) % length);
        piled.push_back(b * length + (b % 8 ? (b * 77 + 5) % length : length - 1));
    }
    error_counter good(10, 0, length), bad(10, 0, length);
    good.compare(sent.data(), wrong_at(sent.size(), even).data(), sent.size());
    bad.compare(sent.data(), wrong_at(sent.size(), piled).data(), sent.size());
    EXPECT_GT(test_positions(good, 0).p_value, 0.01);
    EXPECT_LT(test_positions(bad, 0).p_value, 1e-9);
}

TEST(error_counter, ShortLastBlock_KeepsLargePValue)
{
    // Frames of 160 bits in blocks of 128: positions 0 to 31 occur twice.
    const std::size_t frames = 4000;
    const std::vector<std::uint8_t> sent(frames * 160);
    std::vector<std::size_t> positions;
    for (std::size_t f = 0; f < frames; ++f) {
        positions.push_back(f * 160 + f * 101 % 160);
    }
    error_counter counter(10, 160, 128);
    counter.compare(sent.data(), wrong_at(sent.size(), positions).data(), sent.size());
    EXPECT_GT(test_positions(counter, 160).p_value, 0.01);
}

} // namespace
