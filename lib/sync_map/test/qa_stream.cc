// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of streams whose frames search for their beginnings. Results are compared with
 * those of the sequential rule (each frame begins where the previous frame ended), for
 * batches of any size. Further tests concern slips (lost or inserted items), noise,
 * channels that change or differ from the model, and received_window. */

#include "cuda/devices.h"
#include "lab/sync_map/simulation.h"
#include "qa_support.h"
#include "sync_map/stream/boundary_predictor.h"
#include "sync_map/stream/stream.h"
#include <gtest/gtest.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

namespace gr::gpufec::sync_map {
namespace {

using std::chrono::milliseconds;

[[maybe_unused]] bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

struct decoded_stream {
    std::vector<double> values;
    std::vector<std::int64_t> begins;
    // Probabilities that a frame begins at item `first` and at each following item,
    // according to the drift posteriors.
    struct begin_posterior {
        std::int64_t first;
        std::vector<float> probabilities;
    };
    std::vector<begin_posterior> begin_posteriors; // one per frame
    std::vector<bool> locked;
    std::vector<double> bounds;
    std::uint64_t links_failed = 0, frames_again = 0;
    std::vector<std::string> log;
};

void take_all(sync_decoder& decoder, decoded_stream& to)
{
    sync_decoder::frame f;
    while (decoder.pull(f)) {
        EXPECT_EQ(f.number, to.begins.size());
        const auto* const out = static_cast<const std::byte*>(f.output);
        switch (decoder.options().output) {
        case sync_output::posteriors64:
            append_values<double>(out, f.output_bytes / sizeof(double), to.values);
            break;
        case sync_output::posteriors:
            append_values<float>(out, f.output_bytes / sizeof(float), to.values);
            break;
        default:
            append_values<std::uint8_t>(out, f.output_bytes, to.values);
        }
        to.begins.push_back(f.begin);
        if (f.first_drifts) {
            const auto window = decoder.window();
            to.begin_posteriors.push_back(
                { f.begin - f.status.start_drift + window.first,
                  { f.first_drifts, f.first_drifts + window.size() } });
        }
        to.locked.push_back(f.locked);
        to.bounds.push_back(f.bound);
    }
}

decoded_stream decode(const sync_options& options,
                      const std::vector<std::uint8_t>& items,
                      std::size_t piece = 1 << 16)
{
    decoded_stream out;
    decoder_hooks hooks;
    hooks.log = [&](log_level, const std::string& text) { out.log.push_back(text); };
    const auto decoder = sync_decoder::make(options, hooks);
    for (std::size_t at = 0; at < items.size();) {
        at += decoder->push({ items.data() + at, std::min(piece, items.size() - at) });
        take_all(*decoder, out);
    }
    finish(*decoder, [&] { take_all(*decoder, out); });
    out.links_failed = decoder->links_failed();
    out.frames_again = decoder->frames_again();
    return out;
}

// Decodes with the sequential rule (see the top of this file).
decoded_stream decode_sequentially(const sync_options& options,
                                   const std::vector<std::uint8_t>& items)
{
    auto setup = make_setup(options);
    setup.search = {};
    setup.boundary_matches = false;
    stream_cutter cutter(options, setup);
    cutter.push(items.data(), items.size());
    cutter.finish();
    constexpr std::size_t batch = 64;
    const auto decoder = options.backend == backend::cuda
                             ? traits::make_cuda(setup, batch, 1, 0)
                             : traits::make_cpu(setup, batch, 2);
    decoder->on_completion([] {});
    const host_memory in(setup.input_bytes() * batch), out(setup.output_bytes() * batch),
        status(sizeof(sync_status) * batch);
    decoded_stream decoded;
    while (!cutter.done()) {
        std::vector<stream_cutter::place> places;
        while (places.size() < batch && cutter.ready()) {
            places.push_back(
                cutter.write(in.data() + places.size() * setup.input_bytes()));
        }
        decoder->submit(0, { places.size() }, { in.data(), out.data(), status.data() });
        while (!decoder->finished(0)) {
            std::this_thread::yield();
        }
        for (std::size_t k = 0; k < places.size(); ++k) {
            const auto f =
                read_output(setup,
                            out.data() + k * setup.output_bytes(),
                            reinterpret_cast<const sync_status*>(status.data())[k]);
            decoded.values.insert(decoded.values.end(), f.values.begin(), f.values.end());
            decoded.begins.push_back(places[k].origin + f.status.start_drift);
        }
    }
    return decoded;
}

backend tested = backend::cpu;

// Fixture of the tests that run on the CPU and on CUDA.
class sync_stream_search : public testing::TestWithParam<backend>
{
protected:
    void SetUp() override
    {
        tested = GetParam();
        const auto found = find_cuda_devices();
        if (tested == backend::cuda && found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }
};

struct stream_case {
    sync_code code;
    bsid_model channel;
    unsigned frames;
};

std::vector<std::uint8_t> received(const stream_case& c, std::uint64_t seed = 3)
{
    sync_options o(c.code, c.channel);
    const frame_source source(o, seed);
    std::vector<std::uint8_t> items;
    for (unsigned f = 0; f < c.frames; ++f) {
        const auto frame = source.make(f).items;
        for (const auto item : frame) {
            items.push_back(std::uint8_t(item));
        }
    }
    return items;
}

sync_options options_of(const stream_case& c, sync_precision precision)
{
    sync_options o(c.code, c.channel);
    o.mode = sync_mode::stream;
    o.backend = tested;
    o.precision = precision;
    o.output = sync_output::posteriors64;
    o.threads = 2;
    return o;
}

double largest_of_frames(const decoded_stream& a, const decoded_stream& b)
{
    EXPECT_EQ(a.begins.size(), b.begins.size());
    return largest_difference(a.values, b.values);
}

struct measured {
    double difference = 0, bound = 0;
    std::uint64_t failed = 0, again = 0;
};

// Checks that each frame is locked, that the frame begins where the sequential rule finds
// it, and that its posteriors differ from those of the rule by at most twice the frame's
// bound plus rounding. If \p many is true, also accepts other, equally likely beginnings,
// because rounding decides which beginning is found.
measured check_against_sequential(const stream_case& c,
                                  sync_precision precision,
                                  std::uint64_t seed = 3,
                                  bool many = false)
{
    const auto items = received(c, seed);
    auto o = options_of(c, precision);
    o.drifts = true;
    const auto a = decode(o, items), b = decode_sequentially(o, items);
    const double rounding = precision == sync_precision::float64 ? 1e-12 : 1e-6;
    if (!many) {
        EXPECT_EQ(a.begins, b.begins);
    }
    EXPECT_EQ(a.begins.size(), b.begins.size());
    EXPECT_EQ(a.values.size(), b.values.size());
    measured m{ 0, 0, a.links_failed, a.frames_again };
    const auto size = a.values.size() / a.begins.size();
    for (std::size_t f = 0; f < a.begins.size(); ++f) {
        EXPECT_TRUE(a.locked[f]) << f;
        if (a.begins[f] != b.begins[f]) {
            const auto& posterior = a.begin_posteriors.at(f);
            EXPECT_NEAR(posterior.probabilities.at(a.begins[f] - posterior.first),
                        posterior.probabilities.at(b.begins[f] - posterior.first),
                        2 * a.bounds[f] + 1e-6)
                << f;
        }
        double off = 0;
        for (std::size_t k = f * size; k < (f + 1) * size; ++k) {
            off = std::max(off, std::abs(a.values[k] - b.values[k]));
        }
        // The factor 2 allows for the effect of errors at earlier boundaries.
        EXPECT_LE(off, 2 * a.bounds[f] + rounding) << f;
        m.difference = std::max(m.difference, off);
        m.bound = std::max(m.bound, a.bounds[f]);
    }
    return m;
}

TEST(sync_received_window, Window_ReturnsPushedItems)
{
    constexpr std::size_t bytes = 4;
    std::mt19937 random(9);
    std::vector<std::uint32_t> sent(300000);
    for (auto& x : sent) {
        x = random();
    }
    received_window store(bytes);
    std::vector<std::uint32_t> got;
    while (store.end() < std::int64_t(sent.size())) {
        const auto n = std::min<std::size_t>(random() % 50000, sent.size() - store.end());
        store.push(reinterpret_cast<const std::byte*>(sent.data() + store.end()), n);
        const auto from = store.first() + random() % (store.end() - store.first() + 1);
        got.resize(store.end() - from);
        store.copy(from, store.end(), reinterpret_cast<std::byte*>(got.data()));
        ASSERT_TRUE(std::equal(got.begin(), got.end(), sent.begin() + from));
        const auto to = from + std::int64_t(random() % (store.end() - from + 1));
        const auto span = store.span(from, to);
        ASSERT_EQ(span.count, to - from);
        ASSERT_EQ(std::memcmp(span.items, sent.data() + from, bytes * span.count), 0);
        // The argument of forget() may be an item that has not arrived. Only items that
        // have arrived are then dropped.
        store.forget(store.end() + 10 - std::int64_t(random() % 100000));
        EXPECT_LE(store.first(), store.end());
    }
}

TEST_P(sync_stream_search, VariousCodesAndChannels_FollowSequentialRule)
{
    const unsigned N = 210, frames = small_scale() ? 40 : 150;
    for (const auto& code : { codebook_davey_mackay(10, 32, N, 1),
                              codebook_random(10, 32, N, 1),
                              codebook_random(7, 12, 90, 1),
                              codebook_random(4, 20, 100, 1, 4) }) {
        const auto s = code.alphabet();
        for (const auto& channel : { bsid_model(1e-4, 1e-4, 0, s),
                                     bsid_model(1e-3, 1e-3, 0, s),
                                     bsid_model(1e-3, 1e-3, 1e-2, s),
                                     bsid_model(1e-2, 1e-2, 0, s),
                                     bsid_model(2e-2, 1e-3, 1e-2, s),
                                     bsid_model(0, 1e-2, 1e-3, s) }) {
            const stream_case c{ code, channel, frames };
            SCOPED_TRACE("n = " + std::to_string(code.n()) +
                         ", p_insert = " + std::to_string(channel.p_insert()));
            const auto single = check_against_sequential(c, sync_precision::float32);
            EXPECT_LE(single.difference, 1e-6);
            EXPECT_LE(single.bound, 1e-5);
        }
        const stream_case c{ code, bsid_model(1e-2, 1e-2, 1e-3, s), frames / 2 };
        EXPECT_LE(check_against_sequential(c, sync_precision::float64).difference, 1e-9);
        EXPECT_LE(check_against_sequential(c, sync_precision::mixed).difference, 1e-6);
    }
}

// The tests DISABLED_… take minutes and are run manually with
// --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_*' --gtest_output=json:FILE.
// Results of the next test are in bench/results/sync/sync-stream-bound.json.
TEST_P(sync_stream_search, DISABLED_ManyFrames_FollowSequentialRule)
{
    constexpr unsigned pieces = 50, at_once = 2000;
    for (const double p : { 1e-4, 1e-3, 1e-2, 0.1 }) {
        for (const bool random : { false, true }) {
            const auto code = random ? codebook_random(10, 32, 210, 1)
                                     : codebook_davey_mackay(10, 32, 210, 1);
            const stream_case c{ code, { p, p, 0 }, at_once };
            measured all;
            std::mutex mutex;
            std::atomic<unsigned> next{ 0 };
            const auto take_pieces = [&] {
                for (unsigned k; (k = next++) < pieces;) {
                    const auto m = check_against_sequential(
                        c, sync_precision::float32, k * at_once, true);
                    const std::lock_guard lock(mutex);
                    all.difference = std::max(all.difference, m.difference);
                    all.bound = std::max(all.bound, m.bound);
                    all.failed += m.failed;
                    all.again += m.again;
                }
            };
            std::vector<std::thread> threads(
                std::min(16U, std::thread::hardware_concurrency()));
            for (auto& thread : threads) {
                thread = std::thread(take_pieces);
            }
            for (auto& thread : threads) {
                thread.join();
            }
            EXPECT_LE(all.difference, 1e-6);
            std::ostringstream name, seen;
            name << (random ? "random " : "davey_mackay ") << p;
            seen << "frames " << pieces * at_once << ", largest difference "
                 << all.difference << ", largest bound " << all.bound
                 << ", failed matches " << all.failed << ", frames decoded again "
                 << all.again;
            std::cout << name.str() << ": " << seen.str() << std::endl;
            RecordProperty(name.str(), seen.str());
        }
    }
}

// Returns the bytes of resident memory of this process.
std::size_t resident()
{
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * std::size_t(sysconf(_SC_PAGESIZE));
}

TEST_P(sync_stream_search, DISABLED_LongNoise_LosesLockInConstantMemory)
{
    const stream_case c{ codebook_davey_mackay(10, 32, 210, 1), { 1e-2, 1e-2, 0 }, 0 };
    auto o = options_of(c, sync_precision::float32);
    o.output = sync_output::symbols;
    const auto decoder = sync_decoder::make(o);
    std::mt19937 random(1);
    std::vector<std::uint8_t> items(1 << 16);
    constexpr std::uint64_t bits = 100'000'000;
    std::uint64_t frames = 0, locked = 0;
    std::size_t early = 0;
    const auto take = [&] {
        for (sync_decoder::frame f; decoder->pull(f); ++frames) {
            locked += f.locked && frames > 2;
        }
    };
    for (std::uint64_t pushed = 0; pushed < bits;) {
        for (auto& item : items) {
            item = random() >> 31;
        }
        for (std::size_t at = 0; at < items.size();) {
            at += decoder->push(span(items).from(at));
            take();
        }
        pushed += items.size();
        if (early == 0 && pushed > bits / 10) {
            early = resident();
        }
    }
    const auto late = resident();
    finish(*decoder, take);
    EXPECT_GT(frames, bits / 2100 - 10);
    EXPECT_EQ(locked, 0u);
    EXPECT_LE(late, early + (8u << 20));
    RecordProperty("bits", std::to_string(bits));
    RecordProperty("frames", std::to_string(frames));
    RecordProperty("frames locked", std::to_string(locked));
    RecordProperty("resident bytes after a tenth", std::to_string(early));
    RecordProperty("resident bytes at the end", std::to_string(late));
}

TEST_P(sync_stream_search, FramesOfStream_DecodeAsWholeStream)
{
    for (const auto& c :
         { stream_case{ codebook_random(6, 4, 60, 4), { 0.01, 0.01, 0.01 }, 9 },
           stream_case{ codebook_random(4, 6, 90, 5, 4), { 0.01, 0.02, 0.01, 4 }, 7 } }) {
        const auto items = received(c);
        auto o = options_of(c, sync_precision::float64);
        o.exclusion = 1e-15;
        o.lookahead = 120;
        EXPECT_GT(make_setup(o).search.warmup, 0u);
        const auto decoded = decode(o, items, 77);
        ASSERT_EQ(decoded.begins.size(), c.frames);

        // Items after the end of the stream are unknown, so all symbols are equally
        // likely.
        const unsigned symbols = c.frames * c.code.frame_symbols() + 20;
        const unsigned s = c.code.alphabet();
        reference::map_problem p{ c.code, c.channel, { -110, 110 }, symbols, 0, {}, {},
                                  {},     {} };
        for (int j = 0; j < int(symbols * c.code.n()) + 110; ++j) {
            const bool there = j < int(items.size());
            for (unsigned x = 0; x < s; ++x) {
                p.likelihood.push_back(there ? items[j] == x : 1.0 / s);
            }
        }
        p.start = window_metrics({}, p.window);
        for (int m = p.window.first; m <= p.window.last; ++m) {
            p.end.push_back(std::pow(double(s), m));
        }
        auto whole = reference::linear(p).posteriors;
        whole.resize(decoded.values.size());
        EXPECT_LE(largest_difference(decoded.values, whole), 1e-9);
        // 0 selects the default look-ahead, which must limit errors to 1e-7.
        o.lookahead = 0;
        EXPECT_LE(largest_difference(decode(o, items).values, whole), 1e-7);
    }
}

// Returns a code and channel for which the warm-up is too short for some frames.
stream_case slow_case(unsigned frames)
{
    return { codebook_random(10, 32, 210, 1), { 0.1, 0.1, 0 }, frames };
}

TEST_P(sync_stream_search, FailedBoundaryMatches_CauseSecondDecoding)
{
    const auto m = check_against_sequential(slow_case(small_scale() ? 30 : 100),
                                            sync_precision::float32);
    EXPECT_GT(m.failed, 1u);
    EXPECT_GE(m.again, m.failed - 1);
    EXPECT_LE(m.difference, 1e-6);
    EXPECT_LE(m.bound, 1e-5);
}

TEST_P(sync_stream_search, BatchesOfAnySize_HaveSameOutput)
{
    const auto c = slow_case(small_scale() ? 16 : 40);
    const auto items = received(c);
    auto o = options_of(c, sync_precision::float32);
    const auto whole = decode(o, items);
    EXPECT_EQ(whole.begins.size(), c.frames);
    for (const unsigned batch : { 1u, 5u, 64u }) {
        for (const unsigned slots : { 1u, 4u }) {
            o.batch = batch;
            o.slots = slots;
            o.threads = slots;
            o.max_latency_ms = batch == 5 ? 0 : 1000;
            const auto pieces = decode(o, items, batch == 64 ? 100000 : 977);
            EXPECT_EQ(pieces.begins, whole.begins);
            EXPECT_LE(largest_of_frames(pieces, whole), 1e-6);
        }
    }
}

TEST_P(sync_stream_search, StreamEndingAnywhere_FollowsSequentialRule)
{
    const stream_case c{ codebook_davey_mackay(10, 32, 40, 4), { 5e-3, 5e-3 }, 6 };
    const auto all = received(c);
    auto o = options_of(c, sync_precision::float64);
    for (std::size_t count = 0; count < all.size(); count += 53) {
        const std::vector<std::uint8_t> items(all.begin(), all.begin() + count);
        const auto a = decode(o, items, 100), b = decode_sequentially(o, items);
        EXPECT_EQ(a.begins.size(), b.begins.size()) << count;
        EXPECT_LE(largest_of_frames(a, b), 1e-9) << count;
    }
}

// Returns the received items with a slip (lost or inserted items) every \p apart frames.
std::vector<std::uint8_t> with_slips(const stream_case& c, unsigned apart, int slip)
{
    const sync_options o(c.code, c.channel);
    const frame_source source(o, 3);
    std::mt19937_64 random(7);
    std::vector<std::uint8_t> items;
    for (unsigned f = 0; f < c.frames; ++f) {
        std::vector<std::uint8_t> frame;
        for (const auto item : source.make(f).items) {
            frame.push_back(std::uint8_t(item));
        }
        if (f % apart == apart / 2) {
            const auto at = (random() >> 32) * (frame.size() - slip) >> 32;
            const auto place = frame.begin() + std::ptrdiff_t(at);
            if (f / apart % 2) {
                frame.erase(place, place + slip);
            } else {
                std::vector<std::uint8_t> more(slip);
                for (auto& bit : more) {
                    bit = random() >> 63;
                }
                frame.insert(place, more.begin(), more.end());
            }
        }
        items.insert(items.end(), frame.begin(), frame.end());
    }
    return items;
}

void check_slips(unsigned slips, unsigned apart, int slip, double p)
{
    const stream_case c{ codebook_davey_mackay(10, 32, 210, 1), { p, p }, slips * apart };
    const auto items = with_slips(c, apart, slip);
    auto o = options_of(c, sync_precision::float32);
    o.output = sync_output::symbols;
    const auto out = decode(o, items);
    const sync_options sent(c.code, c.channel);
    const frame_source source(sent, 3);
    ASSERT_GE(out.begins.size(), c.frames - 1);
    unsigned regained = 0, seen = 0;
    for (unsigned s = 0; s < slips; ++s) {
        const unsigned at = s * apart + apart / 2;
        bool again = true;
        for (unsigned f = at + 2; f < (s + 1) * apart; ++f) {
            const auto message = source.make(f).message;
            unsigned wrong = 0;
            for (unsigned i = 0; i < 210; ++i) {
                wrong += out.values[f * 210 + i] != message[i];
            }
            again = again && out.locked[f] && wrong < 42;
        }
        regained += again;
        seen += !out.locked[at] || !out.locked[at + 1] || out.bounds[at] == 1 ||
                out.bounds[at + 1] == 1;
    }
    EXPECT_EQ(regained, slips);
    // A few slips cannot be distinguished from a burst of insertions or deletions.
    EXPECT_GE(seen, slips - slips / 20);
}

TEST_P(sync_stream_search, Slip_RegainsLockWithinTwoFrames)
{
    for (const double p : { 1e-3, 1e-2 }) {
        check_slips(small_scale() ? 10 : 100, 6, 60, p);
        check_slips(small_scale() ? 4 : 20, 6, 700, p);
    }
}

TEST_P(sync_stream_search, Noise_LosesLockUntilFramesFollow)
{
    const stream_case c{ codebook_davey_mackay(10, 32, 40, 4), { 5e-3, 5e-3 }, 40 };
    auto items = received(c);
    const auto before = items.size();
    std::mt19937_64 random(99);
    const unsigned noise = 200;
    for (unsigned k = 0; k < noise * c.code.frame_bits(); ++k) {
        items.push_back(random() >> 63);
    }
    const auto after = received(c, 5);
    items.insert(items.end(), after.begin(), after.end());
    auto o = options_of(c, sync_precision::float32);
    o.output = sync_output::symbols;
    const auto out = decode(o, items);
    ASSERT_GE(out.locked.size(), 2 * c.frames + noise - 2);
    unsigned followed = 0, found = 0;
    for (std::size_t f = 0; f < out.locked.size(); ++f) {
        if (f + 1 < c.frames) {
            EXPECT_TRUE(out.locked[f]) << f;
        } else if (f > c.frames + 1 && f + 2 < c.frames + noise) {
            followed += out.locked[f];
        } else if (f > c.frames + noise + 2 && f + 2 < out.locked.size()) {
            found += out.locked[f];
        }
    }
    EXPECT_EQ(followed, 0u);
    EXPECT_GE(found, c.frames - 6);
    EXPECT_LE(std::abs(out.begins[c.frames + noise + 4] -
                       std::int64_t(before + (noise + 4) * c.code.frame_bits())),
              2 * std::int64_t(c.code.frame_bits()));
}

TEST_P(sync_stream_search, ErasuresAndWrongChannel_DoNotStopStream)
{
    const stream_case c{ codebook_random(10, 32, 60, 4), { 3e-2, 3e-2, 0.1 }, 60 };
    auto items = received(c);
    for (const auto& model : { bsid_model(1e-4, 1e-4), bsid_model(0.1, 0.02, 0.3) }) {
        auto o = options_of({ c.code, model, 0 }, sync_precision::float32);
        EXPECT_GE(decode(o, items).begins.size(), 50u);
    }
    std::fill(items.begin() + 9000, items.begin() + 15000, 0xff);
    const auto out = decode(options_of(c, sync_precision::float32), items);
    EXPECT_EQ(out.begins.size(), c.frames);
    EXPECT_TRUE(out.locked.front() && out.locked.back());
}

TEST_P(sync_stream_search, SameCodebookAtAllIndices_IsDecodedSequentiallyAndReportedOnce)
{
    const auto one = codebook_random(10, 32, 1, 4);
    std::vector<std::uint8_t> words;
    for (unsigned i = 0; i < 40; ++i) {
        words.insert(words.end(), one.word(0, 0), one.word(0, 0) + 320);
    }
    const stream_case c{ { 10, 32, 40, words }, { 1e-3, 1e-3 }, 20 };
    const auto o = options_of(c, sync_precision::float64);
    const auto items = received(c);
    const auto a = decode(o, items), b = decode_sequentially(o, items);
    EXPECT_LE(largest_of_frames(a, b), 1e-12);
    unsigned reports = 0;
    for (const auto& text : a.log) {
        reports +=
            text.find("decoded one after the other by one thread") != std::string::npos;
    }
    EXPECT_EQ(reports, 1u);
}

TEST_P(sync_stream_search, FailedBoundaryMatches_CauseSequentialDecoding)
{
    // With p_substitute 0.5, items carry no information, so no beginning can be found.
    const stream_case c{ codebook_random(6, 4, 30, 4), { 0.02, 0.02, 0.5 }, 60 };
    const auto o = options_of(c, sync_precision::float64);
    const auto items = received(c);
    const auto a = decode(o, items), b = decode_sequentially(o, items);
    EXPECT_LE(largest_of_frames(a, b), 1e-9);
    EXPECT_NE(a.log.back().find("one thread decodes the frames one after the other"),
              std::string::npos);
}

TEST_P(sync_stream_search, ChannelChange_KeepsLock)
{
    const stream_case c{ codebook_davey_mackay(10, 32, 40, 4), { 5e-3, 5e-3 }, 60 };
    const auto items = received(c);
    auto o = options_of(c, sync_precision::float32);
    o.output = sync_output::symbols;
    decoded_stream out;
    const auto decoder = sync_decoder::make(o);
    for (std::size_t at = 0, next = 0; at < items.size();) {
        at += decoder->push(
            { items.data() + at, std::min<std::size_t>(1000, items.size() - at) });
        take_all(*decoder, out);
        if (at > next) {
            decoder->set_channel(next % 2 ? bsid_model(5e-3, 5e-3)
                                          : bsid_model(6e-3, 4e-3, 1e-3));
            next += 5001;
        }
    }
    finish(*decoder, [&] { take_all(*decoder, out); });
    EXPECT_EQ(out.begins.size(), c.frames);
    unsigned locked = 0, wrong = 0;
    const sync_options sent(c.code, c.channel);
    const frame_source source(sent, 3);
    for (std::size_t f = 0; f < out.begins.size(); ++f) {
        locked += out.locked[f];
        const auto message = source.make(f).message;
        for (unsigned i = 0; i < 40; ++i) {
            wrong += out.values[f * 40 + i] != message[i];
        }
    }
    EXPECT_EQ(locked, c.frames);
    EXPECT_LE(wrong, c.frames * 40 / 8);
}

TEST_P(sync_stream_search, ChannelWithoutSearch_IsDecodedSequentially)
{
    // Frames cannot search for their beginnings with the other channel, so each change of
    // the channel also changes the stream engine. The lost items cause failed boundary
    // matches, whose count must not restart when the channel changes.
    const stream_case c{ codebook_davey_mackay(10, 32, 40, 4), { 5e-3, 5e-3 }, 90 };
    auto items = received(c);
    items.erase(items.begin() + 20 * 400, items.begin() + 20 * 400 + 60);
    auto o = options_of(c, sync_precision::float64);
    o.output = sync_output::symbols;
    auto other = o;
    other.channel = { 0.1, 0.1 };
    ASSERT_TRUE(make_setup(o).search);
    ASSERT_FALSE(make_setup(other).search);
    decoded_stream out;
    const auto decoder = sync_decoder::make(o);
    std::uint64_t failed = 0;
    std::size_t at = 0;
    for (const auto& channel : { o.channel, other.channel, o.channel }) {
        decoder->set_channel(channel);
        for (const auto end = at + items.size() / 3; at < end;) {
            at += decoder->push(
                { items.data() + at, std::min<std::size_t>(500, end - at) });
            take_all(*decoder, out);
            EXPECT_GE(decoder->links_failed(), failed);
            failed = decoder->links_failed();
        }
    }
    decoder->push(span(items).from(at));
    finish(*decoder, [&] { take_all(*decoder, out); });
    EXPECT_GE(decoder->links_failed(), failed);
    EXPECT_GT(decoder->links_failed(), 0u);
    EXPECT_GE(out.begins.size(), c.frames - 1);
    EXPECT_GE(std::count(out.locked.begin(), out.locked.end(), true), c.frames - 10);
}

INSTANTIATE_TEST_SUITE_P(cpu, sync_stream_search, testing::Values(backend::cpu));
INSTANTIATE_TEST_SUITE_P(cuda, sync_stream_search, testing::Values(backend::cuda));

} // namespace
} // namespace gr::gpufec::sync_map
