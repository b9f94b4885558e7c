// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of markers, their search, orientations of symbols, and randomisers. */

#include "common/cpu_variant.h"
#include "common/packed_bits.h"
#include "framing/marker_search.h"
#include "framing/randomiser.h"
#include "framing/received_bits.h"
#include <gtest/gtest.h>
#include <cmath>
#include <random>
#include <stdexcept>

using namespace gr::gpufec;
using namespace gr::gpufec::framing;

namespace {

using bytes = std::vector<std::uint8_t>;

bytes random_bytes(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    bytes all(count);
    for (auto& byte : all) {
        byte = std::uint8_t(random());
    }
    return all;
}

void flip_bit(bytes& all, std::size_t bit) { all[bit / 8] ^= 0x80 >> bit % 8; }

bool bit_of(const bytes& all, std::size_t bit)
{
    return all[bit / 8] >> (7 - bit % 8) & 1;
}

// Writes a marker that begins at bit `at`.
void write_marker(bytes& all, std::size_t at, const sync_marker& marker, bool inverted)
{
    for (unsigned i = 0; i < marker.bits; ++i) {
        const bool bit = (marker.word >> (marker.bits - 1 - i) & 1) != inverted;
        if (bit_of(all, at + i) != bit) {
            flip_bit(all, at + i);
        }
    }
}

std::vector<std::size_t>
all_hits(const marker_search& search, const bytes& all, std::size_t from, std::size_t end)
{
    std::vector<std::size_t> hits;
    search.find(all.data(), from, end, [&](std::size_t hit) {
        hits.push_back(hit);
        return false;
    });
    return hits;
}

TEST(SyncMarker, ChanceOfMarker_EqualsBinomialTail)
{
    EXPECT_DOUBLE_EQ(std::ldexp(1, -32), chance_of_marker(32, 0));
    EXPECT_DOUBLE_EQ(std::ldexp(1 + 32 + 496 + 4960, -32), chance_of_marker(32, 3));
    EXPECT_DOUBLE_EQ(std::ldexp(1 + 64 + 2016, -64), chance_of_marker(64, 2));
    EXPECT_NEAR(1, chance_of_marker(32, 32), 1e-12);
}

TEST(SyncMarker, Tolerance_IsTheLargestThatTheFormulaAllows)
{
    for (const auto& marker : { ccsds_marker, ccsds_ar4ja_marker }) {
        for (const std::size_t period : { 40u, 1000u, 10232u, 131104u }) {
            for (const unsigned hypotheses : { 2u, 8u, 12u }) {
                for (const double wanted : { 1e-3, 1e-6, 1e-9 }) {
                    const auto found = tolerance(marker, period, hypotheses, wanted);
                    const auto lock = [&](unsigned errors) {
                        const auto p = chance_of_marker(marker.bits, errors);
                        return double(period) * hypotheses * p * std::max(p, wanted);
                    };
                    EXPECT_LE(lock(found.search), wanted);
                    EXPECT_GT(lock(found.search + 1), wanted);
                    EXPECT_LE(2 * chance_of_marker(marker.bits, found.track),
                              std::sqrt(wanted));
                    EXPECT_GT(2 * chance_of_marker(marker.bits, found.track + 1),
                              std::sqrt(wanted));
                }
            }
        }
    }
}

TEST(SyncMarker, ImpossibleFalseAlarm_IsRefused)
{
    EXPECT_THROW(tolerance(ccsds_marker, 10232, 2, 1e-20), std::invalid_argument);
    EXPECT_THROW(tolerance(ccsds_marker, 10232, 2, 0), std::invalid_argument);
    EXPECT_THROW(tolerance(ccsds_marker, 10232, 2, NAN), std::invalid_argument);
    EXPECT_NO_THROW(tolerance(ccsds_ar4ja_marker, 2112, 2, 1e-20));
}

TEST(MarkerSearch, RandomBits_PositionsEqualDefinition)
{
    std::mt19937 random(7);
    const sync_marker start{ 0xEB90, 16 };
    for (const auto& marker : { start, ccsds_marker, ccsds_ar4ja_marker }) {
        auto all = random_bytes(1800, 3);
        for (const auto& [at, errors] : { std::pair(0u, 0u),
                                          { 133u, 3u },
                                          { 701u, 1u },
                                          { 4031u, 4u },
                                          { 4096u, 2u },
                                          { 9001u, 0u },
                                          { 14330u, 4u } }) {
            write_marker(all, at, marker, random() % 2);
            for (unsigned i = 0; i < errors; ++i) {
                flip_bit(all, at + random() % marker.bits);
            }
        }
        const auto end = 8 * all.size() - marker.bits + 1;
        for (const unsigned errors : { 0u, 1u, 4u, 7u, marker.bits / 2 - 1 }) {
            for (const std::size_t from : { 0u, 1u, 701u, 702u, 4097u }) {
                std::vector<std::size_t> expected;
                for (auto at = from; at < end; ++at) {
                    unsigned wrong = 0;
                    for (unsigned i = 0; i < marker.bits; ++i) {
                        wrong += bit_of(all, at + i) !=
                                 bool(marker.word >> (marker.bits - 1 - i) & 1);
                    }
                    if (wrong <= errors || wrong >= marker.bits - errors) {
                        expected.push_back(at);
                    }
                }
                EXPECT_GE(expected.size(), errors < 4 ? 1u : 2u);
                for (const auto& variant : cpu_variants()) {
                    const marker_search search(marker, errors, variant);
                    EXPECT_EQ(expected, all_hits(search, all, from, end))
                        << variant << ", " << errors << " errors from " << from;
                }
            }
        }
    }
}

TEST(MarkerSearch, RandomBits_FalseAlarmsAreAsFrequentAsStated)
{
    const unsigned errors = 5;
    const auto all = random_bytes(4u << 20, 11);
    const auto end = 8 * all.size() - 31;
    const auto hits =
        double(all_hits(marker_search(ccsds_marker, errors), all, 0, end).size());
    const auto expected = 2 * chance_of_marker(32, errors) * double(end);
    EXPECT_GT(expected, 3000);
    EXPECT_NEAR(expected, hits, 4 * std::sqrt(expected));
}

TEST(Randomiser, Sequences_BeginAsPublishedAndHaveTheirPeriods)
{
    const bytes short_start{ 0xff, 0x48, 0x0e, 0xc0, 0x9a, 0x0d, 0x70, 0xbc };
    const bytes long_start{ 0x1c, 0x71, 0xb9, 0x1b, 0xa9 };
    EXPECT_EQ(short_start, randomiser_sequence("short", 8));
    EXPECT_EQ(long_start, randomiser_sequence("Long", 5));
    EXPECT_EQ(bytes(9), randomiser_sequence("none", 9));
    EXPECT_THROW(randomiser_sequence("medium", 9), std::invalid_argument);

    // A sequence whose period in bits is odd repeats after the same number of bytes.
    for (const auto& [name, period] : { std::pair("short", 255u), { "long", 131071u } }) {
        const auto all = randomiser_sequence(name, period + 200);
        EXPECT_TRUE(std::equal(all.begin(), all.begin() + 200, all.begin() + period));
        unsigned ones = 0;
        for (unsigned bit = 0; bit < period; ++bit) {
            ones += bit_of(all, bit);
        }
        EXPECT_EQ((period + 1) / 2, ones) << "not a sequence of maximal length";
    }
}

// Returns a bit in an orientation, by the definition of orientations.
bool oriented(const bytes& all, std::size_t bit, const orientation& o)
{
    const bool second = bit % 2 != o.first;
    const auto from = o.swapped ? (second ? bit - 1 : bit + 1) : bit;
    return bit_of(all, from) != (second && o.complement);
}

TEST(ReceivedBits, Orientations_EqualDefinition)
{
    const auto all = random_bytes(512, 17);
    std::vector<std::int8_t> soft(8 * all.size());
    std::mt19937 random(4);
    for (std::size_t i = 0; i < soft.size(); ++i) {
        soft[i] = std::int8_t((1 + random() % 127) * (bit_of(all, i) ? 1 : -1));
    }
    const auto orientations = orientations_of("oqpsk");
    ASSERT_EQ(6u, orientations.size());
    ASSERT_EQ(4u, orientations_of("QPSK").size());
    ASSERT_EQ(1u, orientations_of("bpsk").size());
    EXPECT_THROW(orientations_of("8psk"), std::invalid_argument);

    received_bits hard(false, 1, false), values(true, 1, false);
    hard.push(all.data(), all.size());
    for (std::size_t i = 0, n = 1; i < soft.size(); i += n, n = 1 + n * 5 % 61) {
        values.push(soft.data() + i, std::min(n, soft.size() - i));
    }
    for (const auto& o : orientations) {
        for (const std::size_t at : { 8u, 9u, 14u, 100u, 3000u }) {
            std::uint8_t from_bits[40], from_soft[40];
            std::int8_t copied[320];
            hard.read_bits(o, at, 40, from_bits);
            values.read_bits(o, at, 40, from_soft);
            values.read_soft(o, at, 320, copied);
            for (std::size_t i = 0; i < 320; ++i) {
                const bool expected = oriented(all, at + i, o);
                ASSERT_EQ(expected, from_bits[i / 8] >> (7 - i % 8) & 1);
                ASSERT_EQ(expected, from_soft[i / 8] >> (7 - i % 8) & 1);
                ASSERT_EQ(expected, copied[i] > 0);
            }
        }
    }
}

// The opposite of −128 does not fit an int8.
TEST(ReceivedBits, SmallestSoftValue_CountsAsTheOppositeOfTheLargest)
{
    received_bits bits(true, 1, false);
    const std::vector<std::int8_t> values{ -128, -128, 127, -127, 0, -128, 1, -1 };
    bits.push(values.data(), values.size());
    const std::vector<std::int8_t> same{ -127, -127, 127, -127, 0, -127, 1, -1 },
        complement{ -127, 127, 127, 127, 0, 127, 1, 1 };
    std::vector<std::int8_t> found(values.size());
    bits.read_soft({ 0, false, false }, 0, found.size(), found.data());
    EXPECT_EQ(same, found);
    bits.read_soft({ 0, false, true }, 0, found.size(), found.data());
    EXPECT_EQ(complement, found);
}

TEST(ReceivedBits, DiscardedBits_DoNotMoveTheRemainingBits)
{
    const auto all = random_bytes(4096, 29);
    received_bits bits(false, 1, false);
    const orientation as_received = orientations_of("bpsk")[0];
    for (std::size_t i = 0; i < all.size(); i += 64) {
        bits.push(all.data() + i, 64);
        const auto keep = bits.end() - std::min<std::uint64_t>(bits.end(), 2000);
        bits.discard(keep);
        EXPECT_LE(bits.begin(), keep);
        EXPECT_LE(bits.end() - bits.begin(), 2 * (2000 + received_bits::unit));
        std::uint8_t read[64];
        bits.read_bytes(as_received, 8 * i, 64, read);
        ASSERT_TRUE(std::equal(read, read + 64, all.begin() + i));
    }
}

// Each pushed piece is memory that is freed after its bits have been discarded.
TEST(ReceivedBits, BorrowedPieces_ReadAsOneStream)
{
    const auto all = random_bytes(6000, 41);
    received_bits whole(false, 1, false), pieces(false, 1, false);
    whole.push(all.data(), all.size());
    std::size_t pushed = 0;
    for (std::size_t n = 1; pushed < all.size(); n = 1 + n * 7 % 611) {
        const bytes piece(all.begin() + pushed,
                          all.begin() + std::min(pushed + n, all.size()));
        pieces.push(piece.data(), piece.size());
        pushed += piece.size();
        ASSERT_EQ(8 * pushed, pieces.end());
        for (const auto& o : orientations_of("oqpsk")) {
            // In an orientation, the first and last bits may depend on their neighbours.
            for (auto at = pieces.begin() + 8; at + 16 <= pieces.end();
                 at += 1 + at % 97) {
                const auto count = std::size_t(pieces.end() - at) / 8 - 1;
                bytes expected(count), read(count);
                whole.read_bits(o, at, count, expected.data());
                pieces.read_bits(o, at, count, read.data());
                ASSERT_EQ(expected, read) << "from bit " << at << " of " << pieces.end();
            }
        }
        pieces.discard(8 * pushed - std::min<std::size_t>(8 * pushed, 1700));
    }
}

TEST(ReceivedBits, DifferentialBitsInSeveralPushes_AreDecoded)
{
    const auto sent = random_bytes(256, 31);
    bytes levels(sent.size());
    bool level = false;
    for (std::size_t i = 0; i < 8 * sent.size(); ++i) {
        level = level != bit_of(sent, i);
        levels[i / 8] = std::uint8_t(levels[i / 8] | level << (7 - i % 8));
    }
    std::vector<std::int8_t> soft(8 * sent.size());
    for (std::size_t i = 0; i < soft.size(); ++i) {
        soft[i] = bit_of(levels, i) ? -20 : 30; // with positive_bit 0
    }
    received_bits packed(false, 1, true), values(false, 0, true);
    packed.push(levels.data(), 100);
    packed.push(levels.data() + 100, levels.size() - 100);
    values.push(soft.data(), 13);
    values.push(soft.data() + 13, soft.size() - 13);
    for (const auto* const bits : { &packed, &values }) {
        bytes read(sent.size());
        bits->read_bits(orientations_of("bpsk")[0], 0, read.size(), read.data());
        EXPECT_EQ(sent, read);
    }
}

TEST(ReceivedBits, Correlation_FollowsItsDefinition)
{
    bytes all(64);
    write_marker(all, 13, ccsds_marker, false);
    write_marker(all, 133, ccsds_ar4ja_marker, true);
    for (const unsigned positive_bit : { 0u, 1u }) {
        std::vector<std::int8_t> soft(8 * all.size());
        for (std::size_t i = 0; i < soft.size(); ++i) {
            soft[i] = bit_of(all, i) == (positive_bit == 1) ? 3 : -3;
        }
        received_bits bits(true, positive_bit, false);
        bits.push(soft.data(), soft.size());
        const auto o = orientations_of("bpsk")[0];
        EXPECT_DOUBLE_EQ(1, bits.correlation(o, 13, ccsds_marker));
        EXPECT_DOUBLE_EQ(-1, bits.correlation(o, 133, ccsds_ar4ja_marker));
    }
    flip_bit(all, 20);
    flip_bit(all, 21);
    received_bits bits(false, 1, false);
    bits.push(all.data(), all.size());
    EXPECT_DOUBLE_EQ(1 - 4.0 / 32,
                     bits.correlation(orientations_of("bpsk")[0], 13, ccsds_marker));
}

} // namespace
