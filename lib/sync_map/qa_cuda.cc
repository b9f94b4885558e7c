// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CUDA decoder: both forms, every precision and storage, against the vectors
 * and the reference. Skipped where there is no device. */

#include "cuda/devices.h"
#include "job.h"
#include "qa_support.h"
#include <gtest/gtest.h>
#include <cstdlib>

namespace gr::gpufec::sync_map {
namespace {

class sync_cuda : public testing::Test
{
protected:
    void SetUp() override
    {
        const auto found = find_cuda_devices();
        if (found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }

    static std::unique_ptr<batch_decoder<job>> make(const setup& setup,
                                                    std::size_t frames)
    {
        return make_cuda(setup, frames, 1, 0);
    }

    static double tolerance(sync_precision precision)
    {
        return precision == sync_precision::float64 ? 1e-10 : 1e-6;
    }
};

// Under compute-sanitizer and emulated, when kernels are a hundred times slower.
bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

// The vectors, each to be decoded in so many copies at once.
std::vector<test_vector> vectors()
{
    auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    const auto large = [](const test_vector& v) {
        return small_scale() && v.code.frame_bits() > 400;
    };
    all.erase(std::remove_if(all.begin(), all.end(), large), all.end());
    return all;
}

const sync_precision precisions[] = { sync_precision::float64,
                                      sync_precision::float32,
                                      sync_precision::mixed };

TEST_F(sync_cuda, linear_form_meets_the_vectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no vectors: set GPUFEC_TEST_DATA";
    }
    for (const auto& v : all) {
        for (const auto precision : precisions) {
            check_vector(v,
                         options_of(v, precision),
                         make,
                         tolerance(precision),
                         small_scale() ? 2 : 19);
        }
    }
}

TEST_F(sync_cuda, corridor_form_meets_the_vectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no vectors: set GPUFEC_TEST_DATA";
    }
    for (const auto& v : all) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (const auto precision : precisions) {
                auto o = options_of(v, precision);
                o.form = sync_form::corridor;
                o.storage = storage;
                check_vector(v, o, make, tolerance(precision), 3);
            }
        }
    }
}

TEST_F(sync_cuda, words_of_every_length_with_a_kernel_of_its_own)
{
    for (const unsigned n : { 5u, 6u, 8u, 10u, 12u, 16u, 20u }) {
        for (const unsigned q : { 2u, 23u, 32u, 33u, 300u }) {
            if (q > 1u << n) {
                continue;
            }
            for (const auto& channel :
                 { bsid_model(0.02, 0.03, 0), bsid_model(0.02, 0.03, 0.01) }) {
                auto data = random_frames(codebook_random(n, q, 4, n), channel, 3);
                data.options.precision = sync_precision::float32;
                check_against_reference(data, data.options, make, 1e-6);
            }
        }
    }
}

TEST_F(sync_cuda, alphabets_words_and_lengths_of_any_kind)
{
    for (const auto& c : awkward_cases()) {
        for (const auto precision : precisions) {
            auto data = random_frames(c.code, c.channel, small_scale() ? 2 : 5);
            data.options.precision = precision;
            check_against_reference(data, data.options, make, tolerance(precision));
            data.options.form = sync_form::corridor;
            data.options.change_first = -int(c.code.n());
            data.options.change_last = 40;
            check_against_reference(data, data.options, make, tolerance(precision));
        }
    }
}

TEST_F(sync_cuda, priors_soft_values_and_boundary_priors)
{
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        check_priors_and_soft_values(form, make, small_scale() ? 3 : 21);
    }
}

TEST_F(sync_cuda, priors_of_bits)
{
    auto data = random_frames(codebook_random(10, 40, 9, 4), { 0.03, 0.04, 0.01 }, 9);
    std::mt19937_64 random(5);
    for (std::size_t f = 0; f < data.messages.size(); ++f) {
        std::vector<float> priors(data.options.code.frame_symbols() * 40);
        for (auto& p : priors) {
            p = float((random() >> 40) * 0x1p-24);
        }
        data.priors.push_back(priors);
    }
    data.options.priors = true;
    for (const auto precision : precisions) {
        data.options.precision = precision;
        check_against_reference(data, data.options, make, tolerance(precision));
    }
}

TEST_F(sync_cuda, outputs_follow_the_posteriors) { check_outputs(make); }

TEST_F(sync_cuda, impossible_frames_are_uniform_and_not_valid)
{
    check_impossible_frames(make);
}

TEST_F(sync_cuda, windows_beyond_a_thousand_drifts)
{
    if (small_scale()) {
        GTEST_SKIP() << "not at small scale";
    }
    auto data = random_frames(codebook_random(10, 4, 1400, 4), { 0.2, 0.2, 0 }, 2);
    EXPECT_GT(decoder_window(data.options).size(), 1024u);
    // In double: over 14000 bits of such a channel, drifts that turn out to be right fall
    // below the range of a float.
    check_against_reference(data, data.options, make, 1e-10);
}

// Decoders of different codes launch the same kernels, with more or less shared memory.
TEST_F(sync_cuda, decoders_of_wide_and_narrow_windows)
{
    auto narrow =
        random_frames(codebook_random(6, 8, 3, 4), { 0.01, 0.01, 0 }, 1).options;
    auto data = random_frames(codebook_random(6, 8, 60, 4), { 0.1, 0.1, 0 }, 3);
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (auto* o : { &narrow, &data.options }) {
                o->form = form;
                o->storage = storage;
                o->precision = sync_precision::float64;
            }
            std::vector<std::unique_ptr<batch_decoder<job>>> others;
            const auto before_a_narrow_one = [&](const setup& setup, std::size_t frames) {
                auto decoder = make(setup, frames);
                others.push_back(make(make_setup(narrow), 1));
                return decoder;
            };
            check_against_reference(data, data.options, before_a_narrow_one, 1e-10);
        }
    }
}

// What a decoder makes of frames, or of all of them in one stream.
std::vector<double> decode_all(const test_frames& data, const sync_options& options)
{
    sync_decoder decoder(options);
    std::vector<double> values;
    const auto take = [&] {
        sync_decoder::frame f;
        while (decoder.pull(f)) {
            append_values<double>(static_cast<const std::byte*>(f.output),
                                  f.output_bytes / sizeof(double),
                                  values);
        }
    };
    for (const auto& frame : data.received) {
        for (std::size_t at = 0; at < frame.size();) {
            const auto rest = frame.size() - at;
            at += options.mode == sync_mode::stream
                      ? decoder.push(frame.data() + at, rest)
                      : (decoder.push_frame(frame.data(), rest) ? rest : 0);
            take();
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        take();
        decoder.wait(std::chrono::milliseconds(10));
    }
    return values;
}

TEST_F(sync_cuda, frames_and_streams_through_two_decoders_are_those_of_the_cpu)
{
    const unsigned frames = small_scale() ? 8 : 40;
    const auto data =
        random_frames(codebook_davey_mackay(10, 32, 20, 4), { 0.01, 0.01, 0 }, frames);
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (const auto precision : precisions) {
            auto o = data.options;
            o.mode = mode;
            o.precision = precision;
            o.drifts = false;
            o.batch = 3;
            o.where = backend::cpu;
            const auto cpu = decode_all(data, o);
            o.where = backend::cuda;
            o.devices = { 0, 0 };
            const auto cuda = decode_all(data, o);
            EXPECT_EQ(cpu.size(), std::size_t(frames) * 20 * 32);
            // A stream carries differences on from frame to frame.
            EXPECT_LE(largest_difference(cpu, cuda), 2 * tolerance(precision));
        }
    }
}

TEST_F(sync_cuda, what_the_cpu_alone_has_is_refused)
{
    auto data = random_frames(codebook_random(4, 4, 5, 4), { 0.1, 0.1, 0 }, 1);
    data.options.form = sync_form::corridor;
    data.options.receiver = sync_receiver::trellis;
    EXPECT_THROW(decode_frames(data, data.options, make), std::runtime_error);
}

} // namespace
} // namespace gr::gpufec::sync_map
