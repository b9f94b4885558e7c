// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the stream decoder's input: its formats, scales and signs, and borrowed input.
 * */

#include "pipeline/test/memory_of.h"
#include "qa_stream.h"
#include "viterbi/model/reference.h"
#include "viterbi/model/soft_input.h"
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <random>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;
using namespace gr::gpufec::viterbi::qa;
using namespace std::chrono_literals;

namespace {

// Converts packed values to the item type of packed4 input.
std::vector<std::uint8_t> unsigned_bytes(const std::vector<std::int8_t>& packed)
{
    return { packed.begin(), packed.end() };
}

// Decodes like run(), but the decoder borrows the first `borrow_until` items, which are
// overwritten after their release. The other items are pushed.
template <class Item>
std::vector<std::uint8_t> run_borrowing(viterbi_decoder& decoder,
                                        const std::vector<Item>& items,
                                        std::size_t most,
                                        unsigned seed,
                                        std::size_t borrow_until = ~std::size_t(0))
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> out, part(most);
    auto ring = items;
    borrow_until = std::min(borrow_until, items.size());
    std::size_t there = 0, kept = 0, pushed = 0;
    bool finished = false;
    EXPECT_TRUE(memory_of(decoder).can_borrow());
    const auto release_borrowed = [&] {
        const auto n = memory_of(decoder).release_borrowed();
        std::fill_n(ring.begin() + kept, n, Item(0x5a));
        kept += n;
    };
    while (!decoder.done()) {
        if (pushed < borrow_until) {
            there = std::min(there + 1 + random() % most, borrow_until);
            pushed += memory_of(decoder).borrow(ring.data() + kept, there - kept);
            EXPECT_EQ(memory_of(decoder).borrowed(), pushed - kept);
            release_borrowed();
            if (pushed == borrow_until && pushed < items.size()) {
                memory_of(decoder).copy_borrowed();
                EXPECT_EQ(memory_of(decoder).borrowed(), 0u);
                std::fill_n(ring.begin(), pushed, Item(0x5a));
            }
        } else if (pushed < items.size()) {
            const auto n = std::min(items.size() - pushed, 1 + random() % most);
            pushed += decoder.push({ ring.data() + pushed, n });
        } else if (!finished) {
            decoder.finish();
            finished = true;
        }
        const auto n = decoder.pull({ part.data(), 1 + random() % most, true });
        out.insert(out.end(), part.begin(), part.begin() + n);
        if (borrow_until == items.size()) {
            release_borrowed();
        }
        if (n == 0 && (finished || decoder.full())) {
            decoder.wait(1000ms);
        }
    }
    if (borrow_until == items.size()) {
        EXPECT_EQ(kept, items.size());
    }
    return out;
}

// Expects the same bits from pushed input and from input that is borrowed in chunks of
// random size. Uses several batch sizes, numbers of slots and latencies.
template <class Item>
void expect_borrowed_as_pushed(viterbi_options o, const std::vector<Item>& items)
{
    for (const unsigned batch : { 1u, 5u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const double latency : { 0.0, 10000.0 }) {
                o.batch = batch;
                o.slots = slots;
                o.max_latency_ms = latency;
                const auto decoder = viterbi_decoder::make(o);
                const auto expected = run(*decoder, items, true, 700);
                for (const std::size_t most : { 50u, 5000u }) {
                    decoder->reset();
                    ASSERT_EQ(run_borrowing(*decoder, items, most, batch), expected);
                    for (const std::size_t until : { 1u, 1000u, 4321u }) {
                        decoder->reset();
                        ASSERT_EQ(run_borrowing(*decoder, items, most, slots, until),
                                  expected)
                            << o.code.to_string() << ", batch " << batch << ", slots "
                            << slots << ", latency " << latency << " ms, chunks of up to "
                            << most << " items, borrowed until item " << until;
                    }
                }
            }
        }
    }
}

// Returns floats that round to `values` when scaled, except some that are NaN, infinite,
// 1e30, or halfway between two steps.
std::vector<float> as_floats(const std::vector<std::int8_t>& values, float scale)
{
    std::mt19937 random(8);
    std::vector<float> floats;
    for (const auto v : values) {
        const float within_a_step = float(random() % 100) / 100 - 0.5f;
        floats.push_back((v + within_a_step) / scale);
    }
    for (std::size_t i = 3; i < floats.size(); i += 97) {
        const float odd[] = { std::nanf(""), INFINITY, -INFINITY, 1e30f, 0.5f / scale };
        floats[i] = odd[i % 5];
    }
    return floats;
}

