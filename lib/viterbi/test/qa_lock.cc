// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "check_tallies.h"
#include "cuda/devices.h"
#include "lock.h"
#include "qa_support.h"
#include "room.h"
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;
using std::chrono_literals::operator""ms;

namespace {

const conv_code dvb(7, { 0171, 0133 });

std::vector<conv_code> dvb_codes()
{
    std::vector<conv_code> codes;
    for (const char* name : { "dvb_1_2", "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8" }) {
        codes.push_back(conv_code::preset(name));
    }
    return codes;
}

// What a receiver gives that reads a code's values as a hypothesis says.
std::vector<std::int8_t> received(const hypothesis& h,
                                  const std::vector<std::int8_t>& values)
{
    std::vector<std::int8_t> out(h.place() + values.size());
    for (std::size_t j = 0; j < values.size(); ++j) {
        const auto at = h.place() + h.from(j);
        if (std::size_t(at) < out.size()) {
            out[at] = h.flips(j) ? -values[j] : values[j];
        }
    }
    return out;
}

struct decoded {
    std::vector<std::uint8_t> bits;
    std::vector<viterbi_lock> changes;
    viterbi_lock last;
};

// Pulls bits, or packed bytes as eight bits each.
std::size_t pull(viterbi_decoder& decoder, std::size_t room, bool packed, decoded& d)
{
    std::vector<std::uint8_t> out(room);
    if (!packed) {
        const auto got = decoder.pull_bits(out.data(), room);
        d.bits.insert(d.bits.end(), out.begin(), out.begin() + got);
        return got;
    }
    const auto got = decoder.pull_packed(out.data(), room);
    for (std::size_t i = 0; i < 8 * got; ++i) {
        d.bits.push_back(out[i / 8] >> (7 - i % 8) & 1);
    }
    return got;
}

decoded decode(viterbi_options o,
               const std::vector<std::int8_t>& values,
               std::size_t at_once = 1u << 20,
               bool packed = false,
               std::size_t room = 1u << 14)
{
    o.lock = "auto";
    o.where = o.where == backend::automatic ? backend::cpu : o.where;
    o.positive_bit = 0;
    viterbi_decoder decoder(o);
    decoded d;
    bool finished = false;
    for (std::size_t pushed = 0; !decoder.done();) {
        const auto n = std::min(at_once, values.size() - pushed);
        pushed += decoder.push(values.data() + pushed, n);
        if (pushed == values.size() && !finished) {
            decoder.finish();
            finished = true;
        }
        if (pull(decoder, room, packed, d) == 0 && !decoder.done()) {
            decoder.wait(10ms);
        }
        for (viterbi_lock c; decoder.take_lock(c);) {
            d.changes.push_back(c);
        }
    }
    d.last = decoder.lock();
    return d;
}

// The same of items that are lent, as many as `room` at a time, and overwritten once they
// are taken back; from the middle of the stream on they are pushed, if that is said.
template <class Item>
decoded decode_lent(viterbi_options o,
                    const std::vector<std::int8_t>& values,
                    std::size_t room,
                    std::size_t at_once,
                    bool push_later,
                    bool packed)
{
    o.lock = "auto";
    o.where = o.where == backend::automatic ? backend::cpu : o.where;
    o.positive_bit = 0;
    o.format = sizeof(Item) == 1 ? soft_format::int8 : soft_format::float32;
    viterbi_decoder decoder(o);
    EXPECT_TRUE(decoder.can_lend());
    decoded d;
    std::vector<Item> items(values.begin(), values.end());
    const bool locks = o.where == backend::cuda;
    EXPECT_EQ(decoder.lock_lent(items.data(), items.size() * sizeof(Item)), locks);
    std::size_t back = 0, taken = 0, there = 0;
    bool lends = true, finished = false;
    while (!decoder.done()) {
        const auto take_back = [&] {
            for (auto n = decoder.take_back(); n > 0; --n) {
                items[back++] = Item(77);
            }
        };
        if (lends && push_later && taken > values.size() / 2) {
            decoder.end_lending();
            EXPECT_EQ(decoder.lent(), 0u);
            decoder.unlock_lent(items.data());
            std::fill_n(items.begin(), taken, Item(77)); // nothing of it is read again
            lends = false;
        }
        if (lends) {
            there = std::min({ there + at_once, back + room, values.size() });
            taken += decoder.lend(items.data() + back, there - back);
            EXPECT_EQ(decoder.lent(), taken - back);
            take_back();
        } else {
            const auto n = std::min(at_once, values.size() - taken);
            taken += decoder.push(items.data() + taken, n);
        }
        if (taken == values.size() && !finished) {
            decoder.finish();
            finished = true;
        }
        const auto got = pull(decoder, 1u << 14, packed, d);
        if (lends) {
            take_back();
        }
        if (got == 0 && !decoder.done()) {
            decoder.wait(10ms);
        }
        for (viterbi_lock c; decoder.take_lock(c);) {
            d.changes.push_back(c);
        }
    }
    d.last = decoder.lock();
    if (lends) {
        decoder.end_lending();
        decoder.unlock_lent(items.data());
    }
    return d;
}

// Where `bits` occur in what was decoded, wrong ones allowed; −1: nowhere.
long find(const std::vector<std::uint8_t>& in,
          const std::uint8_t* bits,
          std::size_t count)
{
    for (std::size_t i = 0; i + count <= in.size(); ++i) {
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < count && wrong < 8; ++k) {
            wrong += in[i + k] != bits[k];
        }
        if (wrong < 8) {
            return long(i);
        }
    }
    return -1;
}

} // namespace

