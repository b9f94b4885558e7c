// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form on CUDA for few frames: a frame is cut into segments of a few symbols,
 * which are decoded in parallel.
 *
 * The recursion over a segment is linear and so has a matrix. A block computes one row of
 * it, that of paths from one drift. The matrices are chained from both ends of the frame,
 * which gives α and β of all boundaries between segments. Then the symbols of each
 * segment are decoded as if it were a frame. The work is larger by a factor of the
 * window's drifts, but the longest chain of sweeps is three segments instead of twice the
 * frame. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_CUH

#include "word_sweep.cuh"
#include <climits>

namespace gr::gpufec::sync_map {

constexpr unsigned segment_symbols = 8;
constexpr unsigned chain_threads = 256; // per direction, one per drift

//! Division of a frame into segments. One segment ends after the last output symbol.
struct segment_geometry {
    std::uint32_t symbols, outputs;
    std::uint32_t putting_out, count; //!< segments with output symbols, and all segments

    segment_geometry(unsigned all, unsigned put_out)
        : symbols(all),
          outputs(put_out),
          putting_out((put_out + segment_symbols - 1) / segment_symbols),
          count(putting_out + (all - put_out + segment_symbols - 1) / segment_symbols)
    {
    }

    //! Returns the first index of segment \p s, or `symbols` if \p s is `count`.
    __host__ __device__ unsigned begin(unsigned s) const
    {
        return s < putting_out
                   ? s * segment_symbols
                   : min(outputs + (s - putting_out) * segment_symbols, symbols);
    }

private:
    __host__ __device__ static unsigned min(unsigned a, unsigned b)
    {
        return a < b ? a : b;
    }
};

template <class Metric>
struct segment_memory {
    Metric* transfers;       //!< frames × segments × window (from) × window (to)
    std::int32_t* exponents; //!< of the rows of transfers; no_row: all zeros
    Metric* boundaries;      //!< frames × (segments + 1) × 2 × window: α, without the
                             //!< insertions after it, and β
    Metric* alpha;           //!< per block: segment_symbols rows

    static constexpr std::int32_t no_row = INT_MIN;
};

enum class segment_work { transfers, symbols };

/* Computes the row of a segment's matrix for paths from drift number \p from, or decodes
 * the segment's symbols. One loop does both, so that the kernel has the sweep once. */
template <bool One, class Row, class Metric, class Sweep>
__device__ void work_on_segment(const sync_geometry& g,
                                const segment_geometry& cut,
                                const linear_layout& l,
                                const segment_memory<Metric>& memory,
                                segment_work what,
                                std::size_t segment_of_batch,
                                unsigned segment,
                                unsigned from,
                                const frame_input& in,
                                Sweep& sweep,
                                linear_shared<Row, Metric>& s,
                                Metric* alpha,
                                std::byte* out)
{
    const bool transfers = what == segment_work::transfers;
    const unsigned first = cut.begin(segment), count = cut.begin(segment + 1) - first;
    const unsigned groups = One ? 1 : (g.q + 31) / 32;
    const unsigned warp = warp_number<One>(), warps = block_warps<One>();
    Row* const part = s.partial + warp * l.stride;
    const Row c = sweep.weights.insertion;
    // Rows of the boundary before the segment. Each frame has one boundary more than
    // segments.
    const auto frame = segment_of_batch / cut.count;
    const Metric* const before =
        memory.boundaries + (segment_of_batch + frame) * 2 * g.window;
    const Metric* const behind = before + 2 * g.window;
    block_sync();
    begin_with(g, l, direction::forward, s, [&](unsigned m) {
        if (transfers) {
            return m >= from ? Row(pow(c, Row(m - from))) : Row(0);
        }
        return Row(before[m]);
    });
    if (!transfers) {
        insert(g, l, s, alpha);
    }
    row_scale scale;
    const unsigned forward = transfers ? count : count - 1;
    const unsigned sweeps = transfers ? count : 2 * count - 1;
#pragma unroll 1
    for (unsigned k = 0; k < sweeps; ++k) {
        const bool back = k >= forward;
        const unsigned j = back ? sweeps - 1 - k : k;
        Metric* const here = s.alpha + j % 2 * l.stride;
        if (back && k == forward) {
            begin_with(g, l, direction::backward, s, [&](unsigned m) {
                return behind[g.window + m];
            });
            fetch_alpha(l, here, alpha + std::size_t(j) * l.length);
        }
        sweep.begin(first + j, back ? direction::backward : direction::forward);
        if (back) {
            __pipeline_wait_prior(0);
            block_sync();
            fetch_alpha(l,
                        s.alpha + (j + 1) % 2 * l.stride,
                        alpha + std::size_t(max(j, 1u) - 1) * l.length);
        }
        const Row insertion = transfers && k + 1 == sweeps ? Row(0) : c;
        Metric L = 0;
        for (unsigned group = warp; group < groups; group += warps) {
            L = sweep.run(group, insertion, here, back, part, One || group == warp);
            const unsigned D = 32 * group + threadIdx.x % 32;
            if (!One && D < g.q) {
                s.posterior[D] = L;
            }
        }
        if (back) {
            One ? emit_symbol_of_warp(g, in, first + j, L, s.posterior, s.scratch, out)
                : emit_symbol(g, in, first + j, s.posterior, s.scratch, out);
        }
        next_boundary<One>(
            l, s, scale, alpha + std::size_t(j + 1) * l.length, !back && !transfers);
    }
    if (transfers) {
        const auto row = segment_of_batch * g.window + from;
        for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
            memory.transfers[row * g.window + m] = s.current[m];
        }
        if (threadIdx.x == 0) {
            memory.exponents[row] =
                scale.alive ? std::int32_t(scale.exponent) : memory.no_row;
        }
    }
    __pipeline_wait_prior(0);
}

