// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder: exact counts, any chunking, latency, formats, bad input. */

#include "cuda/devices.h"
#include "qa_support.h"
#include "reference.h"
#include "soft_input.h"
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

namespace {

using namespace std::chrono_literals;

viterbi_options options(const conv_code& code,
                        termination ends = termination::streaming,
                        unsigned frame_bits = 0)
{
    viterbi_options o{ code };
    o.positive_bit = 0; // as qa::transmit() has it
    o.ends = ends;
    o.frame_bits = frame_bits;
    o.where = backend::cpu;
    o.max_latency_ms = 10000;
    return o;
}

// Pushes and pulls in pieces of random size until the decoder is done.
template <class Item>
std::vector<std::uint8_t> run(viterbi_decoder& decoder,
                              const std::vector<Item>& items,
                              bool packed,
                              std::size_t most,
                              unsigned seed = 1)
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> out, part(most);
    std::size_t pushed = 0;
    bool finished = false;
    while (!decoder.done()) {
        if (pushed < items.size()) {
            const auto n =
                std::min<std::size_t>(items.size() - pushed, 1 + random() % most);
            pushed += decoder.push(items.data() + pushed, n);
        } else if (!finished) {
            decoder.finish();
            finished = true;
        }
        const auto room = 1 + random() % most;
        const auto n = packed ? decoder.pull_packed(part.data(), room)
                              : decoder.pull_bits(part.data(), room);
        out.insert(out.end(), part.begin(), part.begin() + n);
        if (n == 0 && (finished || decoder.full())) {
            decoder.wait(1000ms);
        }
    }
    return out;
}

// The same with input that is lent, and overwritten once it is taken back; with
// `lend_until`, so many items are lent and the others pushed.
template <class Item>
std::vector<std::uint8_t> run_lending(viterbi_decoder& decoder,
                                      const std::vector<Item>& items,
                                      std::size_t most,
                                      unsigned seed,
                                      std::size_t lend_until = ~std::size_t(0))
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> out, part(most);
    auto ring = items;
    lend_until = std::min(lend_until, items.size());
    std::size_t there = 0, kept = 0, pushed = 0;
    bool finished = false;
    EXPECT_TRUE(decoder.can_lend());
    const auto take_back = [&] {
        const auto n = decoder.take_back();
        std::fill_n(ring.begin() + kept, n, Item(0x5a));
        kept += n;
    };
    while (!decoder.done()) {
        if (pushed < lend_until) {
            there = std::min(there + 1 + random() % most, lend_until);
            pushed += decoder.lend(ring.data() + kept, there - kept);
            EXPECT_EQ(decoder.lent(), pushed - kept);
            take_back();
            if (pushed == lend_until && pushed < items.size()) {
                decoder.end_lending();
                EXPECT_EQ(decoder.lent(), 0u);
                std::fill_n(ring.begin(), pushed, Item(0x5a));
            }
        } else if (pushed < items.size()) {
            const auto n = std::min(items.size() - pushed, 1 + random() % most);
            pushed += decoder.push(ring.data() + pushed, n);
        } else if (!finished) {
            decoder.finish();
            finished = true;
        }
        const auto n = decoder.pull_packed(part.data(), 1 + random() % most);
        out.insert(out.end(), part.begin(), part.begin() + n);
        if (lend_until == items.size()) {
            take_back();
        }
        if (n == 0 && (finished || decoder.full())) {
            decoder.wait(1000ms);
        }
    }
    if (lend_until == items.size()) {
        EXPECT_EQ(kept, items.size());
    }
    return out;
}

// Whatever is lent, in whatever pieces, decodes as what is pushed.
template <class Item>
void expect_lent_as_pushed(viterbi_options o, const std::vector<Item>& items)
{
    for (const unsigned batch : { 1u, 5u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const double latency : { 0.0, 10000.0 }) {
                o.batch = batch;
                o.slots = slots;
                o.max_latency_ms = latency;
                viterbi_decoder decoder(o);
                const auto expected = run(decoder, items, true, 700);
                for (const std::size_t most : { 50u, 5000u }) {
                    decoder.reset();
                    ASSERT_EQ(run_lending(decoder, items, most, batch), expected);
                    for (const std::size_t until : { 1u, 1000u, 4321u }) {
                        decoder.reset();
                        ASSERT_EQ(run_lending(decoder, items, most, slots, until),
                                  expected)
                            << o.code.to_string() << " " << batch << " " << slots << " "
                            << latency << " " << most << " " << until;
                    }
                }
            }
        }
    }
}

// Amplitudes, with what is none among them.
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

TEST(viterbi_decoder, lent_input_is_decoded_where_it_lies)
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
            expect_lent_as_pushed(o, as_floats(sent.values, o.soft_scale));
        } else if (s.format == soft_format::packed4) {
            expect_lent_as_pushed(
                o, qa::pack4(sent.values, s.frame ? s.code.values(s.frame) : 0));
        } else {
            expect_lent_as_pushed(o, sent.values);
        }
    }
    viterbi_decoder begun(options(half));
    begun.push(settings, 1);
    EXPECT_FALSE(begun.can_lend());
}

// The scale is that of each item when it was taken, pushed or lent.
TEST(viterbi_decoder, a_new_scale_holds_for_items_that_follow)
{
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.format = soft_format::float32;
    o.decode_length = 64;
    o.overlap = 40;
    o.batch = 4;
    const auto floats =
        as_floats(qa::transmit(o.code, o.ends, 0, 3000, 24, 10).values, 20);
    const auto decode = [&](bool lend, std::size_t until) {
        viterbi_decoder decoder(o);
        decoder.set_soft_scale(20);
        std::vector<std::uint8_t> out(1000);
        std::size_t kept = 0, taken = 0, pulled = 0;
        std::vector<double> metrics;
        for (const auto end : { std::size_t(1000), std::size_t(2500), floats.size() }) {
            while (taken < end) {
                taken += lend ? decoder.lend(&floats[kept], end - kept)
                              : decoder.push(&floats[taken], end - taken);
                pulled += decoder.pull_packed(&out[pulled], out.size() - pulled);
                kept += decoder.take_back();
                viterbi_decoder::batch_statistics s;
                if (decoder.take_statistics(s)) {
                    metrics.push_back(s.metric);
                }
            }
            if (lend && taken >= until) {
                decoder.end_lending();
                lend = false;
            }
            decoder.set_soft_scale(end == 1000 ? 1.5f : 40.0f);
        }
        decoder.finish();
        while (!decoder.done()) {
            pulled += decoder.pull_packed(&out[pulled], out.size() - pulled);
            viterbi_decoder::batch_statistics s;
            if (decoder.take_statistics(s)) {
                metrics.push_back(s.metric);
            }
            decoder.wait(100ms);
        }
        out.resize(pulled);
        return std::pair(out, metrics);
    };
    const auto pushed = decode(false, 0);
    EXPECT_EQ(decode(true, floats.size() + 1), pushed);
    EXPECT_EQ(decode(true, 1000), pushed);
    EXPECT_EQ(decode(true, 2500), pushed);
}

TEST(viterbi_decoder, exact_counts_for_every_length_of_stream)
{
    for (const auto& code : { conv_code(7, { 0171, 0133 }),
                              conv_code(7, { 0171, 0133 }, "1000101,1111010"),
                              conv_code(3, { 5, 7, 7 }) }) {
        auto o = options(code);
        o.decode_length = 64;
        o.overlap = 24;
        o.batch = 3;
        viterbi_decoder decoder(o);
        const auto plan = make_block_plan(code, o.ends, 0, 64, 24);
        const auto sent = qa::transmit(code, o.ends, 0, 3 * 3 * 64 + 60, 25, 2);
        for (std::size_t n = 0; n < sent.values.size(); n += n < 300 ? 1 : 7) {
            const std::vector<std::int8_t> values(sent.values.begin(),
                                                  sent.values.begin() + n);
            const auto bits = code.stages(n);
            const auto expected = reference::parallel_blocks(code, plan, values, bits);
            decoder.reset();
            const auto packed = run(decoder, values, true, 97, n);
            ASSERT_EQ(packed.size(), (bits + 7) / 8) << n;
            ASSERT_EQ(qa::unpack(packed, bits), expected) << n;
            if (bits % 8 != 0) {
                EXPECT_EQ(packed.back() & (0xff >> bits % 8), 0);
            }
            decoder.reset();
            ASSERT_EQ(run(decoder, values, false, 97, n), expected) << n;
        }
    }
}

