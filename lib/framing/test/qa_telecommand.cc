// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of telecommands: codes, CLTUs in noise, damaged start and tail sequences, and
 * wrong parameters. */

#include "common/packed_bits.h"
#include "framing/randomiser.h"
#include "framing/telecommand.h"
#include "telemetry.h"
#include <gtest/gtest.h>
#include <cmath>
#include <set>
#include <stdexcept>

using namespace gr::gpufec;
using framing::telecommand_bch;

namespace {

using bytes = std::vector<std::uint8_t>;

ccsds_framing framing_of(const std::string& code, const std::string& randomiser = "short")
{
    ccsds_framing framing;
    framing.code = code;
    framing.randomiser = randomiser;
    return framing;
}

bytes random_bytes(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    bytes all(count);
    std::generate(all.begin(), all.end(), [&] { return std::uint8_t(random()); });
    return all;
}

void append(bytes& bits, const bytes& packed)
{
    const auto old = bits.size();
    bits.resize(old + 8 * packed.size());
    unpack_bits(packed.data(), 0, 8 * packed.size(), bits.data() + old);
}

// A stream of CLTUs with idle sequences of alternating bits between them, one bit per
// byte.
struct uplink {
    std::vector<bytes> frames;
    std::vector<std::size_t> starts,
        ends; // index of the first bit of each start sequence, and of the first bit after
              // each tail sequence
    bytes bits;

    uplink(const ccsds_framing& framing, const std::vector<std::size_t>& sizes)
    {
        append(bits, bytes(16, 0x55));
        for (const auto size : sizes) {
            frames.push_back(random_bytes(size, unsigned(size)));
            starts.push_back(bits.size());
            append(bits,
                   ccsds_encode_cltu(
                       frames.back().data(), size, framing.code, framing.randomiser));
            ends.push_back(bits.size());
            append(bits, bytes(8, 0x55));
        }
        append(bits, bytes(64, 0x55)); // bits in which no codeword can be decoded
    }

    std::vector<std::int8_t> soft(double sigma = 0, double steps = 20) const
    {
        std::mt19937 random(9);
        std::normal_distribution<double> noise(0, 1);
        std::vector<std::int8_t> values(bits.size());
        std::transform(bits.begin(), bits.end(), values.begin(), [&](unsigned bit) {
            const auto v = (bit ? 1 : -1) + (sigma > 0 ? sigma * noise(random) : 0);
            return std::int8_t(std::lround(std::clamp(steps * v, -127.0, 127.0)));
        });
        return values;
    }
};

std::vector<ccsds_frame> receive(const ccsds_framing& framing,
                                 const std::vector<std::int8_t>& values,
                                 std::size_t piece = 100000)
{
    ccsds_frame_finder finder(framing, true);
    return find_frames(finder, values, piece);
}

// Expects the sent frames, each followed by fill bits that are shorter than a message.
void expect_frames(const std::vector<bytes>& frames,
                   const std::vector<ccsds_frame>& found,
                   const ccsds_framing& framing)
{
    const auto message = find_ccsds_telecommand_code(framing.code)->message_bits / 8;
    ASSERT_EQ(found.size(), frames.size()) << framing.code;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& got = found[i].bytes;
        EXPECT_EQ(got.size(), (frames[i].size() + message - 1) / message * message);
        ASSERT_LE(frames[i].size(), got.size());
        EXPECT_EQ(bytes(got.begin(), got.begin() + std::ptrdiff_t(frames[i].size())),
                  frames[i])
            << framing.code << ", frame " << i;
    }
}

const char* const all_codes[] = {
    "tc-bch", "tc-bch-detect", "tc-ldpc-128", "tc-ldpc-512"
};

std::string refusal(const ccsds_framing& framing, bool soft = true)
{
    try {
        ccsds_frame_finder finder(framing, soft);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

} // namespace

// Checks the first bits of the sequence, which CCSDS 231.0-B, section 6, prints, and its
// period.
TEST(Telecommand, RandomiserSequence_EqualsThatOfTheStandard)
{
    const auto sequence = framing::randomiser_sequence("telecommand", 512);
    EXPECT_EQ(bytes(sequence.begin(), sequence.begin() + 5),
              (bytes{ 0xff, 0x39, 0x9e, 0x5a, 0x68 }));
    bytes bits;
    append(bits, sequence);
    for (std::size_t i = 0; i + 255 < bits.size(); ++i) {
        ASSERT_EQ(bits[i], bits[i + 255]);
    }
    // The tail sequence of the code (128, 64) after the derandomiser, as printed in
    // corrigendum 1 of 231.0-B-4.
    auto tail = framing::tail_sequences(*find_ccsds_telecommand_code("tc-ldpc-128"))[0];
    framing::randomise(tail.data(), sequence.data(), tail.size());
    EXPECT_EQ(tail,
              (bytes{ 0x9C,
                      0x98,
                      0x73,
                      0x28,
                      0xAE,
                      0x45,
                      0x7F,
                      0x17,
                      0x39,
                      0xDC,
                      0x7A,
                      0xF4,
                      0x64,
                      0x0B,
                      0x5D,
                      0x95 }));
}

// The test computes parity bits with a shift register, one message bit after the other.
TEST(Telecommand, BchCodewords_EqualShiftRegisterOutput)
{
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 1000; ++trial) {
        const auto message = random() >> 8;
        unsigned state = 0;
        for (int i = 55; i >= 0; --i) {
            const unsigned feedback = (state >> 6 ^ unsigned(message >> i)) & 1;
            state = (state << 1 ^ (feedback ? 0b1000101u : 0u)) & 0x7f;
        }
        ASSERT_EQ(telecommand_bch::encode(message),
                  message << 8 | std::uint64_t(~state & 0x7f) << 1);
    }
}

TEST(Telecommand, Bch_CorrectsOneErrorAndDetectsTwo)
{
    const telecommand_bch bch;
    const auto sent = telecommand_bch::encode(0x123456789abcde);
    auto word = sent;
    EXPECT_EQ(bch.correct(word), 0);
    for (int a = 0; a < 64; ++a) {
        word = sent ^ std::uint64_t(1) << a;
        EXPECT_EQ(bch.correct(word), 1) << "wrong bit " << a;
        EXPECT_EQ(word, sent) << "wrong bit " << a;
        for (int b = 0; b < a; ++b) {
            word = sent ^ std::uint64_t(1) << a ^ std::uint64_t(1) << b;
            EXPECT_EQ(bch.correct(word), -1) << "wrong bits " << a << " and " << b;
            for (int c = 0; c < b; ++c) { // without correction, three errors are detected
                word = sent ^ std::uint64_t(1) << a ^ std::uint64_t(1) << b ^
                       std::uint64_t(1) << c;
                ASSERT_NE(bch.correct(word), 0)
                    << "wrong bits " << a << ", " << b << " and " << c;
            }
        }
    }
    std::uint64_t tail = 0xC5C5C5C5C5C5C579;
    EXPECT_EQ(bch.correct(tail), -1);
}

// The CLTUs are from other encoders. The first CLTU, without randomiser, is from the
// tests of yamcs (BchCltuGeneratorTest.java). The second CLTU, with randomiser, is from
// the tests of dariol83/ccsds (TcEncoderTest.java).
TEST(Telecommand, BchCltus_EqualCltusOfPublishedEncoders)
{
    const auto of_hex = [](const std::string& hex) {
        bytes all;
        for (std::size_t i = 0; i < hex.size(); i += 2) {
            all.push_back(std::uint8_t(std::stoi(hex.substr(i, 2), nullptr, 16)));
        }
        return all;
    };
    const auto first = of_hex("22F600FF00421A8CC00E010D1906301B000900820010E4C1");
    EXPECT_EQ(
        ccsds_encode_cltu(first.data(), first.size(), "tc-bch", "none"),
        of_hex("EB9022F600FF00421A128CC00E010D19065A301B00090082005410E4C1555555553E"
               "C5C5C5C5C5C5C579"));
    auto second = of_hex("FF429A5468E804F6688C29A6395702");
    framing::randomise(second.data(),
                       framing::randomiser_sequence("telecommand", second.size()).data(),
                       second.size());
    EXPECT_EQ(second[1], 123); // the spacecraft identifier
    EXPECT_EQ(ccsds_encode_cltu(second.data(), second.size(), "tc-bch", "short"),
              of_hex("EB90FF429A5468E804BEF6688C29A63957C20255555555555556"
                     "C5C5C5C5C5C5C579"));
}

TEST(Telecommand, LdpcCltus_HaveSequencesOfTheStandard)
{
    const bytes frame(8, 0x22);
    const auto shorter = ccsds_encode_cltu(frame.data(), 8, "tc-ldpc-128", "short");
    EXPECT_EQ(shorter.size(), 8u + 16 + 16);
    const auto longer = ccsds_encode_cltu(frame.data(), 8, "tc-ldpc-512", "short");
    ASSERT_EQ(longer.size(), 8u + 64);
    EXPECT_EQ(bytes(longer.begin(), longer.begin() + 8),
              (bytes{ 0x03, 0x47, 0x76, 0xC7, 0x27, 0x28, 0x95, 0xB0 }));
    EXPECT_EQ(longer[8], 0x22 ^ 0xff);
    EXPECT_EQ(longer[16], 0x55 ^ framing::randomiser_sequence("telecommand", 9)[8]);
}

TEST(Telecommand, CleanCltusInEveryFormat_YieldSentFrames)
{
    for (const auto* const code : all_codes) {
        for (const auto* const randomiser : { "short", "none" }) {
            const auto framing = framing_of(code, randomiser);
            const uplink sent(framing, { 7, 1, 64, 1019, 32, 16 });
            const auto& known = *find_ccsds_telecommand_code(code);
            const bool has_tail = !framing::tail_sequences(known).empty();
            for (const std::size_t piece : { 1u, 97u, 100000u }) {
                const auto found = receive(framing, sent.soft(), piece);
                expect_frames(sent.frames, found, framing);
                for (std::size_t i = 0; i < found.size(); ++i) {
                    EXPECT_EQ(found[i].position, sent.starts[i]);
                    EXPECT_EQ(found[i].end,
                              sent.ends[i] - (has_tail ? known.codeword_bits : 0));
                    EXPECT_EQ(found[i].tail_found, has_tail);
                    EXPECT_TRUE(found[i].good && found[i].marker_found);
                    EXPECT_FALSE(found[i].inverted);
                    EXPECT_DOUBLE_EQ(found[i].marker_correlation, 1);
                    EXPECT_EQ(std::set<int>(found[i].corrected.begin(),
                                            found[i].corrected.end()),
                              std::set<int>{ 0 });
                }
            }
        }
    }
}

TEST(Telecommand, PackedBitsOfBchCltus_YieldSentFrames)
{
    const auto framing = framing_of("tc-bch");
    const uplink sent(framing, { 100, 20 });
    bytes packed(sent.bits.size() / 8);
    pack_bits(sent.bits.data(), sent.bits.size(), packed.data());
    ccsds_frame_finder finder(framing, false);
    expect_frames(sent.frames, find_frames(finder, packed), framing);
}

TEST(Telecommand, InvertedAndDifferentialBits_YieldSentFrames)
{
    for (const auto* const code : all_codes) {
        auto framing = framing_of(code);
        uplink sent(framing, { 64, 200 });
        auto values = sent.soft();
        for (auto& v : values) {
            v = std::int8_t(-v);
        }
        const auto found = receive(framing, values);
        expect_frames(sent.frames, found, framing);
        EXPECT_TRUE(found[0].inverted && found[1].inverted);
        framing.positive_bit = 0;
        const auto right = receive(framing, values);
        expect_frames(sent.frames, right, framing);
        EXPECT_FALSE(right[0].inverted || right[1].inverted);
    }
    auto framing = framing_of("tc-bch");
    uplink sent(framing, { 64, 200 });
    std::uint8_t level = 0;
    for (auto& bit : sent.bits) {
        bit = level ^= bit;
    }
    framing.differential = true;
    expect_frames(sent.frames, receive(framing, sent.soft()), framing);
}

TEST(Telecommand, CltusInNoise_AreFound)
{
    struct {
        const char* code;
        double esn0_db; // Es/N0 in dB of a channel bit
    } const channels[] = { { "tc-bch", 8.0 },
                           { "tc-ldpc-128", 2.5 },
                           { "tc-ldpc-512", 1.0 } };
    for (const auto& c : channels) {
        auto framing = framing_of(c.code);
        const auto sigma = std::sqrt(0.5 * std::pow(10, -c.esn0_db / 10));
        const double llr = 2 / (sigma * sigma); // of a noiseless value, in nats
        framing.llr_scale = float(20 / llr);
        uplink sent(framing, std::vector<std::size_t>(20, 64));
        const auto noise = random_bytes(1000, 5);
        bytes before;
        append(before, noise);
        sent.bits.insert(sent.bits.begin(), before.begin(), before.end());
        const auto found = receive(framing, sent.soft(sigma));
        expect_frames(sent.frames, found, framing);
        unsigned corrected = 0;
        for (const auto& frame : found) {
            for (const auto bits : frame.corrected) {
                corrected += unsigned(bits);
            }
        }
        EXPECT_GT(corrected, framing.code == "tc-bch" ? 0u : 200u);
    }
}

TEST(Telecommand, WrongBits_AreCorrectedOrEndTheCltu)
{
    for (const auto* const code : { "tc-bch", "tc-bch-detect" }) {
        const auto framing = framing_of(code);
        const bool corrects = framing.code == "tc-bch";
        uplink sent(framing, { 70 });
        sent.bits[sent.starts[0] + 16 + 3 * 64 + 20] ^= 1;
        const auto found = receive(framing, sent.soft());
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].bytes.size(), corrects ? 70u : 21u);
        EXPECT_EQ(found[0].tail_found, corrects);
        EXPECT_EQ(std::count(found[0].corrected.begin(), found[0].corrected.end(), 1),
                  corrects ? 1 : 0);
    }
}

TEST(Telecommand, DamagedTail_StillEndsTheCltu)
{
    for (const auto* const code : { "tc-bch", "tc-bch-detect", "tc-ldpc-128" }) {
        const auto framing = framing_of(code);
        ccsds_frame_finder finder(framing, true);
        const auto tolerated = finder.track_errors();
        EXPECT_EQ(tolerated, framing.code == "tc-ldpc-128" ? 36u : 13u);
        for (const unsigned wrong : { 1u, tolerated, tolerated + 1 }) {
            uplink sent(framing, { 56 });
            for (unsigned i = 0; i < wrong; ++i) {
                sent.bits[sent.ends[0] - 1 - i] ^= 1;
            }
            const auto found = receive(framing, sent.soft());
            ASSERT_EQ(found.size(), 1u) << code << ", wrong bits: " << wrong;
            EXPECT_EQ(found[0].tail_found, wrong <= tolerated)
                << code << ", wrong bits: " << wrong;
            if (wrong <= tolerated) {
                EXPECT_EQ(found[0].bytes, sent.frames[0])
                    << code << ", wrong bits: " << wrong;
            }
        }
    }
}

TEST(Telecommand, EarlierTail_EndsTheCltu)
{
    const auto framing = framing_of("tc-ldpc-128");
    uplink sent(framing, { 56 });
    const auto tails =
        framing::tail_sequences(*find_ccsds_telecommand_code(framing.code));
    ASSERT_EQ(tails.size(), 2u);
    bytes tail;
    append(tail, tails[1]);
    std::copy(
        tail.begin(), tail.end(), sent.bits.begin() + std::ptrdiff_t(sent.ends[0]) - 128);
    const auto found = receive(framing, sent.soft());
    expect_frames(sent.frames, found, framing);
    EXPECT_TRUE(found[0].tail_found);
}

// Without a tail sequence, the idle sequence ends a CLTU, because the idle sequence
// cannot be decoded. With LDPC codes, the beginning of the next CLTU ends the CLTU too.
// With BCH codes the first bits of the next CLTU may be corrected to a codeword, which
// does not end the CLTU.
TEST(Telecommand, MissingTail_LosesNoFrame)
{
    for (const auto* const code : all_codes) {
        for (const unsigned idle : { 64u, 40u, 0u }) {
            const auto framing = framing_of(code);
            const auto& known = *find_ccsds_telecommand_code(code);
            if (!known.ldpc && idle < known.codeword_bits) {
                continue;
            }
            uplink sent(framing, { 64, 64, 160 });
            const auto tail =
                framing::tail_sequences(known).empty() ? 0 : known.codeword_bits;
            for (int i = 1; i >= 0; --i) {
                const auto end = sent.bits.begin() + std::ptrdiff_t(sent.ends[i]);
                sent.bits.erase(end - tail, end + 64 - idle);
            }
            const auto found = receive(framing, sent.soft());
            expect_frames(sent.frames, found, framing);
            EXPECT_FALSE(found[0].tail_found || found[1].tail_found);
            EXPECT_EQ(found[2].tail_found, tail > 0);
        }
    }
}

TEST(Telecommand, CltuCutByTheEnd_YieldsReceivedCodewords)
{
    for (const auto* const code : all_codes) {
        const auto framing = framing_of(code);
        uplink sent(framing, { 224 });
        const auto& known = *find_ccsds_telecommand_code(code);
        const auto start = framing::start_sequence(known).bits;
        sent.bits.resize(sent.starts[0] + start + 2 * known.codeword_bits + 50);
        ccsds_frame_finder finder(framing, true);
        const auto found = find_frames(finder, sent.soft());
        ASSERT_EQ(found.size(), 1u);
        const auto size = std::ptrdiff_t(2 * known.message_bits / 8);
        EXPECT_EQ(found[0].bytes,
                  bytes(sent.frames[0].begin(), sent.frames[0].begin() + size));
        EXPECT_FALSE(found[0].tail_found);
        EXPECT_EQ(finder.counts().cut, 1u);
        EXPECT_EQ(finder.counts().frames, 1u);
    }
}

TEST(Telecommand, ErrorsInTheStartSequence_AreToleratedUpToTheLimit)
{
    struct {
        const char* code;
        double false_alarm;
        unsigned tolerated;
    } const limits[] = {
        { "tc-bch", 1e-6, 0 },       { "tc-bch", 1e-3, 1 }, { "tc-ldpc-128", 1e-6, 12 },
        { "tc-ldpc-512", 1e-12, 5 }, { "tc-bch", 1e-2, 2 },
    };
    for (const auto& l : limits) {
        auto framing = framing_of(l.code);
        framing.false_alarm = l.false_alarm;
        ccsds_frame_finder finder(framing, true);
        EXPECT_EQ(finder.search_errors(), l.tolerated)
            << l.code << ", false_alarm " << l.false_alarm;
        for (const unsigned wrong : { l.tolerated, l.tolerated + 1 }) {
            uplink sent(framing, { 70 });
            for (unsigned i = 0; i < wrong; ++i) {
                sent.bits[sent.starts[0] + 5 * i % finder.marker_bits()] ^= 1;
            }
            finder.reset();
            const auto found = find_frames(finder, sent.soft());
            const auto right =
                std::count_if(found.begin(), found.end(), [&](const ccsds_frame& f) {
                    return f.position == sent.starts[0] && f.bytes.size() >= 70;
                });
            EXPECT_EQ(right, wrong == l.tolerated ? 1 : 0)
                << l.code << ", wrong bits: " << wrong;
        }
    }
}

// Asserts that the number of false starts in noise agrees with the formula within four
// standard deviations.
TEST(Telecommand, Noise_HasAsManyFalseStartsAsTheFormulaPredicts)
{
    for (const auto& [code, false_alarm] : { std::pair("tc-bch-detect", 1e-6),
                                             { "tc-bch-detect", 1e-3 },
                                             { "tc-bch", 1e-6 } }) {
        auto framing = framing_of(code);
        framing.false_alarm = false_alarm;
        ccsds_frame_finder finder(framing, false);
        const std::size_t count = 1 << 20;
        const auto found = find_frames(finder, random_bytes(count, 21));
        const auto counts = finder.counts();
        const double expected =
            8.0 * count * 2 * framing::chance_of_marker(16, finder.search_errors());
        EXPECT_NEAR(
            double(counts.unconfirmed + counts.frames), expected, 4 * std::sqrt(expected))
            << code << ", false_alarm " << false_alarm;
        // A random word is a codeword whose filler bit is 0 with a probability of 2^-8.
        // The decoder corrects 65 words to each codeword.
        const double decoded = expected * (framing.code == "tc-bch" ? 65 : 1) / 256;
        EXPECT_NEAR(double(counts.frames), decoded, 4 * std::sqrt(decoded) + 1);
        EXPECT_EQ(counts.frames, found.size());
    }
    for (const auto* const code : { "tc-ldpc-128", "tc-ldpc-512" }) {
        auto framing = framing_of(code);
        framing.false_alarm = 1e-4;
        ccsds_frame_finder finder(framing, true);
        std::vector<std::int8_t> noise(1 << 22);
        std::mt19937 random(8);
        std::normal_distribution<float> normal(0, 20);
        for (auto& v : noise) {
            v = std::int8_t(std::lround(std::clamp(normal(random), -127.f, 127.f)));
        }
        find_frames(finder, noise);
        const auto counts = finder.counts();
        const double expected = double(noise.size()) * 2 *
                                framing::chance_of_marker(64, finder.search_errors());
        EXPECT_LE(counts.unconfirmed + counts.frames,
                  1.5 * expected + 4 * std::sqrt(expected));
        EXPECT_GE(counts.unconfirmed + counts.frames,
                  0.5 * expected - 4 * std::sqrt(expected));
        EXPECT_LE(counts.frames, 2u);
    }
}

// After a false start sequence the search continues at its second bit, which must still
// be stored.
TEST(Telecommand, NoiseInPieces_YieldsTheSameFrames)
{
    for (const auto* const code : { "tc-bch", "tc-bch-detect" }) {
        auto framing = framing_of(code);
        framing.false_alarm = 1e-2;
        const auto noise = random_bytes(100000, 22);
        ccsds_frame_finder whole(framing, false);
        const auto expected = find_frames(whole, noise);
        EXPECT_GT(expected.size(), 10u);
        for (const std::size_t piece : { 1u, 7u, 64u, 700u }) {
            ccsds_frame_finder finder(framing, false);
            const auto found = find_frames(finder, noise, piece);
            ASSERT_EQ(found.size(), expected.size()) << code << ", pieces of " << piece;
            for (std::size_t i = 0; i < found.size(); ++i) {
                ASSERT_EQ(found[i].position, expected[i].position);
                ASSERT_EQ(found[i].bytes, expected[i].bytes);
            }
            EXPECT_EQ(finder.counts().unconfirmed, whole.counts().unconfirmed);
        }
    }
}

TEST(Telecommand, GivenFrameLength_RemovesFillBits)
{
    for (const auto* const code : all_codes) {
        auto framing = framing_of(code);
        framing.frame_bytes = 100;
        const uplink sent(framing, { 100, 100 });
        const auto found = receive(framing, sent.soft());
        ASSERT_EQ(found.size(), 2u);
        EXPECT_EQ(found[0].bytes, sent.frames[0]);
        EXPECT_EQ(found[1].bytes, sent.frames[1]);
    }
}

TEST(Telecommand, FrameThatFillsItsCodewords_EndsWithOrWithoutTail)
{
    // 98 and 64 bytes fill whole codewords. The codewords then end where the frame ends.
    for (const auto* const code : { "tc-bch", "tc-ldpc-128" }) {
        auto framing = framing_of(code);
        framing.frame_bytes = std::string(code) == "tc-bch" ? 98 : 64;
        const uplink sent(framing, { framing.frame_bytes, framing.frame_bytes });
        for (const auto& frame : receive(framing, sent.soft())) {
            EXPECT_TRUE(frame.tail_found) << code;
        }
        // A longer CLTU has another codeword in that place.
        framing.frame_bytes -= 8;
        const auto found = receive(framing, sent.soft());
        ASSERT_EQ(found.size(), 2u) << code;
        for (const auto& frame : found) {
            EXPECT_FALSE(frame.tail_found) << code;
            EXPECT_EQ(frame.bytes.size(), framing.frame_bytes);
        }
        // The end of the stream may cut off the tail.
        auto values = sent.soft();
        framing.frame_bytes += 8;
        values.resize(sent.ends[0] - 1);
        ccsds_frame_finder finder(framing, true);
        EXPECT_EQ(find_frames(finder, values).size(), 1u);
        EXPECT_EQ(finder.counts().cut, 0u);
    }
}