// Does the work \p what on all frames: computes the matrices, a row at a time per block,
// or decodes the segments, one at a time per block.
template <template <int, class, class> class Items,
          int N,
          bool One,
          class Row,
          class Metric>
__global__ void __launch_bounds__(One ? 32 : 32 * max_warps, One ? 16 : 2)
    work_on_segments(const sync_geometry g,
                     const segment_geometry cut,
                     const linear_layout l,
                     const row_weights<Row> weights,
                     const linear_memory words,
                     const segment_memory<Metric> memory,
                     segment_work what,
                     const std::byte* input,
                     std::byte* output,
                     const sync_status* status)
{
    __builtin_assume(!One || blockDim.x == 32);
    __builtin_assume(!One || threadIdx.x < 32);
    extern __shared__ double shared[];
    linear_shared<Row, Metric> s(l, reinterpret_cast<std::byte*>(shared));
    for (unsigned k = threadIdx.x; k < l.bytes / sizeof(double); k += blockDim.x) {
        shared[k] = 0;
    }
    Metric* const alpha =
        memory.alpha + l.offset + std::size_t(blockIdx.x) * segment_symbols * l.length;
    const bool transfers = what == segment_work::transfers;
    const unsigned rows = transfers ? g.window : 1;
    const unsigned segments = transfers ? cut.count : cut.putting_out;
    const unsigned jobs = g.frames * segments * rows;
    for (unsigned job = blockIdx.x; job < jobs; job += gridDim.x) {
        const unsigned frame = job / rows / segments, segment = job / rows % segments;
        const frame_input in(g, input, frame);
        if (transfers ? !in.valid : !status[frame].valid) {
            continue;
        }
        word_sweep<Items, N, 0, One, Row, Metric> sweep{ g, l,       in,     words,
                                                         s, nullptr, weights };
        work_on_segment<One>(g,
                             cut,
                             l,
                             memory,
                             what,
                             std::size_t(frame) * cut.count + segment,
                             segment,
                             job % rows,
                             in,
                             sweep,
                             s,
                             alpha,
                             output + g.output_bytes * frame);
    }
}

// Returns the largest exponent of a matrix's rows to all lanes of a warp, 0 if all are
// zero.
inline __device__ std::int32_t
largest_exponent(const std::int32_t* exponents, unsigned rows, std::int32_t none)
{
    std::int32_t most = none;
    for (unsigned k = threadIdx.x % 32; k < rows; k += 32) {
        most = max(most, exponents[k]);
    }
    for (int d = 16; d > 0; d /= 2) {
        most = max(most, __shfl_xor_sync(full_warp, most, d));
    }
    return most == none ? 0 : most;
}

//! Returns the bytes of shared memory of chain_segments.
template <class Metric>
std::size_t chain_bytes(const sync_geometry& g, const segment_geometry& cut)
{
    return 128 * sizeof(double) + 3 * g.window * sizeof(Metric) +
           cut.count * sizeof(std::int32_t);
}

/* Chains the segments of a frame, one block per frame: half of the threads from the
 * front, the others from the end. Then writes the frame's output. The window has at most
 * as many drifts as a half has threads. */
