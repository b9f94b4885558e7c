// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CUDA decoder: streams and boundary matches against the CPU, and placed
 * frames against whole frames. */

#include "qa_cuda_support.h"
#include "sync_map/model/boundary_matches.h"
#include <gtest/gtest.h>
#include <cstring>

namespace gr::gpufec::sync_map {
namespace {

TEST_F(sync_cuda, TwoDecodersOnOneDevice_EqualCpu)
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
            o.backend = backend::cpu;
            const auto cpu = decode_all(data, o);
            o.backend = backend::cuda;
            o.devices = { 0, 0 };
            const auto cuda = decode_all(data, o);
            EXPECT_EQ(cpu.size(), std::size_t(frames) * 20 * 32);
            // Twice the usual tolerance, because differences propagate between the frames
            // of a stream.
            EXPECT_LE(largest_difference(cpu, cuda), 2 * tolerance(precision));
        }
    }
}

// At full scale, the batches are large enough for the trie lattice.
TEST_F(sync_cuda, LargeBatches_EqualCpu)
{
    const unsigned frames = small_scale() ? 120 : 9000, N = small_scale() ? 3 : 20;
    const auto data =
        random_frames(codebook_davey_mackay(10, 32, N, 4), { 0.01, 0.01, 0 }, frames);
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (const auto precision :
             { sync_precision::float64, sync_precision::float32 }) {
            auto o = on_the_cpu(data, mode, precision, frames);
            const auto cpu = decode_all(data, o);
            o.backend = backend::cuda;
            EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                      2 * tolerance(precision));
        }
    }
}

// Tests the search kernels (see frame_search.cuh) for each kind of code. Posteriors must
// be within a tolerance of those of the CPU, and the number of frames decoded again must
// be equal.
TEST_F(sync_cuda, SearchingFrames_EqualCpu)
{
    const unsigned frames = small_scale() ? 5 : 40, N = small_scale() ? 24 : 100;
    for (const auto& code : { codebook_random(10, 40, N, 4),
                              codebook_random(10, 8, N, 4),
                              codebook_random(7, 12, 2 * N, 4),
                              codebook_random(9, 70, N, 4),
                              codebook_random(17, 6, N, 4),
                              codebook_random(10, 16, N, 4, 4),
                              codebook_random(10, 40, N, 4, 3),
                              codebook_random(4, 20, 2 * N, 4, 4) }) {
        const auto data = random_frames(
            code, { 4e-3, 5e-3, 2e-3, code.alphabet() }, small_scale() ? 5 : frames);
        for (const auto precision : precisions) {
            auto o = on_the_cpu(data, sync_mode::stream, precision, 3);
            if (small_scale() && code.n() != 10 && precision != sync_precision::float32) {
                continue;
            }
            ASSERT_TRUE(bool(make_setup(o).search));
            std::uint64_t again = 0, again_cuda = 0;
            const auto cpu = decode_all(data, o, &again);
            o.backend = backend::cuda;
            EXPECT_LE(largest_difference(cpu, decode_all(data, o, &again_cuda)),
                      4 * tolerance(precision))
                << "n = " << code.n() << ", q = " << code.q();
            EXPECT_EQ(again_cuda, again) << "n = " << code.n() << ", q = " << code.q();
        }
    }
}

// On channels with many insertions and deletions, attempts narrow their windows once they
// have located the frame.
TEST_F(sync_cuda, NarrowingSearch_EqualsCpu)
{
    const unsigned N = 100, frames = small_scale() ? 6 : 60;
    for (const auto& code : { codebook_random(10, 8, N, 4),
                              codebook_random(10, 40, N, 4),
                              codebook_random(7, 8, N, 4, 4) }) {
        const auto data =
            random_frames(code, { 0.07, 0.09, 2e-3, code.alphabet() }, frames);
        for (const auto precision : precisions) {
            if (small_scale() && precision != sync_precision::float32) {
                continue;
            }
            auto o = on_the_cpu(data, sync_mode::stream, precision, 5);
            const auto search = make_setup(o).search;
            ASSERT_TRUE(search.may_narrow(search.warmup));
            ASSERT_GE(search.window, 256u);
            // With such short warm-ups some boundary matches fail, but not the same ones
            // on both backends, so the numbers of frames decoded again are not compared.
            const auto cpu = decode_all(data, o);
            o.backend = backend::cuda;
            EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                      4 * tolerance(precision))
                << "n = " << code.n() << ", q = " << code.q();
        }
    }
}

TEST_F(sync_cuda, SymbolLikelihoodsInFramesAndStreams_EqualCpu)
{
    const unsigned N = small_scale() ? 24 : 100;
    for (const auto& code : { codebook_random(10, 40, N, 4, 4),
                              codebook_random(10, 16, N, 4, 3),
                              codebook_random(4, 20, 2 * N, 4, 4) }) {
        auto data = random_frames(
            code, { 4e-3, 5e-3, 2e-3, code.alphabet() }, small_scale() ? 5 : 40);
        make_likelihoods(data);
        for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
            for (const auto precision : precisions) {
                auto o = on_the_cpu(data, mode, precision, 3);
                if (small_scale() && code.q() == 16 &&
                    precision != sync_precision::float32) {
                    continue;
                }
                const auto cpu = decode_all(data, o);
                o.backend = backend::cuda;
                EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                          4 * tolerance(precision))
                    << "n = " << code.n() << ", q = " << code.q();
            }
        }
    }
}

// Tests items in the slot and borrowed items. Frames either end with the last item or
// have an end prior.
TEST_F(sync_cuda, PlacedFrames_DecodeAsWholeFrames)
{
    const unsigned frames = small_scale() ? 5 : 60;
    auto data = random_frames(codebook_random(10, 8, 24, 4), { 1e-2, 1e-2 }, frames);
    data.received[1].assign(700, 0); // this frame cannot be decoded
    for (const bool soft : { false, true }) {
        for (const bool end_known : { false, true }) {
            auto o = data.options;
            o.output = sync_output::posteriors;
            o.precision = sync_precision::float32;
            o.soft_input = soft;
            o.end = end_known ? drift_prior{ -4, std::vector<double>(9, 1) } : o.end;
            data.soft.clear();
            for (const auto& items : data.received) {
                data.soft.emplace_back();
                for (const auto item : items) {
                    data.soft.back().push_back(item ? 0.9f : 0.2f);
                }
            }
            const auto whole = decode_frames(data, o, [](const setup& s, auto n) {
                return traits::make_cuda(s, n, 1, 0);
            });
            const auto setup = make_setup(o);
            ASSERT_TRUE(setup.placed);
            const auto decoder = traits::make_cuda(setup, frames, 1, 0);
            ASSERT_TRUE(decoder->reserve_conversion_buffers());
            const auto limits = decoder->limits();
            const auto layout = setup.placed_input(frames);
            const auto size = setup.item_bytes();
            const host_memory in(limits.input_bytes), out(limits.output_bytes),
                status(limits.status_bytes), borrowed(limits.caller_item_bytes);
            auto* const places = reinterpret_cast<placed_frame*>(in.data());
            std::size_t at = 0;
            for (unsigned f = 0; f < frames; ++f) {
                const auto count = data.received[f].size();
                const auto length = length_of_frame(setup, count);
                places[f] = { length, std::uint32_t(at) };
                if (length > 0) {
                    const void* items =
                        soft ? static_cast<const void*>(data.soft[f].data())
                             : data.received[f].data();
                    std::memcpy(
                        in.data() + layout.items_at + at * size, items, count * size);
                    std::memcpy(borrowed.data() + at * size, items, count * size);
                    at += count;
                }
            }
            for (const bool borrow : { false, true }) {
                job j{ frames };
                j.placed = true;
                j.borrowed = borrow;
                j.items = at;
                if (borrow) {
                    std::memset(in.data() + layout.items_at, 77, at * size);
                }
                std::memset(out.data(), 0, out.size());
                decoder->submit(0,
                                j,
                                { borrow ? borrowed.data() : in.data(),
                                  out.data(),
                                  status.data(),
                                  in.data() });
                while (!decoder->finished(0)) {
                }
                for (unsigned f = 0; f < frames; ++f) {
                    const auto& s = reinterpret_cast<sync_status*>(status.data())[f];
                    const auto mine =
                        read_output(setup, out.data() + f * setup.output_bytes(), s);
                    EXPECT_EQ(mine.values, whole[f].values) << f << soft << end_known;
                    EXPECT_EQ(s.valid, whole[f].status.valid);
                    // A frame with more deletions than the prior allows is not valid.
                    const bool reached =
                        !end_known || data.received[f].size() + 4 >= o.code.frame_bits();
                    EXPECT_EQ(s.valid, f != 1 && reached)
                        << f << ": " << data.received[f].size();
                }
            }
        }
    }
}

