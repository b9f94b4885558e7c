// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CUDA decoder: each kernel for words of ten bits, and the banded lattice,
 * whose band of drifts follows a frame's path. */

#include "qa_cuda_support.h"
#include "sync_map/cuda/band.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <random>

namespace gr::gpufec::sync_map {
namespace {

class sync_cuda_ten_bits : public sync_cuda,
                           public testing::WithParamInterface<ten_bit_kernels>
{
protected:
    void SetUp() override
    {
        sync_cuda::SetUp();
        chosen_kernels = GetParam();
    }
    void TearDown() override { chosen_kernels = ten_bit_kernels::by_batch; }

    // Returns the precisions to test. Trie kernels have no mixed precision, because their
    // sums have the precision of their lattices.
    static std::vector<sync_precision> own_precisions()
    {
        std::vector<sync_precision> all{ sync_precision::float64,
                                         sync_precision::float32 };
        if (GetParam() == ten_bit_kernels::linear) {
            all.push_back(sync_precision::mixed);
        }
        return all;
    }
};

INSTANTIATE_TEST_SUITE_P(by,
                         sync_cuda_ten_bits,
                         testing::Values(ten_bit_kernels::trie_lattice,
                                         ten_bit_kernels::linear),
                         [](const auto& info) {
                             return info.param == ten_bit_kernels::linear ? "frames"
                                                                          : "tries";
                         });

TEST_P(sync_cuda_ten_bits, TestVectors_HaveExpectedPosteriors)
{
    auto all = vectors();
    all.erase(std::remove_if(all.begin(),
                             all.end(),
                             [](const test_vector& v) { return v.code.n() != 10; }),
              all.end());
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    for (const auto& v : all) {
        for (const auto precision : own_precisions()) {
            check_vector(v,
                         options_of(v, precision),
                         make,
                         tolerance(precision),
                         small_scale() ? 2 : 47);
        }
    }
}

// Depending on the channel, a window occupies one lane or many, and insertions reach the
// next lane or the lane after it (see trie_warp). For some channels the decoder falls
// back to other kernels.
TEST_P(sync_cuda_ten_bits, VariousCodesAndChannels_EqualReference)
{
    const bsid_model channels[] = {
        { 1e-3, 1e-3, 0 },    { 1e-4, 1e-3, 0.01 }, { 0.012, 0.02, 0 },
        { 0.05, 0.02, 0.03 }, { 0.1, 0.1, 0.01 },   { 0.2, 0.15, 0.02 },
        { 0, 0.1, 0.02 },     { 0.1, 0, 0.02 },     { 0.01, 0.03, 1 },
        { 0.01, 0.03, 0.5 },  { 0, 0, 0.1 },        { 0.02, 1e-5, 0.01 },
    };
    for (const auto& channel : channels) {
        for (const unsigned q : { 2u, 23u, 32u, 33u, 300u, 1024u }) {
            if (small_scale() && q > 33) {
                continue;
            }
            const unsigned N = small_scale() ? 5 : 12;
            const auto code = q == 32 ? codebook_davey_mackay(10, q, N, 4)
                                      : codebook_random(10, q, N, 4);
            auto data = random_frames(code, channel, small_scale() ? 3 : q > 33 ? 4 : 20);
            for (const auto precision : own_precisions()) {
                data.options.precision = precision;
                // Codes with little redundancy amplify rounding errors: the CPU's float
                // decoder differs from the reference by up to 4e-6.
                const bool rounds = q > 100 && precision == sync_precision::float32;
                check_against_reference(
                    data, data.options, make, rounds ? 4e-6 : tolerance(precision));
            }
        }
    }
}

TEST_P(sync_cuda_ten_bits, ErasuresBurstsAndBoundaryPriors_EqualReference)
{
    auto data = random_frames(codebook_random(10, 40, 9, 4), { 0.01, 0.02, 0.01 }, 21);
    auto& o = data.options;
    // In some frames, items are erased, inserted or lost. Other frames have only unknown
    // items or an extreme length.
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        for (std::size_t k = f; f % 3 == 0 && k < r.size(); k += 7) {
            r[k] = 2 + f;
        }
        if (f % 5 == 1) {
            r.insert(r.begin() + 40, 5, f % 2);
        }
        if (f % 5 == 2) {
            r.erase(r.begin() + 30, r.begin() + 35);
        }
    }
    std::fill(data.received[4].begin(), data.received[4].end(), 9);
    // At the end of the window the kernels consider a few drifts more than the reference.
    const auto window = decoder_window(o);
    data.received[5].resize(o.code.frame_bits() + window.first + 6);
    data.received[6].resize(o.code.frame_bits() + window.last - 6, 1);
    for (const auto precision : own_precisions()) {
        o.precision = precision;
        check_against_reference(data, o, make, tolerance(precision));
        o.start = { 0, { 0.5, 0.3, 0.2 } };
        o.end = { -3, { 1, 2, 4, 8, 8, 3, 1 } };
        check_against_reference(data, o, make, tolerance(precision));
        o.start = {};
        o.end = { 0, {} };
    }
}

// A warp decodes a frame with tries if the window has at most 416 drifts in float or 192
// in double. Wider windows must fall back to the linear form without tries.
TEST_P(sync_cuda_ten_bits, WideWindows_EqualReference)
{
    auto data = random_frames(codebook_random(10, 12, 4, 4), { 0.03, 0.05, 0.01 }, 9);
    for (const std::size_t wide : { 200u, 260u, 360u, 430u }) {
        data.options.start = { -int(wide / 2), std::vector<double>(wide, 1) };
        for (const auto precision : own_precisions()) {
            data.options.precision = precision;
            check_against_reference(data, data.options, make, tolerance(precision));
        }
    }
}

TEST_P(sync_cuda_ten_bits, EveryOutputKind_MatchesPosteriors)
{
    auto data = random_frames(codebook_random(10, 64, 8, 4), { 0.02, 0.03, 0.01 }, 30);
    data.received[0].resize(5);
    const auto kinds = decode_to_all_kinds(data, make);
    const auto q = data.options.code.q();
    const auto& first = kinds.exact[0];
    EXPECT_FALSE(first.status.valid);
    EXPECT_EQ(first.values, std::vector<double>(first.values.size(), 1.0 / q));
    for (std::size_t f = 0; f < kinds.exact.size(); ++f) {
        EXPECT_EQ(kinds.floats[f].values, kinds.extrinsics[f].values);
        for (unsigned i = 0; i < data.options.code.frame_symbols(); ++i) {
            expect_llrs(&kinds.llrs[f].values[i * 6], 6, &kinds.exact[f].values[i * q]);
        }
    }
}

// Tests of the trie kernels with a band of 16 drifts that follows a frame's path.
class sync_cuda_banded_lattice : public sync_cuda
{
protected:
    void SetUp() override
    {
        sync_cuda::SetUp();
        chosen_kernels = ten_bit_kernels::banded_lattice;
    }
    void TearDown() override { chosen_kernels = ten_bit_kernels::by_batch; }

    // Returns frames to be decoded in float, with a window that exceeds the band.
    static test_frames
    frames_of(const sync_code& code, const bsid_model& channel, unsigned count)
    {
        auto data = random_frames(code, channel, count);
        data.options.precision = sync_precision::float32;
        data.options.exclusion = 1e-14;
        EXPECT_GE(decoder_window(data.options).size(), 24u);
        return data;
    }

    // Returns for each frame whether its path stays in the band, and compares the results
    // of such frames with the reference.
    static std::vector<bool> fit_in_band(const test_frames& data)
    {
        chosen_kernels = ten_bit_kernels::banded_lattice_alone;
        const auto decoded = decode_frames(data, data.options, make);
        chosen_kernels = ten_bit_kernels::banded_lattice;
        std::vector<bool> all;
        for (std::size_t f = 0; f < decoded.size(); ++f) {
            all.push_back(decoded[f].status.valid);
            if (all.back()) {
                const auto r = reference_of(data, data.options, f);
                EXPECT_LE(largest_difference(decoded[f].values, r.posteriors), 1e-6) << f;
            }
        }
        return all;
    }
};

TEST_F(sync_cuda_banded_lattice, FramesWithFewEvents_FitInBand)
{
    for (const auto& code :
         { codebook_random(10, 16, 90, 4), codebook_davey_mackay(10, 32, 90, 4) }) {
        for (const auto& channel :
             { bsid_model(1e-3, 1e-3, 0), bsid_model(5e-4, 1.5e-3, 1e-3) }) {
            const auto data = frames_of(code, channel, small_scale() ? 40 : 400);
            const auto all = fit_in_band(data);
            EXPECT_GT(std::count(all.begin(), all.end(), true), 0.97 * all.size());
            check_against_reference(data, data.options, make, 1e-6);
        }
    }
}

TEST_F(sync_cuda_banded_lattice, FramesThatLeaveBand_AreDecodedAgain)
{
    const auto code = codebook_random(10, 16, 40, 4);
    unsigned sufficient = 0, frames = 0;
    for (const auto& channel : { bsid_model(1e-2, 1e-2, 0),
                                 bsid_model(1e-2, 1e-2, 2e-2),
                                 bsid_model(2e-4, 2e-2, 0),
                                 bsid_model(3e-2, 2e-4, 0) }) {
        auto data = frames_of(code, channel, small_scale() ? 40 : 500);
        for (const bool open : { false, true }) {
            if (open) {
                data.options.end = { -12, std::vector<double>(25, 1) };
            }
            const auto all = fit_in_band(data);
            sufficient += std::count(all.begin(), all.end(), true);
            frames += all.size();
            check_against_reference(data, data.options, make, 1e-6);
        }
    }
    EXPECT_GT(sufficient, frames / 4);
    EXPECT_LT(sufficient, frames);
}

// In some frames the path leaves the band and returns, even within a word, or does not
// return. Other frames are erased in part, consist of noise, or are too long, too short
// or empty.
TEST_F(sync_cuda_banded_lattice, BurstsBeyondBand_DecodeWithAllDrifts)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 40);
    std::mt19937_64 random(3);
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        const auto insert = [&](std::size_t at, unsigned count) {
            for (unsigned k = 0; k < count; ++k) {
                r.insert(r.begin() + at, random() & 1);
            }
        };
        const auto lose = [&](std::size_t at, unsigned count) {
            r.erase(r.begin() + at, r.begin() + at + count);
        };
        const std::size_t at = 200 + 13 * f, back = at + 5 + 8 * (f / 8);
        switch (f % 8) {
        case 1:
            lose(back, 10);
            insert(at, 10);
            break;
        case 2:
            insert(back, 11);
            lose(at, 11);
            break;
        case 3:
            insert(at, 11);
            break;
        case 4:
            lose(at, 11);
            break;
        case 5:
            std::fill(r.begin() + at, r.begin() + at + 30, 7);
            break;
        }
    }
    data.received[0].clear();
    std::generate(
        data.received[6].begin(), data.received[6].end(), [&] { return random() & 1; });
    data.received[7].resize(2000, 1);
    data.received[8].resize(880);
    const auto all = fit_in_band(data);
    for (std::size_t f = 0; f < all.size(); ++f) {
        const bool comes_back = f % 8 == 1 || f % 8 == 2;
        if ((comes_back && f > 24) || f % 8 == 3 || f % 8 == 4 || f == 0 ||
            (f > 5 && f < 9)) {
            EXPECT_FALSE(all[f]) << f;
        } else if (!comes_back && f % 8 != 5) {
            EXPECT_TRUE(all[f]) << f;
        }
    }
    // Replaces the frame of noise. With noise, paths reach the ends of the window, where
    // kernels and reference differ.
    data.received[6] = data.received[14];
    check_against_reference(data, data.options, make, 1e-6);
}