TEST(viterbi_decoder, BorrowedInput_DecodesAsPushed)
{
    struct setting {
        conv_code code;
        termination ends;
        unsigned frame;
        soft_format format;
    };
    const conv_code half(7, { 0171, 0133 }), punctured(7, { 0171, 0133 }, "101,110");
    const setting settings[] = {
        { half, termination::streaming, 0, soft_format::int8 },
        { punctured, termination::streaming, 0, soft_format::int8 },
        { punctured, termination::streaming, 0, soft_format::packed4 },
        { half, termination::terminated, 75, soft_format::int8 },
        { punctured, termination::tailbiting, 75, soft_format::packed4 },
        { half, termination::streaming, 0, soft_format::float32 },
        { punctured, termination::tailbiting, 75, soft_format::float32 },
    };
    for (const auto& s : settings) {
        auto o = options(s.code, s.ends, s.frame);
        o.format = s.format;
        o.soft_scale = 20;
        o.decode_length = 64;
        o.overlap = 40;
        const auto sent = qa::transmit(s.code, s.ends, s.frame, 9000, 24, 10);
        if (s.format == soft_format::float32) {
            expect_borrowed_as_pushed(o, as_floats(sent.values, o.soft_scale));
        } else if (s.format == soft_format::packed4) {
            const auto frame_values = s.frame ? s.code.values(s.frame) : 0;
            expect_borrowed_as_pushed(
                o, unsigned_bytes(qa::pack4(sent.values, frame_values)));
        } else {
            expect_borrowed_as_pushed(o, sent.values);
        }
    }
    const auto begun = viterbi_decoder::make(options(half));
    begun->push(std::vector<std::int8_t>{ 1 });
    EXPECT_FALSE(memory_of(*begun).can_borrow());
}

// Changes soft_scale twice in a stream. Borrowed items must have the same bits and
// metrics as pushed items, even if later items of the same stream are pushed.
TEST(viterbi_decoder, NewScale_AppliesToLaterItems)
{
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.format = soft_format::float32;
    o.decode_length = 64;
    o.overlap = 40;
    o.batch = 4;
    const auto floats =
        as_floats(qa::transmit(o.code, o.termination, 0, 3000, 24, 10).values, 20);
    const auto decode = [&](bool borrow, std::size_t until) {
        const auto decoder = viterbi_decoder::make(o);
        decoder->set_soft_scale(20);
        std::vector<std::uint8_t> out(1000);
        std::size_t kept = 0, taken = 0, pulled = 0;
        std::vector<double> metrics;
        for (const auto end : { std::size_t(1000), std::size_t(2500), floats.size() }) {
            while (taken < end) {
                taken += borrow ? memory_of(*decoder).borrow(&floats[kept], end - kept)
                                : decoder->push({ &floats[taken], end - taken });
                pulled += decoder->pull(packed_bits(span(out).from(pulled)));
                kept += memory_of(*decoder).release_borrowed();
                if (const auto s = decoder->status()) {
                    metrics.push_back(s->metric);
                }
            }
            if (borrow && taken >= until) {
                memory_of(*decoder).copy_borrowed();
                borrow = false;
            }
            decoder->set_soft_scale(end == 1000 ? 1.5f : 40.0f);
        }
        decoder->finish();
        while (!decoder->done()) {
            pulled += decoder->pull(packed_bits(span(out).from(pulled)));
            if (const auto s = decoder->status()) {
                metrics.push_back(s->metric);
            }
            decoder->wait(100ms);
        }
        out.resize(pulled);
        return std::pair(out, metrics);
    };
    const auto pushed = decode(false, 0);
    EXPECT_EQ(decode(true, floats.size() + 1), pushed);
    EXPECT_EQ(decode(true, 1000), pushed);
    EXPECT_EQ(decode(true, 2500), pushed);
}

TEST(viterbi_decoder, FloatInput_IsScaledRoundedAndClamped)
{
    const conv_code code(7, { 0171, 0133 });
    const auto sent = qa::transmit(code, termination::streaming, 0, 5000, 24, 5);
    std::vector<float> soft;
    auto values = sent.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        soft.push_back(values[i] / 64.0f + (i % 2 ? 0.004f : -0.004f));
        if (i % 50 == 3) {
            soft.back() = std::numeric_limits<float>::quiet_NaN();
            values[i] = 0;
        } else if (i % 50 == 4) {
            soft.back() = std::numeric_limits<float>::infinity();
            values[i] = 127;
        } else if (i % 50 == 5) {
            soft.back() = -std::numeric_limits<float>::infinity();
            values[i] = -127;
        }
    }
    auto o = options(code);
    o.format = soft_format::float32;
    o.soft_scale = 64.0f;
    const auto decoder = viterbi_decoder::make(o);
    const auto plan = make_block_layout(code, o.termination, 0, 0, 0);
    EXPECT_EQ(run(*decoder, soft, false, 777),
              reference::parallel_blocks(code, plan, values, 5000));
}

TEST(viterbi_decoder, Packed4Input_EqualsReference)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    const auto sent = qa::transmit(code, termination::streaming, 0, 6000, 20, 6);
    auto o = options(code);
    o.format = soft_format::packed4;
    o.batch = 2;
    const auto decoder = viterbi_decoder::make(o);
    const auto plan = make_block_layout(code, o.termination, 0, 0, 0);
    const auto expected =
        reference::parallel_blocks(code, plan, qa::quantise4(sent.values), 6000);
    EXPECT_EQ(run(*decoder, unsigned_bytes(qa::pack4(sent.values, 0)), false, 501),
              expected);
}

std::vector<std::uint8_t> offset_binary(const std::vector<std::int8_t>& values)
{
    std::vector<std::uint8_t> items;
    for (const int v : values) {
        items.push_back(std::uint8_t(v + 128));
    }
    return items;
}

TEST(viterbi_decoder, OffsetBinary_DecodesAsInt8)
{
    const conv_code codes[] = { { 7, { 0171, 0133 }, "101,110" },
                                { 5, { 023, 033, 037 } } };
    for (const auto& code : codes) {
        for (const unsigned frame : { 0u, 75u }) {
            const auto ends = frame ? termination::tailbiting : termination::streaming;
            auto o = options(code, ends, frame);
            o.batch = 2;
            const auto sent = qa::transmit(code, ends, frame, 6000, 40, 12);
            ASSERT_TRUE(std::count(sent.values.begin(), sent.values.end(), -128));
            const auto signed_values = viterbi_decoder::make(o);
            const auto expected = run(*signed_values, sent.values, true, 501);
            o.format = soft_format::uint8;
            const auto decoder = viterbi_decoder::make(o);
            EXPECT_EQ(run(*decoder, offset_binary(sent.values), true, 501), expected);
            expect_borrowed_as_pushed(o, offset_binary(sent.values));
        }
    }
}

// A packed −8 counts as −7. The ranges begin and end in high and in low nibbles.
TEST(viterbi_decoder, Packed4Minimum_CountsAsMinus7)
{
    std::vector<std::int8_t> nibbles, packed;
    std::mt19937 random(8);
    for (int i = 0; i < 6002; ++i) {
        const int v = int(random() % 16) - 8;
        nibbles.push_back(std::int8_t(std::max(v, -7)));
        if (i % 2 == 0) {
            packed.push_back(std::int8_t((unsigned(v) & 15u) << 4));
        } else {
            packed.back() =
                std::int8_t(std::uint8_t(packed.back()) | (unsigned(v) & 15u));
        }
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(packed.data());
    for (const std::size_t first : { 0, 1, 2, 3 }) {
        for (std::size_t n = 0; n < 200; ++n) {
            std::vector<std::int8_t> values(n);
            unpack4(bytes, first, n, values.data());
            EXPECT_TRUE(std::equal(values.begin(), values.end(), &nibbles[first]));
        }
    }
    const conv_code code(7, { 0171, 0133 });
    for (const unsigned frame : { 0, 95 }) { // frames of 95 bits have 202 values
        auto o = options(code);
        o.format = soft_format::packed4;
        o.batch = 2;
        if (frame > 0) {
            o.termination = termination::terminated;
            o.frame_bits = frame;
        }
        const auto decoder = viterbi_decoder::make(o);
        const auto plan = make_block_layout(code, o.termination, frame, 0, 0);
        const auto count = frame > 0 ? 202 * 29 : 6000;
        const auto bits = frame > 0 ? frame * 29 : 3000;
        const std::vector<std::int8_t> in(packed.begin(), packed.begin() + count / 2),
            values(nibbles.begin(), nibbles.begin() + count);
        EXPECT_EQ(run(*decoder, unsigned_bytes(in), false, 501),
                  reference::parallel_blocks(code, plan, values, bits));
    }
}

template <class Item>
std::pair<std::vector<std::uint8_t>, std::vector<double>>
bits_and_statistics(const viterbi_options& o, const std::vector<Item>& items)
{
    const auto decoder = viterbi_decoder::make(o);
    std::vector<std::uint8_t> bits, part(1000);
    std::vector<double> statistics;
    for (std::size_t pushed = 0; !decoder->done();) {
        pushed += decoder->push(span(items).from(pushed));
        if (pushed == items.size()) {
            decoder->finish();
        }
        const auto n = decoder->pull(unpacked_bits(part));
        bits.insert(bits.end(), part.begin(), part.begin() + n);
        if (const auto s = decoder->status()) {
            statistics.insert(statistics.end(),
                              { double(s->first_bit), s->channel_error_rate, s->metric });
        }
        if (n == 0) {
            decoder->wait(1000ms);
        }
    }
    return { bits, statistics };
}

TEST(viterbi_decoder, NegatedInputWithOtherPositiveBit_DecodesAlike)
{
    using t = termination;
    for (const auto& preset : conv_presets()) {
        const auto code = conv_code::preset(preset.name);
        for (const auto ends :
             { t::streaming, t::terminated, t::truncated, t::tailbiting }) {
            SCOPED_TRACE(preset.name + ", " + termination_name(ends));
            const unsigned frame = ends == t::streaming ? 0 : 77;
            const auto sent = qa::transmit(code, ends, frame, 770, 24, 11);
            const auto plan = make_block_layout(code, ends, frame, 64, 40);
            auto o = options(code, ends, frame);
            o.decode_length = 64;
            o.overlap = 40;
            o.batch = 4 * plan.blocks_per_frame;
            const auto decode = [&](const auto& items, unsigned positive_bit) {
                o.positive_bit = positive_bit;
                const auto r = bits_and_statistics(o, items);
                EXPECT_FALSE(r.second.empty());
                return r;
            };
            const auto expected = decode(sent.values, 0);
            EXPECT_EQ(expected.first,
                      reference::parallel_blocks(code, plan, sent.values, 770));
            EXPECT_EQ(decode(qa::other_sign(sent.values, false), 1), expected);
            o.format = soft_format::packed4;
            const auto packed = qa::pack4(sent.values, plan.frame_values);
            EXPECT_EQ(decode(unsigned_bytes(qa::other_sign(packed, true)), 1),
                      decode(unsigned_bytes(packed), 0));
            o.format = soft_format::float32;
            std::vector<float> floats, others;
            for (const auto v : sent.values) {
                floats.push_back(floats.size() % 50 == 7 ? NAN : v * 0.0401f);
                others.push_back(-floats.back());
            }
            EXPECT_EQ(decode(others, 1), decode(floats, 0));
        }
    }
}

// If positive_bit is wrong, a transparent code decodes to inverted bits, and the input of
// any other code looks like noise.
TEST(viterbi_decoder, WrongPositiveBit_InvertsBitsOrLooksLikeNoise)
{
    const auto decode = [](const conv_code& code, unsigned positive_bit) {
        auto o = options(code);
        o.positive_bit = positive_bit;
        const auto sent = qa::transmit(code, o.termination, 0, 4000, 8, 12);
        const auto [bits, statistics] = bits_and_statistics(o, sent.values);
        std::size_t wrong = 0;
        for (std::size_t i = 100; i + 100 < bits.size(); ++i) {
            wrong += bits[i] != sent.bits[i];
        }
        return std::make_pair(wrong, statistics.at(1));
    };
    for (const auto& preset : conv_presets()) {
        const auto code = conv_code::preset(preset.name);
        SCOPED_TRACE(preset.name);
        const bool transparent =
            std::all_of(preset.polynomials.begin(), preset.polynomials.end(), [](int p) {
                return __builtin_parity(std::abs(p));
            });
        const auto right = decode(code, 0), wrong = decode(code, 1);
        EXPECT_EQ(right.first, 0u);
        EXPECT_LT(right.second, 0.01);
        if (transparent) {
            EXPECT_EQ(wrong.first, 3800u);
            EXPECT_LT(wrong.second, 0.01);
        } else {
            EXPECT_GT(wrong.first, 400u);
            EXPECT_GT(wrong.second, 0.1);
        }
    }
}

} // namespace