TEST(viterbi_hypotheses, are_those_that_can_be_told_apart)
{
    const auto count = [](const std::vector<conv_code>& codes, constellation c) {
        return all_hypotheses(codes, c).size();
    };
    EXPECT_EQ(count({ dvb }, constellation::bpsk), 2u);
    EXPECT_EQ(count({ dvb }, constellation::qpsk), 8u);
    EXPECT_EQ(count({ conv_code::preset("dvb_7_8") }, constellation::bpsk), 8u);
    // 2 × 4, 3 × 2 + 6 × 2, 4 × 4, 6 × 2 (an alternating sign is a sequence of it), 8
    // × 4.
    EXPECT_EQ(count(dvb_codes(), constellation::qpsk), 86u);
    EXPECT_EQ(count({ conv_code::preset("dvb_5_6") }, constellation::qpsk), 12u);
    // An inverted output is an alternating sign; another order is I and Q exchanged.
    EXPECT_EQ(count({ dvb, conv_code::preset("ccsds") }, constellation::bpsk), 4u);
    EXPECT_EQ(count({ dvb, conv_code::preset("ccsds") }, constellation::qpsk), 8u);
    EXPECT_EQ(count({ dvb, conv_code(7, { 0133, 0171 }) }, constellation::qpsk), 8u);
    // 7, 5: ones give 1, 0, so an alternating sign is no difference, and the sign is one.
    EXPECT_EQ(count({ conv_code(3, { 07, 05 }) }, constellation::bpsk), 4u);
    EXPECT_GT(count({ dvb }, constellation::oqpsk), 8u);
}

TEST(viterbi_lock, finds_every_hypothesis)
{
    const auto codes = dvb_codes();
    viterbi_options o{ codes[0] };
    o.lock_constellation = "oqpsk";
    for (const char* name : { "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8" }) {
        o.lock_presets.push_back(name);
    }
    unsigned seed = 1;
    const auto all = all_hypotheses(codes, constellation::oqpsk);
    for (std::size_t i = 0; i < all.size(); i += 5) {
        const auto& h = all[i];
        SCOPED_TRACE(i);
        const auto sent =
            qa::transmit(h.code(), termination::streaming, 0, 9000, 10, ++seed);
        const auto got = decode(o, received(h, sent.values));
        ASSERT_EQ(got.changes.size(), 1u);
        const auto& lock = got.changes[0];
        EXPECT_TRUE(lock.locked);
        EXPECT_EQ(lock.code, h.code().to_string());
        EXPECT_EQ(lock.rotation, 90 * h.quarter_turns());
        EXPECT_EQ(lock.swapped, h.swapped());
        EXPECT_EQ(lock.half_symbol, h.arrangement() >= hypothesis::order::half);
        // All that was received while searching is decoded.
        EXPECT_LT(lock.first_value, 100u);
        ASSERT_GT(got.bits.size(), 8900u);
        // Up to the sign, which does not show in a transparent code.
        auto bits = sent.bits;
        auto inverse = bits;
        for (auto& b : inverse) {
            b ^= 1;
        }
        const auto at = std::max(find(got.bits, &bits[200], 8000),
                                 find(got.bits, &inverse[200], 8000));
        EXPECT_GE(at, 0);
    }
}

TEST(viterbi_lock, gives_what_a_decoder_with_that_phase_gives)
{
    for (const char* name : { "dvb_1_2", "dvb_3_4", "dvb_7_8" }) {
        const auto code = conv_code::preset(name);
        const auto sent = qa::transmit(code, termination::streaming, 0, 200000, 14, 3);
        viterbi_options o{ code };
        const auto all = all_hypotheses({ code }, constellation::bpsk);
        for (const auto& h : { all.front(), all.back() }) {
            const auto values = received(h, sent.values);
            const auto got = decode(o, values);
            ASSERT_EQ(got.changes.size(), 1u);
            const auto start = got.changes[0].first_value;
            o.where = backend::cpu;
            o.positive_bit = 0;
            viterbi_decoder plain(o);
            std::vector<std::uint8_t> expected, out(1 << 14);
            std::size_t pushed = start;
            for (bool finished = false; !plain.done();) {
                pushed += plain.push(values.data() + pushed, values.size() - pushed);
                if (pushed == values.size() && !finished) {
                    plain.finish();
                    finished = true;
                }
                const auto n = plain.pull_bits(out.data(), out.size());
                expected.insert(expected.end(), out.begin(), out.begin() + n);
                if (n == 0) {
                    plain.wait(10ms);
                }
            }
            EXPECT_EQ(got.bits, expected);
        }
    }
}

TEST(viterbi_lock, does_not_depend_on_chunks_nor_batches)
{
    auto sent = qa::transmit(dvb, termination::streaming, 0, 60000, 18, 4).values;
    sent.erase(sent.begin() + 50001);
    sent.insert(sent.begin() + 90000, 17);
    std::vector<std::int8_t> noise(100001);
    std::mt19937 random(18);
    for (auto& value : noise) {
        value = std::int8_t(int(random() % 121) - 60);
    }
    sent.insert(sent.begin(), noise.begin(), noise.end());
    viterbi_options o{ dvb };
    o.lock_memory = 20000;
    const auto whole = decode(o, sent);
    ASSERT_FALSE(whole.changes.empty());
    EXPECT_NEAR(whole.changes[0].first_value, 80000, 5000);
    EXPECT_EQ(whole.last.locks, 3u);
    for (const auto& [batch, at_once] :
         { std::pair(1u, 777u), { 5, 64000 }, { 1000, 3 } }) {
        o.batch = batch;
        o.max_latency_ms = batch == 5 ? 0 : 50;
        const auto parts = decode(o, sent, at_once);
        EXPECT_EQ(parts.bits, whole.bits);
        ASSERT_EQ(parts.changes.size(), whole.changes.size());
        for (std::size_t i = 0; i < parts.changes.size(); ++i) {
            EXPECT_EQ(parts.changes[i].first_value, whole.changes[i].first_value);
            EXPECT_EQ(parts.changes[i].first_bit, whole.changes[i].first_bit);
        }
    }
}

// Slips, noise between, and a stream long enough that batches are lent between them.
std::vector<std::int8_t> troubled()
{
    auto values = qa::transmit(dvb, termination::streaming, 0, 300000, 18, 4).values;
    values.erase(values.begin() + 150001);
    values.insert(values.begin() + 240000, 17);
    std::mt19937 random(19);
    std::vector<std::int8_t> noise(70001);
    for (auto& value : noise) {
        value = std::int8_t(int(random() % 121) - 60);
    }
    values.insert(values.begin() + 400000, noise.begin(), noise.end());
    return values;
}

