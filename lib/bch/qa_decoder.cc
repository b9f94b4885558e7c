// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the fast encoder and decoder against the reference, and of the reference
 * against all codewords of small codes. */

#include "common/cpu_variant.h"
#include "common/packed_bits.h"
#include "reference.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <set>

using namespace gr::gpufec;
using namespace gr::gpufec::bch;

namespace {

using bits = std::vector<std::uint8_t>;

bits packed(const bits& from)
{
    bits bytes((from.size() + 7) / 8);
    pack_bits(from.data(), from.size(), bytes.data());
    return bytes;
}

bits random_bits(unsigned count, std::mt19937& random)
{
    bits made(count);
    std::generate(made.begin(), made.end(), [&] { return random() >> 31; });
    return made;
}

void flip(bits& codeword, unsigned errors, std::mt19937& random)
{
    std::set<unsigned> places;
    while (places.size() < errors) {
        places.insert(random() % codeword.size());
    }
    for (const auto place : places) {
        codeword[place] ^= 1;
    }
}

// Checks that a decoder and the reference return the same count and the same bits.
void compare(const bch_decoder_kernel& decoder, const bits& received)
{
    auto expected = received;
    const auto count = reference_decode(decoder.code(), expected);
    auto bytes = packed(received);
    EXPECT_EQ(decoder.decode(bytes.data()), count);
    EXPECT_EQ(bytes, packed(expected));
}

std::vector<std::string> variants()
{
    auto names = cpu_variants();
    names.erase(std::remove(names.begin(), names.end(), "avx512"), names.end());
    return names;
}

// Returns codes with several fields, lengths and values of t. Some lengths are not
// multiples of 8 bits, and some are not multiples of the kernel's block of 32 bytes.
std::vector<bch_code> several_codes()
{
    return { bch_code::standard("dvbs2", "normal", "1/4"),
             bch_code::standard("dvbs2", "normal", "5/6"),
             bch_code::standard("dvbs2", "normal", "9/10"),
             bch_code::standard("dvbs2", "short", "4/5"),
             bch_code::standard("dvbs2x", "vl-snr medium", "1/5"),
             bch_code::standard("dvbs2x", "vl-snr short sf2", "1/5"),
             bch_code(0x13, 15, 2),
             bch_code(0x11d, 255, 5),
             bch_code(0x1002d, 65535, 12),
             bch_code(0x409, 700, 12),
             bch_code(0x25, 29, 3) };
}

} // namespace

TEST(Reference, SmallCode_DecodesToNearestCodeword)
{
    for (const auto& [n, t] : { std::pair(15u, 2u),
                                std::pair(15u, 3u),
                                std::pair(13u, 2u),
                                std::pair(15u, 1u) }) {
        const bch_code code(0x13, n, t);
        std::vector<unsigned> codewords;
        for (unsigned m = 0; m < 1u << code.k(); ++m) {
            bits message(code.k());
            for (unsigned i = 0; i < code.k(); ++i) {
                message[i] = m >> i & 1;
            }
            const auto codeword = reference_encode(code, message);
            EXPECT_TRUE(std::equal(message.begin(), message.end(), codeword.begin()));
            unsigned word = 0;
            for (const auto bit : codeword) {
                word = word << 1 | bit;
            }
            codewords.push_back(word);
        }
        const bch_decoder_kernel decoder(code);
        for (unsigned word = 0; word < 1u << n; ++word) {
            int count = bch_decoder_kernel::failed;
            unsigned nearest = word;
            for (const auto codeword : codewords) {
                const auto distance = unsigned(__builtin_popcount(word ^ codeword));
                if (distance <= t) {
                    count = distance;
                    nearest = codeword;
                }
            }
            bits received(n), expected(n);
            for (unsigned i = 0; i < n; ++i) {
                received[i] = word >> (n - 1 - i) & 1;
                expected[i] = nearest >> (n - 1 - i) & 1;
            }
            auto plain = received;
            ASSERT_EQ(reference_decode(code, plain), count)
                << n << ' ' << t << ' ' << word;
            ASSERT_EQ(plain, expected);
            auto bytes = packed(received);
            ASSERT_EQ(decoder.decode(bytes.data()), count);
            ASSERT_EQ(bytes, packed(expected));
        }
    }
}

TEST(Encoder, AnyMessage_EncodesAsReference)
{
    std::mt19937 random(1);
    for (const auto& code : several_codes()) {
        SCOPED_TRACE(code.name());
        const bch_encoder_kernel encoder(code);
        for (int i = 0; i < 3; ++i) {
            const auto message = random_bits(code.k(), random);
            auto input = packed(message);
            input.back() |=
                code.k() % 8 ? 0xffu >> code.k() % 8 : 0; // bits beyond k are ignored
            bits codeword((code.n() + 7) / 8, 0xa5);
            encoder.encode(input.data(), codeword.data());
            const auto expected = packed(reference_encode(code, message));
            EXPECT_EQ(codeword, expected);
            input.resize(codeword.size());
            encoder.encode(input.data(), input.data());
            EXPECT_EQ(input, expected);
        }
    }
}

TEST(Decoder, CorrectableErrors_AreCorrected)
{
    std::mt19937 random(2);
    for (const auto& standard : bch_code::standards()) {
        for (const auto& size : bch_code::frame_sizes(standard)) {
            for (const auto& rate : bch_code::rates(standard, size)) {
                const auto code = bch_code::standard(standard, size, rate);
                SCOPED_TRACE(code.name());
                const bch_encoder_kernel encoder(code);
                for (const auto& variant : variants()) {
                    const bch_decoder_kernel decoder(code, variant);
                    for (unsigned errors = 0; errors <= code.t(); ++errors) {
                        const auto message = packed(random_bits(code.k(), random));
                        bits sent(code.n() / 8), received(code.n());
                        encoder.encode(message.data(), sent.data());
                        unpack_bits(sent.data(), 0, code.n(), received.data());
                        flip(received, errors, random);
                        auto bytes = packed(received);
                        EXPECT_EQ(decoder.decode(bytes.data()), int(errors));
                        EXPECT_EQ(bytes, sent);
                    }
                }
            }
        }
    }
}

TEST(Decoder, AnyNumberOfErrors_DecodesAsReference)
{
    std::mt19937 random(3);
    for (const auto& code : several_codes()) {
        SCOPED_TRACE(code.name());
        for (const auto& variant : variants()) {
            const bch_decoder_kernel decoder(code, variant);
            const unsigned most = std::min(code.t() + 4, code.n());
            const unsigned tries = code.n() < 1000 ? 40 : 1;
            for (unsigned errors = 0; errors <= most; ++errors) {
                for (unsigned i = 0; i < tries; ++i) {
                    auto received = reference_encode(code, random_bits(code.k(), random));
                    flip(received, errors, random);
                    compare(decoder, received);
                }
            }
        }
    }
}

TEST(Decoder, RandomWords_DecodeAsReference)
{
    std::mt19937 random(4);
    for (const auto& code : several_codes()) {
        const bch_decoder_kernel decoder(code);
        const unsigned tries = code.n() < 1000 ? 2000 : 5;
        for (unsigned i = 0; i < tries; ++i) {
            compare(decoder, random_bits(code.n(), random));
        }
        compare(decoder, bits(code.n(), 1));
        compare(decoder, bits(code.n(), 0));
    }
}

TEST(Decoder, ErrorsAtBothEnds_AreCorrected)
{
    for (const auto& code : several_codes()) {
        const bch_decoder_kernel decoder(code);
        for (const unsigned place : { 0u, 1u, 7u, 8u, code.n() - 2, code.n() - 1 }) {
            bits received(code.n());
            received[place] = 1;
            auto bytes = packed(received);
            EXPECT_EQ(decoder.decode(bytes.data()), 1) << code.name() << ' ' << place;
            EXPECT_EQ(bytes, bits(bytes.size()));
        }
    }
}

TEST(Decoder, PaddingOfLastByte_IsIgnored)
{
    const bch_code code(0x25, 29, 3);
    const bch_decoder_kernel decoder(code);
    bits bytes = { 0, 0, 0, 7 };
    EXPECT_EQ(decoder.decode(bytes.data()), 0);
    bytes = { 0x40, 0, 0, 15 };
    EXPECT_EQ(decoder.decode(bytes.data()), 2);
    EXPECT_EQ(bytes, (bits{ 0, 0, 0, 7 }));
}

TEST(Decoder, UnknownInstructionSet_IsRefused)
{
    EXPECT_THROW(bch_decoder_kernel(bch_code(0x13, 15, 2), "altivec"),
                 std::invalid_argument);
}