TEST(viterbi_decoder, output_does_not_depend_on_batches_or_chunks)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    const auto sent = qa::transmit(code, termination::streaming, 0, 50001, 24, 3);
    std::vector<std::uint8_t> first;
    for (const unsigned batch : { 0u, 1u, 2u, 7u, 100u }) {
        for (const unsigned slots : { 1u, 2u, 5u }) {
            for (const double latency : { 0.0, 10000.0 }) {
                auto o = options(code);
                o.batch = batch;
                o.slots = slots;
                o.threads = 2;
                o.max_latency_ms = latency;
                viterbi_decoder decoder(o);
                const auto out =
                    run(decoder, sent.values, true, 1 + 3000 * (batch % 3), slots);
                if (first.empty()) {
                    first = out;
                }
                ASSERT_EQ(out, first) << batch << " " << slots << " " << latency;
            }
        }
    }
}

TEST(viterbi_decoder, frames_of_every_kind)
{
    const conv_code code(7, { 0171, 0133 }, "10,11");
    for (const auto ends :
         { termination::terminated, termination::truncated, termination::tailbiting }) {
        for (const unsigned frame : { 6u, 13u, 64u, 1201u }) {
            auto o = options(code, ends, frame);
            o.batch = 4;
            viterbi_decoder decoder(o);
            const auto plan = make_block_plan(code, ends, frame, 0, 0);
            const auto sent = qa::transmit(code, ends, frame, 11 * frame, 22, 4);
            const auto expected =
                reference::parallel_blocks(code, plan, sent.values, 11 * frame);
            EXPECT_EQ(run(decoder, sent.values, false, 1000), expected);
            decoder.reset();
            const auto packed = run(decoder, sent.values, true, 1000);
            const auto pitch = (frame + 7) / 8;
            ASSERT_EQ(packed.size(), 11 * pitch);
            for (unsigned f = 0; f < 11; ++f) {
                const std::vector<std::uint8_t> one(packed.begin() + f * pitch,
                                                    packed.begin() + (f + 1) * pitch);
                EXPECT_EQ(qa::unpack(one, frame),
                          std::vector<std::uint8_t>(expected.begin() + f * frame,
                                                    expected.begin() + (f + 1) * frame));
            }
            // What is less than a frame at the end is not a frame.
            decoder.reset();
            auto partial = sent.values;
            partial.pop_back();
            EXPECT_EQ(run(decoder, partial, false, 1000).size(), 10 * frame);
        }
    }
}

TEST(viterbi_decoder, float_input_is_scaled_rounded_and_made_safe)
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
    viterbi_decoder decoder(o);
    const auto plan = make_block_plan(code, o.ends, 0, 0, 0);
    EXPECT_EQ(run(decoder, soft, false, 777),
              reference::parallel_blocks(code, plan, values, 5000));
}

TEST(viterbi_decoder, packed4_input)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    const auto sent = qa::transmit(code, termination::streaming, 0, 6000, 20, 6);
    auto o = options(code);
    o.format = soft_format::packed4;
    o.batch = 2;
    viterbi_decoder decoder(o);
    const auto plan = make_block_plan(code, o.ends, 0, 0, 0);
    const auto expected =
        reference::parallel_blocks(code, plan, qa::quantise4(sent.values), 6000);
    EXPECT_EQ(run(decoder, qa::pack4(sent.values, 0), false, 501), expected);
}

