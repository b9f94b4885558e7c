// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the repetition decoder and its block. */

#include "repetition.h"
#include <gnuradio/blocks/vector_sink.h>
#include <gnuradio/blocks/vector_source.h>
#include <gnuradio/top_block.h>
#include <gtest/gtest.h>
#include <random>

namespace gr::gpufec {
namespace {

struct sent {
    std::vector<std::uint8_t> bits;
    std::vector<std::int8_t> values;
};

sent send(std::size_t count, unsigned times)
{
    std::mt19937 random(1);
    sent s;
    for (std::size_t i = 0; i < count; ++i) {
        s.bits.push_back(random() & 1);
        for (unsigned r = 0; r < times; ++r) {
            s.values.push_back(s.bits.back() ? -10 : 10);
        }
    }
    return s;
}

TEST(repetition, Stream_DecodesAllBits)
{
    const auto s = send(10000, 5);
    repetition_options o;
    o.times = 5;
    o.batch = 300;
    repetition_decoder decoder(o, {});
    EXPECT_EQ(decoder.active_backend(), "cpu");
    EXPECT_THROW(decoder.push(std::vector<float>(5)), std::invalid_argument);
    std::vector<std::uint8_t> bits, some(100);
    for (std::size_t at = 0; bits.size() < s.bits.size();) {
        const auto count = std::min<std::size_t>(777, s.values.size() - at);
        at += decoder.push({ s.values.data() + at, count });
        if (at == s.values.size()) {
            decoder.finish();
        }
        const auto n = decoder.pull(some);
        bits.insert(bits.end(), some.begin(), some.begin() + n);
        if (n == 0) {
            decoder.wait(std::chrono::milliseconds(10));
        }
    }
    EXPECT_EQ(bits, s.bits);
    EXPECT_TRUE(decoder.done());
}

TEST(repetition, InvalidOptions_AreRefused)
{
    repetition_options o;
    o.slots = 0;
    EXPECT_THROW(repetition_decoder(o, {}), std::invalid_argument);
    o.slots = 3;
    o.backend = backend::cuda;
    EXPECT_THROW(repetition_decoder(o, {}), std::runtime_error);
}

TEST(repetition, Block_DecodesAndMovesTags)
{
    const auto s = send(20000, 3);
    tag_t tag;
    tag.offset = 3001;
    tag.key = pmt::mp("here");
    tag.value = pmt::PMT_T;
    const auto graph = gr::make_top_block("repetition");
    const auto source = blocks::vector_source_b::make(
        { s.values.begin(), s.values.end() }, false, 1, { tag });
    const auto sink = blocks::vector_sink_b::make();
    const auto block = gnuradio::make_block_sptr<repetition_block>(repetition_options());
    graph->connect(source, 0, block, 0);
    graph->connect(block, 0, sink, 0);
    graph->run();
    EXPECT_EQ(sink->data(), s.bits);
    ASSERT_EQ(sink->tags().size(), 1u);
    EXPECT_EQ(sink->tags()[0].offset, 1000u);
}

} // namespace
} // namespace gr::gpufec
