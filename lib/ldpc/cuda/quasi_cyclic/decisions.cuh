// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parity checks and output of quasi_cyclic_kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_DECISIONS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_DECISIONS_CUH

#include "quasi_cyclic.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace quasi_cyclic {

template <unsigned MaxDegree>
template <class Use>
__device__ inline void quasi_cyclic_kernel<MaxDegree>::each_sum(const run_of_units& run,
                                                                place at,
                                                                Use&& use) const
{
    constexpr unsigned together = 4; // number of units whose leaves are fetched together
    const auto c = check_of(run);
    const unsigned stride = message_words(run.kind) * d_table.pitch;
    const unsigned edges = run.degree - has_leaf(run.kind);
    for (unsigned left = units_of(run); left > 0; left -= min(left, together)) {
        leaf stored[together] = {};
        if (has_leaf(run.kind)) {
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                stored[k] = fetched_leaf(run, at.state + min(k, left - 1) * stride);
            }
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            if (k >= left) {
                break;
            }
            std::uint32_t sum = 0;
#pragma unroll 4
            for (unsigned e = 0; e < edges / 2; ++e) {
                const auto two = table_entries(at.edges, e);
                sum ^= get_shared(place_of(c, two.x, two.y)) ^
                       get_shared(place_of(c, two.z, two.w));
            }
            if (edges % 2) {
                const auto last = table_entries(at.edges, edges / 2);
                sum ^= get_shared(place_of(c, last.x, last.y));
            }
            if (has_leaf(run.kind)) {
                const auto channel = get_shared(leaf_place(c, run, at.edges));
                sum ^= bits(leaf_posterior(run.degree, stored[k], channel));
            }
            at.edges += table_words(run.kind);
            use(d_j < run.checks ? sum & dvb_int8x2::signs : 0);
        }
        at.state += together * stride;
    }
}

template <unsigned MaxDegree>
__device__ inline void quasi_cyclic_kernel<MaxDegree>::finish_leaves(unsigned which)
{
    auto at = beginning();
    for (unsigned r = 0; r < d_table.run_count; ++r) {
        const auto run = d_table.runs[r];
        const auto c = check_of(run);
        auto mine = at;
        const unsigned units = has_leaf(run.kind) ? units_of(run) : 0;
        for (unsigned u = 0; u < units; ++u) {
            const auto place = leaf_place(c, run, mine.edges);
            const auto channel = get_shared(place);
            const auto p =
                bits(leaf_posterior(run.degree, fetched_leaf(run, mine.state), channel));
            const std::uint32_t mask = (which & 1) * 0xffffu | (which >> 1) * 0xffff0000u;
            set_shared(place, (p & mask) | (channel & ~mask));
            mine.edges += table_words(run.kind);
            mine.state += message_words(run.kind) * d_table.pitch;
        }
        advance(at, run, d_table.pitch);
    }
}

template <unsigned MaxDegree>
__device__ inline unsigned quasi_cyclic_kernel<MaxDegree>::violated(unsigned candidates)
{
    auto* const flag = d_flags + 2 + min(d_team, d_table.teams - 1);
    if (d_j == 0) {
        *flag = 0;
    }
    __syncthreads();
    auto at = beginning();
    // The first unit is tested alone, because a codeword with many errors nearly always
    // violates a check of that unit.
    bool alone = true;
    for (unsigned r = 0; r < d_table.run_count;) {
        auto run = d_table.runs[r];
        run.barriers = alone ? 2 : run.barriers;
        std::uint32_t sum = 0;
        each_sum(run, at, [&sum](std::uint32_t s) { sum |= s; });
        if (sum) {
            atomicOr(flag, (sum >> 15 & 1) | (sum >> 30 & 2));
        }
        __syncthreads();
        if (!warp_uniform(__syncthreads_or(candidates & ~*flag))) {
            break;
        }
        if (!alone) {
            advance(at, run, d_table.pitch);
            ++r;
        }
        alone = false;
    }
    return *flag;
}

template <unsigned MaxDegree>
__device__ inline std::uint32_t quasi_cyclic_kernel<MaxDegree>::count_violated()
{
    auto* const counter = d_flags + 2 + max_teams + min(d_team, d_table.teams - 1);
    if (d_j == 0) {
        *counter = 0;
    }
    __syncthreads();
    std::uint32_t count = 0;
    auto at = beginning();
    for (unsigned r = 0; r < d_table.run_count; ++r) {
        const auto run = d_table.runs[r];
        each_sum(run, at, [&count](std::uint32_t s) { count += s >> 15; });
        advance(at, run, d_table.pitch);
    }
    if (count) {
        atomicAdd(counter, count);
    }
    __syncthreads();
    return *counter;
}

template <unsigned MaxDegree>
__device__ inline void
quasi_cyclic_kernel<MaxDegree>::write_decisions(unsigned w, std::uint8_t* output) const
{
    const unsigned out_bits = d_args.stop.out_bits;
    const auto* const from = reinterpret_cast<const uint4*>(d_posterior);
    for (unsigned i = d_j; i < (out_bits + 7) / 8; i += d_table.team) {
        const unsigned s = w ? 31 : 15;
        const auto four = [s](const uint4& x) {
            return (x.x >> s & 1) << 3 | (x.y >> s & 1) << 2 | (x.z >> s & 1) << 1 |
                   (x.w >> s & 1);
        };
        const auto byte = four(from[2 * i]) << 4 | four(from[2 * i + 1]);
        const unsigned rest = min(8 * i + 8 - min(out_bits, 8 * i + 8), 7u);
        output[i] = std::uint8_t(byte >> rest << rest);
    }
}

} // namespace quasi_cyclic
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_DECISIONS_CUH */
