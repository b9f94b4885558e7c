// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the search for DVB-S sync bytes, and of additive sequences. */

#include "qa_transmitter.h"
#include "sync_search.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>

using namespace gr::gpufec::dvbs;
using namespace gr::gpufec::dvbs::test;

namespace {

// Searches a whole stream, and returns the first alignment that fits.
std::optional<sync_search::alignment> search(const bytes& stream, std::uint64_t first = 0)
{
    sync_search searcher;
    for (std::size_t at = 0; at + frame_bytes < stream.size(); at += frame_bytes) {
        if (const auto found = searcher.add(&stream[at], first + at)) {
            return found;
        }
    }
    return {};
}

// Returns random bytes with the sync bytes of frames that begin at bit `begin`. The first
// frame has number `frame` in its group.
std::vector<bool> frames_at(std::size_t begin, unsigned frame, std::mt19937& random)
{
    auto bits = bits_of(random_bytes(14 * frame_bytes, random));
    for (auto at = begin; at + 8 <= bits.size(); at += frame_bits, ++frame) {
        for (unsigned i = 0; i < 8; ++i) {
            bits[at + i] = (0x47 >> (7 - i) & 1) != (frame % 8 == 0);
        }
    }
    return bits;
}

double binomial(unsigned n, unsigned k)
{
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) -
                    std::lgamma(n - k + 1.0) - n * std::log(2.0));
}

// Returns the expected number of fitting hypotheses per frame of random bits, by the
// formula in sync_search.h.
double hypotheses_per_frame(unsigned max_errors)
{
    const auto p = [&](unsigned m) {
        double sum = 0;
        for (unsigned e1 = 0; e1 <= 3; ++e1) {
            for (unsigned e2 = 0; e2 <= (m == 2 ? 3 : 0); ++e2) {
                for (unsigned e = 0; e1 + e2 + e <= max_errors; ++e) {
                    sum += binomial(8, e1) * (m == 2 ? binomial(8, e2) : 1) *
                           binomial(8 * (12 - m), e);
                }
            }
        }
        return sum;
    };
    return 1632 * 12 * (4 * p(1) + 4 * p(2));
}

} // namespace

TEST(AdditiveSequence, Reflection_IsTheCodeSequenceOfConstantSignChanges)
{
    // Encodes the sequence at DVB's rate 5/6. For exactly one phase of the sequence, all
    // coded bits of I must be 1 and all of Q 0. The same applies with I and Q exchanged.
    const char* const sent[2] = { "10101", "11010" };
    constexpr unsigned polynomials[2] = { 0171, 0133 };
    unsigned fitting = 0;
    for (unsigned kind = 1; kind < additive_sequence::kinds; ++kind) {
        for (const bool complemented : { false, true }) {
            bytes sequence(50);
            additive_sequence(kind, complemented)
                .add(0, sequence.size(), sequence.data());
            const auto bits = bits_of(sequence);
            std::vector<bool> values[2];
            for (std::size_t t = 10; t < 400; ++t) {
                for (unsigned r = 0; r < 2; ++r) {
                    bool value = false;
                    for (unsigned i = 0; i < 7; ++i) {
                        value ^= (polynomials[r] >> (6 - i) & 1) && bits[t - i];
                    }
                    if (sent[r][t % 5] == '1') {
                        const auto nth = values[0].size() + values[1].size();
                        values[nth % 2].push_back(value);
                    }
                }
            }
            const auto all = [&](unsigned of, bool value) {
                return std::count(values[of].begin(), values[of].end(), value) ==
                       long(values[of].size());
            };
            fitting += all(0, !complemented) && all(1, complemented);
        }
    }
    EXPECT_EQ(fitting, 2u);
}

TEST(AdditiveSequence, SequenceFromAnyBit_EqualsThatPartOfTheWhole)
{
    for (unsigned kind = 0; kind < additive_sequence::kinds; ++kind) {
        const additive_sequence sequence(kind, kind % 2);
        bytes whole(100);
        sequence.add(0, whole.size(), whole.data());
        const auto bits = bits_of(whole);
        for (unsigned first = 0; first < 50; ++first) {
            bytes part(33);
            sequence.add(first, part.size(), part.data());
            EXPECT_EQ(
                bits_of(part),
                std::vector<bool>(bits.begin() + first, bits.begin() + first + 264));
        }
    }
}

