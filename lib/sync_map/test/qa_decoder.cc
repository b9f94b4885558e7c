// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of sync_decoder: frames in order, streams against the whole-stream reference and
 * against framed decoding, acquisition and loss of lock. */

#include "lab/sync_map/simulation.h"
#include "qa_support.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <random>

namespace gr::gpufec::sync_map {
namespace {

using std::chrono::milliseconds;

struct decoded_stream {
    std::vector<double> values;
    std::vector<std::int64_t> begins;
    std::vector<bool> locked, valid;
};

template <class Value>
void take_all(sync_decoder& decoder, decoded_stream& to)
{
    sync_decoder::frame f;
    while (decoder.pull(f)) {
        EXPECT_EQ(f.number, to.begins.size());
        append_values<Value>(static_cast<const std::byte*>(f.output),
                             f.output_bytes / sizeof(Value),
                             to.values);
        to.begins.push_back(f.begin);
        to.locked.push_back(f.locked);
        to.valid.push_back(f.status.valid);
    }
}

// Pushes a stream piece by piece and pulls all of it.
template <class Value>
decoded_stream decode_stream(const sync_options& options,
                             const std::vector<std::uint8_t>& items,
                             std::size_t piece)
{
    sync_decoder decoder(options);
    decoded_stream out;
    const auto size = options.item_bytes(), count = items.size() / size;
    for (std::size_t at = 0; at < count;) {
        at += decoder.push(items.data() + at * size, std::min(piece, count - at));
        take_all<Value>(decoder, out);
    }
    decoder.finish();
    while (!decoder.done()) {
        take_all<Value>(decoder, out);
        decoder.wait(milliseconds(10));
    }
    return out;
}

std::vector<std::uint8_t> joined(const test_frames& data)
{
    std::vector<std::uint8_t> all;
    for (const auto& frame : data.received) {
        all.insert(all.end(), frame.begin(), frame.end());
    }
    return all;
}

sync_options stream_options(sync_options o, sync_output output)
{
    o.mode = sync_mode::stream;
    o.where = backend::cpu;
    o.output = output;
    o.drifts = false;
    return o;
}

void check_against_whole_stream(const sync_code& code,
                                const bsid_model& channel,
                                bool soft = false)
{
    const unsigned frames = 60;
    auto data = random_frames(code, channel, frames);
    auto items = joined(data);
    std::vector<double> likelihoods;
    if (soft) {
        make_likelihoods(data);
        items.clear();
        for (const auto& frame : data.soft) {
            const auto* const bytes = reinterpret_cast<const std::uint8_t*>(frame.data());
            items.insert(items.end(), bytes, bytes + frame.size() * sizeof(float));
            const auto more = likelihoods_of(frame, code.alphabet());
            likelihoods.insert(likelihoods.end(), more.begin(), more.end());
        }
    }
    auto o = stream_options(data.options, sync_output::posteriors64);
    o.exclusion = 1e-15;
    o.lookahead = 120;
    const auto decoded = decode_stream<double>(o, items, 77);
    ASSERT_EQ(decoded.begins.size(), frames);

    // What was received ends, and after it every item is as likely as any other.
    const unsigned symbols = frames * code.frame_symbols() + 20;
    const unsigned s = code.alphabet();
    reference::map_problem p{ code, channel, { -110, 110 }, symbols, 0, {}, {}, {}, {} };
    for (int j = 0; j < int(symbols * code.n()) + 110; ++j) {
        const bool there = j < int(items.size() / o.item_bytes());
        for (unsigned x = 0; x < s; ++x) {
            p.likelihood.push_back(!there ? 1.0 / s
                                   : soft ? likelihoods[j * s + x]
                                          : double(items[j] == x));
        }
    }
    p.start = window_metrics({}, p.window);
    for (int m = p.window.first; m <= p.window.last; ++m) {
        p.end.push_back(std::pow(double(s), m));
    }
    auto whole = reference::linear(p).posteriors;
    whole.resize(decoded.values.size());
    EXPECT_LE(largest_difference(decoded.values, whole), 1e-9)
        << "n " << code.n() << " q " << code.q() << " alphabet " << s << " channel "
        << channel.p_insert() << ' ' << channel.p_delete() << ' '
        << channel.p_substitute();
}

TEST(sync_decoder_stream, agrees_with_the_whole_stream)
{
    check_against_whole_stream(codebook_random(6, 4, 5, 4), { 0.02, 0.03, 0.01 });
    check_against_whole_stream(codebook_random(7, 4, 1, 4), { 0.02, 0.02, 0 });
    check_against_whole_stream(codebook_random(4, 6, 9, 5, 4), { 0.02, 0.02, 0.02, 4 });
    check_against_whole_stream(
        codebook_random(5, 6, 9, 5, 4), { 0.02, 0.02, 0.02, 4 }, true);
}

TEST(sync_decoder_stream, channels_that_lack_an_event)
{
    const auto code = codebook_random(6, 4, 5, 4);
    check_against_whole_stream(code, { 0, 0.03, 0.01 });
    check_against_whole_stream(code, { 0.03, 0, 0.01 });
    check_against_whole_stream(code, { 0, 0, 0.1 });
    check_against_whole_stream(code, { 0, 0, 0 });
    check_against_whole_stream(code, { 0.02, 0.02, 0.5 });
    check_against_whole_stream(code, { 0.02, 0.02, 1 });
}

TEST(sync_decoder_stream, output_does_not_depend_on_how_it_is_pushed)
{
    const auto data =
        random_frames(codebook_davey_mackay(10, 32, 20, 4), { 0.01, 0.01, 0 }, 30);
    const auto items = joined(data);
    auto o = stream_options(data.options, sync_output::posteriors64);
    const auto whole = decode_stream<double>(o, items, items.size());
    o.batch = 3;
    o.threads = 2;
    o.max_latency_ms = 0;
    const auto pieces = decode_stream<double>(o, items, 13);
    EXPECT_EQ(whole.values, pieces.values);
    EXPECT_EQ(whole.begins, pieces.begins);
}

TEST(sync_decoder_stream, errs_as_seldom_as_framed_decoding)
{
    for (const double p : { 1e-3, 1e-2 }) {
        const unsigned frames = 60;
        auto data =
            random_frames(codebook_davey_mackay(10, 32, 210, 4), { p, p, 0 }, frames);
        data.options.precision = sync_precision::float32;
        const auto streamed = decode_stream<std::uint8_t>(
            stream_options(data.options, sync_output::symbols), joined(data), 4096);
        ASSERT_EQ(streamed.begins.size(), frames);
        auto o = data.options;
        o.output = sync_output::symbols;
        o.where = backend::cpu;
        sync_decoder framed(o);
        decoded_stream known;
        for (const auto& frame : data.received) {
            while (!framed.push_frame(frame.data(), frame.size())) {
                framed.wait(milliseconds(10));
                take_all<std::uint8_t>(framed, known);
            }
        }
        framed.finish();
        while (!framed.done()) {
            take_all<std::uint8_t>(framed, known);
            framed.wait(milliseconds(10));
        }
        ASSERT_EQ(known.values.size(), streamed.values.size());
        unsigned errors = 0, framed_errors = 0;
        for (std::size_t k = 0; k < known.values.size(); ++k) {
            const double sent = data.messages[k / 210][k % 210];
            errors += streamed.values[k] != sent;
            framed_errors += known.values[k] != sent;
        }
        RecordProperty("errors", int(errors));
        RecordProperty("framed_errors", int(framed_errors));
        EXPECT_GT(framed_errors, 0u);
        EXPECT_LE(errors, 1.05 * framed_errors) << "p " << p;
        std::int64_t begin = 0;
        unsigned off = 0;
        for (unsigned f = 0; f < frames; ++f) {
            off += std::abs(streamed.begins[f] - begin) > 3;
            begin += data.received[f].size();
            EXPECT_TRUE(streamed.locked[f]) << f;
        }
        EXPECT_LE(off, frames / 20);
    }
}

TEST(sync_decoder_stream, finds_the_first_frame)
{
    const auto code = codebook_davey_mackay(10, 32, 40, 4);
    const bsid_model channel(0.01, 0.01);
    auto o = stream_options({ code, channel }, sync_output::symbols);
    o.acquire = code.frame_bits();
    std::mt19937_64 random(99);
    unsigned found = 0;
    for (unsigned s = 0; s < 100; ++s) {
        const auto data = random_frames(code, channel, 3);
        const unsigned offset = (random() >> 32) * (o.acquire + 1) >> 32;
        std::vector<std::uint8_t> items(offset);
        for (auto& bit : items) {
            bit = random() >> 63;
        }
        const auto rest = joined(data);
        items.insert(items.end(), rest.begin(), rest.end());
        const auto decoded = decode_stream<std::uint8_t>(o, items, items.size());
        found += !decoded.begins.empty() &&
                 std::abs(decoded.begins[0] - std::int64_t(offset)) <= 3;
    }
    EXPECT_GE(found, 99u);
}

TEST(sync_decoder_stream, acquires_the_earliest_frame)
{
    const auto code = codebook_davey_mackay(10, 32, 40, 4);
    const bsid_model channel(0.005, 0.005);
    auto o = stream_options({ code, channel }, sync_output::symbols);
    o.acquire = 4 * code.frame_bits();
    std::mt19937_64 random(99);
    for (unsigned s = 0; s < 60; ++s) {
        const auto data = random_frames(code, channel, 8);
        // From nothing up to more than a frame.
        const unsigned offset = s % 6 * code.frame_bits() / 4;
        std::vector<std::uint8_t> items(offset);
        for (auto& bit : items) {
            bit = random() >> 63;
        }
        const auto rest = joined(data);
        items.insert(items.end(), rest.begin(), rest.end());
        const auto decoded = decode_stream<std::uint8_t>(o, items, items.size());
        ASSERT_FALSE(decoded.begins.empty());
        EXPECT_NEAR(decoded.begins[0], offset, 3) << s;
        EXPECT_TRUE(decoded.locked[0]) << s;
    }
}

TEST(sync_decoder_stream, the_longest_acquisition_does_not_stall)
{
    const auto code = codebook_davey_mackay(10, 32, 40, 4);
    const bsid_model channel(0.005, 0.005);
    auto o = stream_options({ code, channel }, sync_output::symbols);
    o.acquire = sync_options::max_acquire;
    std::mt19937_64 random(99);
    std::vector<std::uint8_t> items(700);
    for (auto& bit : items) {
        bit = random() >> 63;
    }
    // Once all that is waited for has come.
    const auto data = random_frames(code, channel, 2700);
    const auto rest = joined(data);
    items.insert(items.end(), rest.begin(), rest.end());
    const auto decoded = decode_stream<std::uint8_t>(o, items, 4096);
    ASSERT_GT(decoded.begins.size(), 2690u);
    EXPECT_NEAR(decoded.begins[0], 700, 3);
    EXPECT_TRUE(decoded.locked[0]);
}

TEST(sync_decoder_stream, says_when_it_has_lost_the_frames)
{
    const auto code = codebook_davey_mackay(10, 32, 40, 4);
    const auto data = random_frames(code, { 0.005, 0.005, 0 }, 6);
    auto items = joined(data);
    std::mt19937_64 random(99);
    for (unsigned k = 0; k < 6 * code.frame_bits(); ++k) {
        items.push_back(random() >> 63);
    }
    const auto decoded = decode_stream<std::uint8_t>(
        stream_options(data.options, sync_output::symbols), items, 1000);
    ASSERT_GE(decoded.locked.size(), 11u);
    for (unsigned f = 0; f < 5; ++f) {
        EXPECT_TRUE(decoded.locked[f]) << f;
    }
    for (unsigned f = 7; f < 11; ++f) {
        EXPECT_FALSE(decoded.locked[f]) << f;
    }
}

TEST(sync_decoder_frames, come_out_in_order_with_their_own_results)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 50);
    auto& o = data.options;
    o.where = backend::cpu;
    o.batch = 7;
    o.threads = 2;
    data.received[20].resize(3); // cannot be decoded
    sync_decoder decoder(o);
    decoded_stream out;
    for (const auto& frame : data.received) {
        while (!decoder.push_frame(frame.data(), frame.size())) {
            take_all<double>(decoder, out);
            decoder.wait(milliseconds(10));
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        take_all<double>(decoder, out);
        decoder.wait(milliseconds(10));
    }
    ASSERT_EQ(out.valid.size(), data.received.size());
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        EXPECT_EQ(out.valid[f], f != 20);
        EXPECT_EQ(out.locked[f], f != 20);
        if (f != 20) {
            const auto r = reference_of(data, o, f);
            const auto size = r.posteriors.size();
            const std::vector<double> values(out.values.begin() + f * size,
                                             out.values.begin() + (f + 1) * size);
            EXPECT_LE(largest_difference(values, r.posteriors), 1e-10);
        }
    }
}