// −8 counts as −7, wherever values begin and end.
TEST(viterbi_decoder, packed4_has_values_as_large_on_both_sides)
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
    for (const unsigned frame : { 0, 95 }) { // 202 values
        auto o = options(code);
        o.format = soft_format::packed4;
        o.batch = 2;
        if (frame > 0) {
            o.ends = termination::terminated;
            o.frame_bits = frame;
        }
        viterbi_decoder decoder(o);
        const auto plan = make_block_plan(code, o.ends, frame, 0, 0);
        const auto count = frame > 0 ? 202 * 29 : 6000;
        const auto bits = frame > 0 ? frame * 29 : 3000;
        const std::vector<std::int8_t> in(packed.begin(), packed.begin() + count / 2),
            values(nibbles.begin(), nibbles.begin() + count);
        EXPECT_EQ(run(decoder, in, false, 501),
                  reference::parallel_blocks(code, plan, values, bits));
    }
}

TEST(viterbi_decoder, slow_stream_is_not_starved)
{
    const conv_code code(7, { 0171, 0133 });
    std::atomic<int> wakes{ 0 };
    viterbi_decoder::hooks h;
    h.wake = [&] { ++wakes; };
    auto o = options(code);
    o.max_latency_ms = 20;
    o.decode_length = 512;
    viterbi_decoder decoder(o, h);
    const auto sent = qa::transmit(code, o.ends, 0, 600, 0, 7);
    ASSERT_EQ(decoder.push(sent.values.data(), sent.values.size()), sent.values.size());
    EXPECT_FALSE(decoder.due());
    std::this_thread::sleep_for(40ms);
    EXPECT_GE(wakes, 1);
    EXPECT_TRUE(decoder.due());
    decoder.push(nullptr, 0);
    ASSERT_TRUE(decoder.wait(5000ms));
    std::vector<std::uint8_t> bits(1000);
    ASSERT_EQ(decoder.pull_bits(bits.data(), bits.size()), 512u); // one whole block
    bits.resize(512);
    EXPECT_TRUE(std::equal(bits.begin(), bits.end(), sent.bits.begin()));
}

TEST(viterbi_decoder, a_new_latency_holds_for_what_waits)
{
    const conv_code code(7, { 0171, 0133 });
    auto o = options(code);
    o.max_latency_ms = 1e6;
    o.decode_length = 512;
    viterbi_decoder decoder(o);
    const auto sent = qa::transmit(code, o.ends, 0, 600, 0, 7);
    decoder.push(sent.values.data(), sent.values.size());
    EXPECT_FALSE(decoder.due());
    decoder.set_max_latency_ms(0);
    EXPECT_TRUE(decoder.due());
    decoder.set_max_latency_ms(1e6);
    EXPECT_FALSE(decoder.due());
}

TEST(viterbi_decoder, where_information_bits_go)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    viterbi_decoder stream(options(code));
    for (std::uint64_t v = 0; v < 100; ++v) {
        EXPECT_EQ(stream.output_of_item(v, false), code.stage_of(v));
        EXPECT_EQ(stream.output_of_item(v, true), code.stage_of(v) / 8);
    }
    viterbi_decoder frames(options(code, termination::terminated, 11));
    const auto n = frames.items_per_frame();
    EXPECT_EQ(n, code.values(17));
    EXPECT_EQ(frames.output_of_item(n - 1, false), 10u); // the tail has no bit of its own
    EXPECT_EQ(frames.output_of_item(n, false), 11u);
    EXPECT_EQ(frames.output_of_item(n, true), 2u);
    EXPECT_EQ(frames.output_of_item(n - 1, true), 1u);
}

TEST(viterbi_decoder, estimates_the_channel)
{
    const conv_code code(7, { 0171, -0133 });
    const auto sent = qa::transmit(code, termination::streaming, 0, 65536, 20, 8);
    std::size_t wrong = 0;
    conv_encoder_kernel encoder(code, termination::streaming, 0);
    std::vector<std::uint8_t> coded(sent.values.size());
    encoder.encode(sent.bits.data(), sent.bits.size(), coded.data());
    for (std::size_t i = 0; i < coded.size(); ++i) {
        wrong += (sent.values[i] < 0) != bool(coded[i]);
    }
    const double truth = double(wrong) / coded.size();
    auto o = options(code);
    o.batch = 16;
    o.decode_length = 512;
    viterbi_decoder decoder(o);
    double sum = 0;
    int batches = 0;
    std::uint64_t next_bit = 0;
    std::size_t pushed = 0;
    std::vector<std::uint8_t> out(1 << 16);
    while (pushed < sent.values.size()) {
        pushed += decoder.push(sent.values.data() + pushed, sent.values.size() - pushed);
        decoder.wait(1000ms);
        viterbi_decoder::batch_statistics s;
        while (decoder.pull_packed(out.data(), out.size()) > 0) {
            ASSERT_TRUE(decoder.take_statistics(s));
            EXPECT_FALSE(decoder.take_statistics(s));
            EXPECT_EQ(s.first_bit, next_bit);
            next_bit += 16 * 512;
            sum += s.channel_error_rate;
            EXPECT_GT(s.metric, 0);
            ++batches;
        }
    }
    ASSERT_GE(batches, 6);
    EXPECT_NEAR(sum / batches, truth, 0.1 * truth);
}