TEST(Telecommand, WrongRandomiserWithLdpc_IsNamedInTheVerdict)
{
    const uplink sent(framing_of("tc-ldpc-128", "none"),
                      std::vector<std::size_t>(10, 64));
    ccsds_frame_finder finder(framing_of("tc-ldpc-128", "short"), true);
    find_frames(finder, sent.soft());
    EXPECT_NE(finder.verdict().find("check code and randomiser"), std::string::npos);
    ccsds_frame_finder right(framing_of("tc-ldpc-128", "none"), true);
    find_frames(right, sent.soft());
    EXPECT_EQ(right.verdict(), "");
}

TEST(Telecommand, Reset_DiscardsThePreviousStream)
{
    const auto framing = framing_of("tc-ldpc-128");
    const uplink sent(framing, { 64 });
    const auto values = sent.soft();
    ccsds_frame_finder finder(framing, true);
    finder.push(values.data(), values.size() / 2);
    EXPECT_TRUE(finder.locked());
    finder.reset();
    EXPECT_FALSE(finder.locked());
    expect_frames(sent.frames, find_frames(finder, values), framing);
    EXPECT_EQ(finder.counts().frames, 1u);
}

TEST(Telecommand, InvalidParameters_AreRefusedWithReason)
{
    auto framing = framing_of("tc-bch", "long");
    EXPECT_EQ(refusal(framing),
              "randomiser is \"long\": allowed values are none and short");
    framing = framing_of("tc-bch");
    framing.interleaving = 2;
    EXPECT_EQ(refusal(framing),
              "interleaving is 2: the only allowed value is 1 with telecommand codes");
    framing = framing_of("tc-bch");
    framing.constellation = "qpsk";
    EXPECT_EQ(refusal(framing),
              "constellation is \"qpsk\": the only allowed value is \"bpsk\" with "
              "telecommand codes");
    framing = framing_of("TC_BCH");
    framing.frame_bytes = 16385;
    EXPECT_EQ(
        refusal(framing),
        "frame_bytes is 16385: allowed values are 0 to 16384 with telecommand codes");
    framing = framing_of("tc-ldpc-128");
    EXPECT_EQ(
        refusal(framing, false),
        "code is \"tc-ldpc-128\": allowed values are \"tc-bch\" and \"tc-bch-detect\" "
        "with bits as input");
    framing.differential = true;
    EXPECT_EQ(refusal(framing),
              "differential is true: the only allowed value is false with LDPC codes");
    framing = framing_of("tc-ldpc-128");
    framing.false_alarm = 0;
    EXPECT_EQ(refusal(framing),
              "false_alarm is 0: allowed values are above 0 and below 1");
    framing.false_alarm = 0.5;
    framing.llr_scale = 0;
    EXPECT_NE(refusal(framing).find("llr_scale is 0"), std::string::npos);
    framing.llr_scale = 2;
    framing.max_iterations = 0;
    EXPECT_NE(refusal(framing).find("max_iterations is 0"), std::string::npos);

    const std::uint8_t frame[1] = {};
    const auto encoding =
        [&](std::size_t size, const char* code, const char* randomiser) {
            try {
                ccsds_encode_cltu(frame, size, code, randomiser);
            } catch (const std::invalid_argument& e) {
                return std::string(e.what());
            }
            return std::string();
        };
    EXPECT_EQ(encoding(0, "tc-bch", "none"),
              "length of the frame is 0: allowed values are 1 to 16384 bytes");
    EXPECT_EQ(encoding(1, "c2", "none"),
              "code is \"c2\": allowed values are tc-bch, tc-bch-detect, tc-ldpc-128 and "
              "tc-ldpc-512");
    EXPECT_EQ(encoding(1, "tc-bch", "long"),
              "randomiser is \"long\": allowed values are none and short");
}