// As it was sent, exchanged, turned over in part, and both.
std::vector<std::int8_t> received(unsigned how, std::vector<std::int8_t> values)
{
    for (std::size_t i = 0; how > 0 && i + 1 < values.size(); i += 2) {
        if (how != 2) {
            std::swap(values[i], values[i + 1]);
        }
        if (how != 1) {
            values[i] = std::int8_t(-values[i]);
        }
    }
    return values;
}

viterbi_options for_trouble()
{
    viterbi_options o{ dvb };
    o.lock_constellation = "qpsk";
    o.batch = 16;
    o.slots = 3;
    o.soft_scale = 1;
    o.max_latency_ms = 1e6; // batches that are due are checked more finely
    return o;
}

void expect_same(const decoded& lent, const decoded& pushed)
{
    EXPECT_TRUE(lent.bits == pushed.bits);
    ASSERT_EQ(lent.changes.size(), pushed.changes.size());
    for (std::size_t i = 0; i < lent.changes.size(); ++i) {
        EXPECT_EQ(lent.changes[i].first_value, pushed.changes[i].first_value);
        EXPECT_EQ(lent.changes[i].known_value, pushed.changes[i].known_value);
    }
}

TEST(viterbi_lock, does_not_depend_on_where_the_input_lies)
{
    const auto o = for_trouble();
    for (unsigned how = 0; how < 4; ++how) {
        SCOPED_TRACE(how);
        const auto values = received(how, troubled());
        const auto bits = decode(o, values);
        EXPECT_GE(bits.last.locks, how % 2 ? 2u : 4u);
        const auto slow = decode(o, values, 1u << 20, true, 333);
        // Each lock begins with a byte of its own.
        ASSERT_EQ(slow.changes.size(), bits.changes.size());
        for (std::size_t i = 0; i < bits.changes.size(); ++i) {
            const auto begin = bits.bits.begin() + bits.changes[i].first_bit;
            const auto end = i + 1 < bits.changes.size()
                                 ? bits.bits.begin() + bits.changes[i + 1].first_bit
                                 : bits.bits.end();
            ASSERT_TRUE(std::equal(
                begin, end, slow.bits.begin() + 8 * slow.changes[i].first_byte));
        }
        expect_same(decode(o, values, 1u << 20, true), slow);
        for (const bool packed : { false, true }) {
            const auto& pushed = packed ? slow : bits;
            for (const bool later : { false, true }) {
                expect_same(
                    decode_lent<std::int8_t>(o, values, 1 << 17, 1 << 16, later, packed),
                    pushed);
                expect_same(
                    decode_lent<std::int8_t>(o, values, 100000, 777, later, packed),
                    pushed);
                expect_same(decode_lent<float>(o, values, 1 << 17, 30000, later, packed),
                            pushed);
            }
        }
    }
}

TEST(viterbi_lock_cuda, gives_what_the_cpu_gives)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    const auto o = for_trouble();
    auto cuda = o;
    cuda.where = backend::cuda;
    for (unsigned how = 0; how < 4; ++how) {
        SCOPED_TRACE(how);
        const auto values = received(how, troubled());
        const auto cpu = decode(o, values, 1u << 20, true);
        expect_same(decode(cuda, values, 777, true), cpu);
        for (const bool later : { false, true }) {
            expect_same(
                decode_lent<std::int8_t>(cuda, values, 1 << 17, 1 << 16, later, true),
                cpu);
            expect_same(decode_lent<float>(cuda, values, 1 << 17, 30000, later, true),
                        cpu);
        }
    }
}

// What a batch of a stream is that begins anywhere: bits at random, and values that fit
// them but for noise, so that what is counted can be counted here too.
struct tallied_batch {
    tallied_batch(const conv_code& code, unsigned blocks, std::uint64_t first_block)
        : setup(code, make_block_plan(code, termination::streaming, 0, 0, 0), false)
    {
        std::mt19937 random(unsigned(first_block) + blocks);
        const auto D = setup.plan.decode_length, L = setup.plan.overlap;
        job.first_block = first_block;
        job.blocks = blocks;
        first = first_block * D;
        end = first + std::uint64_t(blocks) * D;
        job.first_value = code.values(first - std::min<std::uint64_t>(first, L)) / 2 * 2;
        job.values = code.values(end + L) - job.first_value;
        job.tallies = true;
        bits.resize((end - first) / 8);
        for (auto& byte : bits) {
            byte = std::uint8_t(random());
        }
        unsigned state = 0;
        for (auto stage = first; stage < end; ++stage) {
            const unsigned bit = bit_of(stage);
            const auto word = code.output_word(state, bit);
            state = code.next_state(state, bit);
            for (unsigned r = 0; r < code.outputs(); ++r) {
                if (code.sent(stage, r)) {
                    sent.push_back(bool(word >> (code.outputs() - 1 - r) & 1u) !=
                                   code.inverted(r));
                }
            }
        }
        const auto before = code.values(first) - job.first_value;
        for (std::uint64_t i = 0; i < job.values; ++i) {
            const bool one = i >= before && i - before < sent.size() && sent[i - before];
            const int noise = int(random() % 7) - 1;
            values.push_back(std::int8_t(one ? -noise : noise));
        }
    }
    unsigned bit_of(std::uint64_t stage) const
    {
        return bits[(stage - first) / 8] >> (7 - (stage - first) % 8) & 1u;
    }
    const std::byte* input() const
    {
        return reinterpret_cast<const std::byte*>(values.data());
    }

    viterbi::setup setup;
    viterbi::job job;
    std::uint64_t first, end;
    std::vector<std::uint8_t> bits;
    std::vector<bool> sent;
    std::vector<std::int8_t> values;
};

const struct {
    const char* preset;
    unsigned blocks;
    std::uint64_t first_block;
} tallied[] = { { "dvb_1_2", 40, 0 },  { "dvb_1_2", 33, 1007 },  { "dvb_7_8", 50, 3 },
                { "dvb_2_3", 30, 77 }, { "dvb_5_6", 31, 12345 }, { "ccsds", 1, 7 },
                { "cdma_1_2", 20, 9 }, { "lte", 40, 2 } };

conv_code code_of(const char* name)
{
    const auto& preset = find_conv_preset(name);
    return conv_code(preset.constraint_length, preset.polynomials, preset.puncturing);
}

TEST(viterbi_tallies, are_of_the_last_steps_of_each_check)
{
    for (const auto& t : tallied) {
        SCOPED_TRACE(t.preset);
        const auto code = code_of(t.preset);
        const tallied_batch b(code, t.blocks, t.first_block);
        const auto& plan = b.setup.checks;
        ASSERT_GT(plan.every, 0u);
        std::vector<check_tallies> made(plan.count(b.first, b.end));
        make_tallies(b.setup,
                     b.job,
                     b.input(),
                     reinterpret_cast<const std::byte*>(b.bits.data()),
                     made.data());
        for (std::size_t i = 0; i < made.size(); ++i) {
            const auto check = (b.first / plan.every + 1 + i) * plan.every;
            const auto last = check / plan.stages * plan.stages;
            for (unsigned k = 0; k < check_tallies::sizes; ++k) {
                const auto stages = (8u << k) * plan.stages;
                if (last < stages || last - stages < b.first + plan.memory) {
                    EXPECT_EQ(made[i].values[k], check_tallies::missing);
                    continue;
                }
                unsigned there = 0, wrong = 0;
                const auto before = code.values(b.first);
                for (auto v = code.values(last - stages); v < code.values(last); ++v) {
                    const int value = b.values[v - b.job.first_value];
                    there += value != 0;
                    wrong += value != 0 && (value < 0) != b.sent[v - before];
                }
                EXPECT_EQ(made[i].values[k], there);
                EXPECT_EQ(made[i].wrong[k], wrong);
                EXPECT_GT(wrong, 0u);
            }
        }
    }
}

TEST(viterbi_tallies_cuda, are_those_of_the_cpu)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    for (const auto& t : tallied) {
        for (unsigned how = 0; how < 3; ++how) {
            SCOPED_TRACE(testing::Message() << t.preset << " " << how);
            tallied_batch b(code_of(t.preset), t.blocks, t.first_block);
            std::vector<float> floats(b.values.begin(), b.values.end());
            const auto* input = b.input();
            if (how == 1) {
                b.job.turn = { true, { false, true } };
            } else if (how == 2) {
                b.setup.floats = b.job.floats = true;
                b.job.scaled_before = b.job.values / 3;
                b.job.scale[0] = 0.3f;
                input = reinterpret_cast<const std::byte*>(floats.data());
            }
            const auto limits = b.setup.limits(t.blocks);
            const auto decode = [&](room::decoder decoder) {
                std::vector<std::byte> made(limits.output_bytes + limits.status_bytes);
                EXPECT_TRUE(decoder->take_raw());
                decoder->submit(
                    0, b.job, { input, made.data(), made.data() + limits.output_bytes });
                while (!decoder->finished(0)) {
                    std::this_thread::yield();
                }
                return made;
            };
            EXPECT_TRUE(decode(room::make_cuda(b.setup, t.blocks, 1, 0)) ==
                        decode(room::make_cpu(b.setup, t.blocks, 1)));
        }
    }
}

TEST(viterbi_lock, finds_slips)
{
    for (const char* name : { "dvb_1_2", "dvb_7_8" }) {
        const auto code = conv_code::preset(name);
        const auto sent = qa::transmit(code, termination::streaming, 0, 100000, 12, 5);
        for (const std::size_t slip : { 40000u, 41234u, 60001u }) {
            for (const bool lose : { false, true }) {
                auto values = sent.values;
                if (lose) {
                    values.erase(values.begin() + slip);
                } else {
                    values.insert(values.begin() + slip, values[slip]);
                }
                const auto got = decode(viterbi_options{ code }, values);
                ASSERT_EQ(got.changes.size(), 3u);
                EXPECT_FALSE(got.changes[1].locked);
                EXPECT_NEAR(double(got.changes[2].first_value), double(slip), 200);
                // Both parts are there.
                const auto bit = std::size_t(slip * code.rate());
                EXPECT_GE(find(got.bits, &sent.bits[100], bit - 400), 0);
                EXPECT_GE(find(got.bits, &sent.bits[bit + 300], 20000), 0);
            }
        }
    }
}

