// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Forward and backward metrics at the boundaries of a frame: a sweep starts from a row in
 * shared memory, and its sums become the row of the next boundary. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_BOUNDARIES_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_BOUNDARIES_CUH

#include "layout.cuh"
#include <cuda_pipeline.h>

namespace gr::gpufec::sync_map {

enum class direction { forward, backward };

// The next two functions return the index of a thread's warp in its block, and the number
// of warps of a block. If One is true, a block is one warp.
template <bool One>
__device__ unsigned warp_number()
{
    return One ? 0 : threadIdx.x / 32;
}
template <bool One>
__device__ unsigned block_warps()
{
    return One ? 1 : blockDim.x / 32;
}

// Divides a row into groups of four values and the groups among the threads of a block.
// Calls use(k) for each group of this thread; k is the distance, in values, of the group
// from the row's aligned address. All threads of a warp make the same number of calls.
template <class Use>
__device__ void fours_of_row(unsigned stride, Use&& use)
{
#pragma unroll 1
    for (unsigned begin = 0; begin < stride; begin += 4 * blockDim.x) {
        const unsigned k = begin + 4 * threadIdx.x;
        if (blockDim.x == 32 || k < stride) {
            use(k);
        }
    }
}

// Sums the warps' parts of a row, scales the row and makes it the current row. If \p keep
// is true, also stores the row in \p alpha.
template <bool One, class Row, class Metric>
__device__ void next_boundary(const linear_layout& l,
                              linear_shared<Row, Metric>& s,
                              row_scale& scale,
                              Metric* alpha,
                              bool keep)
{
    block_sync();
    const unsigned offset = l.offset, stride = l.stride;
    Row* const parts = s.partial - offset;
    Metric largest = 0;
    fours_of_row(stride, [&](unsigned k) {
        auto sum = read_four(parts + k);
        for (unsigned w = 1; w < block_warps<One>(); ++w) {
            const auto part = read_four(parts + w * stride + k);
            for (unsigned c = 0; c < 4; ++c) {
                sum.v[c] += part.v[c];
            }
        }
        if (!One) {
            write_four(parts + k, sum);
        }
        largest = max(max(largest, max(Metric(sum.v[0]), Metric(sum.v[1]))),
                      max(Metric(sum.v[2]), Metric(sum.v[3])));
    });
    const Metric factor =
        scale.next(block_max(largest, reinterpret_cast<Metric*>(s.scratch)));
    fours_of_row(stride, [&](unsigned k) {
        const auto sum = read_four(parts + k);
        four<Metric> scaled;
        for (unsigned c = 0; c < 4; ++c) {
            scaled.v[c] = Metric(sum.v[c]) * factor;
            s.current[int(k + c - offset)] = scaled.v[c];
        }
        if (keep && k < l.length) {
            write_four(alpha - offset + k, scaled);
        }
    });
    block_sync();
}

// Applies the insertions before a symbol to the current row. Stores the result in
// \p alpha unless \p alpha is nullptr.
template <class Row, class Metric>
__device__ void insert(const sync_geometry& g,
                       const linear_layout& l,
                       linear_shared<Row, Metric>& s,
                       Metric* alpha)
{
    if (threadIdx.x == 0) {
        Row x = 0;
        for (unsigned m = 0; m < g.window; ++m) {
            x = s.current[m] + Row(g.insertion) * x;
            s.current[m] = x;
        }
    }
    block_sync();
    const unsigned offset = l.offset;
    for (unsigned k = threadIdx.x; alpha && k < l.length; k += blockDim.x) {
        alpha[int(k - offset)] = s.current[int(k - offset)];
    }
}

// Returns the memory of a block for linear_shared, set to zeros.
template <bool AlwaysShared>
__device__ std::byte* block_memory(const linear_layout& l, const linear_memory& memory)
{
    extern __shared__ double shared[];
    double* all = shared;
    if (!AlwaysShared && memory.wide) {
        all = memory.wide + blockIdx.x * (l.bytes / sizeof(double));
    }
    for (unsigned k = threadIdx.x; k < l.bytes / sizeof(double); k += blockDim.x) {
        all[k] = 0;
    }
    block_sync();
    return reinterpret_cast<std::byte*>(all);
}

// Begins to copy a boundary's α into the block's memory.
template <bool Shared, class Metric>
__device__ void fetch_alpha(const linear_layout& l, Metric* to, const Metric* alpha)
{
    const unsigned offset = l.offset;
    fours_of_row(l.stride, [&](unsigned k) {
        // Values copied from beyond the row are not read.
        const unsigned from = min(k, l.length - 4);
        if constexpr (Shared) {
            for (unsigned c = 0; c < 4; c += 16 / sizeof(Metric)) {
                __pipeline_memcpy_async(
                    to - offset + k + c, alpha - offset + from + c, 16);
            }
        } else {
            write_four(to - offset + k, read_four(alpha - offset + from));
        }
    });
    __pipeline_commit();
}

// Sets the current row to value(m) at each drift number m, for sweeps in direction \p d.
template <class Row, class Metric, class Value>
__device__ void begin_with(const sync_geometry& g,
                           const linear_layout& l,
                           direction d,
                           linear_shared<Row, Metric>& s,
                           Value&& value)
{
    for (unsigned k = threadIdx.x; k < l.stride; k += blockDim.x) {
        const unsigned at = k - l.offset;
        const unsigned m = d == direction::forward ? at : l.window - 1 - at;
        s.current[int(at)] = m < g.window ? value(m) : 0;
    }
    // Clears the sums of the other direction.
    for (unsigned k = threadIdx.x; k < l.stride * (blockDim.x / 32); k += blockDim.x) {
        s.partial[int(k - l.offset)] = 0;
    }
    block_sync();
}

// Sets the current row to the boundary metrics in the input at \p row_at.
template <class Row, class Metric>
__device__ void begin_at(const sync_geometry& g,
                         const linear_layout& l,
                         const frame_input& in,
                         std::size_t row_at,
                         unsigned i,
                         direction d,
                         linear_shared<Row, Metric>& s)
{
    begin_with(g, l, d, s, [&](unsigned m) { return in.boundary(g, row_at, i, m); });
}

// Returns Σ α·β of the last boundary; its α is the current row.
template <class Row, class Metric>
__device__ double
sum_of_ends(const sync_geometry& g, const frame_input& in, linear_shared<Row, Metric>& s)
{
    double part = 0;
    for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
        part += double(s.current[m]) * in.boundary(g, g.end_at, g.symbols, m);
    }
    const double sum = block_sum(part, s.scratch);
    block_sync();
    return sum;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_BOUNDARIES_CUH */