TEST_F(sync_cuda_banded_lattice, PartlyKnownEnds_EqualReference)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 12);
    auto& o = data.options;
    o.start = { -2, { 1, 2, 4, 2, 1 } };
    o.end = { -4, { 1, 1, 2, 4, 8, 4, 2, 1, 1 } };
    auto all = fit_in_band(data);
    EXPECT_GT(std::count(all.begin(), all.end(), true), 6);
    check_against_reference(data, o, make, 1e-6);
    // The start prior or the end prior is wider than the band.
    for (const bool at_start : { true, false }) {
        const drift_prior wide{ -12, std::vector<double>(25, 1) };
        o.start = at_start ? wide : drift_prior{};
        o.end = at_start ? drift_prior{ 0, {} } : wide;
        all = fit_in_band(data);
        check_against_reference(data, o, make, 1e-6);
    }
}

// A path that leaves the band shortly before an open end (an end prior wider than the
// band) need not return. The kernel must detect this case too.
TEST_F(sync_cuda_banded_lattice, BurstsBeforeOpenEnds_DecodeWithAllDrifts)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 24);
    auto& o = data.options;
    o.end = { -14, std::vector<double>(29, 1) };
    std::mt19937_64 random(5);
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        const auto at = r.begin() + 20 + 36 * f;
        if (f % 2) {
            r.erase(at, at + 11);
        } else {
            const std::uint64_t items = random();
            for (unsigned k = 0; k < 11; ++k) {
                r.insert(r.begin() + 20 + 36 * f, items >> k & 1);
            }
        }
    }
    const auto all = fit_in_band(data);
    EXPECT_EQ(std::count(all.begin(), all.end(), true), 0);
    check_against_reference(data, o, make, 1e-6);
}

TEST(band_bound, BandOf16Drifts_AllowsMoreEventsThanMostFramesHave)
{
    const double likely = 0.998 / 1e-3;
    const auto allowed = [&](unsigned drifts) {
        return band_bound(1e-3, likely, 10, drifts).events_allowed(210, 1e-8, likely);
    };
    EXPECT_GT(allowed(16), 8); // a frame has 4.2 events on average
    EXPECT_LT(allowed(14), allowed(16) - 1);
    EXPECT_LT(allowed(8), 2);
}

// The end prior is wider than half the band, so the last indices use β of all drifts (see
// band_ends). More than 90 % of the frames must not need a second decoding.
TEST_F(sync_cuda_banded_lattice, OpenEnds_SeldomExceedBand)
{
    for (const int reach : { 5, 8, 11 }) {
        auto data = frames_of(codebook_davey_mackay(10, 32, 210, 4),
                              { 1e-3, 1e-3, 0 },
                              small_scale() ? 32 : 200);
        auto& o = data.options;
        o.end = { -reach, std::vector<double>(2 * reach + 1, 1) };
        for (auto& r : data.received) { // items after the frame
            r.resize(r.size() + 8, std::uint8_t(r.size() % 2));
        }
        const auto all = fit_in_band(data);
        EXPECT_GT(std::count(all.begin(), all.end(), true), 0.9 * all.size());
    }
}

TEST_F(sync_cuda_banded_lattice, EveryOutputKind_MatchesPosteriors)
{
    auto data = frames_of(codebook_random(10, 64, 90, 4), { 1e-3, 1e-3, 0 }, 6);
    auto& o = data.options;
    const auto with = [&](sync_output output) {
        o.output = output;
        return decode_frames(data, o, make);
    };
    const auto exact = with(sync_output::posteriors64);
    const auto symbols = with(sync_output::symbols);
    const auto llrs = with(sync_output::llr);
    for (std::size_t f = 0; f < exact.size(); ++f) {
        for (unsigned i = 0; i < o.code.frame_symbols(); ++i) {
            const auto* const L = &exact[f].values[i * 64];
            EXPECT_EQ(symbols[f].values[i], std::max_element(L, L + 64) - L);
            for (unsigned b = 0; b < 6; ++b) {
                double zero = 0, one = 0;
                for (unsigned D = 0; D < 64; ++D) {
                    (D >> (5 - b) & 1 ? one : zero) += L[D];
                }
                const double llr = std::clamp(8 * std::log(zero / one), -127.0, 127.0);
                EXPECT_NEAR(llrs[f].values[i * 6 + b], llr, 0.51);
            }
        }
    }
}

} // namespace
} // namespace gr::gpufec::sync_map
