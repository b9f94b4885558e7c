// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The edges of a chain_table as kernels read them, from a copy in shared memory or from
 * the kernel's parameter. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH

#include "chain_table.h"
#include "cuda_block_slots.cuh"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

// A layer: edges, head, up to whole vectors.
template <unsigned MessageEdges>
struct chain_entry {
    static constexpr unsigned words = chain_entry_words(MessageEdges);
    std::uint32_t word[words];

    __device__ float shift(unsigned e) const { return __uint_as_float(word[2 * e]); }
    __device__ float start(unsigned e) const { return __uint_as_float(word[2 * e + 1]); }
    __device__ std::uint32_t head() const { return word[2 * MessageEdges]; }

    // A thread's number, and its byte offset in a group of shift 0.
    struct thread {
        float j, four_j; // the latter as least floats
        __device__ explicit thread(unsigned number)
        {
            j = __uint_as_float(kept_in_register(__float_as_uint(float(number))));
            four_j = __uint_as_float(kept_in_register(4 * number));
        }
    };
    // Byte offset of edge e's posterior.
    __device__ std::uint32_t place(unsigned e, const thread& t) const
    {
        constexpr float all = chain_table::bytes * 0x1p-149f;
        const float before = __saturatef(__fsub_rn(shift(e), t.j)); // 0 or 1
        return __float_as_uint(fmaf(before, all, __fadd_rn(start(e), t.four_j)));
    }

    // Copies all layers to shared memory; thread j of a block.
    __device__ static void
    copy(const std::uint32_t* entries, unsigned q, std::uint32_t* to, unsigned j)
    {
        for (unsigned i = j; i < q * (words / 4); i += chain_table::group) {
            reinterpret_cast<uint4*>(to)[i] =
                __ldcg(reinterpret_cast<const uint4*>(entries) + i);
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
            r.word[2 * e] = __float_as_uint(edge[e].shift);
            r.word[2 * e + 1] = edge[e].start;
        }
        r.word[2 * MessageEdges] = table.layer[layer];
        return r;
    }
};

// Calls use(i, x) for each layer from \p first to \p end, with what load(i, x) has got of
// it while those before it were used.
template <class Loaded, unsigned Together, class Load, class Use>
__device__ void each_loaded_ahead(unsigned first, unsigned end, Load&& load, Use&& use)
{
    Loaded loaded[Together], next[Together];
    const auto load_some = [&](unsigned i) {
#pragma unroll
        for (unsigned k = 0; k < Together; ++k) {
            load(i + k, next[k]);
        }
    };
    load_some(first);
    for (unsigned i = first; i < end; i += Together) {
#pragma unroll
        for (unsigned k = 0; k < Together; ++k) {
            loaded[k] = next[k];
        }
        load_some(i + Together);
#pragma unroll
        for (unsigned k = 0; k < Together; ++k) {
            if (i + k < end) {
                use(i + k, loaded[k]);
            }
        }
    }
}

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH */
