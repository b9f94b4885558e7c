// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the decoder with phase search: hypotheses, locks, slips (lost or repeated
 * values), borrowed input, frames, fades and noise. */

#include "cuda/devices.h"
#include "qa_support.h"
#include "viterbi/phase_lock/phase_search.h"
#include <gnuradio/gpufec/pinned_memory.h>
#include <gtest/gtest.h>
#include <random>

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

// Returns a received stream that hypothesis `h` reads as `values`.
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

// Pulls up to `capacity` bits, or bytes of packed bits, and appends the bits to d.bits.
std::size_t pull(viterbi_decoder& decoder, std::size_t capacity, bool packed, decoded& d)
{
    std::vector<std::uint8_t> out(capacity);
    if (!packed) {
        const auto got = decoder.pull({ out.data(), capacity, false });
        d.bits.insert(d.bits.end(), out.begin(), out.begin() + got);
        return got;
    }
    const auto got = decoder.pull({ out.data(), capacity, true });
    for (std::size_t i = 0; i < 8 * got; ++i) {
        d.bits.push_back(out[i / 8] >> (7 - i % 8) & 1);
    }
    return got;
}

decoded decode(viterbi_options o,
               const std::vector<std::int8_t>& values,
               std::size_t at_once = 1u << 20,
               bool packed = false,
               std::size_t capacity = 1u << 14)
{
    o.lock = "auto";
    o.backend = o.backend == backend::automatic ? backend::cpu : o.backend;
    o.positive_bit = 0;
    const auto decoder = viterbi_decoder::make(o);
    decoded d;
    bool finished = false;
    for (std::size_t pushed = 0; !decoder->done();) {
        const auto n = std::min(at_once, values.size() - pushed);
        pushed += decoder->push({ values.data() + pushed, n });
        if (pushed == values.size() && !finished) {
            decoder->finish();
            finished = true;
        }
        if (pull(*decoder, capacity, packed, d) == 0 && !decoder->done()) {
            decoder->wait(10ms);
        }
        for (viterbi_lock c; decoder->take_lock(c);) {
            d.changes.push_back(c);
        }
    }
    d.last = decoder->lock();
    return d;
}

// Decodes like decode(), but the decoder borrows the items, at most `capacity` at a time,
// and the items are overwritten after their release. If `push_later` is set, the second
// half is not borrowed but pushed.
template <class Item>
decoded decode_borrowed(viterbi_options o,
                        const std::vector<std::int8_t>& values,
                        std::size_t capacity,
                        std::size_t at_once,
                        bool push_later,
                        bool packed)
{
    o.lock = "auto";
    o.backend = o.backend == backend::automatic ? backend::cpu : o.backend;
    o.positive_bit = 0;
    o.format = sizeof(Item) == 1 ? soft_format::int8 : soft_format::float32;
    const auto decoder = viterbi_decoder::make(o);
    EXPECT_GT(pinned_input::bytes_needed(*decoder), 0u);
    decoded d;
    std::vector<Item> items(values.begin(), values.end());
    const bool locks = o.backend == backend::cuda;
    std::optional<pinned_input> input;
    input.emplace(*decoder, items.data(), items.size() * sizeof(Item));
    EXPECT_EQ(input->pinned(), locks);
    std::size_t back = 0, taken = 0, there = 0;
    bool finished = false;
    while (!decoder->done()) {
        const auto release_borrowed = [&] {
            for (auto n = input->release(); n > 0; --n) {
                items[back++] = Item(77);
            }
        };
        if (input && push_later && taken > values.size() / 2) {
            input->end();
            EXPECT_EQ(input->borrowed(), 0u);
            input.reset();
            // Overwrites released items, which the decoder must not read again.
            std::fill_n(items.begin(), taken, Item(77));
        }
        if (input) {
            there = std::min({ there + at_once, back + capacity, values.size() });
            taken += input->borrow(items.data() + back, there - back);
            EXPECT_EQ(input->borrowed(), taken - back);
            release_borrowed();
        } else {
            const auto n = std::min(at_once, values.size() - taken);
            taken += decoder->push({ items.data() + taken, n });
        }
        if (taken == values.size() && !finished) {
            decoder->finish();
            finished = true;
        }
        const auto got = pull(*decoder, 1u << 14, packed, d);
        if (input) {
            release_borrowed();
        }
        if (got == 0 && !decoder->done()) {
            decoder->wait(10ms);
        }
        for (viterbi_lock c; decoder->take_lock(c);) {
            d.changes.push_back(c);
        }
    }
    d.last = decoder->lock();
    return d;
}

