// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Access of kernels to a chain_table and to posteriors. The edges of the table are read
 * from a copy in shared memory or from the kernel's parameter. Posteriors are in shared
 * or device memory. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_ENTRIES_CUH

#include "block_slots.cuh"
#include "ldpc/model/chain_table.h"
#include <cuda_runtime.h>

namespace gr::gpufec::ldpc {
namespace device {

// Returns the block's shared memory, which begins with the posteriors.
__device__ inline std::uint32_t* shared_words()
{
    extern __shared__ uint4 shared_memory[];
    return reinterpret_cast<std::uint32_t*>(shared_memory);
}
// These functions read and write words of shared memory at the addresses that load and
// store instructions use. A pointer would need an addition. Without a cluster, addresses
// are below 2^23, so that they can be denormal floats (chain_table).
__device__ inline std::uint32_t get_shared(std::uint32_t address)
{
#ifdef __CUDA_ARCH__
    std::uint32_t x;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address));
    return x;
#else
    return shared_words()[address / 4];
#endif
}
__device__ inline void set_shared(std::uint32_t address, std::uint32_t x)
{
#ifdef __CUDA_ARCH__
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(x));
#else
    shared_words()[address / 4] = x;
#endif
}
__device__ inline uint4 get_shared_vector(std::uint32_t address)
{
#ifdef __CUDA_ARCH__
    uint4 x;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(address));
    return x;
#else
    return reinterpret_cast<const uint4*>(shared_words())[address / 16];
#endif
}
__device__ inline std::uint32_t shared_begin()
{
#ifdef __CUDA_ARCH__
    return std::uint32_t(__cvta_generic_to_shared(shared_words()));
#else
    return 0;
#endif
}

__device__ inline std::uint32_t shared_address(const std::uint32_t* word)
{
    return shared_begin() + 4 * std::uint32_t(word - shared_words());
}

// The index of a thread as a float, and the address of its posterior in group 0 at
// shift 0 as a denormal float. A thread without a check uses the word \p spare for all
// edges.
template <bool SomeSpare>
struct chain_thread {
    float j, address, factor;
    __device__ chain_thread(unsigned number, bool has_check, std::uint32_t* spare)
    {
        const auto in_register = [](std::uint32_t x) {
            return __uint_as_float(kept_in_register(x));
        };
        if (!SomeSpare || has_check) {
            j = float(number);
            address = __uint_as_float(shared_begin() + 4 * number);
        } else {
            j = 1e9f;
            address = __uint_as_float(shared_address(spare));
        }
        j = in_register(__float_as_uint(j));
        address = in_register(__float_as_uint(address));
        if constexpr (SomeSpare) {
            factor = in_register(__float_as_uint(has_check ? 1.0f : 0.0f));
        }
    }
};

// Two limits for the index of an edge in its layer, in the order of chain_table. Below \c
// shared, the edge's posterior is in shared memory. From \c early on, the posterior may
// be read before the preceding layer is written.
struct edge_places {
    unsigned shared, early;
};

// The entry of a layer: edges and head, padded to whole vectors.
template <unsigned MessageEdges, bool TwoChecksPerWord = false>
struct chain_entry {
    static constexpr unsigned words = chain_entry_words(MessageEdges, TwoChecksPerWord);
    static constexpr unsigned edge_words = chain_edge_words(TwoChecksPerWord);
    std::uint32_t word[words];

    __device__ float shift(unsigned e) const
    {
        return __uint_as_float(word[edge_words * e]);
    }
    __device__ float start(unsigned e) const
    {
        return __uint_as_float(word[edge_words * e + 1]);
    }
    __device__ std::uint32_t head() const { return word[edge_words * MessageEdges]; }
    // Returns the layer's edge_places, which entries for two checks per word do not have.
    __device__ edge_places places() const
    {
        const auto x = word[edge_words * MessageEdges + 1];
        return { x & 0xffu, x >> 8 };
    }

    // Returns the address of edge e's posterior.
    template <bool SomeSpare>
    __device__ std::uint32_t place(unsigned e, const chain_thread<SomeSpare>& t) const
    {
        constexpr float all = chain_table::bytes / (TwoChecksPerWord ? 2 : 1) * 0x1p-149f;
        const float before = __saturatef(__fsub_rn(shift(e), t.j)); // 0 or 1
        const float first = SomeSpare ? fmaf(start(e), t.factor, t.address)
                                      : __fadd_rn(start(e), t.address);
        return __float_as_uint(fmaf(before, all, first));
    }

    // Returns the number of bits, modulo 32, by which to rotate the word that holds edge
    // e's posterior: 16 if the word's halves are exchanged, else 0.
    template <bool SomeSpare>
    __device__ std::uint32_t next_shift(unsigned e,
                                        const chain_thread<SomeSpare>& t) const
    {
        static_assert(TwoChecksPerWord);
        const float before = __saturatef(__fsub_rn(shift(e), t.j));
        const float swapped = __uint_as_float(word[edge_words * e + 2]);
        return __float_as_uint(fmaf(before, 16 * 0x1p-149f, swapped));
    }

    // Returns the number of words of a copy of all layers, including the empty entry
    // after the last one, because kernels read ahead.
    __host__ __device__ static constexpr unsigned copy_words(unsigned q)
    {
        return (q + 1) * words;
    }
    // Copies all layers to shared memory. Each of \p threads threads calls this function
    // with its index \p number.
    __device__ static void copy(const std::uint32_t* entries,
                                unsigned q,
                                std::uint32_t* to,
                                unsigned number,
                                unsigned threads)
    {
        for (unsigned i = number; i < copy_words(q) / 4; i += threads) {
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
        r.word[2 * MessageEdges + 1] =
            table.shared_edges[layer] | table.early_edges[layer] << 8;
        return r;
    }
};

// Access to the posteriors of a thread when some groups are in device memory and the
// others in shared memory. Predicates choose the memory, because a branch for each edge
// would keep loads from overlapping.
class placed_posteriors
{
public:
    // \p device points to the posteriors in device memory. A thread without a check uses
    // the word at \p spare in place of them.
    template <bool SomeSpare>
    __device__ placed_posteriors(std::uint32_t* device,
                                 std::uint32_t* spare,
                                 bool has_check,
                                 const chain_thread<SomeSpare>& thread)
        : d_base(!SomeSpare || has_check
                     ? reinterpret_cast<std::uintptr_t>(device) - shared_begin()
                     : reinterpret_cast<std::uintptr_t>(spare) -
                           __float_as_uint(thread.address))
    {
    }
    // Returns the posterior of edge e. If the posterior was read early, \p early is its
    // value.
    __device__ std::uint32_t get(std::uint32_t address,
                                 unsigned e,
                                 const edge_places& at,
                                 std::uint32_t early = 0) const
    {
#ifdef __CUDA_ARCH__
        asm volatile(
            "{\n"
            ".reg .pred s, d;\n"
            "setp.lt.u32 s, %1, %2;\n"
            "setp.lt.and.u32 d, %1, %3, !s;\n"
            "@s ld.shared.u32 %0, [%4];\n"
            "@d ld.global.cg.u32 %0, [%5];\n"
            "}"
            : "+r"(early)
            : "r"(e), "r"(at.shared), "r"(at.early), "r"(address), "l"(place(address)));
        return early;
#else
        return e < at.shared  ? get_shared(address)
               : e < at.early ? *place(address)
                              : early;
#endif
    }
    // Returns the posterior of edge e if it may be read early, else 0.
    __device__ std::uint32_t
    get_early(std::uint32_t address, unsigned e, const edge_places& at) const
    {
        std::uint32_t x = 0;
#ifdef __CUDA_ARCH__
        asm volatile("{\n"
                     ".reg .pred d;\n"
                     "setp.ge.u32 d, %1, %2;\n"
                     "@d ld.global.cg.u32 %0, [%3];\n"
                     "}"
                     : "+r"(x)
                     : "r"(e), "r"(at.early), "l"(place(address)));
#else
        x = e >= at.early ? *place(address) : 0;
#endif
        return x;
    }
    __device__ void
    set(std::uint32_t address, unsigned e, const edge_places& at, std::uint32_t x) const
    {
#ifdef __CUDA_ARCH__
        asm volatile("{\n"
                     ".reg .pred s;\n"
                     "setp.lt.u32 s, %1, %2;\n"
                     "@s st.shared.u32 [%3], %0;\n"
                     "@!s st.global.cg.u32 [%4], %0;\n"
                     "}" ::"r"(x),
                     "r"(e),
                     "r"(at.shared),
                     "r"(address),
                     "l"(place(address)));
#else
        if (e < at.shared) {
            set_shared(address, x);
        } else {
            *place(address) = x;
        }
#endif
    }

private:
    __device__ std::uint32_t* place(std::uint32_t address) const
    {
        return reinterpret_cast<std::uint32_t*>(d_base + address);
    }
    const std::uintptr_t d_base;
};

// Adds the changes of a layer's first \p deferred edges to their posteriors, round after
// round. sum(e) returns the new posterior of edge e, set(e, x) stores it, and wait()
// waits for the threads of the chain. \p head is the head of the layer.
template <class Value, unsigned MaxDeferred, class Wait, class Sum, class Set>
__device__ void
add_deferred(std::uint32_t head, unsigned deferred, Wait&& wait, Sum&& sum, Set&& set)
{
    if (MaxDeferred > 1 && (head & chain_table::several_rounds)) {
#pragma unroll
        for (unsigned e = 0; e < MaxDeferred; ++e) {
            if (e < deferred) {
                if (head >> (chain_table::round_at + e) & 1) {
                    wait();
                }
                set(e, sum(e));
            }
        }
    } else { // no two deferred edges use the same group
        Value sums[MaxDeferred];
#pragma unroll
        for (unsigned e = 0; e < MaxDeferred; ++e) {
            if (e < deferred) {
                sums[e] = sum(e);
            }
        }
#pragma unroll
        for (unsigned e = 0; e < MaxDeferred; ++e) {
            if (e < deferred) {
                set(e, sums[e]);
            }
        }
    }
}

// Calls load(i, x) and later use(i, x) for each layer i from \p first to \p end − 1.
// While \p Together layers are used, the next \p Together layers are loaded. load() is
// also called for layers past the end.
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
