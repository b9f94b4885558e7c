// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arithmetic in the halves of a half2: posteriors, magnitudes and minima of two
 * codewords, or of two checks, with one instruction. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_ARITHMETIC_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_ARITHMETIC_CUH

#include "dvb_int8x2.h"
#include "ldpc/cuda/block_slots.cuh"
#include "ldpc/cuda/chain_entries.cuh"
#include <cuda_fp16.h>
#include <cstring>

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

constexpr unsigned group = chain_table::group;
constexpr unsigned bytes = chain_table::bytes;
constexpr std::uint32_t signs = 0x80008000u;
constexpr float unit = 1 / 2048.0f;
constexpr float missing = 1500 * unit; // magnitude of a missing edge of a check
// Posterior of a missing edge of a layer, so large that adding a message does not change
// the posterior.
constexpr float unchanged = 32768;
constexpr float bias = 0.5f + 128 * unit; // the 16-bit float 0x3800 | b is 0.5 + b units
constexpr unsigned flag_words = 4;

__device__ inline std::uint32_t bits(half2 x)
{
    std::uint32_t r;
    std::memcpy(&r, &x, sizeof(r));
    return r;
}
__device__ inline half2 value_of(std::uint32_t x)
{
    half2 r;
    std::memcpy(&r, &x, sizeof(r));
    return r;
}
__device__ inline half2 all(float x) { return __float2half2_rn(x); }
__device__ inline float of_codeword(std::uint32_t pair, unsigned w)
{
    return w ? __high2float(value_of(pair)) : __low2float(value_of(pair));
}

// Constants in registers. An instruction can encode only one constant; a second one
// would need another instruction each time.
struct constants {
    std::uint32_t halves, ones;
    half2 per_unit, four_edges;

    __device__ explicit constants(const int8x2_arguments& a)
        : halves(as_nonuniform(a.halves)),
          ones(as_nonuniform(a.ones)),
          per_unit(value_of(kept_in_register(a.per_unit))),
          four_edges(value_of(kept_in_register(a.four_edges)))
    {
    }
};

// The message rule of int8x2_arguments in registers, for kernels with enough free
// registers.
struct rule_in_registers {
    std::uint32_t slope, floor, span;
    __device__ explicit rule_in_registers(const int8x2_arguments& a)
        : slope(as_nonuniform(a.slope)),
          floor(as_nonuniform(a.floor)),
          span(as_nonuniform(a.span))
    {
    }
};

// Converts channel values to four words with posteriors in both halves. Byte i of \p x
// becomes the lower half of word i, and byte i of \p y becomes the upper half.
__device__ inline uint4
four_posteriors(const constants& c, std::uint32_t x, std::uint32_t y)
{
    const auto low = __byte_perm(x, y, 0x5140) ^ 0x80808080u;
    const auto high = __byte_perm(x, y, 0x7362) ^ 0x80808080u;
    const auto unpacked = [&c](std::uint32_t bytes, unsigned selected) {
        return bits(__hsub2(value_of(__byte_perm(bytes, c.halves, selected)), all(bias)));
    };
    return make_uint4(unpacked(low, 0x4140),
                      unpacked(low, 0x4342),
                      unpacked(high, 0x4140),
                      unpacked(high, 0x4342));
}

// Returns whether the device has instructions for the minimum and the maximum of half2
// values. Without them (compute capability 7.5), CUDA would compute each half in float,
// which is slower than the clamped differences of min1_by_differences().
__device__ inline bool has_half2_minimum()
{
#ifdef GPUFEC_EMULATED
    return emulated_capability() >= 80;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return false;
#else
    return true;
#endif
}

// Returns the smaller magnitude with the product of the signs. The device must have
// instructions for minima.
__device__ inline half2 signed_min(half2 a, half2 b)
{
#if __CUDA_ARCH__ >= 860
    std::uint32_t r;
    asm("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(bits(a)), "r"(bits(b)));
    return value_of(r);
#else
    return value_of(bits(__hmin2(__habs2(a), __habs2(b))) |
                    ((bits(a) ^ bits(b)) & signs));
#endif
}
__device__ inline half2 larger(half2 a, half2 b)
{
    return __hmax2(__habs2(a), __habs2(b));
}

// The two smallest magnitudes of several values; min1 has the product of their signs.
struct two_minima {
    half2 min1, min2;
    __device__ static two_minima of(half2 a, half2 b)
    {
        return { signed_min(a, b), larger(a, b) };
    }
    __device__ void take(half2 t)
    {
        min2 = __hmin2(min2, larger(min1, t));
        min1 = signed_min(min1, t);
    }
    __device__ void merge(const two_minima& o)
    {
        min2 = __hmin2(__hmin2(min2, o.min2), larger(min1, o.min1));
        min1 = signed_min(min1, o.min1);
    }
};

// Returns the same minima as min1_of(), computed from clamped differences. For magnitudes
// a and b of at most 1, sat(a − b) is max(a − b, 0), so a − sat(a − b) is the smaller
// magnitude and b + sat(a − b) is the larger one. All finite magnitudes are below 1. The
// minima begin at 1, which the message rule treats like the magnitudes of missing edges.
template <unsigned Edges>
__device__ two_minima min1_by_differences(const half2 (&t)[Edges])
{
    half2 min1 = all(1), min2 = all(1);
    std::uint32_t product = 0;
#pragma unroll
    for (unsigned e = 0; e < Edges; ++e) {
        const half2 m = __habs2(t[e]);
        const half2 excess = __hsub2_sat(min1, m);
        if (e > 0) {
            min2 = __hsub2(min2, __hsub2_sat(min2, __hadd2(m, excess)));
        }
        min1 = __hsub2(min1, excess);
        product ^= bits(t[e]);
    }
    return { value_of(bits(min1) | (product & signs)), min2 };
}

// Returns the minima of a check's variable-to-check messages, computed in two independent
// chains of operations.
template <unsigned Edges>
__device__ two_minima min1_of(const half2 (&t)[Edges])
{
    if (!has_half2_minimum()) {
        return min1_by_differences(t);
    }
    auto even = two_minima::of(t[0], t[1]);
    if constexpr (Edges == 3) {
        even.take(t[2]);
    } else {
        auto odd = two_minima::of(t[2], t[3]);
#pragma unroll
        for (unsigned e = 4; e < Edges; ++e) {
            (e % 2 ? odd : even).take(t[e]);
        }
        even.merge(odd);
    }
    return even;
}

// Returns the magnitude of a message with its sign. Bits 15 and 14 of \p x are its sign
// and is_min1; is_min1 selects \p second, which is not below \p first.
__device__ inline half2 selected(std::uint32_t x, half2 first, half2 second)
{
    if (has_half2_minimum()) {
        // Bit 14 raises first above second.
        return signed_min(value_of((x & 0xc000c000u) | bits(first)), second);
    }
    // Bit 14 alone is the 16-bit float 2.
    const half2 half_step = __hfma2(__hsub2(second, first), all(0.5f), all(0));
    const half2 magnitude = __hfma2(value_of(x & 0x40004000u), half_step, first);
    return value_of((x & signs) ^ bits(magnitude));
}

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_ARITHMETIC_CUH */
