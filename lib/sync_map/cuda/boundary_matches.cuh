// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Links between the frames of a batch, on CUDA. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINKS_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINKS_CUH

#include "cuda_common.cuh"
#include "link_rule.h"

namespace gr::gpufec::sync_map {

constexpr unsigned link_threads = 128; // of a block, link_parts for each link

// Sums a part in each of as many lanes, which all of a warp call alike.
template <class Real>
struct sum_over_lanes {
    template <class Term, unsigned Sums>
    __device__ void
    operator()(int first, int last, Term&& term, double (&all)[Sums]) const
    {
        const int part = threadIdx.x % link_parts;
        Real sums[Sums];
        for (unsigned s = 0; s < Sums; ++s) {
            sums[s] = 0;
        }
        for (int m = first + part; m < last; m += link_parts) {
            Real to[Sums];
            term(m, to);
            for (unsigned s = 0; s < Sums; ++s) {
                sums[s] += to[s];
            }
        }
        const int lane = threadIdx.x % 32 / link_parts * link_parts;
        for (unsigned s = 0; s < Sums; ++s) {
            all[s] = 0;
            for (int k = 0; k < link_parts; ++k) {
                all[s] += __shfl_sync(full_warp, sums[s], lane + k);
            }
        }
    }
};

// Frame f and the one before it, for each but the first, where both searched.
template <class Real>
__global__ void __launch_bounds__(link_threads) compare_links(const sync_geometry g,
                                                              const unsigned links_at,
                                                              const stream_piece* pieces,
                                                              std::byte* output)
{
    const unsigned number = (blockIdx.x * blockDim.x + threadIdx.x) / link_parts + 1;
    // Lanes without a link go along with the last one.
    const unsigned f = min(number, g.frames - 1);
    std::byte* const next = output + f * g.output_bytes;
    const std::byte* const before = next - g.output_bytes;
    auto* const header = reinterpret_cast<link_header*>(next + links_at);
    const auto* const header_before =
        reinterpret_cast<const link_header*>(before + links_at);
    const int window = g.window;
    const int step = header->origin - header_before->origin - int(g.n * g.outputs);
    const auto* const ends =
        reinterpret_cast<const Real*>(before + g.metrics_at) + 2 * window;
    const auto* const begins = reinterpret_cast<const Real*>(next + g.metrics_at);
    const link found = link_of<Real>(ends,
                                     ends + window,
                                     begins,
                                     begins + window,
                                     window,
                                     max(-window, min(window, step)),
                                     sum_over_lanes<Real>{});
    if (number == f && threadIdx.x % link_parts == 0 && pieces[f - 1].whole < 0 &&
        pieces[f].whole < 0) {
        header->compared = 1;
        header->to_previous = found;
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINKS_CUH */
