// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of ccsds_frame_finder with every format, damaged streams, wrong parameters and
 * noise. */

#include "common/cpu_variant.h"
#include "framing/received_bits.h"
#include "telemetry.h"
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>
#include <tuple>

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;

ccsds_framing framing_of(const std::string& code,
                         unsigned frame_bytes = 0,
                         unsigned interleaving = 1,
                         const std::string& randomiser = "short")
{
    ccsds_framing framing;
    framing.code = code;
    framing.frame_bytes = frame_bytes;
    framing.interleaving = interleaving;
    framing.randomiser = randomiser;
    return framing;
}

std::vector<bytes> contents(const std::vector<ccsds_frame>& found)
{
    std::vector<bytes> all;
    std::transform(found.begin(), found.end(), std::back_inserter(all), [](auto& frame) {
        return frame.bytes;
    });
    return all;
}

// Returns the frames of `sent` without those in `lost`.
std::vector<bytes> without(const telemetry& sent, std::vector<std::size_t> lost)
{
    std::vector<bytes> all;
    for (std::size_t i = 0; i < sent.frames.size(); ++i) {
        if (std::find(lost.begin(), lost.end(), i) == lost.end()) {
            all.push_back(sent.frames[i]);
        }
    }
    return all;
}

std::vector<bytes> received(const ccsds_framing& framing, const telemetry& stream)
{
    ccsds_frame_finder finder(framing, false);
    return contents(find_frames(finder, stream.packed()));
}

TEST(Ccsds, CleanStreamInEveryFormat_YieldsSentFrames)
{
    for (const auto& [code, bytes_of_frame, interleaving, randomiser] :
         { std::tuple("none", 1u, 1u, "short"),
           { "none", 1115u, 1u, "none" },
           { "none", 16384u, 1u, "long" },
           { "ccsds-223", 0u, 1u, "short" },
           { "ccsds-223", 1115u, 5u, "long" },
           { "CCSDS_223", 1784u, 8u, "none" },
           { "ccsds-239", 8 * 100u, 8u, "short" },
           { "ccsds-223-conventional", 114u, 1u, "short" },
           { "ccsds-239-conventional", 0u, 4u, "long" } }) {
        const auto framing = framing_of(code, bytes_of_frame, interleaving, randomiser);
        telemetry sent(framing, bytes_of_frame > 2000 ? 4 : 12, 5);
        sent.insert(0, 77, 1);
        for (const std::size_t piece : { 1u, 97u, 100000u }) {
            ccsds_frame_finder finder(framing, false);
            EXPECT_EQ(sent.period, finder.period());
            const auto found = find_frames(finder, sent.packed(), piece);
            ASSERT_EQ(sent.frames, contents(found)) << code << ", pieces of " << piece;
            EXPECT_EQ(sent.frames.size(), finder.counts().frames);
            EXPECT_EQ(0u, finder.counts().failed);
            EXPECT_EQ(1u, finder.counts().locks);
            EXPECT_EQ("", finder.verdict());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(77 + i * sent.period, found[i].position);
                EXPECT_TRUE(found[i].good && found[i].marker_found && !found[i].inverted);
                EXPECT_EQ(1, found[i].marker_correlation);
                EXPECT_EQ(std::string(code) == "none" ? 0 : interleaving,
                          found[i].corrected.size());
            }
        }
    }
}

TEST(Ccsds, StreamAtAnyBitPhaseAndPolarity_YieldsSentFrames)
{
    const auto framing = framing_of("ccsds-223", 60);
    for (std::size_t phase = 0; phase < 16; ++phase) {
        telemetry sent(framing, 4, 6);
        sent.insert(0, phase, 2);
        sent.flip(0, phase % 2 ? sent.bits.size() : 0);
        ccsds_frame_finder finder(framing, false);
        const auto found = find_frames(finder, sent.packed());
        ASSERT_EQ(sent.frames, contents(found));
        EXPECT_EQ(phase % 2 == 1, found[0].inverted);
    }
}

// Returns soft values that a receiver converts to `sent` by orientation `o`. The inverse
// of an exchange is the same exchange.
std::vector<std::int8_t> received_in(const framing::orientation& o,
                                     bool inverted,
                                     const std::vector<std::int8_t>& sent)
{
    auto soft = sent;
    for (std::size_t i = 2; i + 2 < soft.size(); ++i) {
        const bool second = i % 2 != o.first;
        const auto to = o.swapped ? (second ? i - 1 : i + 1) : i;
        soft[to] = std::int8_t(inverted != (second && o.complement) ? -sent[i] : sent[i]);
    }
    return soft;
}

TEST(Ccsds, RotatedAndReflectedSymbols_AreResolvedByTheMarker)
{
    for (const auto* const code : { "none", "ar4ja-1024-1/2" }) {
        for (const auto* const constellation : { "qpsk", "oqpsk" }) {
            auto framing = framing_of(code, code == std::string("none") ? 223 : 0);
            framing.constellation = constellation;
            const auto orientations = framing::orientations_of(constellation);
            for (unsigned o = 0; o < orientations.size(); ++o) {
                for (const bool inverted : { false, true }) {
                    for (const unsigned parity : { 0u, 1u }) {
                        telemetry sent(framing, 5, 8);
                        sent.insert(0, 64 + parity, 1);
                        sent.insert(sent.bits.size(), 64, 2);
                        ccsds_frame_finder finder(framing, true);
                        const auto found = find_frames(
                            finder,
                            received_in(orientations[o], inverted, sent.soft()),
                            1001);
                        ASSERT_EQ(5u, found.size())
                            << code << ", " << constellation << ", orientation " << o
                            << ", inverted " << inverted << ", after " << 64 + parity
                            << " bits";
                        for (std::size_t f = 0; f < found.size(); ++f) {
                            EXPECT_EQ(64 + parity + f * sent.period, found[f].position);
                            EXPECT_EQ(o, found[f].orientation);
                            EXPECT_EQ(inverted, found[f].inverted);
                        }
                        if (code == std::string("none")) {
                            EXPECT_EQ(sent.frames, contents(found));
                        }
                    }
                }
            }
        }
    }
}

TEST(Ccsds, SlipInAnyField_CostsOnlyTheFramesThatItDamages)
{
    for (const auto* const code : { "ccsds-223", "none" }) {
        const auto framing = framing_of(code, 223);
        const telemetry clean(framing, 7, 9);
        // The offsets count from the beginning of frame 3 and lie in its marker, data and
        // parity.
        for (const std::size_t offset :
             { 3u, 16u, 31u, 32u, 900u, 1700u, 1815u, 1900u }) {
            for (const int slip : { -17, -1, 1, 2, 40 }) {
                auto sent = clean;
                const auto at = 3 * sent.period + offset;
                if (slip < 0) {
                    sent.remove(at, std::size_t(-slip));
                } else {
                    sent.insert(at, std::size_t(slip), 3);
                }
                ccsds_frame_finder finder(framing, false);
                const auto found = contents(find_frames(finder, sent.packed()));
                for (const std::size_t good : { 0u, 1u, 2u, 5u, 6u }) {
                    EXPECT_EQ(1,
                              std::count(found.begin(), found.end(), sent.frames[good]))
                        << code << ", frame " << good << ", slip " << slip << " at "
                        << offset;
                }
                if (finder.counts().corrected > 0 || code != std::string("none")) {
                    EXPECT_EQ(1, std::count(found.begin(), found.end(), sent.frames[4]));
                    // With a code, every output frame equals a sent frame.
                    for (const auto& frame : found) {
                        EXPECT_EQ(
                            1, std::count(sent.frames.begin(), sent.frames.end(), frame));
                    }
                }
            }
        }
    }
}

// Full-length Reed-Solomon codes are cyclic, so after a slip by whole symbols the
// received word is a shifted codeword with few errors.
TEST(Ccsds, SlipByWholeSymbols_YieldsNoShiftedFrames)
{
    for (const unsigned interleaving : { 1u, 5u }) {
        for (const auto* const randomiser : { "none", "short", "long" }) {
            const auto framing = framing_of("ccsds-223", 0, interleaving, randomiser);
            const telemetry clean(framing, 6, 33);
            for (const int symbols : { -16, -5, -1, 1, 3, 15, 16 }) {
                for (const std::size_t offset : { 0u, 20u, 31u, 32u, 33u, 48u, 100u }) {
                    auto sent = clean;
                    const auto at = 2 * sent.period + offset;
                    const auto bits = 8 * interleaving * unsigned(std::abs(symbols));
                    if (symbols < 0) {
                        sent.remove(at, bits);
                    } else {
                        sent.insert(at, bits, 3);
                    }
                    const auto found = received(framing, sent);
                    EXPECT_GE(found.size(), 5u)
                        << symbols << " symbols at bit " << offset;
                    for (const auto& frame : found) {
                        EXPECT_EQ(
                            1, std::count(sent.frames.begin(), sent.frames.end(), frame))
                            << symbols << " symbols at bit " << offset << ", "
                            << interleaving << " codewords, " << randomiser;
                    }
                }
            }
        }
    }
}

TEST(Ccsds, InversionInTheMiddle_CostsOneFrame)
{
    const auto framing = framing_of("ccsds-223", 1115, 5);
    telemetry sent(framing, 8, 10);
    sent.flip(3 * sent.period + 4000, 2 * sent.period);
    ccsds_frame_finder finder(framing, false);
    EXPECT_EQ(without(sent, { 3, 5 }), contents(find_frames(finder, sent.packed())));
    EXPECT_EQ(1u, finder.counts().locks);
    EXPECT_EQ(2u, finder.counts().failed);
}

// The complement of a full-length codeword is a codeword too.
TEST(Ccsds, InversionNearTheEndsOfAFrame_YieldsNoComplement)
{
    for (const unsigned interleaving : { 1u, 5u }) {
        const auto framing = framing_of("ccsds-223", 0, interleaving);
        const telemetry clean(framing, 6, 35);
        const auto symbol = 8 * interleaving;
        for (const std::size_t offset : { 32 + symbol,
                                          32 + 8 * symbol,
                                          32 + 16 * symbol,
                                          unsigned(clean.period) - 16 * symbol,
                                          unsigned(clean.period) - symbol }) {
            auto sent = clean;
            const auto at = 2 * sent.period + offset;
            sent.flip(at, sent.bits.size() - at);
            EXPECT_EQ(without(sent, { 2 }), received(framing, sent)) << offset;
        }
    }
}

TEST(Ccsds, TruncatedFrame_IsReplacedByNextFrame)
{
    for (const auto* const code : { "ccsds-223", "none" }) {
        const auto framing = framing_of(code, 223);
        for (const std::size_t left : { 0u, 10u, 33u, 1000u, 1815u }) {
            telemetry sent(framing, 9, 11);
            sent.remove(3 * sent.period + left, sent.period - left);
            const auto found = received(framing, sent);
            for (const std::size_t good : { 0u, 1u, 2u, 5u, 6u, 7u, 8u }) {
                EXPECT_EQ(1, std::count(found.begin(), found.end(), sent.frames[good]))
                    << code << ", frame " << good << ", " << left << " bits left";
            }
        }
    }
}

// Bits are lost before the last frame, which therefore begins before its expected place
// and ends with the stream.
TEST(Ccsds, SlipBeforeTheLastFrame_CostsOneFrame)
{
    const auto framing = framing_of("ccsds-223", 223);
    telemetry sent(framing, 5, 36);
    sent.remove(3 * sent.period + 900, 8);
    EXPECT_EQ(without(sent, { 3 }), received(framing, sent));
}

TEST(Ccsds, DamagedMarkers_AreBridgedByTheFlywheel)
{
    auto framing = framing_of("ccsds-223", 223);
    telemetry sent(framing, 10, 12);
    for (const std::size_t frame : { 2u, 3u, 4u, 5u }) {
        sent.flip(frame * sent.period, 16); // half of the marker's bits are wrong
    }
    ccsds_frame_finder finder(framing, false);
    EXPECT_EQ(sent.frames, contents(find_frames(finder, sent.packed())));
    EXPECT_EQ(4u, finder.counts().missed);

    // Uncoded frames without a marker are output only if drop_failed is false.
    framing = framing_of("none", 223);
    telemetry uncoded(framing, 10, 12);
    uncoded.flip(2 * uncoded.period, 16);
    uncoded.flip(3 * uncoded.period, 16);
    EXPECT_EQ(without(uncoded, { 2, 3 }), received(framing, uncoded));
    framing.drop_failed = false;
    EXPECT_EQ(uncoded.frames, received(framing, uncoded));
}

// Behind a Viterbi decoder, the first bits of a stream have many errors.
TEST(Ccsds, FirstFrameWithDamagedMarker_IsOutputIfDecodable)
{
    for (const std::size_t before : { 0u, 77u, 5000u }) {
        for (const bool damaged : { false, true }) {
            const auto framing = framing_of("ccsds-223", 223);
            telemetry sent(framing, 4, 31);
            sent.insert(0, before, 3);
            for (std::size_t i = 0; i < 8; ++i) {
                sent.bits[before + 3 * i] ^= 1;
            }
            if (damaged) {
                sent.flip(before + 32, 300);
            }
            for (const std::size_t piece : { 7u, 100000u }) {
                ccsds_frame_finder finder(framing, false);
                const auto found = find_frames(finder, sent.packed(), piece);
                EXPECT_EQ(contents(found), damaged ? without(sent, { 0 }) : sent.frames);
                EXPECT_EQ(finder.counts().locks, 1u);
                EXPECT_EQ(finder.counts().missed, damaged ? 0u : 1u);
                EXPECT_EQ(found[0].position, before + (damaged ? sent.period : 0));
            }
        }
    }
}

TEST(Ccsds, CorrectedSymbols_AreCountedPerCodeword)
{
    const auto framing = framing_of("ccsds-223", 1115, 5);
    telemetry sent(framing, 3, 13);
    // Symbol j of codeword i is byte 5 j + i after the marker.
    const auto damage = [&](std::size_t frame, unsigned word, unsigned symbols) {
        for (unsigned j = 0; j < symbols; ++j) {
            sent.flip(frame * sent.period + 32 + 8 * (5 * (3 + 7 * j) + word) + j % 8, 1);
        }
    };
    damage(0, 1, 16);
    damage(0, 4, 2);
    damage(1, 0, 17);
    damage(1, 3, 1);
    auto all = framing;
    all.drop_failed = false;
    ccsds_frame_finder finder(all, false);
    const auto found = find_frames(finder, sent.packed());
    ASSERT_EQ(3u, found.size());
    EXPECT_EQ(sent.frames[0], found[0].bytes);
    EXPECT_EQ((std::vector<int>{ 0, 16, 0, 0, 2 }), found[0].corrected);
    EXPECT_EQ((std::vector<int>{ -1, 0, 0, 1, 0 }), found[1].corrected);
    EXPECT_FALSE(found[1].good);
    EXPECT_EQ(18u, finder.counts().corrected);
    EXPECT_EQ(1u, finder.counts().failed);
    EXPECT_EQ(without(sent, { 1 }), received(framing, sent));
}