TEST(sync_decoder_frames, a_partial_batch_goes_when_it_is_due)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 }, 1);
    data.options.where = backend::cpu;
    data.options.batch = 100;
    data.options.max_latency_ms = 1;
    sync_decoder decoder(data.options);
    decoder.push_frame(data.received[0].data(), data.received[0].size());
    sync_decoder::frame f;
    for (int k = 0; k < 1000 && !decoder.pull(f); ++k) {
        decoder.wait(milliseconds(5));
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(f.status.valid, 1u);
}

TEST(sync_decoder_frames, the_channel_can_change)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 }, 2);
    auto& o = data.options;
    o.where = backend::cpu;
    sync_decoder decoder(o);
    const auto decode = [&](std::size_t f) {
        decoded_stream out;
        EXPECT_TRUE(decoder.push_frame(data.received[f].data(), data.received[f].size()));
        decoder.flush();
        decoder.wait(milliseconds(10000));
        take_all<double>(decoder, out);
        return out.values;
    };
    EXPECT_LE(largest_difference(decode(0), reference_of(data, o, 0).posteriors), 1e-10);
    decoder.reset();
    o.channel = bsid_model(0.05, 0.01, 0.1);
    decoder.set_channel(o.channel);
    EXPECT_LE(largest_difference(decode(1), reference_of(data, o, 1).posteriors), 1e-10);
    EXPECT_THROW(decoder.set_channel({ 0.1, 0.1, 0, 3 }), std::invalid_argument);
}