// Decodes `values` from index `first` on, without phase search.
std::vector<std::uint8_t> decode_without_search(viterbi_options o,
                                                const std::vector<std::int8_t>& values,
                                                std::size_t first)
{
    o.lock = "off";
    o.backend = backend::cpu;
    o.positive_bit = 0;
    const auto decoder = viterbi_decoder::make(o);
    std::vector<std::uint8_t> bits, out(1 << 14);
    std::size_t pushed = first;
    for (bool finished = false; !decoder->done();) {
        pushed += decoder->push(span(values).from(pushed));
        if (pushed == values.size() && !finished) {
            decoder->finish();
            finished = true;
        }
        const auto n = decoder->pull(unpacked_bits(out));
        bits.insert(bits.end(), out.begin(), out.begin() + n);
        if (n == 0) {
            decoder->wait(10ms);
        }
    }
    return bits;
}

// Returns the first index from which `in` matches `bits` with at most 7 differences, or
// −1.
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

TEST(viterbi_hypotheses, EquivalentHypotheses_AreListedOnce)
{
    const auto count = [](const std::vector<conv_code>& codes, constellation c) {
        return all_hypotheses(codes, c).size();
    };
    EXPECT_EQ(count({ dvb }, constellation::bpsk), 2u);
    EXPECT_EQ(count({ dvb }, constellation::qpsk), 8u);
    EXPECT_EQ(count({ conv_code::preset("dvb_7_8") }, constellation::bpsk), 8u);
    // Rates 1/2 to 7/8 have 8, 18, 16, 12 and 32 hypotheses. Rate 5/6 has only 12,
    // because an alternating sign is one of its code sequences.
    EXPECT_EQ(count(dvb_codes(), constellation::qpsk), 86u);
    EXPECT_EQ(count({ conv_code::preset("dvb_5_6") }, constellation::qpsk), 12u);
    // The codes differ in two ways. One has an inverted output, which equals an
    // alternating sign. The other has its outputs in another order, which equals an
    // exchange of I and Q. With QPSK, both differences are ambiguities, so only BPSK
    // distinguishes the codes.
    EXPECT_EQ(count({ dvb, conv_code::preset("ccsds") }, constellation::bpsk), 4u);
    EXPECT_EQ(count({ dvb, conv_code::preset("ccsds") }, constellation::qpsk), 8u);
    EXPECT_EQ(count({ dvb, conv_code(7, { 0133, 0171 }) }, constellation::qpsk), 8u);
    // Ones are encoded to 1, 0, 1, 0, …, so an alternating sign is a code sequence of
    // this code, but an inversion of all signs is not.
    EXPECT_EQ(count({ conv_code(3, { 07, 05 }) }, constellation::bpsk), 4u);
    EXPECT_GT(count({ dvb }, constellation::oqpsk), 8u);
}

TEST(viterbi_lock, AnyHypothesis_IsFound)
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
        // Values received during the search are decoded too.
        EXPECT_LT(lock.first_value, 100u);
        ASSERT_GT(got.bits.size(), 8900u);
        // The sign of a transparent code is ambiguous, so its bits may be inverted.
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

TEST(viterbi_lock, LockedStream_DecodesAsWithKnownPhase)
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
            EXPECT_EQ(got.bits, decode_without_search(o, values, start));
        }
    }
}

TEST(viterbi_lock, ChunksAndBatches_DoNotChangeOutput)
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

// Returns a noisy stream with a lost value, an inserted value and a section of noise. The
// three disturbances are so far apart that batches are borrowed between them.
std::vector<std::int8_t> disturbed_stream()
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

