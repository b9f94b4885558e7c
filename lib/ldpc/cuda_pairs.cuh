/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Arithmetic on two codewords at once, one in each half of a half2, and the messages of a
 * check as they are kept: compressed. For the kernel of cuda_dvbs2.cu alone. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH

#include <cuda_fp16.h>
#include <cstdint>

namespace gr {
namespace gpufec {
namespace ldpc_cuda {
namespace {

constexpr unsigned threads = 360; // a group of checks
constexpr std::uint32_t signs = 0x80008000u;
constexpr std::uint32_t marks = 0x20002000u;     // "has the least": 2^-7 as a half
constexpr std::uint32_t thousands = 0x64646464u; // 0x6400 | b is the half 1024 + b

__device__ inline std::uint32_t bits(half2 x)
{
    return *reinterpret_cast<std::uint32_t*>(&x);
}
__device__ inline half2 halves(std::uint32_t x) { return *reinterpret_cast<half2*>(&x); }
__device__ inline half2 both(float x) { return __float2half2_rn(x); }
__device__ inline half2 exclusive_or(half2 a, std::uint32_t b)
{
    return halves(bits(a) ^ b);
}

// Two bytes as halves, and back; B is stored with 128 added.
__device__ inline half2 unpack_low(std::uint32_t x)
{
    return halves(__byte_perm(x, thousands, 0x4140));
}
__device__ inline half2 unpack_high(std::uint32_t x)
{
    return halves(__byte_perm(x, thousands, 0x4342));
}
__device__ inline half2 unpack_parity(std::uint32_t x)
{
    return __hsub2(unpack_low(x), both(1152));
}
__device__ inline std::uint32_t pack_parity(half2 b)
{
    return __byte_perm(bits(__hadd2(b, both(1152))), 0, 0x4420);
}

// Where the sign of edge e is in its word; its mark is two places below.
__device__ constexpr unsigned place(unsigned e) { return 4 * (e % 8 / 2) + e % 2; }

// The messages of the edges of one check.
template <unsigned Words>
struct messages {
    std::uint32_t word[Words];
    std::uint32_t least; // bytes: least of both codewords, second of both

    __device__ void clear()
    {
#pragma unroll
        for (unsigned w = 0; w < Words; ++w) {
            word[w] = 0;
        }
        least = 0;
    }
    __device__ void load(const std::uint32_t* from)
    {
        if constexpr (Words == 1) {
            const auto v = __ldcg(reinterpret_cast<const uint2*>(from) + threadIdx.x);
            word[0] = v.x;
            least = v.y;
        } else {
#pragma unroll
            for (unsigned w = 0; w < Words; ++w) {
                word[w] = __ldcg(from + w * threads + threadIdx.x);
            }
            least = __ldcg(from + Words * threads + threadIdx.x);
        }
    }
    __device__ void store(std::uint32_t* to) const
    {
        if constexpr (Words == 1) {
            __stcg(reinterpret_cast<uint2*>(to) + threadIdx.x,
                   make_uint2(word[0], least));
        } else {
#pragma unroll
            for (unsigned w = 0; w < Words; ++w) {
                __stcg(to + w * threads + threadIdx.x, word[w]);
            }
            __stcg(to + Words * threads + threadIdx.x, least);
        }
    }
    __device__ void set_least(half2 first, half2 second)
    {
        least = __byte_perm(
            bits(__hadd2(first, both(1024))), bits(__hadd2(second, both(1024))), 0x6420);
    }
    // What at() computes with.
    struct magnitudes {
        half2 least, step;
    };
    __device__ magnitudes open() const
    {
        const half2 first = __hsub2(unpack_low(least), both(1024));
        const half2 second = __hsub2(unpack_high(least), both(1024));
        return { first, __hmul2(__hsub2(second, first), both(128)) };
    }
    __device__ half2 at(unsigned e, const magnitudes& m) const
    {
        const std::uint32_t x = word[e / 8] << place(e);
        return exclusive_or(__hfma2(halves(x & marks), m.step, m.least), x & signs);
    }
    __device__ void set(unsigned e, half2 message, half2 has_least)
    {
        const std::uint32_t both = (bits(message) & signs) | (bits(has_least) & ~signs);
        word[e / 8] |= (both >> place(e)) & ((signs | marks) >> place(e));
    }
};

// Keeps the least and the second of magnitudes.
struct two_least {
    half2 least, second;
    __device__ void take(half2 t)
    {
        const half2 m = __habs2(t);
        second = __hmin2(second, __hmax2(least, m));
        least = __hmin2(least, m);
    }
    __device__ void merge(const two_least& o)
    {
        second = __hmin2(__hmin2(second, o.second), __hmax2(least, o.least));
        least = __hmin2(least, o.least);
    }
};

} // namespace
} // namespace ldpc_cuda
} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH */
