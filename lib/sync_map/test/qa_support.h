// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Test frames and checks that the tests of both backends share. Frames are decoded with a
 * batch decoder, and the results are compared with test vectors and the reference. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_SUPPORT_H
#define INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_SUPPORT_H

#include "channel/bsid.h"
#include "common/cpu_variant.h"
#include "common/host_memory.h"
#include "qa_vectors.h"
#include "sync_map/model/reference.h"
#include "sync_map/stream/traits.h"
#include <gnuradio/gpufec/sync_map.h>
#include <gtest/gtest.h>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

namespace gr::gpufec::sync_map {

//! Function that makes the decoder under test. Its second argument is the number of
//! frames in a batch.
using decoder_maker =
    std::function<std::unique_ptr<batch_decoder<job>>(const setup&, std::size_t)>;

//! Frames and the options for decoding them. Each list has one entry per frame.
struct test_frames {
    sync_options options;
    std::vector<std::vector<std::uint16_t>> messages;
    std::vector<std::vector<std::uint8_t>> received;
    std::vector<std::vector<float>> soft; // used instead of received if soft_input is set
    std::vector<std::vector<float>> priors; // used if options.priors is set
};

struct decoded_frame {
    std::vector<double> values; // posteriors, extrinsics, LLRs or symbols
    std::vector<double> first_drifts, last_drifts;
    sync_status status;
};

template <class Value>
void append_values(const std::byte* from, std::size_t count, std::vector<double>& to)
{
    for (std::size_t k = 0; k < count; ++k) {
        Value v;
        std::memcpy(&v, from + k * sizeof(v), sizeof(v));
        to.push_back(v);
    }
}

inline decoded_frame
read_output(const setup& setup, const std::byte* out, const sync_status& status)
{
    decoded_frame f;
    const auto count = std::size_t(setup.outputs) * setup.code.q();
    switch (setup.output) {
    case sync_output::symbols:
        setup.symbol_bytes() == 1
            ? append_values<std::uint8_t>(out, setup.outputs, f.values)
            : append_values<std::uint16_t>(out, setup.outputs, f.values);
        break;
    case sync_output::posteriors:
    case sync_output::extrinsics:
        append_values<float>(out, count, f.values);
        break;
    case sync_output::llr:
        append_values<std::int8_t>(out, setup.outputs * setup.symbol_bytes(), f.values);
        break;
    case sync_output::posteriors64:
        append_values<double>(out, count, f.values);
        break;
    }
    if (setup.drifts) {
        append_values<float>(out + setup.drifts_at(), setup.window, f.first_drifts);
        append_values<float>(out + setup.drifts_at() + setup.window * sizeof(float),
                             setup.window,
                             f.last_drifts);
    }
    f.status = status;
    return f;
}

inline std::size_t items_of(const std::vector<float>& soft, const sync_options& o)
{
    return soft.size() * sizeof(float) / o.item_bytes();
}

//! Decodes all frames of \p data in one batch and returns the first \p outputs symbols of
//! each frame; 0: all symbols.
inline std::vector<decoded_frame> decode_frames(const test_frames& data,
                                                const sync_options& options,
                                                const decoder_maker& make,
                                                unsigned outputs = 0)
{
    auto setup = make_setup(options);
    setup.outputs = outputs ? outputs : setup.outputs;
    const auto count = data.messages.size();
    const auto decoder = make(setup, count);
    const auto limits = decoder->limits();
    const host_memory in(limits.input_bytes), out(limits.output_bytes),
        status(limits.status_bytes);
    for (std::size_t f = 0; f < count; ++f) {
        const void* items = options.soft_input
                                ? static_cast<const void*>(data.soft[f].data())
                                : data.received[f].data();
        const auto length = options.soft_input ? items_of(data.soft[f], options)
                                               : data.received[f].size();
        write_framed(setup,
                     items,
                     length,
                     options.priors ? data.priors[f].data() : nullptr,
                     in.data() + f * setup.input_bytes());
    }
    decoder->on_completion([] {});
    decoder->submit(0, { count }, { in.data(), out.data(), status.data() });
    while (!decoder->finished(0)) {
        std::this_thread::yield();
    }
    std::vector<decoded_frame> decoded;
    for (std::size_t f = 0; f < count; ++f) {
        decoded.push_back(read_output(setup,
                                      out.data() + f * setup.output_bytes(),
                                      reinterpret_cast<sync_status*>(status.data())[f]));
    }
    return decoded;
}

//! Returns options with the code, channel and drift limits of the vector.
inline sync_options options_of(const test_vector& v, sync_precision precision)
{
    sync_options o{ v.code, v.channel };
    o.output = sync_output::posteriors64;
    o.precision = precision;
    o.exclusion = v.exclusion;
    o.change_first = v.change.first;
    o.change_last = v.change.last;
    o.drifts = true;
    return o;
}

inline void check_vector(const test_vector& v,
                         const sync_options& options,
                         const decoder_maker& make,
                         double tolerance,
                         unsigned copies)
{
    test_frames data{ options, {}, {}, {}, {} };
    data.messages.assign(copies, v.message);
    data.received.assign(copies, v.received);
    for (const auto& f : decode_frames(data, options, make)) {
        EXPECT_TRUE(f.status.valid);
        EXPECT_LE(largest_difference(f.values, v.posteriors), tolerance) << v.name;
        double sum = 0;
        for (const double x : f.values) {
            sum += x;
        }
        EXPECT_NEAR(sum, v.code.frame_symbols(), 1e-4);
        EXPECT_EQ(f.status.end_drift, int(v.received.size()) - int(v.sent.size()));
        EXPECT_EQ(f.status.start_drift, 0);
    }
    // If a frame has only i output symbols, the decoder returns the drift posteriors of
    // the inner boundary i. Drift posteriors are floats in any precision.
    data.messages.resize(1);
    const auto N = v.code.frame_symbols(), M = v.window.size();
    for (const unsigned i : { 1u, N / 2, N - 1 }) {
        const auto f = decode_frames(data, options, make, i).front();
        const std::vector<double> exact(v.drifts.begin() + i * M,
                                        v.drifts.begin() + (i + 1) * M);
        EXPECT_LE(largest_difference(f.last_drifts, exact), std::max(1e-7, tolerance))
            << v.name << " boundary " << i;
        const std::vector<double> posteriors(v.posteriors.begin(),
                                             v.posteriors.begin() + i * v.code.q());
        EXPECT_LE(largest_difference(f.values, posteriors), tolerance) << v.name;
    }
}

//! Encodes \p count frames of random symbols and sends them through the channel.
inline test_frames
random_frames(const sync_code& code, const bsid_model& channel, unsigned count)
{
    test_frames data{ { code, channel }, {}, {}, {}, {} };
    data.options.output = sync_output::posteriors64;
    data.options.precision = sync_precision::float64;
    data.options.drifts = true;
    std::mt19937_64 random(17);
    bsid_channel through(channel, 23);
    for (unsigned f = 0; f < count; ++f) {
        std::vector<std::uint16_t> message(code.frame_symbols());
        for (auto& D : message) {
            D = (random() >> 32) * code.q() >> 32;
        }
        std::vector<std::uint8_t> sent(code.frame_bits());
        sync_encoder_kernel(code).encode(message.data(), message.size(), sent.data());
        data.messages.push_back(message);
        data.received.push_back(through.send(sent));
    }
    return data;
}

//! Returns the likelihoods of soft items of an alphabet of s > 2 symbols, normalised to
//! sum 1 for each item.
inline std::vector<double> likelihoods_of(const std::vector<float>& soft, unsigned s)
{
    std::vector<double> all;
    for (auto item = soft.begin(); item != soft.end(); item += s) {
        double sum = 0;
        for (unsigned x = 0; x < s; ++x) {
            sum += item[x] < 0 ? 0.0 : double(item[x]);
        }
        const bool known = sum > 0 && std::isfinite(sum);
        for (unsigned x = 0; x < s; ++x) {
            all.push_back(known ? std::max(0.0, double(item[x])) / sum : 1.0 / s);
        }
    }
    return all;
}

//! Decodes frame number \p f with the linear form of the reference.
inline reference::map_result
reference_of(const test_frames& data, const sync_options& o, std::size_t f)
{
    const auto window = decoder_window(o);
    reference::map_problem p{ o.code, o.channel, window, o.code.frame_symbols(), 0, {},
                              {},     {},        {} };
    const unsigned s = o.code.alphabet();
    if (o.soft_input && s > 2) {
        p.likelihood = likelihoods_of(data.soft[f], s);
    } else if (o.soft_input) {
        for (const float one : data.soft[f]) {
            const double q = std::isnan(one) ? 0.5 : double(one);
            p.likelihood.insert(p.likelihood.end(), { 1 - q, q });
        }
    } else {
        for (const unsigned y : data.received[f]) {
            for (unsigned x = 0; x < s; ++x) {
                p.likelihood.push_back(y >= s ? 1.0 / s : double(y == x));
            }
        }
    }
    const int drift = p.positions() - int(o.code.frame_bits());
    p.start = window_metrics(o.start, window);
    p.end = window_metrics(
        o.end.probability.empty() ? drift_prior{ drift, { 1 } } : o.end, window);
    if (o.priors) {
        for (unsigned i = 0; i < p.symbols; ++i) {
            const auto* row = data.priors[f].data() + i * o.code.q();
            const double sum = std::accumulate(row, row + o.code.q(), 0.0);
            for (unsigned D = 0; D < o.code.q(); ++D) {
                p.priors.push_back(row[D] / sum);
            }
        }
    }
    return reference::linear(p);
}

//! Returns the largest difference between a posterior and the reference. Also checks the
//! drift posteriors and the validity of each frame.
inline double difference_to_reference(const test_frames& data,
                                      const sync_options& o,
                                      const decoder_maker& make)
{
    const auto decoded = decode_frames(data, o, make);
    const auto M = decoder_window(o).size();
    double largest = 0;
    for (std::size_t f = 0; f < decoded.size(); ++f) {
        const auto r = reference_of(data, o, f);
        EXPECT_EQ(bool(decoded[f].status.valid), r.valid) << f;
        largest = std::max(largest, largest_difference(decoded[f].values, r.posteriors));
        const std::vector<double> first(r.drifts.begin(), r.drifts.begin() + M);
        const std::vector<double> last(r.drifts.end() - M, r.drifts.end());
        // Drift posteriors are floats in any precision, so their tolerance is larger.
        EXPECT_LE(largest_difference(decoded[f].first_drifts, first),
                  std::max(1e-6, largest * 4));
        EXPECT_LE(largest_difference(decoded[f].last_drifts, last),
                  std::max(1e-6, largest * 4));
    }
    return largest;
}

inline void check_against_reference(const test_frames& data,
                                    const sync_options& o,
                                    const decoder_maker& make,
                                    double tolerance)
{
    EXPECT_LE(difference_to_reference(data, o, make), tolerance)
        << "n = " << o.code.n() << ", q = " << o.code.q()
        << ", N = " << o.code.frame_symbols() << ", alphabet " << o.code.alphabet()
        << ", channel probabilities " << o.channel.p_insert() << ' '
        << o.channel.p_delete() << ' ' << o.channel.p_substitute();
    const auto decoded = decode_frames(data, o, make);
    for (std::size_t f = 0; f < decoded.size(); ++f) {
        const auto r = reference_of(data, o, f);
        if (r.valid) {
            const auto items =
                o.soft_input ? items_of(data.soft[f], o) : data.received[f].size();
            EXPECT_NEAR(decoded[f].status.log_probability,
                        r.log_probability + items * std::log(make_setup(o).item_weight),
                        std::max(1e-8, 10 * tolerance * std::abs(r.log_probability)));
        }
    }
}

struct awkward_case {
    sync_code code;
    bsid_model channel;
};

//! Returns small and unusual codes with channels; some of the channels lack insertions,
//! deletions or substitutions.
inline std::vector<awkward_case> awkward_cases()
{
    return {
        { codebook_random(1, 2, 1, 1), { 0.1, 0.1, 0 } },
        { codebook_random(1, 2, 9, 1), { 0.1, 0.1, 0.02 } },
        { codebook_random(2, 3, 1, 1), { 0.2, 0.05, 0.1 } },
        { codebook_random(5, 2, 7, 2), { 0, 0.1, 0.02 } },
        { codebook_random(5, 32, 7, 2), { 0.1, 0, 0.02 } },
        { codebook_random(5, 12, 7, 3), { 0, 0, 0.1 } },
        { codebook_random(5, 12, 7, 3), { 0, 0, 0 } },
        { codebook_random(7, 33, 6, 4), { 0.05, 0.05, 0.5 } },
        { codebook_random(7, 70, 6, 4), { 0.02, 0.05, 1 } },
        { codebook_random(3, 20, 8, 5, 3), { 0.05, 0.08, 0.03, 3 } },
        { codebook_random(2, 40, 8, 6, 7), { 0.05, 0.08, 0.03, 7 } },
        { codebook_random(1, 16, 8, 7, 16), { 0.05, 0.08, 0.1, 16 } },
        { codebook_random(27, 9, 5, 8), { 0.02, 0.02, 0.01 } },
        { codebook_davey_mackay(20, 64, 6, 9), { 0.05, 0.05, 0 } },
    };
}

inline void check_priors_and_soft_values(sync_form form,
                                         const decoder_maker& make,
                                         unsigned frames = 21)
{
    auto data = random_frames(codebook_random(5, 6, 10, 4), { 0.04, 0.05, 0.02 }, frames);
    auto& o = data.options;
    o.form = form;
    o.change_first = -5;
    o.change_last = 40;
    std::mt19937_64 random(5);
    const auto uniform = [&] { return float((random() >> 40) * 0x1p-24); };
    for (const auto& frame : data.received) {
        std::vector<float> soft;
        for (const auto bit : frame) {
            soft.push_back(bit ? 1 - 0.4f * uniform() : 0.4f * uniform());
        }
        soft[7] = NAN;
        data.soft.push_back(soft);
        std::vector<float> priors(o.code.frame_symbols() * o.code.q());
        for (auto& p : priors) {
            p = 0.05f + uniform();
        }
        priors[3] = 0;
        data.priors.push_back(priors);
    }
    for (const auto precision :
         { sync_precision::float64, sync_precision::float32, sync_precision::mixed }) {
        o.precision = precision;
        const double tolerance = precision == sync_precision::float64 ? 1e-10 : 1e-6;
        o.soft_input = false;
        o.priors = true;
        check_against_reference(data, o, make, tolerance);
        o.soft_input = true;
        check_against_reference(data, o, make, tolerance);
        o.priors = false;
        o.start = { 0, { 0.5, 0.3, 0.2 } };
        o.end = { -3, { 1, 2, 4, 8, 8, 3, 1 } };
        check_against_reference(data, o, make, tolerance);
        o.start = {};
        o.end = { 0, {} };
    }
}

//! Makes soft items like those of a DNA sequencer that reports confidences: the received
//! symbol has the largest likelihood, and the sums of likelihoods vary from item to item.
//! Some items are erasures or have unusual values.
inline void make_likelihoods(test_frames& data)
{
    auto& o = data.options;
    o.soft_input = true;
    const unsigned s = o.code.alphabet();
    std::mt19937_64 random(29);
    const auto uniform = [&] { return float((random() >> 40) * 0x1p-24); };
    data.soft.clear();
    for (const auto& frame : data.received) {
        data.soft.emplace_back();
        auto& soft = data.soft.back();
        for (const unsigned y : frame) {
            const float scale = std::exp(20 * (uniform() - 0.5f)), wrong = uniform();
            for (unsigned x = 0; x < s; ++x) {
                soft.push_back(scale * (x == y ? 1 : 0.3f * wrong * uniform()));
            }
        }
        const auto items = frame.size();
        const auto item = [&](std::size_t k) { return soft.begin() + k % items * s; };
        std::fill_n(item(2), s, 0.0f);
        std::fill_n(item(5), s, 0.0f);
        item(5)[s - 1] = 3;
        item(7)[1] = NAN;
        item(8)[0] = -1;
        item(11)[s - 1] = INFINITY;
    }
}

//! Decodes soft items of a random code with more than two channel symbols and compares
//! the results with the reference. In the linear form, also tests start and end priors.
inline void check_likelihoods(const decoder_maker& make,
                              sync_form form,
                              unsigned n,
                              unsigned q,
                              unsigned alphabet,
                              sync_precision precision,
                              unsigned frames)
{
    auto data = random_frames(codebook_random(n, q, 5, n, alphabet),
                              { 0.03, 0.04, q % 2 ? 0 : 0.05, alphabet },
                              frames);
    make_likelihoods(data);
    auto& o = data.options;
    o.form = form;
    o.precision = precision;
    o.change_first = -int(n);
    o.change_last = 20;
    const double tolerance = precision == sync_precision::float64 ? 1e-10 : 1e-6;
    check_against_reference(data, o, make, tolerance);
    if (form == sync_form::corridor) {
        return;
    }
    o.start = { 0, { 0.5, 0.3, 0.2 } };
    o.end = { -3, { 1, 2, 4, 8, 8, 3, 1 } };
    check_against_reference(data, o, make, tolerance);
}

//! Frames decoded with each kind of output.
struct output_kinds {
    std::vector<decoded_frame> exact, floats, extrinsics, llrs;
};

//! Decodes frames with each kind of output. Expects that posteriors agree, that symbols
//! are those of largest posterior, and that positive_bit 1 negates LLRs.
inline output_kinds decode_to_all_kinds(test_frames& data, const decoder_maker& make)
{
    auto& o = data.options;
    const auto with = [&](sync_output output) {
        o.output = output;
        return decode_frames(data, o, make);
    };
    output_kinds kinds{ with(sync_output::posteriors64),
                        with(sync_output::posteriors),
                        with(sync_output::extrinsics),
                        with(sync_output::llr) };
    const auto symbols = with(sync_output::symbols);
    o.positive_bit = 1;
    const auto others = with(sync_output::llr);
    for (std::size_t f = 0; f < kinds.llrs.size(); ++f) {
        std::vector<double> negated;
        for (const auto llr : kinds.llrs[f].values) {
            negated.push_back(-llr);
        }
        EXPECT_EQ(others[f].values, negated);
    }
    const auto q = o.code.q();
    for (std::size_t f = 0; f < symbols.size(); ++f) {
        const auto& posteriors = kinds.exact[f].values;
        EXPECT_LE(largest_difference(posteriors, kinds.floats[f].values), 1e-7);
        for (unsigned i = 0; i < o.code.frame_symbols(); ++i) {
            const auto* L = &posteriors[i * q];
            EXPECT_EQ(symbols[f].values[i], std::max_element(L, L + q) - L);
        }
    }
    return kinds;
}

//! Expects the LLRs of a symbol's \p bits bits to follow from the probabilities \p L of
//! its values.
inline void expect_llrs(const double* llrs, unsigned bits, const double* L)
{
    for (unsigned b = 0; b < bits; ++b) {
        double zero = 0, one = 0;
        for (unsigned D = 0; D < 1u << bits; ++D) {
            (D >> (bits - 1 - b) & 1 ? one : zero) += L[D];
        }
        const double llr = std::clamp(8 * std::log(zero / one), -127.0, 127.0);
        EXPECT_NEAR(llrs[b], llr, 0.51);
    }
}

inline void check_outputs(const decoder_maker& make)
{
    auto data = random_frames(codebook_random(7, 8, 10, 4), { 0.02, 0.03, 0.01 }, 6);
    auto& o = data.options;
    const auto q = o.code.q();
    o.priors = true;
    std::mt19937_64 random(6);
    for (std::size_t f = 0; f < data.messages.size(); ++f) {
        std::vector<float> priors(o.code.frame_symbols() * q);
        for (auto& p : priors) {
            p = 0.1f + float((random() >> 40) * 0x1p-24);
        }
        data.priors.push_back(priors);
    }
    const auto kinds = decode_to_all_kinds(data, make);
    for (std::size_t f = 0; f < kinds.exact.size(); ++f) {
        for (unsigned i = 0; i < o.code.frame_symbols(); ++i) {
            const auto* L = &kinds.exact[f].values[i * q];
            std::vector<double> e(q);
            double sum = 0;
            for (unsigned D = 0; D < q; ++D) {
                e[D] = L[D] / data.priors[f][i * q + D];
                sum += e[D];
            }
            for (unsigned D = 0; D < q; ++D) {
                EXPECT_NEAR(kinds.extrinsics[f].values[i * q + D], e[D] / sum, 1e-6);
            }
            expect_llrs(&kinds.llrs[f].values[i * 3], 3, e.data());
        }
    }
}

inline void check_impossible_frames(const decoder_maker& make)
{
    auto data = random_frames(codebook_random(6, 8, 10, 4), { 0.01, 0.01, 0 }, 4);
    auto& o = data.options;
    data.received[0].resize(5);                                     // far too short
    data.received[1].resize(500);                                   // far too long
    std::fill(data.received[2].begin(), data.received[2].end(), 9); // erased
    const auto check = [&](const decoded_frame& f, bool valid) {
        EXPECT_EQ(bool(f.status.valid), valid);
        if (!valid) {
            EXPECT_EQ(f.values, std::vector<double>(f.values.size(), 1.0 / o.code.q()));
        }
    };
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        for (const auto precision :
             { sync_precision::float64, sync_precision::float32 }) {
            o.form = form;
            o.precision = precision;
            const auto decoded = decode_frames(data, o, make);
            check(decoded[0], false);
            check(decoded[1], false);
            check(decoded[2], true);
            check(decoded[3], true);
        }
    }
    // All bits of the first frame are inverted, although the channel never inserts,
    // deletes or substitutes.
    auto dead = random_frames(codebook_random(6, 8, 10, 4), { 0, 0, 0 }, 2);
    for (auto& bit : dead.received[0]) {
        bit ^= 1;
    }
    const auto decoded = decode_frames(dead, dead.options, make);
    check(decoded[0], false);
    check(decoded[1], true);
}

//! Ends the input and calls \p take until all frames are pulled.
template <class Take>
void finish(sync_decoder& decoder, Take&& take)
{
    decoder.finish();
    while (!decoder.done()) {
        take();
        decoder.wait(std::chrono::milliseconds(10));
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_SUPPORT_H */