TEST(SyncSearch, AnyBitOffsetAndAdditiveSequence_AreFound)
{
    std::mt19937 random(1);
    for (unsigned test = 0; test < 200; ++test) {
        const std::size_t begin = test < 8 ? test : random() % frame_bits;
        const unsigned frame = random() % 8, kind = test % 6;
        const std::uint64_t first = random() % 1000;
        const additive_sequence sequence(kind, test % 4 < 2);
        auto stream = packed(frames_at(begin, frame, random));
        sequence.add(8 * first, stream.size(), stream.data());
        const auto found = search(stream, first);
        ASSERT_TRUE(found) << "test " << test;
        EXPECT_EQ(found->bit, 8 * first + begin);
        EXPECT_EQ(found->frame, frame);
        EXPECT_EQ(found->errors, 0u);
        found->sequence.add(8 * first, stream.size(), stream.data());
        const auto back = bits_of(stream);
        bool right = true;
        for (unsigned i = 0; i < 8; ++i) {
            right &= back[begin + i] == ((0x47 >> (7 - i) & 1) != (frame == 0));
        }
        EXPECT_TRUE(right);
    }
}

TEST(SyncSearch, AtMostTenErrors_AreTolerated)
{
    std::mt19937 random(2);
    for (const unsigned errors : { 10u, 11u }) {
        for (unsigned test = 0; test < 50; ++test) {
            const std::size_t begin = random() % frame_bits;
            // Frame 7 of the window has an inverted sync byte.
            auto bits = frames_at(begin, 1, random);
            bits.resize(begin + 11 * frame_bits + 8 + 7);
            bits.resize((bits.size() / frame_bits + 1) * frame_bits + 8);
            std::vector<std::size_t> places;
            for (unsigned f = 0; f < 12; ++f) {
                for (unsigned i = 0; f != 7 && i < 8; ++i) {
                    places.push_back(begin + f * frame_bits + i);
                }
            }
            std::shuffle(places.begin(), places.end(), random);
            for (unsigned e = 0; e < errors; ++e) {
                bits[places[e]] = !bits[places[e]];
            }
            const auto found = search(packed(bits));
            ASSERT_EQ(bool(found), errors == 10);
            if (found) {
                EXPECT_EQ(found->bit, begin);
                EXPECT_EQ(found->errors, 10u);
            }
        }
    }
}

TEST(SyncSearch, RepeatedSyncByteWithoutInversion_IsRejected)
{
    EXPECT_FALSE(search(bytes(100 * frame_bytes, 0x47)));
    EXPECT_FALSE(search(bytes(100 * frame_bytes, 0xb8)));
    EXPECT_FALSE(search(bytes(100 * frame_bytes, 0x00)));
    EXPECT_FALSE(search(bytes(100 * frame_bytes, 0xff)));
    std::mt19937 random(3);
    for (unsigned period : { 1, 5, 17, 102, 204 }) {
        bytes stream(100 * frame_bytes);
        const auto repeated = random_bytes(period, random);
        for (std::size_t b = 0; b < stream.size(); ++b) {
            stream[b] = b % period ? repeated[b % period] : 0x47;
        }
        EXPECT_FALSE(search(stream)) << "period " << period;
    }
}

TEST(SyncSearch, Noise_FitsAsOftenAsTheFormulaPredicts)
{
    EXPECT_NEAR(hypotheses_per_frame(sync_search::default_max_errors), 2.5e-11, 0.05e-11);
    // Windows that do not overlap are independent.
    constexpr unsigned max_errors = 22, windows = 8000;
    const auto expected = hypotheses_per_frame(max_errors) * windows;
    ASSERT_GT(expected, 30);
    std::mt19937 random(4);
    const auto noise = random_bytes(12 * windows * frame_bytes + 1, random);
    sync_search searcher(max_errors);
    unsigned found = 0;
    for (std::size_t at = 0; at + frame_bytes < noise.size(); at += frame_bytes) {
        found += bool(searcher.add(&noise[at], at));
        if (at / frame_bytes % 12 == 11) {
            searcher.restart();
        }
    }
    EXPECT_NEAR(found, expected, 4 * std::sqrt(expected));
    EXPECT_FALSE(search(noise));
}
