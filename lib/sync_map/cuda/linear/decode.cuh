// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding in the linear form, one block per frame: the forward recursion, then the
 * backward recursion with the posteriors of each index. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_DECODE_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_DECODE_CUH

#include "items.cuh"
#include "sync_map/cuda/output.cuh"

namespace gr::gpufec::sync_map {

/* Decodes a frame. The members of Sweep are:
 * - row, metric: types of lattice values and of boundary metrics
 * - one_warp: whether a block is one warp, for at most 32 words
 * - always_shared: whether block_memory() is in shared memory for any window
 * - begin(i, direction): prepares index i
 * - run(j, last, alpha, weigh, to, first): sweeps the lattices of words 32·j to 32·j + 31
 *   from the current row, one word per lane. `last` is the weight of an insertion after
 *   the last symbol. For each drift, run() writes to `to` the sum of row n over the
 *   words, weighted by their priors, or adds the sum to `to` if `first` is false. If
 *   `weigh` is true, run() returns the lane's L(D): the prior of the word times the sum,
 *   over the drifts, of `alpha` times row n before its insertions. */
template <bool One, class Row, class Metric, class Sweep>
__device__ void decode_linear(const sync_geometry& g,
                              const linear_layout& l,
                              const frame_input& in,
                              Sweep& sweep,
                              linear_shared<Row, Metric>& s,
                              Metric* alpha,
                              std::byte* out,
                              sync_status& status)
{
    const unsigned stride = l.stride, length = l.length;
    const unsigned warp = warp_number<One>(), warps = block_warps<One>();
    const unsigned groups = One ? 1 : (g.q + 31) / 32;
    Row* const part = s.partial + warp * stride;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    begin_at(g, l, in, g.start_at, 0, direction::forward, s);
    insert(g, l, s, alpha);

    row_scale scale;
    double log_weight = 0, entropy = 0;
    unsigned last = 0;
    // One loop serves both directions, so that the kernel contains the sweep only once.
#pragma unroll 1
    for (unsigned k = 0; k < 2 * g.symbols; ++k) {
        const bool back = k >= g.symbols;
        const unsigned i = back ? 2 * g.symbols - 1 - k : k;
        const bool puts_out = back && i < g.outputs;
        Metric* const here = s.alpha + i % 2 * stride;
        Metric* const ahead = s.alpha + (i + 1) % 2 * stride;
        if (k == g.symbols) {
            const double ends = sum_of_ends(g, in, s);
            if (!(ends > 0) || !scale.alive) {
                return emit_unknown(g, out, status);
            }
            log_weight = scale.log() + log(ends) + g.log_scale;
            begin_at(g, l, in, g.end_at, g.symbols, direction::backward, s);
        }
        if (back && i + 1 == g.outputs) {
            const Metric* const at = alpha + std::size_t(i + 1) * length;
            emit_metrics<Metric>(
                g,
                true,
                out,
                [&](unsigned m) { return at[m]; },
                [&](unsigned m) { return Metric(s.current[l.window - 1 - m]); });
            last = emit_drifts(
                g,
                [&](unsigned m) { return at[m] * Metric(s.current[l.window - 1 - m]); },
                ahead,
                s.scratch,
                drifts + g.window,
                &entropy);
            fetch_alpha<Sweep::always_shared>(l, here, alpha + std::size_t(i) * length);
        }
        sweep.begin(i, back ? direction::backward : direction::forward);
        if (puts_out) {
            __pipeline_wait_prior(0);
            block_sync();
            fetch_alpha<Sweep::always_shared>(
                l, ahead, alpha + std::size_t(max(i, 1u) - 1) * length);
        }
        // α of boundaries `outputs` and `symbols` is stored without the insertions at the
        // boundary.
        const bool bare = (k + 1 == g.outputs) | (k + 1 == g.symbols);
        const Row insertion = bare ? Row(0) : sweep.weights.insertion;
        Metric L = 0;
        for (unsigned j = warp; j < groups; j += warps) {
            L = sweep.run(j, insertion, here, puts_out, part, One || j == warp);
            const unsigned D = 32 * j + threadIdx.x % 32;
            if (!One && D < g.q) {
                s.posterior[D] = L;
            }
        }
        if (puts_out) {
            One ? emit_symbol_of_warp(g, in, i, L, s.posterior, s.scratch, out)
                : emit_symbol(g, in, i, s.posterior, s.scratch, out);
        }
        next_boundary<One>(l, s, scale, alpha + std::size_t(i + 1) * length, !back);
        if (bare && i + 1 < g.symbols) {
            insert<Row, Metric>(g, l, s, nullptr);
        }
    }
    emit_metrics<Metric>(
        g,
        false,
        out,
        [&](unsigned m) { return Metric(in.boundary(g, g.start_at, 0, m)); },
        [&](unsigned m) { return Metric(s.current[l.window - 1 - m]); });
    double unused;
    const unsigned first = emit_drifts(
        g,
        [&](unsigned m) {
            return Metric(in.boundary(g, g.start_at, 0, m)) *
                   Metric(s.current[l.window - 1 - m]);
        },
        s.alpha,
        s.scratch,
        drifts,
        &unused);
    if (threadIdx.x == 0) {
        status = { log_weight,
                   float(entropy),
                   in.header.first + int(first),
                   in.header.first + int(last),
                   1 };
    }
    __pipeline_wait_prior(0);
}

// Decodes the frames of a batch; a block decodes one at a time. make_sweep() returns the
// Sweep of a frame.
template <class Sweep, class MakeSweep>
__device__ void decode_batch(const sync_geometry& g,
                             const linear_layout& l,
                             const linear_memory& memory,
                             const frame_list& frames,
                             const std::byte* input,
                             std::byte* output,
                             sync_status* status,
                             MakeSweep&& make_sweep)
{
    using metric = typename Sweep::metric;
    linear_shared<typename Sweep::row, metric> s(
        l, block_memory<Sweep::always_shared>(l, memory));
    metric* const alpha = static_cast<metric*>(memory.alpha) + l.offset +
                          std::size_t(blockIdx.x) * (g.symbols + 1) * l.length;
    double* const sums = memory.prior_sums + std::size_t(blockIdx.x) * g.outputs;
    const unsigned count = frames.size(g);
    for (unsigned k = blockIdx.x; k < count; k += gridDim.x) {
        const unsigned frame = frames[k];
        const frame_input in(g, input, frame);
        std::byte* const out = output + g.output_bytes * frame;
        if (!in.valid) {
            emit_unknown(g, out, status[frame]);
            continue;
        }
        block_sync();
        sum_priors(g, in, sums);
        auto sweep = make_sweep(in, s, sums);
        decode_linear<Sweep::one_warp>(g, l, in, sweep, s, alpha, out, status[frame]);
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_DECODE_CUH */
