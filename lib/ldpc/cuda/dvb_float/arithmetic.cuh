// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arguments of the float and int16 kernels, access to the bits of floats, the int16
 * message rule, and minima. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_ARITHMETIC_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_ARITHMETIC_CUH

#include "ldpc/cuda/arithmetic.h"
#include "ldpc/cuda/persistent_grid.h"
#include "ldpc/model/chain_table.h"

namespace gr::gpufec::ldpc {
namespace device {

struct dvb_float_arguments : block_arguments {
    // In float: members of message_rule, with the offsets for the largest check degree.
    float offset_x2_others, offset_x2_min, decline, normalization;
    // In int16: the magnitude for a minimum m is span · sat(m · slope + floor), rounded,
    // where sat() clamps to 0 … 1.
    float slope, floor, span;
    bool filled; // whether layers with fewer edges are padded with edges to an extra
                 // group of posteriors
    // The number of layers per chain whose records are in shared memory.
    std::uint32_t shared_layers;
    const std::uint32_t* entries; // table of edges, from chain_table::entries()
};

namespace dvb_float {

constexpr unsigned group = chain_table::group;
constexpr unsigned warps = group / 32; // number of whole warps among the threads of a
                                       // chain
constexpr unsigned flag_words = 4;
constexpr std::uint32_t sign = 0x80000000u;
constexpr float missing = 1e38f; // magnitude of a missing edge of a layer

__device__ inline std::uint32_t bits(float x) { return __float_as_uint(x); }
__device__ inline float value_of(std::uint32_t x) { return __uint_as_float(x); }
// Returns x, negated if the sign bit of \p by is set.
__device__ inline float signed_by(float x, std::uint32_t by)
{
    return value_of(bits(x) ^ (by & sign));
}

// The float 2^23. The sum of 2^23 and a smaller integer has the integer in its low bits.
constexpr float low_bits = 8388608;

// Returns the int16 magnitude of a message for a minimum, in the low bits of the float.
// The product is a multiple of 1/16 with an error below 1e-4. Adding 1/2 + 1/32 and
// rounding down therefore rounds to the nearest integer, halves up.
__device__ inline float integer_check_to_variable(float min1,
                                                  const dvb_float_arguments& a)
{
    const float x = __saturatef(fmaf(min1, a.slope, a.floor));
    return __fadd_rd(fmaf(x, a.span, 0.5f + 1 / 32.0f), low_bits);
}

// Returns the bits of \p a where \p mask is set, and those of \p b elsewhere.
__device__ inline std::uint32_t
select_bits(std::uint32_t mask, std::uint32_t a, std::uint32_t b)
{
#ifdef __CUDA_ARCH__
    std::uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(x) : "r"(a), "r"(b), "r"(mask));
    return x;
#else
    return (a & mask) | (b & ~mask);
#endif
}

// The two smallest magnitudes of several values.
struct two_minima {
    float min1, min2;
    __device__ two_minima(float a, float b)
        : min1(fminf(fabsf(a), fabsf(b))), min2(fmaxf(fabsf(a), fabsf(b)))
    {
    }
    __device__ void take(float t)
    {
        min2 = fminf(min2, fmaxf(min1, fabsf(t)));
        min1 = fminf(min1, fabsf(t));
    }
    __device__ void merge(const two_minima& o)
    {
        min2 = fminf(fminf(min2, o.min2), fmaxf(min1, o.min1));
        min1 = fminf(min1, o.min1);
    }
};

/* The three smallest magnitudes of several values. Magnitudes are compared as integers,
 * because one instruction finds the minimum or maximum of three. The middle one of three
 * values is their sum minus the minimum and the maximum. */
class three_minima
{
    using magnitude = std::uint32_t;

public:
    // Finds the minima of three values in any order.
    __device__ three_minima(float a, float b, float c)
        : three_minima(bits(fabsf(a)), bits(fabsf(b)), bits(fabsf(c)))
    {
    }
    __device__ void take(const three_minima& o)
    {
        const three_minima middle(max(d_min1, o.d_min1), d_min2, o.d_min2);
        d_min1 = min(d_min1, o.d_min1);
        d_min2 = middle.d_min1;
        d_third = min(min(d_third, o.d_third), middle.d_min2);
    }
    __device__ void take(float a, float b)
    {
        const two_minima o(a, b);
        const three_minima middle(max(d_min1, bits(o.min1)), d_min2, bits(o.min2));
        d_min1 = min(d_min1, bits(o.min1));
        d_min2 = middle.d_min1;
        d_third = min(d_third, middle.d_min2);
    }
    __device__ void take(float a)
    {
        const three_minima these(d_min1, d_min2, bits(fabsf(a)));
        d_min1 = these.d_min1;
        d_min2 = these.d_min2;
        d_third = min(d_third, these.d_third);
    }
    __device__ float min1() const { return value_of(d_min1); }
    __device__ float min2() const { return value_of(d_min2); }
    __device__ float third() const { return value_of(d_third); }

private:
    __device__ three_minima(magnitude a, magnitude b, magnitude c)
        : d_min1(min(min(a, b), c)), d_third(max(max(a, b), c))
    {
        d_min2 = a + b + c - d_min1 - d_third;
    }

    magnitude d_min1, d_min2, d_third;
};

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_ARITHMETIC_CUH */