// The bits, and what is said of each batch, in steps of a float and of whole numbers.
template <class Item>
std::pair<std::vector<std::uint8_t>, std::vector<double>>
bits_and_statistics(const viterbi_options& o, const std::vector<Item>& items)
{
    viterbi_decoder decoder(o);
    std::vector<std::uint8_t> bits, part(1000);
    std::vector<double> statistics;
    for (std::size_t pushed = 0; !decoder.done();) {
        pushed += decoder.push(items.data() + pushed, items.size() - pushed);
        if (pushed == items.size()) {
            decoder.finish();
        }
        const auto n = decoder.pull_bits(part.data(), part.size());
        bits.insert(bits.end(), part.begin(), part.begin() + n);
        viterbi_decoder::batch_statistics s;
        if (decoder.take_statistics(s)) {
            statistics.insert(statistics.end(),
                              { double(s.first_bit), s.channel_error_rate, s.metric });
        }
        if (n == 0) {
            decoder.wait(1000ms);
        }
    }
    return { bits, statistics };
}

TEST(viterbi_decoder, positive_bit_says_what_a_positive_value_means)
{
    using t = termination;
    for (const auto& preset : conv_presets()) {
        const auto code = conv_code::preset(preset.name);
        for (const auto ends :
             { t::streaming, t::terminated, t::truncated, t::tailbiting }) {
            SCOPED_TRACE(preset.name + ", " + std::to_string(int(ends)));
            const unsigned frame = ends == t::streaming ? 0 : 77;
            const auto sent = qa::transmit(code, ends, frame, 770, 24, 11);
            const auto plan = make_block_plan(code, ends, frame, 64, 40);
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
            EXPECT_EQ(decode(qa::other_sign(packed, true), 1), decode(packed, 0));
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

// Of a code that has none of both, a wrong sign shows as noise; of one that is the same
// for inverted bits, it inverts them.
TEST(viterbi_decoder, a_wrong_sign)
{
    const auto decode = [](const conv_code& code, unsigned positive_bit) {
        auto o = options(code);
        o.positive_bit = positive_bit;
        const auto sent = qa::transmit(code, o.ends, 0, 4000, 8, 12);
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

TEST(viterbi_decoder, refuses_bad_options)
{
    const conv_code code(7, { 0171, 0133 });
    const auto error = [&](auto&& change) -> std::string {
        auto o = options(code);
        change(o);
        try {
            viterbi_decoder d(o);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    using o = viterbi_options;
    EXPECT_EQ(error([](o& x) { x.slots = 0; }), "slots is 0: allowed are 1 to 16");
    EXPECT_EQ(error([](o& x) { x.slots = 17; }), "slots is 17: allowed are 1 to 16");
    EXPECT_EQ(error([](o& x) { x.threads = 0; }), "threads is 0: allowed are 1 to 256");
    EXPECT_NE(error([](o& x) { x.batch = 1u << 30; }), "");
    EXPECT_NE(error([](o& x) { x.soft_scale = 0; }).find("soft_scale is 0"),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.soft_scale = NAN; }), "");
    EXPECT_NE(error([](o& x) { x.max_latency_ms = -1; }).find("max_latency_ms is -1"),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.cuda_kernel = "fast"; }).find("cuda_kernel is \"fast\""),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.devices.clear(); }), "");
    EXPECT_EQ(error([](o& x) { x.positive_bit = 2; }),
              "positive_bit is 2: allowed are 0 and 1");
    EXPECT_NE(error([](o& x) { x.frame_bits = 5; }), "");
    viterbi_decoder good(options(code));
    EXPECT_THROW(good.set_soft_scale(-1), std::invalid_argument);
    EXPECT_THROW(good.set_max_latency_ms(INFINITY), std::invalid_argument);
}

TEST(viterbi_decoder, automatic_says_what_runs)
{
    std::vector<std::string> lines;
    viterbi_decoder::hooks h;
    h.log = [&](viterbi_decoder::level, const std::string& line) {
        lines.push_back(line);
    };
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.where = backend::automatic;
    const viterbi_decoder decoder(o, h);
    ASSERT_EQ(lines.size(), 1u);
    const bool gpu = !find_cuda_devices().devices.empty();
    EXPECT_EQ(decoder.active_backend(), gpu ? "cuda" : "cpu");
    EXPECT_NE(lines[0].find(gpu ? "on cuda" : "no CUDA: "), std::string::npos)
        << lines[0];
}

TEST(viterbi_decoder, cuda_without_a_device_is_an_error)
{
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.where = backend::cuda;
    o.devices = { 4711 };
    EXPECT_THROW(viterbi_decoder{ o }, std::runtime_error);
    o.where = backend::automatic; // goes on without
    EXPECT_EQ(viterbi_decoder(o).active_backend(), "cpu");
}

class on_gpu : public testing::Test
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }
};

using viterbi_decoder_cuda = on_gpu;

TEST_F(viterbi_decoder_cuda, equals_cpu_on_long_streams)
{
    for (const auto* name : { "ccsds", "dvb_3_4", "dvb_7_8", "lte", "cdma_1_2" }) {
        const auto code = conv_code::preset(name);
        const auto sent = qa::transmit(code, termination::streaming, 0, 300007, 24, 9);
        std::vector<std::uint8_t> first;
        for (const auto where : { backend::cpu, backend::cuda }) {
            for (const unsigned batch : { 0u, 17u }) {
                auto o = options(code);
                o.where = where;
                o.batch = batch;
                viterbi_decoder decoder(o);
                const auto out = run(decoder, sent.values, true, 30000);
                if (first.empty()) {
                    first = out;
                }
                EXPECT_EQ(out, first) << name;
            }
        }
    }
}

TEST_F(viterbi_decoder_cuda, a_batch_too_large_for_the_memory_is_made_smaller)
{
    std::vector<std::string> warnings;
    viterbi_decoder::hooks h;
    h.log = [&](viterbi_decoder::level l, const std::string& line) {
        if (l == viterbi_decoder::level::warning) {
            warnings.push_back(line);
        }
    };
    auto o = options(conv_code(9, { 0753, 0561 }));
    o.where = backend::cuda;
    o.slots = 8;
    const auto free = find_cuda_devices().devices[0].free_bytes;
    // 23 kB or more a block and slot on the device, so this many cannot be had.
    o.batch = unsigned(std::min<std::size_t>(free / 8 / 20000, 1u << 24));
    viterbi_decoder decoder(o, h);
    EXPECT_LT(decoder.batch(), o.batch);
    EXPECT_GT(decoder.batch(), o.batch / 8);
    EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(viterbi_decoder_cuda, several_at_once)
{
    const auto sent = qa::transmit(
        conv_code(7, { 0171, 0133 }), termination::streaming, 0, 100000, 24, 9);
    const auto decode = [&](backend where, unsigned batch) {
        auto o = options(conv_code(7, { 0171, 0133 }));
        o.where = where;
        o.batch = batch;
        viterbi_decoder decoder(o);
        return run(decoder, sent.values, true, 10000);
    };
    const auto expected = decode(backend::cpu, 0);
    std::vector<std::vector<std::uint8_t>> results(4);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < results.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = decode(backend::cuda, 10 + i); });
    }
    for (auto& t : threads) {
        t.join();
    }
    for (const auto& r : results) {
        EXPECT_EQ(r, expected);
    }
}

} // namespace