// Returns `values` unchanged (how = 0), with the values of each pair exchanged (1), with
// every second sign changed (2), or with both changes (3).
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
    // With a latency limit, batches would be cut short and have checks at shorter
    // distances.
    o.max_latency_ms = 1e6;
    return o;
}

void expect_same(const decoded& borrowed, const decoded& pushed)
{
    EXPECT_TRUE(borrowed.bits == pushed.bits);
    ASSERT_EQ(borrowed.changes.size(), pushed.changes.size());
    for (std::size_t i = 0; i < borrowed.changes.size(); ++i) {
        EXPECT_EQ(borrowed.changes[i].first_value, pushed.changes[i].first_value);
        EXPECT_EQ(borrowed.changes[i].known_value, pushed.changes[i].known_value);
    }
}

TEST(viterbi_lock, BorrowedInput_DecodesAsPushed)
{
    const auto o = for_trouble();
    for (unsigned how = 0; how < 4; ++how) {
        SCOPED_TRACE(how);
        const auto values = received(how, disturbed_stream());
        const auto bits = decode(o, values);
        EXPECT_GE(bits.last.locks, how % 2 ? 2u : 4u);
        const auto slow = decode(o, values, 1u << 20, true, 333);
        // Each lock begins with a new byte.
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
                expect_same(decode_borrowed<std::int8_t>(
                                o, values, 1 << 17, 1 << 16, later, packed),
                            pushed);
                expect_same(
                    decode_borrowed<std::int8_t>(o, values, 100000, 777, later, packed),
                    pushed);
                expect_same(
                    decode_borrowed<float>(o, values, 1 << 17, 30000, later, packed),
                    pushed);
            }
        }
    }
}

TEST(viterbi_lock_cuda, SlipsAndNoise_DecodeAsOnCpu)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    const auto o = for_trouble();
    auto cuda = o;
    cuda.backend = backend::cuda;
    for (unsigned how = 0; how < 4; ++how) {
        SCOPED_TRACE(how);
        const auto values = received(how, disturbed_stream());
        const auto cpu = decode(o, values, 1u << 20, true);
        expect_same(decode(cuda, values, 777, true), cpu);
        for (const bool later : { false, true }) {
            expect_same(
                decode_borrowed<std::int8_t>(cuda, values, 1 << 17, 1 << 16, later, true),
                cpu);
            expect_same(decode_borrowed<float>(cuda, values, 1 << 17, 30000, later, true),
                        cpu);
        }
    }
}

TEST(viterbi_lock, Slip_IsLocatedWithin300Bits)
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
                // Up to 300 bits before the slip, and from 300 bits after it, at most 7
                // decoded bits are wrong.
                const auto bit = std::size_t(slip * code.rate());
                EXPECT_GE(find(got.bits, &sent.bits[100], bit - 400), 0);
                EXPECT_GE(find(got.bits, &sent.bits[bit + 300], 20000), 0);
            }
        }
    }
}

TEST(viterbi_lock, ReportedEndOfLock_IsTheValueAfterItsLastBit)
{
    const auto got = decode(viterbi_options{ dvb }, disturbed_stream());
    unsigned ends = 0;
    for (std::size_t i = 1; i < got.changes.size(); ++i) {
        const auto& begin = got.changes[i - 1];
        const auto& end = got.changes[i];
        if (begin.locked && !end.locked) {
            EXPECT_EQ(end.first_value - begin.first_value,
                      2 * (end.first_bit - begin.first_bit));
            EXPECT_LE(end.first_value, end.known_value + 1);
            ++ends;
        }
    }
    EXPECT_GE(ends, 3u);
}

