// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CUDA decoder: both forms, every precision and storage, against the test
 * vectors and the reference. Further tests concern options that are refused, and batches
 * that await admission to the device. */

#include "cuda/device_admission.h"
#include "qa_cuda_support.h"
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {
namespace {

TEST_F(sync_cuda, LinearForm_HasPosteriorsOfTestVectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
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

TEST_F(sync_cuda, CorridorForm_HasPosteriorsOfTestVectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    in_turn kind(6);
    for (const auto& v : all) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (const auto precision : precisions) {
                if (!kind.is_next()) {
                    continue;
                }
                auto o = options_of(v, precision);
                o.form = sync_form::corridor;
                o.storage = storage;
                check_vector(v, o, make, tolerance(precision), 3);
            }
        }
    }
}

TEST_F(sync_cuda, WordsOfEveryLength_EqualReference)
{
    for (unsigned n = 2; n <= 20; ++n) {
        for (const unsigned q : { 2u, 4u, 23u, 32u, 33u, 300u }) {
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

TEST_F(sync_cuda, SymbolWordsOfEveryLength_EqualReference)
{
    in_turn kind(3);
    for (const unsigned alphabet : { 3u, 4u, 16u }) {
        for (unsigned n = 2; n <= 12; ++n) {
            for (const unsigned q : { 2u, 9u, 23u, 32u, 33u, 200u }) {
                if (q > std::pow(alphabet, n)) {
                    continue;
                }
                const double p_substitute = q % 2 ? 0 : 0.03;
                auto data = random_frames(codebook_random(n, q, 4, n, alphabet),
                                          { 0.02, 0.03, p_substitute, alphabet },
                                          small_scale() ? 2 : 5);
                for (const std::size_t k : { 3u, 9u }) { // items to erase
                    if (k < data.received[1].size()) {
                        data.received[1][k] = k == 3 ? alphabet : 255;
                    }
                }
                for (const auto precision : precisions) {
                    if (kind.is_next()) {
                        data.options.precision = precision;
                        check_against_reference(
                            data, data.options, make, tolerance(precision));
                    }
                }
            }
        }
    }
}

TEST_F(sync_cuda, SymbolLikelihoods_EqualReference)
{
    in_turn kind(3);
    for (const unsigned alphabet : { 3u, 4u, 7u, 16u }) {
        for (const unsigned n : { 3u, 5u, 10u, 12u, 17u }) {
            for (const unsigned q : { 2u, 23u, 32u, 70u }) {
                for (const auto precision : precisions) {
                    if (kind.is_next() && q <= std::pow(alphabet, n)) {
                        check_likelihoods(make,
                                          sync_form::linear,
                                          n,
                                          q,
                                          alphabet,
                                          precision,
                                          small_scale() ? 1 : 5);
                    }
                }
            }
        }
    }
}

// The metrics of 9000 drifts exceed the shared memory of a block on any card. Metrics of
// 2200 drifts do so on cards with little shared memory.
TEST_F(sync_cuda, WindowTooWideForSharedMemory_EqualsReference)
{
    for (const std::size_t drifts : { 2200u, 9000u }) {
        auto symbols =
            random_frames(codebook_random(10, 3, 2, 4, 16), { 0.02, 0.03, 0.01, 16 }, 2);
        symbols.options.start = { 0, std::vector<double>(drifts, 1) };
        check_against_reference(symbols, symbols.options, make, 1e-10);
        make_likelihoods(symbols);
        check_against_reference(symbols, symbols.options, make, 1e-10);

        auto bits = random_frames(
            codebook_random(10, small_scale() ? 3 : 40, 2, 4), { 0.02, 0.03, 0 }, 2);
        bits.options.start = { 0, std::vector<double>(drifts, 1) };
        for (const auto form : { sync_form::linear, sync_form::corridor }) {
            bits.options.form = form;
            check_against_reference(bits, bits.options, make, 1e-10);
        }
    }
}

TEST_F(sync_cuda, UnusualCodesAndChannels_EqualReference)
{
    in_turn kind(3);
    for (const auto& c : awkward_cases()) {
        for (const auto precision : precisions) {
            if (!kind.is_next()) {
                continue;
            }
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

TEST_F(sync_cuda, PriorsAndSoftInput_EqualReference)
{
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        check_priors_and_soft_values(form, make, small_scale() ? 3 : 21);
    }
}

TEST_F(sync_cuda, PriorsOfBits_EqualReference)
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

TEST_F(sync_cuda, EveryOutputKind_MatchesPosteriors) { check_outputs(make); }

TEST_F(sync_cuda, ImpossibleFrame_IsUniformAndNotValid) { check_impossible_frames(make); }

TEST_F(sync_cuda, WindowAbove1024Drifts_EqualsReference)
{
    if (small_scale()) {
        GTEST_SKIP() << "the test takes too long for GPUFEC_TEST_SCALE=small";
    }
    auto data = random_frames(codebook_random(10, 4, 1400, 4), { 0.2, 0.2, 0 }, 2);
    EXPECT_GT(decoder_window(data.options).size(), 1024u);
    // The test needs double precision, because after 14000 bits of such a channel the
    // weights of the correct drifts are below the range of a float.
    check_against_reference(data, data.options, make, 1e-10);
}

// Decoders of different codes launch the same kernels with different sizes of shared
// memory. A decoder must not lower the size that an earlier decoder requested.
TEST_F(sync_cuda, LaterDecoderWithNarrowWindow_WideWindowEqualsReference)
{
    auto narrow =
        random_frames(codebook_random(6, 8, 3, 4), { 0.01, 0.01, 0 }, 1).options;
    auto data = random_frames(
        codebook_random(6, 8, 60, 4), { 0.1, 0.1, 0 }, small_scale() ? 1 : 3);
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

// After wait_idle() the caller may free the memory that a device writes. Therefore
// wait_idle() must also decode batches that still await admission.
TEST_F(sync_cuda, BatchesAwaitingAdmission_DecodeBeforeDeviceIsIdle)
{
    const auto data = random_frames(codebook_random(10, 16, 8, 4), { 0.01, 0.01, 0 }, 1);
    const auto setup = make_setup(data.options);
    const auto decoder = make(setup, 1);
    decoder->on_completion([] {});
    const auto limits = decoder->limits();
    const host_memory in(limits.input_bytes), out(limits.output_bytes),
        status(limits.status_bytes);
    const auto& received = data.received.front();
    write_framed(setup, received.data(), received.size(), nullptr, in.data());
    const auto submit = [&] {
        std::memset(status.data(), 0, limits.status_bytes);
        decoder->submit(0, { 1 }, { in.data(), out.data(), status.data() });
        EXPECT_FALSE(decoder->finished(0));
    };
    const auto valid = [&] {
        return reinterpret_cast<const sync_status*>(status.data())->valid;
    };
    const auto turns = cuda::device_admission::of(0);
    cuda::device_admission::place other(turns, true, [] {});
    for (unsigned k = 0; k < cuda::device_admission::long_batches; ++k) {
        ASSERT_TRUE(other.begin());
    }
    submit();
    EXPECT_TRUE(decoder->wait_idle(std::chrono::seconds(10)));
    EXPECT_TRUE(decoder->finished(0));
    EXPECT_TRUE(valid());
    // Dropped batches are not decoded.
    submit();
    decoder->drop();
    EXPECT_TRUE(decoder->wait_idle(std::chrono::seconds(10)));
    EXPECT_FALSE(valid());
}

TEST_F(sync_cuda, CpuOnlyOptions_AreRefused)
{
    auto data = random_frames(codebook_random(4, 4, 5, 4), { 0.1, 0.1, 0 }, 1);
    data.options.form = sync_form::corridor;
    data.options.receiver = sync_receiver::trellis;
    EXPECT_THROW(decode_frames(data, data.options, make), std::runtime_error);
    auto soft = random_frames(codebook_random(4, 4, 5, 4, 4), { 0.1, 0.1, 0, 4 }, 1);
    make_likelihoods(soft);
    soft.options.form = sync_form::corridor;
    EXPECT_THROW(decode_frames(soft, soft.options, make), std::runtime_error);
}

} // namespace
} // namespace gr::gpufec::sync_map