template <class Metric>
__global__ void __launch_bounds__(2 * chain_threads)
    chain_segments(const sync_geometry g,
                   const segment_geometry cut,
                   const segment_memory<Metric> memory,
                   const std::byte* input,
                   std::byte* output,
                   sync_status* status)
{
    extern __shared__ double shared[];
    double* const scratch = shared;                                 // 64 values
    Metric* const largest = reinterpret_cast<Metric*>(shared + 64); // a maximum per warp
    const unsigned half = threadIdx.x / chain_threads, W = g.window;
    const unsigned m = threadIdx.x % chain_threads;
    Metric* const row = reinterpret_cast<Metric*>(shared + 128) + half * W;
    Metric* const lambda = reinterpret_cast<Metric*>(shared + 128) + 2 * W;
    // The largest exponent of each segment's matrix.
    auto* const most = reinterpret_cast<std::int32_t*>(lambda + W);
    const bool back = half == 1, there = m < W;
    const unsigned terms = there ? W : 0;
    const unsigned frame = blockIdx.x;
    const frame_input in(g, input, frame);
    std::byte* const out = output + g.output_bytes * frame;
    if (!in.valid) {
        return emit_unknown(g, out, status[frame]);
    }
    Metric* const boundaries =
        memory.boundaries + std::size_t(frame) * (cut.count + 1) * 2 * W;

    const std::size_t matrices = std::size_t(frame) * cut.count;
    for (unsigned k = threadIdx.x / 32; k < cut.count; k += 2 * chain_threads / 32) {
        most[k] =
            largest_exponent(memory.exponents + (matrices + k) * W, W, memory.no_row);
    }
    // Returns the maximum of a half's values.
    const auto half_max = [&](Metric x) {
        for (int d = 16; d > 0; d /= 2) {
            x = max(x, __shfl_xor_sync(full_warp, x, d));
        }
        __syncthreads();
        if (threadIdx.x % 32 == 0) {
            largest[threadIdx.x / 32] = x;
        }
        __syncthreads();
        for (unsigned w = 0; w < chain_threads / 32; ++w) {
            x = max(x, largest[half * (chain_threads / 32) + w]);
        }
        return x;
    };

    row_scale scale;
    long long exponents = 0;
    Metric x = !there ? Metric(0)
               : back ? Metric(in.boundary(g, g.end_at, g.symbols, m))
                      : Metric(in.boundary(g, g.start_at, 0, m));
#pragma unroll 1
    for (unsigned k = 0;; ++k) {
        x *= scale.next(half_max(x));
        Metric* const kept =
            boundaries + ((back ? cut.count - k : k) * 2 + half) * std::size_t(W);
        if (there) {
            kept[m] = x;
        }
        if (k == cut.count) {
            break;
        }
        const unsigned segment = back ? cut.count - 1 - k : k;
        const Metric* const matrix = memory.transfers + (matrices + segment) * W * W;
        const std::int32_t exponent =
            there ? memory.exponents[(matrices + segment) * W + m] : memory.no_row;
        exponents += most[segment];
        const Metric factor = exponent == memory.no_row
                                  ? Metric(0)
                                  : Metric(ldexp(1.0, exponent - most[segment]));
        if (there) {
            row[m] = back ? x : x * factor;
        }
        __syncthreads();
        Metric sum = 0;
        const Metric* from = matrix + (back ? std::size_t(m) * W : m);
        const unsigned step = back ? 1 : W;
#pragma unroll 16
        for (unsigned d = 0; d < terms; ++d) {
            sum += row[d] * from[std::size_t(d) * step];
        }
        x = back ? sum * factor : sum;
    }
    double part = 0;
    if (!back && there) {
        part = double(x) * in.boundary(g, g.end_at, g.symbols, m);
    }
    const double ends = block_sum(part, scratch);
    // The forward recursion decides whether the frame can be decoded.
    if (__syncthreads_or(!(ends > 0) || (!back && !scale.alive))) {
        return emit_unknown(g, out, status[frame]);
    }
    const double log_weight =
        (exponents + scale.exponent) * 0.69314718055994530942 + log(ends) + g.log_scale;
    const auto alpha_of = [&](unsigned s) { return boundaries + std::size_t(s) * 2 * W; };
    const auto beta_of = [&](unsigned s) { return alpha_of(s) + W; };
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    const auto emit = [&](unsigned s, bool last, double* entropy) {
        const Metric *const a = alpha_of(s), *const b = beta_of(s);
        emit_metrics<Metric>(
            g,
            last,
            out,
            [&](unsigned i) { return a[i]; },
            [&](unsigned i) { return b[i]; });
        return emit_drifts(
            g,
            [&](unsigned i) { return a[i] * b[i]; },
            lambda,
            scratch,
            drifts + (last ? W : 0),
            entropy);
    };
    double entropy = 0, unused;
    const unsigned last = emit(cut.putting_out, true, &entropy);
    const unsigned first = emit(0, false, &unused);
    if (threadIdx.x == 0) {
        status[frame] = { log_weight,
                          float(entropy),
                          in.header.first + int(first),
                          in.header.first + int(last),
                          1 };
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_CUH */