// Frames that nobody says the beginning of: where in the stream they were sent, and what
// a decoder gives that is told.
TEST(viterbi_lock, finds_terminated_frames)
{
    struct {
        const char* preset;
        unsigned frame_bits;
        double sigma;
    } const cases[] = { { "gsm", 189, 12 },        { "gsm", 40, 10 },
                        { "80211_1_2", 210, 14 },  { "80211_3_4", 1002, 10 },
                        { "80211_5_6", 499, 8 },   { "dab", 192, 20 },
                        { "umts_1_2", 333, 14 },   { "umts_1_3", 244, 16 },
                        { "80211_1_2", 20000, 14 } };
    std::uint64_t seed = 30;
    for (const auto& c : cases) {
        const auto& preset = find_conv_preset(c.preset);
        const conv_code code(
            preset.constraint_length, preset.polynomials, preset.puncturing);
        const auto T = c.frame_bits + code.constraint_length() - 1;
        const auto F = code.values(T);
        viterbi_options o{ code };
        o.ends = termination::terminated;
        o.frame_bits = c.frame_bits;
        for (const char* symbols : { "bpsk", "qpsk" }) {
            if (F % 2 && *symbols == 'q') {
                continue; // symbols that go over the end of a frame: below
            }
            o.lock_constellation = symbols;
            o.lock_memory = std::max<std::size_t>(1000000, 24 * F);
            for (const std::size_t cut : { std::size_t(0), F / 3 * 2 + 1 }) {
                for (const bool negated : { false, true }) {
                    SCOPED_TRACE(testing::Message()
                                 << c.preset << " " << c.frame_bits << " " << symbols
                                 << " " << cut << " " << negated);
                    auto sent = qa::transmit(code,
                                             termination::terminated,
                                             c.frame_bits,
                                             std::size_t(c.frame_bits) * 30,
                                             c.sigma,
                                             ++seed);
                    auto values = sent.values;
                    ASSERT_EQ(values.size(), 30 * F);
                    values.erase(values.begin(), values.begin() + cut);
                    for (auto& v : values) {
                        v = negated ? -v : v;
                    }
                    const auto got = decode(o, values);
                    ASSERT_EQ(got.changes.size(), 1u);
                    const auto& lock = got.changes[0];
                    EXPECT_TRUE(lock.locked);
                    EXPECT_EQ((lock.first_value + cut) % F, 0u);
                    EXPECT_LT(lock.first_value, 2 * F);
                    EXPECT_LE(lock.known_value, 20 * F);
                    const auto first = (lock.first_value + cut) / F;
                    // To the last bit as from a decoder that is told.
                    auto plain = o;
                    plain.lock = "off";
                    plain.where = backend::cpu;
                    plain.positive_bit = 0;
                    viterbi_decoder decoder(plain);
                    std::vector<std::uint8_t> expected, out(1 << 14);
                    std::vector<std::int8_t> told(sent.values.begin() + first * F,
                                                  sent.values.end());
                    std::size_t pushed = 0;
                    for (bool finished = false; !decoder.done();) {
                        pushed +=
                            decoder.push(told.data() + pushed, told.size() - pushed);
                        if (pushed == told.size() && !finished) {
                            decoder.finish();
                            finished = true;
                        }
                        const auto n = decoder.pull_bits(out.data(), out.size());
                        expected.insert(expected.end(), out.begin(), out.begin() + n);
                        if (n == 0) {
                            decoder.wait(10ms);
                        }
                    }
                    EXPECT_EQ(got.bits, expected);
                }
            }
        }
    }
}

// A frame that is too short and too weak to be found, between noise, has the phase of the
// lock before it or of the one behind it.
TEST(viterbi_lock, finds_short_frames_between_two_locks)
{
    const auto code = conv_code::preset("ccsds");
    std::mt19937 random(11);
    std::normal_distribution<double> gauss(0, 32);
    const auto signal = [&](std::size_t bits, double sigma, std::uint64_t seed) {
        return qa::transmit(code, termination::streaming, 0, bits, sigma, seed);
    };
    const auto first = signal(20000, 14, 12), second = signal(20000, 14, 13);
    for (const std::size_t gap : { 2000u, 30000u, 100001u }) {
        for (const bool as_before : { true, false }) {
            for (std::uint64_t seed = 20; seed < 25; ++seed) {
                SCOPED_TRACE(testing::Message()
                             << gap << " " << as_before << " " << seed);
                const auto frame = signal(400, 20, seed);
                std::vector<std::int8_t> values;
                const auto add = [&](const std::vector<std::int8_t>& more) {
                    values.insert(values.end(), more.begin(), more.end());
                };
                const auto noise = [&](std::size_t count) {
                    for (std::size_t i = 0; i < count; ++i) {
                        values.push_back(
                            std::int8_t(std::clamp(gauss(random), -127.0, 127.0)));
                    }
                };
                add(first.values);
                noise(gap + (gap + values.size() + !as_before) % 2);
                const auto where = values.size();
                add(frame.values);
                noise(gap + (gap + values.size() + 1) % 2);
                add(second.values);
                const auto got = decode(viterbi_options{ code }, values);
                EXPECT_EQ(where % 2, as_before ? 0u : 1u);
                EXPECT_GE(find(got.bits, &first.bits[100], 19000), 0);
                EXPECT_GE(find(got.bits, &second.bits[300], 19000), 0);
                // Its first bits and its last are beside noise.
                EXPECT_GE(find(got.bits, &frame.bits[30], 340), 0);
                // What was received is decoded once, but for what shows a lock is lost.
                EXPECT_LT(got.bits.size(), values.size() / 2 + 4000);
                for (const std::size_t at_once : { 777u, 30000u }) {
                    EXPECT_EQ(decode(viterbi_options{ code }, values, at_once).bits,
                              got.bits);
                }
            }
        }
    }
}

