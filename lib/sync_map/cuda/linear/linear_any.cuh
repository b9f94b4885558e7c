// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* CUDA kernel of the linear form (one lattice per word for all drifts, see linear() in
 * sync_map/model/reference.h) for any word length and alphabet. Words are cut into
 * segments. The last lattice row of each segment is passed to the next segment in device
 * memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_ANY_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_ANY_CUH

#include "decode.cuh"
#include "sync_map/cuda/words.h"

namespace gr::gpufec::sync_map {

// Sweep of words in segments of up to eight symbols. A shorter segment leaves its first
// rows unused.
// \tparam Likelihoods whether an item has likelihoods of all symbols
template <bool Likelihoods, class Row, class Metric>
struct any_sweep {
    using row = Row;
    using metric = Metric;
    static constexpr int S = nibble_segment;
    static constexpr bool one_warp = false, always_shared = false;

    const sync_geometry& g;
    const linear_layout& l;
    const frame_input& in;
    const linear_memory& memory;
    linear_shared<Row, Metric>& s;
    const double* prior_sums;
    Row* rows; // lattice values between segments, window × q for this block
    const row_weights<Row>& weights;
    unsigned index = 0;
    direction towards = direction::forward;

    __device__ void begin(unsigned i, direction d)
    {
        index = i;
        towards = d;
    }

    __device__ Metric
    run(unsigned j, Row last, const Metric* alpha, bool weigh, Row* to, bool first) const
    {
        const int M = l.window;
        const unsigned D = 32 * j + threadIdx.x % 32;
        const bool there = D < g.q;
        const bool reversed = towards == direction::backward;
        const unsigned beyond = reversed ? M - g.window : 0; // padding before the window
        const auto base = std::size_t(index % g.frame_symbols) * memory.segments;
        Row* const between = rows + D;
        Metric L = 0;
        int begin = 0; // symbols swept before the segment
        for (unsigned number = 0; number < memory.segments; ++number) {
            const unsigned segment = reversed ? memory.segments - 1 - number : number;
            const int count = segment ? S : int(memory.first_segment);
            const int unused = S - count;
            const auto word = there ? memory.words[(base + segment) * g.q + D] : 0u;
            const bool begins = number == 0, ends = number + 1 == memory.segments;
            const Row prior = begins ? word_prior<Row>(g, in, index, j, prior_sums) : 1;
            Row x[S + 1] = {};
            for (int k = unused; k < M + S; ++k) {
                const int m = k - unused, o = k - S;
                Row row = 0;
                if (m < M) {
                    row = begins  ? s.current[m] * prior
                          : there ? between[std::size_t(m) * g.q]
                                  : Row(0);
                }
                const auto at = item_position(g, l, in, index, towards, begin + m);
                item_weights<Row> hard;
                likelihood_weights<Row> soft;
                if constexpr (Likelihoods) {
                    soft = weigh_likelihoods(g, weights, in, at);
                } else {
                    hard = weigh_item(g, weights, in, at);
                }
                const auto weight = [&](unsigned sent) {
                    if constexpr (Likelihoods) {
                        return soft(sent);
                    } else {
                        return sent == hard.match_symbol ? hard.match_value
                                                         : hard.other_value;
                    }
                };
                Row before = 0, now = 0, bare = 0;
#pragma unroll
                for (int t = 0; t <= S; ++t) {
                    const Row old = x[t];
                    if (t < unused || t > k || t <= k - M) {
                        now = 0;
                    } else if (t == unused) {
                        x[t] = now = row;
                    } else {
                        const int symbol = reversed ? S - t : t - 1 - unused;
                        const auto sent = word >> (4 * (symbol & 7)) & 15u;
                        const Row Q = weight(sent);
                        bare = weights.deletion * now + Q * before;
                        const Row c = t == S && ends ? last : weights.insertion;
                        x[t] = now = c * old + bare;
                    }
                    before = old;
                }
                if (o < 0) {
                    continue;
                }
                if (!ends) {
                    if (there) {
                        between[std::size_t(o) * g.q] = now;
                    }
                    continue;
                }
                if (weigh) {
                    L += alpha[M - 1 - o] * Metric(bare);
                }
                const Row sum = warp_sum(now);
                if (threadIdx.x % 32 == 0 && o - beyond < g.window) {
                    to[o] = first ? sum : to[o] + sum;
                }
            }
            begin += count;
        }
        return L;
    }
};

template <bool Likelihoods, class Row, class Metric>
__global__ void linear_any(const sync_geometry g,
                           const linear_layout l,
                           const row_weights<Row> weights,
                           const linear_memory memory,
                           const frame_list frames,
                           const std::byte* input,
                           std::byte* output,
                           sync_status* status)
{
    using sweep = any_sweep<Likelihoods, Row, Metric>;
    const auto make_sweep = [&](const frame_input& in, auto& s, const double* sums) {
        Row* const rows =
            static_cast<Row*>(memory.rows) + std::size_t(blockIdx.x) * l.window * g.q;
        return sweep{ g, l, in, memory, s, sums, rows, weights };
    };
    decode_batch<sweep>(g, l, memory, frames, input, output, status, make_sweep);
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_ANY_CUH */
