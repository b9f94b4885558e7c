// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Loops that the compiler makes vectors of; as in cpu_kernels.cc, nothing of the standard
 * library is called. */

#include "input_kernels.h"

namespace gr::gpufec::ldpc {
namespace input {
namespace GPUFEC_ISA {

namespace {

inline float value_of(float x) { return x == x ? x : 0; }
// Without a condition, whose branches GCC would follow instead of making vectors.
inline float value_of(std::int8_t x) { return float(x + (x == -128)); }

inline void set(float& to, float x) { to = x; }
// Beyond 2^23 a float has no fraction, and its lowest bits are those of the integer.
template <class Integer>
inline void set(Integer& to, float x)
{
    constexpr float whole = 12582912.0f;
    to = Integer(__builtin_bit_cast(std::uint32_t, x + whole));
}

template <class From, class To>
void convert(const From* __restrict from,
             std::size_t count,
             float factor,
             float limit,
             To* __restrict to)
{
    for (std::size_t i = 0; i < count; ++i) {
        const float x = value_of(from[i]) * factor + 0.0f; // −0 becomes 0
        const float above = x > -limit ? x : -limit;
        set(to[i], above < limit ? above : limit);
    }
}

template <class From>
constexpr converters<From> converters_of = { convert<From, std::int8_t>,
                                             convert<From, std::int16_t>,
                                             convert<From, float> };

} // namespace

extern const kernels all;
const kernels all{ converters_of<std::int8_t>, converters_of<float> };

} // namespace GPUFEC_ISA
} // namespace input
} // namespace gr::gpufec::ldpc