// Both backends must agree to the last bit, so that results do not depend on where a
// batch begins. With a short warm-up, many boundary matches fail. With the default
// warm-up, none fails.
TEST_F(sync_cuda, BoundaryMatches_EqualCpuBitForBit)
{
    const unsigned frames = small_scale() ? 12 : 150;
    const auto data =
        random_frames(codebook_random(10, 8, 24, 4), { 1e-2, 1e-2, 1e-3 }, frames);
    for (const auto precision : precisions) {
        auto o = data.options;
        o.mode = sync_mode::stream;
        o.precision = precision;
        o.drifts = false;
        const auto setup = make_setup(o);
        ASSERT_TRUE(bool(setup.search));
        const auto decoder = traits::make_cuda(setup, frames, 1, 0);
        const auto limits = decoder->limits();
        const auto layout = setup.stream_input(frames);
        const host_memory in(limits.input_bytes), out(limits.output_bytes),
            status(limits.status_bytes);
        std::size_t at = 0;
        for (unsigned f = 0; f < frames; ++f) {
            reinterpret_cast<stream_piece*>(in.data())[f] = { -1, std::int32_t(at) };
            const auto& items = data.received[f];
            std::memcpy(in.data() + layout.items_at + at, items.data(), items.size());
            at += items.size();
        }
        for (const unsigned warmup : { 1u, 3u, setup.search.warmup }) {
            decoder->submit(
                0, { frames, 0, at, warmup }, { in.data(), out.data(), status.data() });
            while (!decoder->finished(0)) {
            }
            unsigned different = 0;
            for (unsigned f = 0; f < frames; ++f) {
                const auto* const mine = out.data() + f * setup.output_bytes();
                boundary_match_header header;
                std::memcpy(&header, mine + setup.boundary_matches_at(), sizeof(header));
                ASSERT_EQ(header.compared, f > 0);
                if (f == 0) {
                    continue;
                }
                const auto* const other = mine - setup.output_bytes();
                boundary_match_header before;
                std::memcpy(&before, other + setup.boundary_matches_at(), sizeof(before));
                const auto l = compare(setup,
                                       { other + setup.metrics_at(), before.origin },
                                       { mine + setup.metrics_at(), header.origin });
                EXPECT_EQ(header.to_previous.difference, l.difference) << f;
                EXPECT_EQ(header.to_previous.start_bound, l.start_bound) << f;
                EXPECT_EQ(header.to_previous.end_bound, l.end_bound) << f;
                // Too few symbols precede the first frames and follow the last frames.
                different += f > 2 && f + 2 < frames && l.difference > 1e-5;
            }
            if (warmup == 1) {
                EXPECT_GT(different, frames / 4);
            } else if (warmup == setup.search.warmup) {
                EXPECT_EQ(different, 0u);
            }
        }
    }
}

} // namespace
} // namespace gr::gpufec::sync_map
