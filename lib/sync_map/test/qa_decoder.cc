// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of sync_decoder: the order of frames, acquisition, loss of lock, channel changes,
 * and streams in comparison with framed decoding and with a reference that decodes the
 * whole stream. Further tests concern the simulation of frames. */

#include "lab/sync_map/simulation.h"
#include "qa_stream_support.h"
#include <gtest/gtest.h>
#include <cmath>
#include <random>
#include <thread>

namespace gr::gpufec::sync_map {
namespace {

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

    // Items after the end of the stream are unknown: each symbol has the likelihood 1/s.
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
        << "n = " << code.n() << ", q = " << code.q() << ", alphabet " << s
        << ", channel probabilities " << channel.p_insert() << ' ' << channel.p_delete()
        << ' ' << channel.p_substitute();
}

TEST(sync_decoder_stream, FramesOfStream_DecodeAsWholeStream)
{
    check_against_whole_stream(codebook_random(6, 4, 5, 4), { 0.02, 0.03, 0.01 });
    check_against_whole_stream(codebook_random(7, 4, 1, 4), { 0.02, 0.02, 0 });
    check_against_whole_stream(codebook_random(4, 6, 9, 5, 4), { 0.02, 0.02, 0.02, 4 });
    check_against_whole_stream(
        codebook_random(5, 6, 9, 5, 4), { 0.02, 0.02, 0.02, 4 }, true);
}

TEST(sync_decoder_stream, ChannelWithoutOneEventType_DecodesAsWholeStream)
{
    const auto code = codebook_random(6, 4, 5, 4);
    check_against_whole_stream(code, { 0, 0.03, 0.01 });
    check_against_whole_stream(code, { 0.03, 0, 0.01 });
    check_against_whole_stream(code, { 0, 0, 0.1 });
    check_against_whole_stream(code, { 0, 0, 0 });
    check_against_whole_stream(code, { 0.02, 0.02, 0.5 });
    check_against_whole_stream(code, { 0.02, 0.02, 1 });
}

TEST(sync_decoder_stream, StreamInSmallChunks_HasSameOutput)
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

TEST(sync_decoder_stream, UnmarkedFrames_HaveErrorRateOfFramedDecoding)
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
        o.backend = backend::cpu;
        const auto framed = sync_decoder::make(o);
        decoded_stream known;
        for (const auto& frame : data.received) {
            while (!framed->push_frame(frame)) {
                framed->wait(milliseconds(10));
                take_all<std::uint8_t>(*framed, known);
            }
        }
        framed->finish();
        while (!framed->done()) {
            take_all<std::uint8_t>(*framed, known);
            framed->wait(milliseconds(10));
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
        EXPECT_LE(errors, 1.05 * framed_errors) << "p = " << p;
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

static std::vector<std::uint8_t> after_noise(const std::vector<std::uint8_t>& frames,
                                             unsigned count,
                                             std::mt19937_64& random)
{
    std::vector<std::uint8_t> items(count);
    for (auto& bit : items) {
        bit = random() >> 63;
    }
    items.insert(items.end(), frames.begin(), frames.end());
    return items;
}

TEST(sync_decoder_stream, FirstFrameAfterNoise_IsFound)
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
        const auto items = after_noise(joined(data), offset, random);
        const auto decoded = decode_stream<std::uint8_t>(o, items, items.size());
        found += !decoded.begins.empty() &&
                 std::abs(decoded.begins[0] - std::int64_t(offset)) <= 3;
    }
    EXPECT_GE(found, 99u);
}

TEST(sync_decoder_stream, SeveralFramesInAcquisitionRange_EarliestIsAcquired)
{
    const auto code = codebook_davey_mackay(10, 32, 40, 4);
    const bsid_model channel(0.005, 0.005);
    auto o = stream_options({ code, channel }, sync_output::symbols);
    o.acquire = 4 * code.frame_bits();
    std::mt19937_64 random(99);
    for (unsigned s = 0; s < 60; ++s) {
        const auto data = random_frames(code, channel, 8);
        // Offsets range from 0 to more than a frame.
        const unsigned offset = s % 6 * code.frame_bits() / 4;
        const auto items = after_noise(joined(data), offset, random);
        const auto decoded = decode_stream<std::uint8_t>(o, items, items.size());
        ASSERT_FALSE(decoded.begins.empty());
        EXPECT_NEAR(decoded.begins[0], offset, 3) << s;
        EXPECT_TRUE(decoded.locked[0]) << s;
    }
}

TEST(sync_decoder_stream, LargestAcquisitionRange_FindsFirstFrame)
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
    // The stream is longer than the range in which the first frame may begin.
    const auto data = random_frames(code, channel, 2700);
    const auto rest = joined(data);
    items.insert(items.end(), rest.begin(), rest.end());
    const auto decoded = decode_stream<std::uint8_t>(o, items, 4096);
    ASSERT_GT(decoded.begins.size(), 2690u);
    EXPECT_NEAR(decoded.begins[0], 700, 3);
    EXPECT_TRUE(decoded.locked[0]);
}

TEST(sync_decoder_stream, NoiseAfterFrames_IsReportedAsUnlocked)
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

TEST(sync_decoder_frames, EqualPriors_HaveLogProbabilityWithoutPriors)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 5);
    std::vector<double> found[2];
    for (const bool priors : { false, true }) {
        auto o = data.options;
        o.backend = backend::cpu;
        o.precision = sync_precision::float64;
        o.priors = priors;
        const auto decoder = sync_decoder::make(o);
        for (const auto& items : data.received) {
            EXPECT_TRUE(decoder->push_frame(items));
        }
        finish(*decoder, [&] {
            sync_decoder::frame f;
            while (decoder->pull(f)) {
                found[priors].push_back(f.status.log_probability);
            }
        });
    }
    ASSERT_EQ(found[0].size(), data.received.size());
    ASSERT_EQ(found[1].size(), data.received.size());
    for (std::size_t f = 0; f < found[0].size(); ++f) {
        EXPECT_NEAR(found[0][f], found[1][f], 1e-9);
    }
}

TEST(sync_decoder_frames, PushedFrames_ArePulledInOrder)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 50);
    auto& o = data.options;
    o.backend = backend::cpu;
    o.batch = 7;
    o.threads = 2;
    data.received[20].resize(3); // this frame cannot be decoded
    const auto decoder = sync_decoder::make(o);
    decoded_stream out;
    for (const auto& frame : data.received) {
        while (!decoder->push_frame(frame)) {
            take_all<double>(*decoder, out);
            decoder->wait(milliseconds(10));
        }
    }
    decoder->finish();
    while (!decoder->done()) {
        take_all<double>(*decoder, out);
        decoder->wait(milliseconds(10));
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

TEST(sync_decoder_frames, TypedSpans_AcceptOnlyMatchingTypeAndSize)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 3);
    auto& o = data.options;
    o.backend = backend::cpu;
    data.received[1].resize(3); // this frame cannot be decoded
    const auto decoder = sync_decoder::make(o);
    std::vector<double> posteriors(16 * 12);
    EXPECT_THROW(decoder->push_frame(posteriors), std::invalid_argument);
    std::vector<std::uint8_t> symbols(16 * 12);
    EXPECT_THROW(decoder->pull(symbols), std::invalid_argument);
    EXPECT_THROW(decoder->pull({ posteriors.data(), 16 * 12 - 1 }),
                 std::invalid_argument);
    for (const auto& frame : data.received) {
        ASSERT_TRUE(decoder->push_frame(frame));
    }
    decoder->finish();
    EXPECT_FALSE(decoder->status());
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        while (!decoder->ready()) {
            decoder->wait(milliseconds(100));
        }
        ASSERT_EQ(decoder->pull(posteriors), posteriors.size());
        const auto status = decoder->status();
        ASSERT_TRUE(status);
        EXPECT_FALSE(decoder->status());
        EXPECT_EQ(status->number, f);
        EXPECT_EQ(status->status.valid, f != 1);
        if (f != 1) {
            const auto expected = reference_of(data, o, f);
            EXPECT_LE(largest_difference(posteriors, expected.posteriors), 1e-10);
        }
    }
    EXPECT_TRUE(decoder->done());
    EXPECT_EQ(decoder->pull(posteriors), 0u);
}

TEST(sync_decoder_frames, PartialBatch_IsSubmittedWhenDue)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 }, 1);
    data.options.backend = backend::cpu;
    data.options.batch = 100;
    data.options.max_latency_ms = 1;
    const auto decoder = sync_decoder::make(data.options);
    decoder->push_frame(data.received[0]);
    sync_decoder::frame f;
    for (int k = 0; k < 1000 && !decoder->pull(f); ++k) {
        decoder->wait(milliseconds(5));
        std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(f.status.valid, 1u);
}

TEST(sync_decoder_frames, ChannelChange_AppliesToLaterFrames)
{
    auto data = random_frames(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 }, 2);
    auto& o = data.options;
    o.backend = backend::cpu;
    const auto decoder = sync_decoder::make(o);
    const auto decode = [&](std::size_t f) {
        decoded_stream out;
        EXPECT_TRUE(decoder->push_frame(data.received[f]));
        decoder->flush();
        decoder->wait(milliseconds(10000));
        take_all<double>(*decoder, out);
        return out.values;
    };
    EXPECT_LE(largest_difference(decode(0), reference_of(data, o, 0).posteriors), 1e-10);
    decoder->reset();
    o.channel = bsid_model(0.05, 0.01, 0.1);
    decoder->set_channel(o.channel);
    EXPECT_LE(largest_difference(decode(1), reference_of(data, o, 1).posteriors), 1e-10);
    EXPECT_THROW(decoder->set_channel({ 0.1, 0.1, 0, 3 }), std::invalid_argument);
}

TEST(sync_decoder_frames, UndecodableChannel_IsRefusedImmediately)
{
    auto data = random_frames(codebook_random(8, 16, 1000, 4), { 1e-3, 1e-3, 0 }, 1);
    data.options.backend = backend::cpu;
    const auto decoder = sync_decoder::make(data.options);
    EXPECT_THROW(decoder->set_channel({ 0.99, 0.001 }), std::invalid_argument);
    EXPECT_TRUE(decoder->push_frame(data.received[0]));
}

TEST(sync_simulation, FramesOfDifferentErrorRates_HaveExpectedStandardError)
{
    error_counts counts;
    EXPECT_EQ(counts.symbol_error_rate(), 0);
    counts.add(10, 0);
    EXPECT_EQ(counts.deviation(), INFINITY);
    counts.add(10, 4);
    EXPECT_DOUBLE_EQ(counts.symbol_error_rate(), 0.2);
    EXPECT_DOUBLE_EQ(counts.frame_error_rate(), 0.5);
    // 0.2 is the standard error of the mean of the frames' error rates, 0 and 0.4.
    EXPECT_DOUBLE_EQ(counts.deviation(), 0.2);
}

TEST(sync_simulation, SameSeed_ReproducesFrames)
{
    const sync_options o(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0 });
    const frame_source source(o, 1), same(o, 1), other(o, 2);
    EXPECT_EQ(source.make(7).message, same.make(7).message);
    EXPECT_EQ(source.make(7).items, same.make(7).items);
    EXPECT_NE(source.make(7).message, source.make(8).message);
    EXPECT_NE(source.make(7).message, other.make(7).message);
}

// Returns the number of wrong symbols, and whether all frames except the last are locked.
// Expects at most two failed boundary matches.
std::pair<unsigned, bool> count_wrong(sync_options o, const test_frames& data)
{
    o.backend = backend::cpu;
    o.output = sync_output::symbols;
    o.precision = sync_precision::float32;
    o.drifts = false;
    const auto decoder = sync_decoder::make(o);
    unsigned wrong = 0;
    bool locked = true;
    const auto pull = [&] {
        sync_decoder::frame f;
        while (decoder->pull(f)) {
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
            while (!decoder->push_frame(items)) {
                pull();
                decoder->wait(milliseconds(10));
            }
        } else {
            for (std::size_t at = 0; at < items.size();) {
                at += decoder->push(span(items).from(at));
                pull();
            }
        }
    }
    decoder->finish();
    while (!decoder->done()) {
        pull();
        decoder->wait(milliseconds(10));
    }
    EXPECT_LE(decoder->links_failed(), 2u);
    return { wrong, locked };
}

TEST(sync_decoder_stream, InvertedMarkers_LocateFrames)
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

} // namespace
} // namespace gr::gpufec::sync_map