// Asserts that the decoder finds frames where they were sent, and that its bits equal
// those of a decoder without search that begins at a frame.
TEST(viterbi_lock, TerminatedFrames_AreFound)
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
        const auto preset = find_conv_preset(c.preset);
        const conv_code code(
            preset.constraint_length, preset.polynomials, preset.puncturing);
        const auto T = c.frame_bits + code.constraint_length() - 1;
        const auto F = code.values(T);
        viterbi_options o{ code };
        o.termination = termination::terminated;
        o.frame_bits = c.frame_bits;
        for (const char* symbols : { "bpsk", "qpsk" }) {
            if (F % 2 && *symbols == 'q') {
                continue; // symbols would straddle the ends of frames
            }
            o.lock_constellation = symbols;
            o.lock_memory = std::max<std::size_t>(1000000, 24 * F);
            for (const std::size_t cut : { std::size_t(0), F / 3 * 2 + 1 }) {
                for (const bool negated : { false, true }) {
                    SCOPED_TRACE(testing::Message()
                                 << c.preset << ", " << c.frame_bits << " bits, "
                                 << symbols << ", first value " << cut << ", negated "
                                 << negated);
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
                    // Asserts that all bits equal those of a decoder without search that
                    // begins at this frame.
                    EXPECT_EQ(got.bits, decode_without_search(o, sent.values, first * F));
                }
            }
        }
    }
}

// A frame surrounded by noise is too short and weak to be found by itself. With the phase
// of the lock before or after the frame, the decoder decodes the frame with at most 7
// wrong bits.
TEST(viterbi_lock, ShortFrameBetweenLocks_IsDecoded)
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
                             << "gap " << gap << ", phase of the lock before: "
                             << as_before << ", seed " << seed);
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
                // The first and last 30 bits are not compared, because the noise before
                // and after the frame causes errors.
                EXPECT_GE(find(got.bits, &frame.bits[30], 340), 0);
                // Values between the end of a lock and the failed check are decoded
                // twice. In total, up to 4000 additional bits are accepted.
                EXPECT_LT(got.bits.size(), values.size() / 2 + 4000);
                for (const std::size_t at_once : { 777u, 30000u }) {
                    EXPECT_EQ(decode(viterbi_options{ code }, values, at_once).bits,
                              got.bits);
                }
            }
        }
    }
}

TEST(viterbi_lock, NoiseConstantsAndOtherCodes_CauseNoLock)
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
    // Most of these values round to 0, which is an erasure.
    none([&](std::size_t) { return noise(random) / 40; });
    none([&](std::size_t i) { return i % 1000 < 100 ? noise(random) : 0.0; });
    none([](std::size_t) { return 0; });
    none([](std::size_t) { return 50; });
    none([](std::size_t) { return -128; });
    none([](std::size_t i) { return i % 2 ? 50 : -50; });
    none([](std::size_t i) { return i % 4 < 2 ? 50 : -50; });
    none([](std::size_t i) { return i % 7 < 3 ? 50 : -50; });
    for (const char* name : { "gsm", "lte", "cdma_1_2", "dab" }) {
        const auto preset = find_conv_preset(name);
        const conv_code other(
            preset.constraint_length, preset.polynomials, preset.puncturing);
        const auto sent = qa::transmit(other, termination::streaming, 0, 200000, 8, 7);
        none([&](std::size_t i) { return sent.values[i]; });
    }
    // The search includes neither these rates nor the inverted output of "ccsds".
    for (const char* rates : { "dvb_1_2", "dvb_7_8" }) {
        o = viterbi_options{ conv_code::preset(rates) };
        for (const char* name : { "dvb_2_3", "dvb_3_4", "dvb_5_6", "ccsds" }) {
            for (const double sigma : { 0.0, 12.0, 20.0 }) {
                SCOPED_TRACE(std::string("searched ") + rates + ", sent " + name +
                             ", sigma " + std::to_string(sigma));
                const auto sent = qa::transmit(
                    conv_code::preset(name), termination::streaming, 0, 300000, sigma, 8);
                none([&](std::size_t i) { return sent.values[i]; });
            }
        }
    }
}

TEST(viterbi_lock, IdleStretchesAndFades_KeepTheLock)
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
    // The lock is kept during a periodic code sequence, during erasures, and during
    // constant values, which are no sequence of this code.
    for (const auto& got : { with([](std::size_t i) { return i % 2 ? -40 : 40; }),
                             with([](std::size_t) { return 40; }),
                             with([](std::size_t) { return 0; }) }) {
        EXPECT_EQ(got.changes.size(), 1u);
        EXPECT_EQ(got.bits.size(), 200000u);
    }
    // Random values replace 5999 values. The later bits keep their positions.
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
