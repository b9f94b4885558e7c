/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The linear form on CUDA for any word length, alphabet and input: words in segments,
 * between which a lane's row lies in device memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ANY_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ANY_CUH

#include "cuda_linear.cuh"
#include "cuda_words.h"

namespace gr {
namespace gpufec {

// Words in segments of up to eight symbols; a lane's row between two segments lies in
// device memory. A segment of fewer symbols leaves its first rows unused.
template <class Row, class Metric>
struct any_sweep {
    static constexpr int S = nibble_segment;

    const sync_geometry& g;
    const frame_input& in;
    const linear_memory& memory;
    double* prior_sums;
    Row* rows; // window × q of this block
    row_weights<Row> weights;

    struct segment {
        std::uint32_t word;
        int begin, count; // symbols of the word
    };

    __device__ segment segment_of(unsigned i, unsigned j, int number) const
    {
        const unsigned D = 32 * j + threadIdx.x % 32;
        const auto index = std::size_t(i % g.frame_symbols) * memory.segments + number;
        const int first = memory.first_segment;
        return { D < g.q ? memory.words[index * g.q + D] : 0u,
                 number == 0 ? 0 : first + (number - 1) * S,
                 number == 0 ? first : S };
    }

    // Sweeps one segment. input(k) is the row that comes in, item(k) the number of the
    // item that step k meets, sink(k, v) takes row S of step k.
    template <bool Up, class Input, class Item, class Sink>
    __device__ void sweep(const segment& part,
                          Row prior,
                          int steps,
                          Input&& input,
                          Item&& item,
                          Sink&& sink) const
    {
        const int unused = S - part.count;
        const Row c = weights.insertion, pd = weights.deletion;
        Row x[S + 1] = {};
        for (int k = 0; k < steps; ++k) {
            const auto w = weigh_item(g, weights, in, item(k));
            const Row row = input(k) * prior;
            Row before = x[0];
            Row now = (Up ? c * before : Row(0)) + (unused == 0 ? row : Row(0));
            x[0] = now;
#pragma unroll
            for (int t = 1; t <= S; ++t) {
                // Symbol t − 1 upward; downward they come from the segment's end.
                const int symbol = Up ? t - 1 - unused : part.count - t + unused;
                const auto sent = part.word >> (4 * (symbol & 7)) & 15u;
                const Row Q = sent == w.match_symbol ? w.match_value : w.other_value;
                Row next = (t > unused ? Q * before + pd * now : Row(0));
                if (t < S || !Up) {
                    next += Up || t > unused ? c * x[t] : Row(0);
                }
                next += t == unused ? row : Row(0);
                before = x[t];
                now = next;
                x[t] = now;
            }
            sink(k, now);
        }
    }

    __device__ void up(unsigned i, unsigned j, const Row* from, Row* to, bool first) const
    {
        const int M = g.window;
        const unsigned D = 32 * j + threadIdx.x % 32;
        const bool there = D < g.q;
        const Row prior = word_prior(g, in, i, j, prior_sums);
        for (int number = 0; number < int(memory.segments); ++number) {
            const auto part = segment_of(i, j, number);
            const int unused = S - part.count;
            const bool last = number + 1 == int(memory.segments);
            sweep<true>(
                part,
                last ? prior : Row(1),
                M + S,
                [&](int k) -> Row {
                    const int m = k - unused;
                    if (m < 0 || m >= M) {
                        return 0;
                    }
                    return number == 0
                               ? from[m]
                               : (there ? rows[std::size_t(m) * g.q + D] : Row(0));
                },
                [&](int k) { return in.position(g, i, part.begin - unused + k - 1); },
                [&](int k, Row v) {
                    const int m = k - S;
                    if (m < 0) {
                        return;
                    }
                    if (!last) {
                        if (there) {
                            rows[std::size_t(m) * g.q + D] = v;
                        }
                        return;
                    }
                    const Row sum = warp_sum(v);
                    if (threadIdx.x % 32 == 0) {
                        add_part(to + m, sum, first);
                    }
                });
        }
    }

    __device__ Metric down(unsigned i,
                           unsigned j,
                           const Row* from,
                           Row* to,
                           const Metric* alpha,
                           bool first) const
    {
        const int M = g.window;
        const unsigned D = 32 * j + threadIdx.x % 32;
        const bool there = D < g.q;
        const Row prior = word_prior(g, in, i, j, prior_sums);
        Metric L = 0;
        for (int number = memory.segments; number-- > 0;) {
            const auto part = segment_of(i, j, number);
            const int unused = S - part.count;
            const bool begins = number + 1 == int(memory.segments);
            sweep<false>(
                part,
                begins ? prior : Row(1),
                M + S,
                [&](int k) -> Row {
                    const int m = M - 1 - k + unused;
                    if (m < 0 || m >= M) {
                        return 0;
                    }
                    return begins ? from[m]
                                  : (there ? rows[std::size_t(m) * g.q + D] : Row(0));
                },
                [&](int k) {
                    return in.position(
                        g, i, part.begin + part.count + unused + M - 1 - k);
                },
                [&](int k, Row v) {
                    const int m = M - 1 - k + S;
                    if (m >= M) {
                        return;
                    }
                    if (number > 0) {
                        if (there) {
                            rows[std::size_t(m) * g.q + D] = v;
                        }
                        return;
                    }
                    L += alpha[m] * Metric(v);
                    const Row sum = warp_sum(v);
                    if (threadIdx.x % 32 == 0) {
                        add_part(to + m, sum, first);
                    }
                });
        }
        return L;
    }
};

template <class Row, class Metric>
__global__ void linear_any(const sync_geometry g,
                           const linear_memory memory,
                           double* prior_sums,
                           const std::byte* input,
                           std::byte* output,
                           sync_status* status)
{
    extern __shared__ double shared[];
    linear_shared<Row, Metric> s(g, reinterpret_cast<std::byte*>(shared));
    Metric* const alpha = static_cast<Metric*>(memory.alpha) +
                          std::size_t(blockIdx.x) * (g.symbols + 1) * g.window;
    Row* const rows =
        static_cast<Row*>(memory.rows) + std::size_t(blockIdx.x) * g.window * g.q;
    double* const sums = prior_sums + std::size_t(blockIdx.x) * g.outputs;
    for (unsigned frame = blockIdx.x; frame < g.frames; frame += gridDim.x) {
        const frame_input in(g, input, frame);
        std::byte* const out = output + g.output_bytes * frame;
        if (!in.valid) {
            emit_unknown(g, out, status[frame]);
            continue;
        }
        __syncthreads();
        sum_priors(g, in, sums);
        any_sweep<Row, Metric> sweep{ g, in, memory, sums, rows, row_weights<Row>(g) };
        decode_linear(g, in, sweep, s, alpha, out, status[frame]);
    }
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_ANY_CUH */
