/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Loops that the compiler makes vectors of; as in cpu_kernels.cc, nothing of the standard
 * library is called. */

#include "input_kernels.h"

namespace gr {
namespace gpufec {
namespace ldpc_input {
namespace GPUFEC_ISA {

namespace {

inline std::int8_t steps(float value, float factor, float limit)
{
    const float x = value * factor;
    const float above = x > -limit ? x : -limit;
    const float clamped = above < limit ? above : limit;
    // Beyond 2^23 a float has no fraction, and its lowest byte is that of the integer.
    constexpr float whole = 12582912.0f;
    return std::int8_t(__builtin_bit_cast(std::uint32_t, clamped + whole));
}

void of_bytes(const std::int8_t* __restrict from,
              std::size_t count,
              float factor,
              float limit,
              std::int8_t* __restrict to)
{
    for (std::size_t i = 0; i < count; ++i) {
        const int b = from[i];
        to[i] = steps(float(b < -127 ? -127 : b), factor, limit);
    }
}

void of_floats(const float* __restrict from,
               std::size_t count,
               float factor,
               float limit,
               std::int8_t* __restrict to)
{
    for (std::size_t i = 0; i < count; ++i) {
        const float x = from[i];
        to[i] = steps(x == x ? x : 0.0f, factor, limit);
    }
}

} // namespace

extern const kernels all;
const kernels all{ of_bytes, of_floats };

} // namespace GPUFEC_ISA
} // namespace ldpc_input
} // namespace gpufec
} // namespace gr