TEST(Ccsds, MarkersInData_DoNotHideFrames)
{
    // Each frame has a marker in its data, always at the same place.
    const auto framing = framing_of("ccsds-223", 223, 1, "none");
    const framing::ccsds_format format(framing);
    telemetry sent(framing, 1, 14);
    sent.bits.clear();
    sent.frames.clear();
    for (unsigned f = 0; f < 6; ++f) {
        telemetry one(framing, 1, 100 + f);
        auto frame = one.frames[0];
        const bytes marker{ 0x1a, 0xcf, 0xfc, 0x1d };
        std::copy(marker.begin(), marker.end(), frame.begin() + 50);
        bytes word(255);
        reed_solomon_encoder_kernel(*format.code).encode(frame.data(), word.data());
        one.bits.resize(32 + 8 * word.size());
        unpack_bits(word.data(), 0, 8 * word.size(), one.bits.data() + 32);
        sent.bits.insert(sent.bits.end(), one.bits.begin(), one.bits.end());
        sent.frames.push_back(frame);
    }
    // The stream begins within a frame, before the marker in its data.
    sent.remove(0, 200);
    EXPECT_EQ(without(sent, { 0 }), received(framing, sent));
}

TEST(Ccsds, NoiseAndConstants_YieldNoFrames)
{
    std::mt19937 random(15);
    for (const auto* const code : { "none", "ccsds-223", "ccsds-239" }) {
        for (const auto* const constellation : { "bpsk", "oqpsk" }) {
            auto framing = framing_of(code, 100);
            framing.constellation = constellation;
            framing.drop_failed = false;
            bytes noise(4u << 20);
            std::generate(noise.begin(), noise.end(), [&] { return random(); });
            ccsds_frame_finder finder(framing, false);
            EXPECT_EQ(0u, find_frames(finder, noise).size()) << code;
            EXPECT_GT(finder.counts().unconfirmed, 0u);
            for (const auto byte : { 0x00, 0xff, 0xaa }) {
                finder.reset();
                EXPECT_EQ(0u,
                          find_frames(finder, bytes(100000, std::uint8_t(byte))).size());
            }
        }
    }
}

TEST(Ccsds, FramesBetweenNoise_AreFoundAgain)
{
    const auto framing = framing_of("ccsds-223", 223);
    telemetry sent(framing, 20, 16);
    for (const std::size_t frame : { 15u, 10u, 5u }) {
        sent.insert(frame * sent.period, 20000 + frame, unsigned(frame));
    }
    ccsds_frame_finder finder(framing, false);
    EXPECT_EQ(sent.frames, contents(find_frames(finder, sent.packed())));
    EXPECT_EQ(4u, finder.counts().locks);
    EXPECT_EQ(4u, finder.counts().losses + 1);
}

TEST(Ccsds, WrongParameters_AreNamedInTheVerdict)
{
    struct {
        ccsds_framing sent, set;
        const char* text;
    } const cases[] = {
        { framing_of("ccsds-223", 1115, 5),
          framing_of("ccsds-223-conventional", 1115, 5),
          "code=\"ccsds-223\", interleaving=5 and randomiser=\"short\" would" },
        { framing_of("ccsds-239", 239, 1),
          framing_of("ccsds-223", 223, 1),
          "code=\"ccsds-239\", interleaving=1" },
        { framing_of("ccsds-223", 223, 1, "long"),
          framing_of("ccsds-223", 223, 1, "short"),
          "randomiser=\"long\"" },
        // Both formats have 510 bytes after the marker, and the same distance of markers.
        { framing_of("ccsds-223", 446, 2),
          framing_of("ccsds-223", 510 - 32 * 3, 3),
          "interleaving=2" },
        { framing_of("none", 255), framing_of("ccsds-223"), "check code, interleaving" },
        { framing_of("ccsds-223", 892, 4),
          framing_of("ccsds-223", 1115, 5),
          "markers are 8192 bits apart instead of 10232: check frame_bytes" },
    };
    for (const auto& c : cases) {
        const telemetry sent(c.sent, 14, 17);
        ccsds_frame_finder finder(c.set, false);
        EXPECT_EQ(0u, find_frames(finder, sent.packed()).size());
        EXPECT_NE(std::string::npos, finder.verdict().find(c.text)) << finder.verdict();
        ccsds_frame_finder right(c.sent, false);
        EXPECT_EQ(14u, find_frames(right, sent.packed()).size());
        EXPECT_EQ("", right.verdict());
    }
}

TEST(Ccsds, MarkersAtUnequalDistances_YieldNoVerdict)
{
    const auto framing = framing_of("ccsds-223");
    telemetry sent(framing, 0, 1);
    sent.insert(0, 30000, 37);
    for (const std::size_t first : { 1000u, 4000u, 8001u, 13010u }) {
        for (unsigned i = 0; i < 32; ++i) {
            sent.bits[first + i] = framing::ccsds_marker.word >> (31 - i) & 1;
        }
    }
    ccsds_frame_finder finder(framing, false);
    EXPECT_EQ(0u, find_frames(finder, sent.packed()).size());
    EXPECT_EQ(4u, finder.counts().unconfirmed);
    EXPECT_EQ("", finder.verdict());
}

TEST(Ccsds, DifferentialStream_IsDecodedInBothPolarities)
{
    auto framing = framing_of("ccsds-223-conventional", 114);
    framing.differential = true;
    telemetry sent(framing, 6, 18);
    EXPECT_EQ(sent.frames, received(framing, sent));
    sent.flip(1, sent.bits.size() - 1);
    const auto found = received(framing, sent);
    EXPECT_EQ(sent.frames, found);
}

// Returns the soft values of a codeword as sent, without randomiser.
std::vector<std::int8_t> soft_codeword(const bytes& frame, const ccsds_framing& framing)
{
    const framing::ccsds_format format(framing);
    const auto code = ldpc_code::standard(
        format.ldpc->standard, format.ldpc->frame_size, format.ldpc->rate);
    bytes word(format.sent_bits / 8);
    ldpc_encoder_kernel(code).encode_packed(frame.data(), word.data());
    std::vector<std::int8_t> soft(format.sent_bits);
    for (std::size_t i = 0; i < soft.size(); ++i) {
        soft[i] = word[i / 8] >> (7 - i % 8) & 1 ? 40 : -40;
    }
    return soft;
}

TEST(Ccsds, LdpcCodewords_AreOutputAlignedInCorrectPolarity)
{
    for (const auto& code : ccsds_ldpc_codes()) {
        const auto framing = framing_of(code.name, 0, 1, "long");
        telemetry sent(framing, 4, 19);
        sent.flip(0, 2 * sent.period);
        sent.insert(0, 1234, 2);
        ccsds_frame_finder finder(framing, true);
        const auto found = find_frames(finder, sent.soft(), 777);
        ASSERT_EQ(4u, found.size()) << code.name;
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(i < 2, found[i].inverted);
            EXPECT_EQ(soft_codeword(sent.frames[i], framing), found[i].soft);
            EXPECT_TRUE(found[i].bytes.empty());
        }
    }
}

TEST(Ccsds, LdpcCodewordsWithoutMarker_AreOutputByTheFlywheel)
{
    const auto framing = framing_of("ar4ja-1024-4/5");
    telemetry sent(framing, 7, 34);
    sent.flip(3 * sent.period, 32);
    sent.flip(4 * sent.period, 32);
    ccsds_frame_finder finder(framing, true);
    const auto found = find_frames(finder, sent.soft());
    ASSERT_EQ(7u, found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(i != 3 && i != 4, found[i].marker_found);
        EXPECT_EQ(soft_codeword(sent.frames[i], framing), found[i].soft);
    }
}

TEST(Ccsds, NoisyLdpcCodewords_AreFoundBelowTheThresholdOfTheCode)
{
    // Es/N0 in dB at which the code has a frame error rate of about 0.1 or more.
    for (const auto& [code, esn0] : { std::pair("ar4ja-1024-1/2", -2.5),
                                      { "ar4ja-1024-4/5", 1.5 },
                                      { "c2", 3.0 } }) {
        const auto framing = framing_of(code);
        const double sigma = std::sqrt(0.5 / std::pow(10, esn0 / 10));
        unsigned lost_at_start = 0, total = 0;
        for (unsigned seed = 0; seed < 20; ++seed) {
            telemetry sent(framing, 8, 20 + seed);
            sent.insert(0, 500 + seed, seed);
            ccsds_frame_finder finder(framing, true);
            const auto found = find_frames(finder, sent.soft(30, sigma, seed));
            total += unsigned(found.size());
            for (const auto& frame : found) {
                EXPECT_EQ(0u, (frame.position - 500 - seed) % sent.period);
            }
            ASSERT_FALSE(found.empty()) << code << ", seed " << seed;
            lost_at_start += (found[0].position - 500 - seed) / sent.period > 2;
        }
        EXPECT_LE(lost_at_start, 1u) << code;
        EXPECT_GE(total, 20 * 7u) << code;
    }
}

