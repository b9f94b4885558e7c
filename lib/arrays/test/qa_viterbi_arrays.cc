// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that array decoding with a phase search returns the same output, lock changes and
 * lock state as the stream decoder. Further tests concern noise and invalid options. */

#include "viterbi/test/qa_support.h"
#include <gnuradio/gpufec/arrays.h>
#include <gtest/gtest.h>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;
using std::chrono_literals::operator""ms;

namespace {

struct decoded {
    std::vector<std::uint8_t> output;
    std::vector<viterbi_lock> changes;
    viterbi_lock last;
};

// Returns the results of the stream decoder.
decoded
expected(const viterbi_options& o, const std::vector<std::int8_t>& values, bool packed)
{
    const auto decoder = viterbi_decoder::make(o);
    decoded d;
    std::vector<std::uint8_t> out(1u << 14);
    std::size_t pushed = 0;
    bool finished = false;
    while (!decoder->done()) {
        pushed += decoder->push(span(values).from(pushed));
        if (pushed == values.size() && !std::exchange(finished, true)) {
            decoder->finish();
        }
        const auto n = decoder->pull({ out, packed });
        d.output.insert(d.output.end(), out.begin(), out.begin() + n);
        if (n == 0 && !decoder->done()) {
            decoder->wait(10ms);
        }
    }
    for (viterbi_lock c; decoder->take_lock(c);) {
        d.changes.push_back(c);
    }
    d.last = decoder->lock();
    return d;
}

// Decodes with an array decoder, at most \p at_once values per call.
decoded in_arrays(viterbi_array_decoder& decoder,
                  const std::vector<std::int8_t>& values,
                  std::size_t at_once)
{
    decoded d;
    for (std::size_t first = 0, end = 0; end < values.size(); first = end) {
        end = std::min(first + at_once, values.size());
        viterbi_array_decoder::status status;
        const auto out = decoder.decode_stream(
            values.data() + first, end - first, end == values.size(), &status);
        d.output.insert(d.output.end(), out.begin(), out.end());
        d.changes.insert(
            d.changes.end(), status.lock_changes.begin(), status.lock_changes.end());
        d.last = status.lock;
        if (status.lock.locked) {
            EXPECT_EQ(status.chance_error_rate, status.lock.chance_error_rate);
            EXPECT_GT(status.chance_error_rate, 0.05);
        }
    }
    return d;
}

void expect_equal(const viterbi_lock& a, const viterbi_lock& b)
{
    EXPECT_EQ(a.locked, b.locked);
    EXPECT_EQ(a.first_value, b.first_value);
    EXPECT_EQ(a.known_value, b.known_value);
    EXPECT_EQ(a.first_bit, b.first_bit);
    EXPECT_EQ(a.first_byte, b.first_byte);
    EXPECT_EQ(a.code, b.code);
    EXPECT_EQ(a.preset, b.preset);
    EXPECT_EQ(a.inverted, b.inverted);
    EXPECT_EQ(a.error_rate, b.error_rate);
    EXPECT_EQ(a.chance_error_rate, b.chance_error_rate);
    EXPECT_EQ(a.dropped, b.dropped);
    EXPECT_EQ(a.locks, b.locks);
}

void expect_same(const viterbi_options& o,
                 const std::vector<std::int8_t>& values,
                 std::size_t changes)
{
    for (const bool packed : { true, false }) {
        SCOPED_TRACE(packed);
        const auto stream = expected(o, values, packed);
        ASSERT_EQ(stream.changes.size(), changes);
        ASSERT_FALSE(stream.output.empty());
        viterbi_array_decoder decoder(o, packed, values.size());
        for (const auto at_once : { values.size(), values.size() / 7, values.size() }) {
            const auto arrays = in_arrays(decoder, values, at_once);
            EXPECT_EQ(arrays.output, stream.output);
            ASSERT_EQ(arrays.changes.size(), changes);
            for (std::size_t i = 0; i < changes; ++i) {
                expect_equal(arrays.changes[i], stream.changes[i]);
            }
            expect_equal(arrays.last, stream.last);
        }
    }
}

viterbi_options searching(const conv_code& code)
{
    viterbi_options o{ code };
    o.lock = "auto";
    o.backend = backend::cpu;
    o.positive_bit = 0;
    return o;
}

} // namespace

TEST(viterbi_arrays, StreamWithPhaseSearch_EqualsStreamDecoder)
{
    const auto one = conv_code::preset("dvb_1_2"), two = conv_code::preset("dvb_3_4");
    auto values = qa::transmit(one, termination::streaming, 0, 50000, 12, 1).values;
    const auto more = qa::transmit(two, termination::streaming, 0, 60000, 10, 2).values;
    values.erase(values.begin(), values.begin() + 1);
    values.insert(values.end(), more.begin(), more.end());
    auto o = searching(one);
    o.lock_presets = { "dvb_3_4" };
    expect_same(o, values, 3); // three lock changes: found, lost, found again
}

TEST(viterbi_arrays, TerminatedFramesWithPhaseSearch_EqualStreamDecoder)
{
    const auto code = conv_code::preset("gsm");
    auto values = qa::transmit(code, termination::terminated, 189, 18900, 12, 3).values;
    values.erase(values.begin(), values.begin() + 77);
    auto o = searching(code);
    o.termination = termination::terminated;
    o.frame_bits = 189;
    expect_same(o, values, 1);
}

TEST(viterbi_arrays, NoiseWithPhaseSearch_ProducesVerdictButNoOutput)
{
    std::mt19937 random(1);
    std::vector<std::int8_t> noise(100000);
    for (auto& v : noise) {
        v = std::int8_t(int(random() % 101) - 50);
    }
    viterbi_array_decoder decoder(searching(conv_code::preset("dvb_1_2")), true);
    viterbi_array_decoder::status status;
    EXPECT_TRUE(decoder.decode_stream(noise.data(), noise.size(), true, &status).empty());
    EXPECT_FALSE(status.lock.locked);
    EXPECT_EQ(status.lock.dropped, noise.size());
    EXPECT_TRUE(status.lock_changes.empty());
    EXPECT_TRUE(std::isnan(status.channel_error_rate));
    EXPECT_NE(status.verdict.find("no signal"), std::string::npos);
}

TEST(viterbi_arrays, UnsupportedPhaseSearch_IsRefused)
{
    auto o = searching(conv_code::preset("dvb_1_2"));
    o.termination = termination::tailbiting;
    o.frame_bits = 100;
    EXPECT_THROW(viterbi_array_decoder(o, true), std::invalid_argument);
    o = searching(conv_code::preset("dvb_1_2"));
    std::vector<std::uint8_t> in(100), out(100);
    viterbi_array_decoder decoder(o, true);
    EXPECT_THROW(decoder.decode(in.data(), in.size(), out.data()), std::invalid_argument);
}
