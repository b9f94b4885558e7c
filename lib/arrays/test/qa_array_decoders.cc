// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of array decoders with arrays that end within a frame or a puncturing period, and
 * with invalid input. */

#include <gnuradio/gpufec/arrays.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
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

TEST(viterbi_array_decoder, IncompleteFrame_IsRefusedInWords)
{
    const std::vector<std::byte> in(4 * 240);
    for (const auto& [format, frame] : { std::pair(soft_format::int8, 120),
                                         std::pair(soft_format::uint8, 120),
                                         std::pair(soft_format::float32, 120),
                                         std::pair(soft_format::packed4, 60) }) {
        viterbi_array_decoder decoder(lte_frames(format), false);
        const auto rest = ": allowed are multiples of " + std::to_string(frame) +
                          ", the items of a frame";
        for (const int items : { 1, 100, 2 * frame - 1 }) {
            const auto expected = "items is " + std::to_string(items) + rest;
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

// A stream accepts any number of items.
TEST(viterbi_array_decoder, IncompletePeriodOfAStream_IsDecoded)
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

TEST(ldpc_array_decoder, Symbols_AreRefusedInWords)
{
    ldpc_options o;
    o.codes = { ldpc_code::dvbs2("short", "8/9") };
    o.symbols = ldpc_symbols::float32;
    o.constellations = { { "qpsk", "8/9", "short" } };
    o.backend = backend::cpu;
    EXPECT_EQ(error_of([&] { ldpc_array_decoder(o, true); }),
              "symbols is not ldpc_symbols::none: arrays have LLRs; ldpc_decoder decodes "
              "symbols");
}

} // namespace