TEST(Ccsds, NoiseAsSoftValues_YieldsNoFrames)
{
    std::mt19937 random(21);
    std::normal_distribution<float> noise(0, 25);
    std::vector<std::int8_t> values(4u << 20);
    for (auto& v : values) {
        v = std::int8_t(std::clamp(noise(random), -127.f, 127.f));
    }
    for (const auto* const code : { "c2", "ar4ja-1024-1/2" }) {
        auto framing = framing_of(code);
        framing.drop_failed = false;
        for (const auto* const constellation : { "bpsk", "oqpsk" }) {
            framing.constellation = constellation;
            ccsds_frame_finder finder(framing, true);
            EXPECT_EQ(0u, find_frames(finder, values).size());
        }
        ccsds_frame_finder finder(framing, true);
        EXPECT_EQ(0u, find_frames(finder, std::vector<std::int8_t>(1 << 20)).size());
    }
}

TEST(Ccsds, EveryInstructionSet_FindsTheSameFrames)
{
    const auto framing = framing_of("ccsds-223", 1115, 5);
    telemetry sent(framing, 5, 22);
    sent.insert(2 * sent.period + 100, 3, 1);
    for (const auto& variant : cpu_variants()) {
        ccsds_frame_finder finder(framing, false, variant);
        EXPECT_EQ(without(sent, { 2 }), contents(find_frames(finder, sent.packed())))
            << variant;
    }
}

TEST(Ccsds, InvalidParameters_AreRefusedByName)
{
    const auto refused = [](const ccsds_framing& framing, bool soft = false) {
        try {
            ccsds_frame_finder(framing, soft);
        } catch (const std::invalid_argument& error) {
            const std::string text = error.what();
            return text.substr(0, text.find(" is "));
        }
        return std::string("nothing");
    };
    EXPECT_EQ("code", refused(framing_of("ccsds-224")));
    EXPECT_EQ("code", refused(framing_of("c2"))); // LDPC codes need soft values as input
    EXPECT_EQ("interleaving", refused(framing_of("ccsds-223", 0, 9)));
    EXPECT_EQ("interleaving", refused(framing_of("none", 100, 2)));
    EXPECT_EQ("interleaving", refused(framing_of("c2", 0, 2), true));
    EXPECT_EQ("frame_bytes", refused(framing_of("none")));
    EXPECT_EQ("frame_bytes", refused(framing_of("none", 16385)));
    EXPECT_EQ("frame_bytes", refused(framing_of("ccsds-223", 224)));
    EXPECT_EQ("frame_bytes", refused(framing_of("ccsds-223", 7, 2)));
    EXPECT_EQ("frame_bytes", refused(framing_of("c2", 893), true));
    EXPECT_EQ("randomiser", refused(framing_of("none", 100, 1, "medium")));
    auto framing = framing_of("none", 100);
    framing.constellation = "8psk";
    EXPECT_EQ("constellation", refused(framing));
    framing.constellation = "qpsk";
    framing.differential = true;
    EXPECT_EQ("differential", refused(framing));
    framing = framing_of("none", 100);
    framing.false_alarm = 1e-30;
    EXPECT_EQ("false_alarm", refused(framing));
    for (const unsigned threads : { 0, 257 }) {
        EXPECT_THROW(ccsds_frame_finder(framing_of("none", 100), false, "", threads),
                     std::invalid_argument);
    }
}

} // namespace
