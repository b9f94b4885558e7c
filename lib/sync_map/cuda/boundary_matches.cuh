// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel that compares α and β of adjacent frames of a batch at their common boundary. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_BOUNDARY_MATCHES_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_BOUNDARY_MATCHES_CUH

#include "common.cuh"
#include "reductions.cuh"
#include "sync_map/model/boundary_match_rule.h"

namespace gr::gpufec::sync_map {

// Number of threads per block; boundary_match_parts threads work on each boundary.
constexpr unsigned boundary_match_threads = 128;

// A function object for the argument `sum` of boundary_match_of(). Adds the terms with
// boundary_match_parts lanes. All lanes of a warp must call the operator.
template <class Real>
struct sum_over_lanes {
    template <class Term, unsigned Sums>
    __device__ void
    operator()(int first, int last, Term&& term, double (&all)[Sums]) const
    {
        const int part = threadIdx.x % boundary_match_parts;
        Real sums[Sums];
        for (unsigned s = 0; s < Sums; ++s) {
            sums[s] = 0;
        }
        for (int m = first + part; m < last; m += boundary_match_parts) {
            Real to[Sums];
            term(m, to);
            for (unsigned s = 0; s < Sums; ++s) {
                sums[s] += to[s];
            }
        }
        const int lane = threadIdx.x % 32 / boundary_match_parts * boundary_match_parts;
        for (unsigned s = 0; s < Sums; ++s) {
            all[s] = 0;
            for (int k = 0; k < boundary_match_parts; ++k) {
                all[s] += __shfl_sync(full_warp, sums[s], lane + k);
            }
        }
    }
};

// Compares each frame except the first with the previous frame. Stores the result only if
// the two frames searched for their beginnings.
template <class Real>
__global__ void __launch_bounds__(boundary_match_threads)
    compare_boundary_matches(const sync_geometry g,
                             const unsigned boundary_matches_at,
                             const stream_piece* pieces,
                             std::byte* output)
{
    const unsigned number =
        (blockIdx.x * blockDim.x + threadIdx.x) / boundary_match_parts + 1;
    // Lanes beyond the last boundary compute the last boundary and store nothing.
    const unsigned f = min(number, g.frames - 1);
    std::byte* const next = output + f * g.output_bytes;
    const std::byte* const before = next - g.output_bytes;
    auto* const header =
        reinterpret_cast<boundary_match_header*>(next + boundary_matches_at);
    const auto* const header_before =
        reinterpret_cast<const boundary_match_header*>(before + boundary_matches_at);
    const int window = g.window;
    const int step = header->origin - header_before->origin - int(g.n * g.outputs);
    const auto* const ends =
        reinterpret_cast<const Real*>(before + g.metrics_at) + 2 * window;
    const auto* const begins = reinterpret_cast<const Real*>(next + g.metrics_at);
    const boundary_match found = boundary_match_of<Real>(ends,
                                                         ends + window,
                                                         begins,
                                                         begins + window,
                                                         window,
                                                         max(-window, min(window, step)),
                                                         sum_over_lanes<Real>{});
    if (number == f && threadIdx.x % boundary_match_parts == 0 &&
        pieces[f - 1].whole < 0 && pieces[f].whole < 0) {
        header->compared = 1;
        header->to_previous = found;
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_BOUNDARY_MATCHES_CUH */
