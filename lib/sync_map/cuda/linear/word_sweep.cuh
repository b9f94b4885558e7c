// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Sweep of a lane's word over the drifts of the window, with the lattice in registers. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_SWEEP_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_SWEEP_CUH

#include "items.cuh"

namespace gr::gpufec::sync_map {

// Minimum number of resident blocks per multiprocessor for codes of up to 32 words, whose
// blocks have one warp. The number limits the registers of a thread. More warps hide more
// latency, until registers are spilled: on an H200, 20 warps raised the rate from 1142 to
// 1204 Mb/s (docs/decisions/2026-11-22-sync-tries.md). Some GPUs hold only 16 blocks
// per multiprocessor.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 890
template <int N, class Metric>
constexpr unsigned resident_warps = N <= 10 && sizeof(Metric) == 4 ? 20 : 16;
#else
template <int N, class Metric>
constexpr unsigned resident_warps = 16;
#endif

//! Sweep with N lattice rows in registers; see decode_linear().
template <template <int, class, class> class Items,
          int N,
          int Spare,
          bool One,
          class Row,
          class Metric>
struct word_sweep {
    using items = Items<N, Row, Metric>;
    using word = typename items::word;
    using lattice = word_lattice<N, Spare, Row>;
    using row = Row;
    using metric = Metric;
    static constexpr bool one_warp = One, always_shared = true;
    // Launch bounds of the kernels.
    static constexpr unsigned max_threads = One ? 32 : 32 * max_warps;
    static constexpr unsigned min_blocks = One ? resident_warps<N, Metric> : 2;

    const sync_geometry& g;
    const linear_layout& l;
    const frame_input& in;
    const linear_memory& memory;
    linear_shared<Row, Metric>& s;
    const double* prior_sums;
    const row_weights<Row>& weights;
    const int spare = Spare ? N - int(g.n) : 0;
    items received{ g, l, in, s, weights, spare };
    unsigned index = 0;
    word first_word = 0; // the lane's word in the warp's first group of 32
    bool reversed = false;

    __device__ void begin(unsigned i, direction d)
    {
        index = i;
        reversed = d == direction::backward;
        first_word = read_word(warp_number<One>());
        received.read(i, d);
    }

    __device__ word read_word(unsigned j) const
    {
        const unsigned D = 32 * j + threadIdx.x % 32;
        const auto place = index < g.frame_symbols ? index : index % g.frame_symbols;
        return D < g.q ? reinterpret_cast<const word*>(
                             memory.words)[std::size_t(place) * g.q + D]
                       : 0u;
    }

    static constexpr int C = steps_at_once;

    template <bool Clean>
    __device__ Metric
    sweep(lattice& rows, const Metric* alpha, bool weigh, Row* to, bool first) const
    {
        using some = typename items::template some<Clean>;
        const int M = l.window;
        const unsigned warp = warp_number<One>();
        lane_sums<Row> sums(s.waiting + warp * l.waiting_rows * lane_sums<Row>::stride);
        const auto priors = [&](unsigned lane) {
            return read_four(s.prior + 32 * warp + lane);
        };
        const unsigned beyond = reversed ? M - g.window : 0; // padding before the window
        const auto sum_up = [&](int begin, int count) {
            sums.take(count, priors, [&](unsigned o, Row sum) {
                Row& all = to[begin + o];
                if (begin + o - beyond < g.window) {
                    all = first ? sum : all + sum;
                }
            });
        };
        Metric L = 0;
        if (M < N) {
            for (int k = 0; k < M + N; ++k) {
                const Row in = k < M ? s.current[k] : Row(0);
                const Row bare =
                    rows.template step<Clean>(in,
                                              received.template item<Clean>(rows, k),
                                              max(0, k - M + 1),
                                              min(N, k));
                if (k >= N) {
                    L += weigh ? alpha[M - 1 - (k - N)] * Metric(bare) : Metric(0);
                    sums.put(k - N, rows.x[N]);
                }
            }
            sum_up(0, M);
            return L;
        }
        const auto add_weights = [&](int o, const Row(&bare)[C]) {
            if (weigh) {
                const auto a = read_four(alpha + M - C - o);
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    L += a.v[C - 1 - c] * Metric(bare[c]);
                }
            }
        };
        // Row k begins at step k.
#pragma unroll
        for (int k = -((C - N % C) % C); k < N; k += C) {
            const auto in = read_four(s.current + k);
            const some y(received, rows, k);
#pragma unroll
            for (int c = 0; c < C; ++c) {
                if (k + c >= 0) {
                    rows.template step<Clean>(in.v[c], y[c], 0, k + c);
                }
            }
        }
        // From here on, step o + N produces output o; outputs from `summed` on are not
        // summed yet.
        int o = 0, summed = 0;
        for (;;) {
            const int end = min(o + 32, M - N);
#pragma unroll 1
            for (; o < end; o += C) {
                const auto in = read_four(s.current + o + N);
                const some y(received, rows, o + N);
                Row bare[C];
#pragma unroll
                for (int c = 0; c < C; ++c) {
                    bare[c] = rows.template step<Clean>(in.v[c], y[c]);
                    sums.put(o - summed + c, rows.x[N]);
                }
                add_weights(o, bare);
            }
            if (o - summed < 32) {
                break;
            }
            sum_up(summed, 32);
            summed += 32;
        }
        // Row t leaves the window t steps after row 0.
#pragma unroll
        for (int gone = 0; gone < N; gone += C) {
            const some y(received, rows, o + N + gone);
            Row bare[C] = {};
#pragma unroll
            for (int c = 0; c < C && gone + c < N; ++c) {
                bare[c] = rows.template step<Clean>(0, y[c], gone + c + 1, N);
                sums.put(o - summed + gone + c, rows.x[N]);
            }
            add_weights(o + gone, bare);
        }
        sum_up(summed, M - summed);
        return L;
    }

    __device__ Metric
    run(unsigned j, Row last, const Metric* alpha, bool weigh, Row* to, bool first) const
    {
        const word w = One || first ? first_word : read_word(j);
        const Row prior = word_prior<Row>(g, in, index, j, prior_sums);
        s.prior[threadIdx.x] = prior;
        lattice rows(weights, last, spare);
        received.split(w, reversed, rows.sent);
        if constexpr (items::may_be_clean) {
            return Metric(prior) * (received.clean
                                        ? sweep<true>(rows, alpha, weigh, to, first)
                                        : sweep<false>(rows, alpha, weigh, to, first));
        } else {
            return Metric(prior) * sweep<false>(rows, alpha, weigh, to, first);
        }
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_WORD_SWEEP_CUH */