TEST(sync_decoder_frames, a_channel_that_cannot_be_decoded_is_refused_at_once)
{
    auto data = random_frames(codebook_random(8, 16, 1000, 4), { 1e-3, 1e-3, 0 }, 1);
    data.options.where = backend::cpu;
    sync_decoder decoder(data.options);
    EXPECT_THROW(decoder.set_channel({ 0.99, 0.001 }), std::invalid_argument);
    EXPECT_TRUE(decoder.push_frame(data.received[0].data(), data.received[0].size()));
}

TEST(sync_decoder_frames, memory_that_there_is_not_is_refused_by_name)
{
    sync_options o(codebook_random(12, 1024, 100, 4), { 0.01, 0.01, 0 });
    o.where = backend::cpu;
    o.output = sync_output::posteriors64;
    o.priors = true;
    o.batch = 1 << 20;
    o.slots = 16;
    try {
        sync_decoder decoder(o);
        ADD_FAILURE() << "taken";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what())
                      .find("batch is 1048576: there is not the memory for 16 slots of "
                            "so many frames"),
                  0u)
            << error.what();
    }
}

TEST(sync_decoder_stream, long_look_ahead_of_long_words_fits)
{
    // Items of a frame that 32 bits do not hold as a product of unchecked sizes.
    sync_options o(codebook_random(4096, 2, 1, 4), { 0, 0, 0 });
    o.where = backend::cpu;
    o.mode = sync_mode::stream;
    o.lookahead = 511;
    EXPECT_EQ(make_setup(o).max_items, 512u * 4096);
    o.lookahead = 1 << 20;
    EXPECT_THROW(make_setup(o), std::invalid_argument);
}

TEST(sync_simulation, deviation_is_that_of_frames)
{
    error_counts counts;
    EXPECT_EQ(counts.symbol_error_rate(), 0);
    counts.add(10, 0);
    EXPECT_EQ(counts.deviation(), INFINITY);
    counts.add(10, 4);
    EXPECT_DOUBLE_EQ(counts.symbol_error_rate(), 0.2);
    EXPECT_DOUBLE_EQ(counts.frame_error_rate(), 0.5);
    EXPECT_DOUBLE_EQ(counts.deviation(), 0.2); // of rates 0 and 0.4
}

TEST(sync_simulation, frames_are_the_same_each_time)
{
    const sync_options o(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 });
    const frame_source source(o, 1), same(o, 1), other(o, 2);
    EXPECT_EQ(source.make(7).message, same.make(7).message);
    EXPECT_EQ(source.make(7).items, same.make(7).items);
    EXPECT_NE(source.make(7).message, source.make(8).message);
    EXPECT_NE(source.make(7).message, other.make(7).message);
}

TEST(sync_decoder_options, are_refused_by_name)
{
    const sync_options good(codebook_random(4, 6, 5, 4), { 0.1, 0.1, 0 });
    const auto refusal = [&](auto&& change) {
        auto o = good;
        o.where = backend::cpu;
        change(o);
        try {
            const sync_decoder decoder(o);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using o = sync_options;
    const auto expect = [&](auto&& change, const std::string& words) {
        EXPECT_NE(refusal(change).find(words), std::string::npos) << refusal(change);
    };
    EXPECT_EQ(refusal([](o&) {}), "");
    expect([](o& x) { x.exclusion = 0; }, "exclusion is 0");
    expect([](o& x) { x.exclusion = NAN; }, "exclusion is nan");
    expect([](o& x) { x.slots = 0; }, "slots is 0");
    expect([](o& x) { x.threads = 0; }, "threads is 0");
    expect([](o& x) { x.max_latency_ms = -1; }, "max_latency_ms is -1");
    expect([](o& x) { x.output = sync_output::llr; }, "output is llr");
    expect([](o& x) { x.positive_bit = 2; }, "positive_bit is 2: allowed are 0 and 1");
    expect([](o& x) { x.change_first = 1; }, "mn_min is 1");
    expect([](o& x) { x.change_last = -1; }, "mn_max is -1");
    expect([](o& x) { x.state_threshold = 1; }, "state_threshold is 1");
    expect([](o& x) { x.start.probability = { -1 }; }, "start_prior is -1");
    expect([](o& x) { x.end = { 0, { 0, 0 } }; }, "end_prior is 0");
    expect([](o& x) { x.start.first = 1 << 30; }, "start_first is 1073741824");
    expect([](o& x) { x.end.first = -(1 << 30); }, "end_first is -1073741824");
    expect([](o& x) { x.lattice_threshold = NAN; }, "lattice_threshold is nan");
    expect([](o& x) { x.change_last = 1 << 30; }, "mn_max is 1073741824");
    expect([](o& x) { x.acquire = 0x7fffffff; },
           "acquire is 2147483647: allowed are 0 to 1048576");
    expect([](o& x) { x.lookahead = 0xffffffff; },
           "lookahead is 4294967295: allowed are 0 to 1048576");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.lookahead = sync_options::max_lookahead;
        },
        "(frame_symbols + lookahead) * n is 4194324: allowed are 1 to 2097152");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.lookahead = 1 << 18;
            x.channel = bsid_model(0.1, 0.1);
        },
        "drifts times frame_symbols and lookahead is ");
    expect([](o& x) { x.start.probability.resize(1 << 20, 1.0); },
           "size of start_prior is 1048576: allowed are 0 to 16384");
    expect([](o& x) { x.end.probability.resize(1 << 20, 1.0); },
           "size of end_prior is 1048576: allowed are 0 to 16384");
    expect([](o& x) { x.start.first = 1 << 20; }, "the start_prior is 1048576");
    EXPECT_EQ(refusal([](o& x) { x.start.probability = { 5e-324 }; }), "");
    const std::vector<std::pair<std::string, std::function<void(o&)>>> of_the_corridor = {
        { "receiver is lattice", [](o& x) { x.receiver = sync_receiver::lattice; } },
        { "receiver is trellis", [](o& x) { x.receiver = sync_receiver::trellis; } },
        { "state_threshold is 0.5", [](o& x) { x.state_threshold = 0.5; } },
        { "lattice_threshold is 0.5", [](o& x) { x.lattice_threshold = 0.5; } },
    };
    for (const auto& [words, change] : of_the_corridor) {
        expect(change, words);
        EXPECT_EQ(refusal([&, &set = change](o& x) {
                      x.form = sync_form::corridor;
                      set(x);
                  }),
                  "");
    }
    expect([](o& x) { x.channel = bsid_model(0, 0, 0, 3); }, "alphabet of the channel");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.start.probability = { 1, 1 };
        },
        "start_prior is given");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.end.probability = { 1 };
        },
        "end_prior is given");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.priors = true;
        },
        "mode is stream");
    EXPECT_THROW(sync_form_from_string("line"), std::invalid_argument);
    EXPECT_THROW(sync_output_from_string(""), std::invalid_argument);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Decoders have what they ask for, or say by name what is too large.
TEST(sync_decoder_options, pairs_of_maxima_are_made_or_refused_by_name)
{
    using o = sync_options;
    const auto words = codebook_random(sync_code::max_n, 2, 8, 4);
    const auto frame = codebook_random(64, 2, sync_code::max_frame_bits / 64, 4);
    const std::vector<std::function<void(o&)>> maxima = {
        [](o&) {},
        [&](o& x) { x.code = words; },
        [&](o& x) { x.code = frame; },
        [](o& x) { x.channel = bsid_model(bsid_model::max_p_insert, 0.005); },
        [](o& x) { x.lookahead = o::max_lookahead; },
        [](o& x) { x.acquire = o::max_acquire; },
        [](o& x) { x.start.probability.resize(drift_prior::max_size, 1.0); },
        [](o& x) {
            x.end = { -drift_prior::max_first, { 1 } };
        },
        [](o& x) { x.change_last = drift_range::max_size; },
        [](o& x) { x.form = sync_form::corridor; },
        [](o& x) { x.batch = 1 << 20; },
    };
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit small{ rlim_t(400) << 20, before.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
    unsigned made = 0, refused = 0;
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (std::size_t a = 0; a < maxima.size(); ++a) {
            for (std::size_t b = a; b < maxima.size(); ++b) {
                SCOPED_TRACE(std::to_string(a) + " and " + std::to_string(b));
                o options(codebook_random(4, 6, 5, 4), { 0.01, 0.01, 0 });
                options.where = backend::cpu;
                options.mode = mode;
                maxima[a](options);
                maxima[b](options);
                try {
                    const sync_decoder decoder(options);
                    ++made;
                } catch (const std::invalid_argument& error) {
                    EXPECT_NE(std::string(error.what()), "");
                    ++refused;
                } catch (const std::exception& error) {
                    ADD_FAILURE() << error.what();
                }
            }
        }
    }
    setrlimit(RLIMIT_AS, &before);
    EXPECT_GT(made, 10u);
    EXPECT_GT(refused, 10u);
}
#endif

// Wrong symbols, and whether all frames but the last are locked.
std::pair<unsigned, bool> count_wrong(sync_options o, const test_frames& data)
{
    o.where = backend::cpu;
    o.output = sync_output::symbols;
    o.precision = sync_precision::float32;
    o.drifts = false;
    sync_decoder decoder(o);
    unsigned wrong = 0;
    bool locked = true;
    const auto pull = [&] {
        sync_decoder::frame f;
        while (decoder.pull(f)) {
            const auto* const symbols = static_cast<const std::uint8_t*>(f.output);
            const auto& sent = data.messages[f.number];
            for (std::size_t i = 0; i < sent.size(); ++i) {
                wrong += symbols[i] != sent[i];
            }
            locked &= f.locked || f.number + 1 == data.messages.size();
        }
    };
    for (const auto& items : data.received) {
        if (o.mode == sync_mode::framed) {
            while (!decoder.push_frame(items.data(), items.size())) {
                pull();
                decoder.wait(milliseconds(10));
            }
        } else {
            for (std::size_t at = 0; at < items.size();) {
                at += decoder.push(items.data() + at, items.size() - at);
                pull();
            }
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        pull();
        decoder.wait(milliseconds(10));
    }
    EXPECT_LE(decoder.links_failed(), 2u);
    return { wrong, locked };
}

TEST(sync_decoder_stream, inverted_markers_tell_where_frames_begin)
{
    for (const double p : { 1e-3, 1e-2 }) {
        auto data = random_frames(codebook_marker(8, 120, "011"), { p, p }, 60);
        const auto framed = count_wrong(data.options, data);
        data.options.mode = sync_mode::stream;
        EXPECT_TRUE(bool(make_setup(data.options).search));
        const auto stream = count_wrong(data.options, data);
        EXPECT_TRUE(stream.second);
        EXPECT_LE(stream.first, framed.first * 1.05 + 5) << p;
        EXPECT_LE(framed.first, stream.first * 1.05 + 5) << p;
        data.options.code = codebook_marker(8, 120, "011", 0);
        EXPECT_FALSE(bool(make_setup(data.options).search));
    }
}

// A ring that items are lent from. What was taken back is overwritten.
class lending
{
public:
    lending(sync_decoder& decoder, std::vector<std::uint8_t> items)
        : d_decoder(decoder), d_items(std::move(items)), d_ring(d_items)
    {
    }

    // Lends, or pushes once that is over, up to `count` more items.
    std::size_t give(std::size_t count)
    {
        const auto n =
            d_over ? d_decoder.push(d_items.data() + d_taken, count)
                   : d_decoder.lend(d_ring.data() + d_back, d_taken - d_back + count);
        return took(n);
    }
    std::size_t skip(std::size_t count) { return took(d_decoder.skip(count)); }
    void end()
    {
        d_decoder.end_lending();
        EXPECT_EQ(d_decoder.lent(), 0u);
        std::fill(d_ring.begin(), d_ring.end(), 77);
        d_over = true;
    }
    void take_back()
    {
        const auto n = d_decoder.take_back();
        std::fill_n(d_ring.begin() + d_back, n, 77);
        d_back += n;
    }

    bool over() const { return d_over; }
    std::size_t taken() const { return d_taken; }
    std::size_t left() const { return d_items.size() - d_taken; }
    std::size_t back() const { return d_back; }

private:
    std::size_t took(std::size_t n)
    {
        d_taken += n;
        take_back();
        return n;
    }

    sync_decoder& d_decoder;
    const std::vector<std::uint8_t> d_items;
    std::vector<std::uint8_t> d_ring;
    std::size_t d_taken = 0, d_back = 0;
    bool d_over = false;
};

sync_options small_batches(sync_options o, unsigned batch, unsigned slots)
{
    o.batch = batch;
    o.slots = slots;
    o.max_latency_ms = batch == 2 ? 0 : 1e9;
    return o;
}

// Frames that are lent, up to an item, and pushed from there on.
decoded_stream decode_lent_frames(const sync_options& options,
                                  const std::vector<std::vector<std::uint8_t>>& frames,
                                  std::size_t until)
{
    sync_decoder decoder(options);
    EXPECT_TRUE(decoder.can_lend());
    decoded_stream out;
    std::vector<std::uint8_t> items;
    for (std::size_t f = 0; f < frames.size(); ++f) {
        items.insert(items.end(), frames[f].begin(), frames[f].end());
        items.insert(items.end(), f % 4 * 11, 0); // which belong to none
    }
    lending ring(decoder, items);
    std::mt19937 random(5);
    const auto all = [&](auto&& pass, std::size_t count) {
        while (count > 0) {
            const auto n = pass(std::min<std::size_t>(count, 1 + random() % 700));
            count -= n;
            take_all<float>(decoder, out);
            if (n == 0) {
                decoder.wait(milliseconds(10));
            }
            if (ring.taken() >= until && !ring.over()) {
                ring.end();
            }
        }
    };
    for (std::size_t f = 0; f < frames.size(); ++f) {
        all([&](auto n) { return ring.give(n); }, frames[f].size());
        while (!decoder.end_frame()) {
            take_all<float>(decoder, out);
            decoder.wait(milliseconds(10));
        }
        all([&](auto n) { return ring.skip(n); }, f % 4 * 11);
    }
    decoder.finish();
    while (!decoder.done()) {
        take_all<float>(decoder, out);
        decoder.wait(milliseconds(10));
    }
    ring.take_back();
    EXPECT_TRUE(ring.over() || ring.back() == items.size());
    return out;
}

TEST(sync_decoder_lending, frames_are_decoded_as_if_they_were_pushed)
{
    auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 40);
    data.received[7].resize(1);
    data.received[20].assign(3000, 1); // more than can be decoded
    data.received[21].assign(20000, 1);
    data.received[39].resize(5);
    auto o = data.options;
    o.where = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    std::size_t count = 0;
    decoded_stream pushed;
    {
        sync_decoder decoder(o);
        for (const auto& frame : data.received) {
            while (!decoder.push_frame(frame.data(), frame.size())) {
                take_all<float>(decoder, pushed);
                decoder.wait(milliseconds(10));
            }
            count += frame.size();
        }
        decoder.finish();
        while (!decoder.done()) {
            take_all<float>(decoder, pushed);
            decoder.wait(milliseconds(10));
        }
    }
    ASSERT_EQ(pushed.begins.size(), data.received.size());
    EXPECT_FALSE(pushed.valid[20] || pushed.valid[21]);
    EXPECT_TRUE(pushed.valid[22]);
    for (const unsigned batch : { 1u, 2u, 3u, 16u, 64u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const auto until :
                 { std::size_t(1), count / 5, count / 2, ~std::size_t(0) }) {
                const auto lent = decode_lent_frames(
                    small_batches(o, batch, slots), data.received, until);
                EXPECT_EQ(lent.values, pushed.values) << batch << ' ' << until;
                EXPECT_EQ(lent.valid, pushed.valid) << batch << ' ' << until;
            }
        }
    }
}

TEST(sync_decoder_lending, streams_are_decoded_as_if_they_were_pushed)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.01, 0.01 }, 200);
    auto items = joined(data);
    items.erase(items.begin() + 9000, items.begin() + 9040); // links fail there
    auto o = stream_options(data.options, sync_output::posteriors);
    const auto pushed = decode_stream<float>(o, items, 500);
    ASSERT_GT(pushed.begins.size(), 190u);
    for (const unsigned batch : { 1u, 2u, 16u, 64u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const auto until :
                 { std::size_t(1), items.size() / 2, ~std::size_t(0) }) {
                sync_decoder decoder(small_batches(o, batch, slots));
                ASSERT_TRUE(decoder.can_lend());
                lending ring(decoder, items);
                decoded_stream lent;
                std::mt19937 random(5);
                while (ring.left() > 0) {
                    if (ring.taken() >= until && !ring.over()) {
                        ring.end();
                    }
                    const auto n =
                        ring.give(std::min<std::size_t>(ring.left(), 1 + random() % 900));
                    take_all<float>(decoder, lent);
                    ring.take_back();
                    if (n == 0) {
                        decoder.wait(milliseconds(10));
                    }
                }
                decoder.finish();
                while (!decoder.done()) {
                    take_all<float>(decoder, lent);
                    decoder.wait(milliseconds(10));
                }
                ring.take_back();
                EXPECT_TRUE(ring.over() || ring.back() == items.size());
                EXPECT_EQ(lent.values, pushed.values) << batch << ' ' << until;
                EXPECT_EQ(lent.begins, pushed.begins) << batch << ' ' << until;
                EXPECT_EQ(lent.locked, pushed.locked) << batch << ' ' << until;
            }
        }
    }
}

