// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel that copies each frame, given its offset and length in a batch's items, to the
 * frame input that the decoding kernels read. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLACED_FRAMES_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLACED_FRAMES_CUH

#include "common.cuh"

namespace gr::gpufec::sync_map {

constexpr unsigned row_threads = 128;

struct row_layout {
    unsigned window, frames;
    int first; // first drift of the window
    unsigned frame_bits;
    bool ends; // whether all frames have the same end metrics
    unsigned item_bytes;
    std::size_t start_at, end_at, items_at, input_bytes;
};

// Writes the inputs of frames, one frame per block at a time. \p ends: start metrics of
// all frames, then their end metrics if row_layout::ends is set.
__global__ void __launch_bounds__(row_threads) write_rows(const row_layout l,
                                                          const placed_frame* places,
                                                          const double* ends,
                                                          const std::byte* items,
                                                          std::byte* rows)
{
    for (unsigned f = blockIdx.x; f < l.frames; f += gridDim.x) {
        const placed_frame place = places[f];
        std::byte* const row = rows + f * l.input_bytes;
        if (threadIdx.x == 0) {
            *reinterpret_cast<frame_header*>(row) = { place.length, 0, l.first, 0 };
        }
        const bool known = place.length >= 0;
        const std::int64_t last = std::int64_t(place.length) - l.frame_bits - l.first;
        auto* const start = reinterpret_cast<double*>(row + l.start_at);
        auto* const end = reinterpret_cast<double*>(row + l.end_at);
        for (unsigned m = threadIdx.x; m < l.window; m += blockDim.x) {
            start[m] = ends[m];
            end[m] = l.ends ? ends[l.window + m] : known && last == m ? 1.0 : 0.0;
        }
        const std::size_t bytes = known ? std::size_t(place.length) * l.item_bytes : 0;
        const std::byte* const from = items + std::size_t(place.at) * l.item_bytes;
        std::byte* const to = row + l.items_at;
#pragma unroll 8
        for (std::size_t k = threadIdx.x; k < bytes; k += blockDim.x) {
            to[k] = from[k];
        }
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLACED_FRAMES_CUH */
