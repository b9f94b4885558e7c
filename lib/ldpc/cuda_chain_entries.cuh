// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The edges of a chain_table as kernels read them, from a copy in shared memory or from
 * the kernel's parameter. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH

#include "chain_table.h"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

// A layer: edges, head, up to whole vectors.
template <unsigned MessageEdges>
struct chain_entry {
    static constexpr unsigned words = (2 * MessageEdges + 1 + 3) / 4 * 4;
    std::uint32_t word[words];

    __device__ std::int32_t step(unsigned e) const { return word[2 * e]; }
    __device__ std::uint32_t base(unsigned e) const { return word[2 * e + 1]; }
    __device__ std::uint32_t head() const { return word[2 * MessageEdges]; }

    // Byte offset of edge e's posterior for thread j.
    __device__ std::uint32_t place(unsigned e, unsigned j) const
    {
        const std::uint32_t x = 4 * j + step(e);
        return min(x, x + chain_table::bytes) + base(e); // below 0 is a large number
    }

    // Copies all layers to shared memory; thread j of a block.
    __device__ static void copy(const chain_table& table, std::uint32_t* to, unsigned j)
    {
        for (unsigned i = j; i < table.q * MessageEdges; i += chain_table::group) {
            auto* const at = to + i / MessageEdges * words + i % MessageEdges * 2;
            at[0] = table.edges[i].step;
            at[1] = table.edges[i].base;
        }
        for (unsigned i = j; i < table.q; i += chain_table::group) {
            to[i * words + 2 * MessageEdges] = table.layer[i];
        }
    }
    __device__ static chain_entry of_copy(const std::uint32_t* copy, unsigned layer)
    {
        chain_entry r;
        const auto* const from = reinterpret_cast<const uint4*>(copy + layer * words);
#pragma unroll
        for (unsigned v = 0; v < words / 4; ++v) {
            const auto x = from[v];
            r.word[4 * v] = x.x;
            r.word[4 * v + 1] = x.y;
            r.word[4 * v + 2] = x.z;
            r.word[4 * v + 3] = x.w;
        }
        return r;
    }
    __device__ static chain_entry of(const chain_table& table, unsigned layer)
    {
        chain_entry r;
        const auto* const edge = table.edges + layer * MessageEdges;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            r.word[2 * e] = edge[e].step;
            r.word[2 * e + 1] = edge[e].base;
        }
        r.word[2 * MessageEdges] = table.layer[layer];
        return r;
    }
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH */
