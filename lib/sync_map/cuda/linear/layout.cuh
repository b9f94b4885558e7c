// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory of the linear form on CUDA: the codebook and the metrics in device memory, and
 * the layout of a block's shared memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LAYOUT_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LAYOUT_CUH

#include "sync_map/cuda/common.cuh"
#include "sync_map/cuda/reductions.cuh"

namespace gr::gpufec::sync_map {

constexpr unsigned max_warps = 8; // maximum number of warps per block

//! Codebook and work memory of the linear form's kernels.
struct linear_memory {
    //! Codebook in the format of the items: frame_symbols × q. In linear_any: four bits
    //! per symbol and eight symbols per segment, frame_symbols × segments × q. The first
    //! segment has first_segment symbols.
    const std::uint32_t* words;
    std::uint32_t segments, first_segment;
    void* alpha;        //!< per block: (symbols + 1) rows of forward metrics
    void* rows;         //!< per block: padded window × q lattice values between segments
    double* prior_sums; //!< per block: sum of the priors of each index
    //! Per block: linear_layout::bytes bytes for linear_shared; nullptr if linear_shared
    //! is in shared memory.
    double* wide;
};

/*! Layout of rows, and of a block's shared memory, computed once by the host.
 *
 * A sweep executes its steps in groups of four. One group begins at step N, the number of
 * the kernel's rows, and must be aligned, so rows begin at an offset from their aligned
 * address. Groups from step N on produce all outputs except the last N. The window is
 * therefore padded with values of weight 0 until its length exceeds N by a multiple of
 * four. */
struct linear_layout {
    std::uint32_t window; //!< number of drifts, padded
    //! Number of values from a row's aligned address to its first value.
    std::uint32_t offset;
    std::uint32_t length; //!< offset plus values of a row, rounded to a multiple of four
    //! Distance in values between rows that whole warps read, four values per lane.
    std::uint32_t stride;
    std::uint32_t waiting_rows;
    std::uint32_t alpha, posterior, current, partial, waiting, prior, one, if_zero,
        if_one;        //!< byte offsets in linear_shared; `weights` begins at `one`
    std::size_t bytes; //!< size of linear_shared

    //! Special values of the argument `symbols` of of(): items are stored as bits, or
    //! not at all.
    static constexpr unsigned bits = 0, not_stored = ~0u;

    //! \p rows: rows of the kernel's lattice after row 0. \p symbols: number of weights
    //! that are stored per item.
    template <class Row, class Metric>
    static linear_layout
    of(const sync_geometry& g, unsigned rows, unsigned warps, unsigned symbols)
    {
        linear_layout l{};
        l.window = g.window + (rows - g.window) % 4;
        l.offset = (0 - rows) % 4;
        l.length = (l.offset + l.window + 3) / 4 * 4;
        l.stride = (l.length + 127) / 128 * 128;
        // Outputs are computed in groups of four and summed 32 at a time. Therefore at
        // most 28 outputs are not summed yet when the last N outputs follow.
        l.waiting_rows = 28 + rows;
        const unsigned steps = (l.length + rows + 3) / 4 * 4;
        l.bytes = 64 * sizeof(double); // scratch
        const auto take = [&](std::uint32_t& at, std::size_t bytes) {
            at = std::uint32_t(l.bytes);
            l.bytes += (bytes + 15) / 16 * 16;
        };
        take(l.alpha, sizeof(Metric) * l.stride * 2);
        take(l.posterior, sizeof(Metric) * g.q);
        take(l.current, sizeof(Row) * l.stride);
        take(l.partial, sizeof(Row) * l.stride * warps);
        take(l.waiting, sizeof(Row) * l.waiting_rows * lane_sums<Row>::stride * warps);
        take(l.prior, sizeof(Row) * 32 * warps);
        if (symbols == not_stored) {
            return l;
        }
        if (symbols != bits) {
            take(l.one, sizeof(Row) * steps * symbols);
            return l;
        }
        take(l.one, sizeof(std::int32_t) * steps);
        take(l.if_zero, sizeof(Row) * steps);
        take(l.if_one, sizeof(Row) * steps);
        return l;
    }
};

// Shared memory of a block, or its device memory in linear_memory::wide. Rows are in the
// order of the sweep, and 0 beyond the window.
template <class Row, class Metric>
struct linear_shared {
    double* scratch;   // for reductions over the block: 64 values
    Metric* alpha;     // α at two boundaries: one row is used while the next is copied
    Metric* posterior; // L(D), q values
    Row* current;      // boundary metrics from which a sweep starts
    Row* partial;      // row n summed over the words of each warp: warps × stride
    Row* waiting;      // outputs of each warp, not yet summed over its lanes
    Row* prior;        // priors of the words of each lane: warps × 32
    // For bits, the item of each of window + n steps: a mask, all ones for a 1, and the
    // weights of a sent 0 and a sent 1.
    std::int32_t* one;
    Row *if_zero, *if_one;
    // For other symbols, the weights: groups of four steps × symbols × four steps.
    Row* weights;

    __device__ linear_shared(const linear_layout& l, std::byte* memory)
        : scratch(reinterpret_cast<double*>(memory)),
          alpha(reinterpret_cast<Metric*>(memory + l.alpha) + l.offset),
          posterior(reinterpret_cast<Metric*>(memory + l.posterior)),
          current(reinterpret_cast<Row*>(memory + l.current) + l.offset),
          partial(reinterpret_cast<Row*>(memory + l.partial) + l.offset),
          waiting(reinterpret_cast<Row*>(memory + l.waiting)),
          prior(reinterpret_cast<Row*>(memory + l.prior)),
          one(reinterpret_cast<std::int32_t*>(memory + l.one) + l.offset),
          if_zero(reinterpret_cast<Row*>(memory + l.if_zero) + l.offset),
          if_one(reinterpret_cast<Row*>(memory + l.if_one) + l.offset),
          weights(reinterpret_cast<Row*>(memory + l.one))
    {
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LAYOUT_CUH */
