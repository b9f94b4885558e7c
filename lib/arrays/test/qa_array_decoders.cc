// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of array decoders with arrays that end within a frame or a puncturing period, and
 * with invalid input. */

#include "common/packed_bits.h"
#include <gnuradio/gpufec/arrays.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace gr::gpufec;

namespace {

// Returns the message of the std::invalid_argument that \p call throws; "" if none.
template <class Call>
std::string error_of(Call&& call)
{
    try {
        call();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

viterbi_options lte_frames(soft_format format)
{
    viterbi_options o{ conv_code::preset("lte") };
    o.frame_bits = 40;
    o.backend = backend::cpu;
    o.format = format;
    return o;
}

TEST(viterbi_array_decoder, IncompleteFrame_ErrorNamesItems)
{
    const std::vector<std::byte> in(4 * 240);
    for (const auto& [format, frame] : { std::pair(soft_format::int8, 120),
                                         std::pair(soft_format::uint8, 120),
                                         std::pair(soft_format::float32, 120),
                                         std::pair(soft_format::packed4, 60) }) {
        viterbi_array_decoder decoder(lte_frames(format), false);
        const auto suffix = ": allowed values are multiples of " + std::to_string(frame) +
                            ", the items of a frame";
        for (const int items : { 1, 100, 2 * frame - 1 }) {
            const auto expected = "items is " + std::to_string(items) + suffix;
            std::vector<std::uint8_t> out(80, 7);
            EXPECT_EQ(error_of([&] { decoder.decode(in.data(), items, out.data()); }),
                      expected);
            EXPECT_EQ(error_of([&] { decoder.output_items(items); }), expected);
            EXPECT_EQ(out, std::vector<std::uint8_t>(80, 7));
        }
        for (const unsigned frames : { 0, 1, 2 }) {
            EXPECT_EQ(decoder.output_items(frames * frame), 40 * frames);
        }
        std::vector<std::uint8_t> out(80, 7);
        decoder.decode(in.data(), 2 * frame, out.data());
        EXPECT_EQ(std::count(out.begin(), out.end(), 7), 0);
    }
}

TEST(viterbi_array_decoder, StreamEndingWithinPuncturingPeriod_IsDecoded)
{
    viterbi_options o{ conv_code::preset("dvb_3_4") };
    o.backend = backend::cpu;
    viterbi_array_decoder decoder(o, false);
    const std::vector<std::int8_t> in(101);
    std::vector<std::uint8_t> out(decoder.output_items(in.size()), 7);
    decoder.decode(in.data(), in.size(), out.data());
    EXPECT_EQ(out.size(), 76u);
    EXPECT_EQ(std::count(out.begin(), out.end(), 7), 0);
}

TEST(ldpc_array_decoder, SymbolInput_ErrorNamesSymbols)
{
    ldpc_options o;
    o.codes = { ldpc_code::dvbs2("short", "8/9") };
    o.symbols = ldpc_symbols::float32;
    o.constellations = { { "qpsk", "8/9", "short" } };
    o.backend = backend::cpu;
    EXPECT_EQ(error_of([&] { ldpc_array_decoder(o, true); }),
              "symbols is not ldpc_symbols::none: array decoders accept LLRs only; use "
              "ldpc_decoder for symbols");
}

// Tests three PPDUs: one shortened and punctured codeword, one codeword with repetition,
// and several codewords of different codes.
TEST(ldpc_array_decoder, ArrayOfPpdus_DecodesToPayloads)
{
    std::mt19937 random(11);
    for (const auto& ppdu : { wifi_ppdu(100, 104, "1/2"),
                              wifi_ppdu(1, 600, "5/6"),
                              wifi_ppdu(1500, 104, "1/2") }) {
        constexpr std::size_t count = 5;
        const std::size_t k = ppdu.payload_bits(), n = ppdu.coded_bits();
        std::vector<std::uint8_t> payloads(count * k), coded(count * n), packed;
        for (auto& bit : payloads) {
            bit = random() & 1;
        }
        std::vector<float> llr;
        std::normal_distribution<float> noise(8, 4); // LLRs of BPSK at Es/N0 = 3 dB
        for (std::size_t i = 0; i < count; ++i) {
            ppdu.encode(&payloads[i * k], &coded[i * n]);
            packed.resize((i + 1) * ((k + 7) / 8));
            pack_bits(&payloads[i * k], k, &packed[i * ((k + 7) / 8)]);
        }
        for (const auto bit : coded) {
            llr.push_back((bit ? -1 : 1) * noise(random));
        }
        ldpc_options o;
        o.backend = backend::cpu;
        o.format = llr_format::float32;
        o.batch = 3;
        for (const bool as_bytes : { true, false }) {
            ldpc_array_decoder decoder(ppdu, o, as_bytes);
            EXPECT_EQ(decoder.items_per_frame(), n);
            const auto& expected = as_bytes ? packed : payloads;
            ASSERT_EQ(count * decoder.output_items(), expected.size());
            for (int again = 0; again < 2; ++again) {
                std::vector<std::uint8_t> out(expected.size(), 7);
                std::vector<ldpc_status> statuses(count, { 0, 7 });
                decoder.decode(llr.data(), count, out.data(), statuses.data());
                EXPECT_EQ(out, expected);
                for (const auto& s : statuses) {
                    EXPECT_EQ(s.unsatisfied, 0u);
                    EXPECT_GT(s.iterations, 0u);
                }
            }
        }
    }
}

TEST(ldpc_array_decoder, CodeWithRepetition_ErrorNamesCode)
{
    ldpc_options o;
    o.backend = backend::cpu;
    o.codes = wifi_ppdu(1, 600, "5/6").codes();
    ASSERT_EQ(o.codes.size(), 1u);
    EXPECT_NE(error_of([&] {
                  ldpc_array_decoder(o, true);
              }).find("the code repeats bits; only PPDUs can have such codewords"),
              std::string::npos);
    // Filler bits do not count as repeated bits.
    o.codes = { ldpc_code::standard("ccsds_c2", "8160", "7/8") };
    EXPECT_EQ(ldpc_array_decoder(o, true).items_per_frame(), 8160u);
}

TEST(ldpc_array_decoder, OptionsThatPpdusExclude_AreRefused)
{
    const wifi_ppdu ppdu(100, 104, "1/2");
    ldpc_options o;
    o.backend = backend::cpu;
    o.codeword = true;
    EXPECT_EQ(error_of([&] { ldpc_array_decoder(ppdu, o, true); }),
              "output is not message: the decoder of PPDUs outputs only messages");
    o = {};
    o.max_iterations = 0;
    EXPECT_NE(error_of([&] { ldpc_array_decoder(ppdu, o, true); }), "");
}

} // namespace