TEST(sync_decoder_lending, another_channel_takes_over_while_frames_are_lent)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 12);
    auto o = small_batches(data.options, 3, 2);
    o.where = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    const bsid_model other{ 0.03, 0.01 };
    // Frame 7 has begun when the channel changes.
    std::vector<std::vector<float>> outputs[2];
    for (const bool lend : { false, true }) {
        sync_decoder decoder(o);
        lending ring(decoder, joined(data));
        const auto pull = [&] {
            sync_decoder::frame f;
            while (decoder.pull(f)) {
                const auto* const from = static_cast<const float*>(f.output);
                outputs[lend].emplace_back(from, from + f.output_bytes / sizeof(float));
            }
            ring.take_back();
        };
        if (!lend) {
            ring.end();
        }
        for (unsigned f = 0; f < 12; ++f) {
            for (std::size_t left = data.received[f].size(); left > 0;) {
                const auto n = ring.give(std::min<std::size_t>(left, 40));
                left -= n;
                if (f == 7 && left > 0 && left <= 40) {
                    decoder.set_channel(other);
                }
                pull();
                if (n == 0) {
                    decoder.wait(milliseconds(10));
                }
            }
            while (!decoder.end_frame()) {
                pull();
                decoder.wait(milliseconds(10));
            }
        }
        decoder.finish();
        while (!decoder.done()) {
            pull();
            decoder.wait(milliseconds(10));
        }
    }
    ASSERT_EQ(outputs[0].size(), 12u);
    EXPECT_EQ(outputs[0], outputs[1]);
}

} // namespace
} // namespace gr::gpufec::sync_map