TEST(viterbi_lock, noise_constants_and_other_codes_give_none)
{
    viterbi_options o{ conv_code::preset("dvb_1_2") };
    o.lock_constellation = "qpsk";
    o.lock_presets = { "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8" };
    std::mt19937 random(6);
    std::normal_distribution<double> noise(0, 32);
    const auto none = [&](auto&& value) {
        std::vector<std::int8_t> values(300000);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = std::int8_t(std::clamp<double>(value(i), -128, 127));
        }
        const auto got = decode(o, values);
        EXPECT_EQ(got.changes.size(), 0u);
        EXPECT_EQ(got.bits.size(), 0u);
        EXPECT_EQ(got.last.dropped, values.size());
    };
    none([&](std::size_t) { return std::clamp(noise(random), -127.0, 127.0); });
    none([&](std::size_t) { return random() & 1 ? 64 : -64; });
    none([&](std::size_t) { return noise(random) / 40; }); // most are erased
    none([&](std::size_t i) { return i % 1000 < 100 ? noise(random) : 0.0; });
    none([](std::size_t) { return 0; });
    none([](std::size_t) { return 50; });
    none([](std::size_t) { return -128; });
    none([](std::size_t i) { return i % 2 ? 50 : -50; });
    none([](std::size_t i) { return i % 4 < 2 ? 50 : -50; });
    none([](std::size_t i) { return i % 7 < 3 ? 50 : -50; });
    for (const char* name : { "gsm", "lte", "cdma_1_2", "dab" }) {
        const auto& preset = find_conv_preset(name);
        const conv_code other(
            preset.constraint_length, preset.polynomials, preset.puncturing);
        const auto sent = qa::transmit(other, termination::streaming, 0, 200000, 8, 7);
        none([&](std::size_t i) { return sent.values[i]; });
    }
    // A rate that is not among them, and a sign that is not.
    for (const char* rates : { "dvb_1_2", "dvb_7_8" }) {
        o = viterbi_options{ conv_code::preset(rates) };
        for (const char* name : { "dvb_2_3", "dvb_3_4", "dvb_5_6", "ccsds" }) {
            for (const double sigma : { 0.0, 12.0, 20.0 }) {
                SCOPED_TRACE(std::string(rates) + " " + name + " " +
                             std::to_string(sigma));
                const auto sent = qa::transmit(
                    conv_code::preset(name), termination::streaming, 0, 300000, sigma, 8);
                none([&](std::size_t i) { return sent.values[i]; });
            }
        }
    }
}

TEST(viterbi_lock, idle_stretches_and_fades_keep_it)
{
    const auto code = conv_code::preset("ccsds");
    const auto sent = qa::transmit(code, termination::streaming, 0, 200000, 14, 9);
    const auto with = [&](auto&& value) {
        auto values = sent.values;
        for (std::size_t i = 150000; i < 250000; ++i) {
            values[i] = std::int8_t(std::clamp<double>(value(i), -128, 127));
        }
        return decode(viterbi_options{ code }, values);
    };
    // A sequence of the code, none of it, and no signal at all.
    for (const auto& got : { with([](std::size_t i) { return i % 2 ? -40 : 40; }),
                             with([](std::size_t) { return 40; }),
                             with([](std::size_t) { return 0; }) }) {
        EXPECT_EQ(got.changes.size(), 1u);
        EXPECT_EQ(got.bits.size(), 200000u);
    }
    // A fade: what is behind it is where it was.
    auto values = sent.values;
    std::mt19937 random(10);
    for (std::size_t i = 150001; i < 156000; ++i) {
        values[i] = std::int8_t(random());
    }
    const auto got = decode(viterbi_options{ code }, values);
    EXPECT_EQ(got.changes.size(), 1u);
    ASSERT_EQ(got.bits.size(), 200000u);
    EXPECT_EQ(find(got.bits, &sent.bits[100000], 90000), 100000);
}
