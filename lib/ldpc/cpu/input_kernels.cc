// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantisation of channel values, in loops that the compiler vectorises. The loops call
 * no function of the standard library; kernels.cc explains why. */

#include "input_kernels.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#endif

namespace gr::gpufec::ldpc {
namespace input {
namespace GPUFEC_ISA {

namespace {

inline float value_of(float x) { return x == x ? x : 0; }
// With a conditional expression, GCC would generate branches and no vector code.
inline float value_of(std::int8_t x) { return float(x + (x == -128)); }
inline float value_of(std::uint8_t x) { return float(x - 128 + (x == 0)); }

inline void set(float& to, float x) { to = x; }
// Rounds x to an integer: the sum of x and 1.5 · 2^23 has no fraction, and its lowest
// bits equal the bits of the integer.
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

#ifdef __AVX512BW__
// Looks up bytes in a table, 64 at a time. The caller must convert the last count mod 64
// bytes.
__attribute__((target("avx512vbmi"))) void look_up(const std::int8_t* from,
                                                   std::size_t count,
                                                   const std::int8_t* table,
                                                   std::int8_t* to)
{
    __m512i t[4];
    for (unsigned k = 0; k < 4; ++k) {
        t[k] = _mm512_loadu_si512(table + 64 * k);
    }
    for (std::size_t i = 0; i + 64 <= count; i += 64) {
        const __m512i x = _mm512_loadu_si512(from + i);
        const __m512i positive = _mm512_permutex2var_epi8(t[0], x, t[1]);
        const __m512i negative = _mm512_permutex2var_epi8(t[2], x, t[3]);
        _mm512_storeu_si512(
            to + i, _mm512_mask_mov_epi8(positive, _mm512_movepi8_mask(x), negative));
    }
}
#endif

// Multiplies by factor / 256 in 16-bit arithmetic, rounds, ties to even, and clamps to
// ±limit. \p sign is −1 to negate the product, else 0.
void multiply(const std::int8_t* __restrict from,
              std::size_t count,
              std::int16_t factor,
              std::int16_t limit,
              std::int16_t sign,
              std::int8_t* __restrict to)
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::int16_t x = from[i];
        const std::int16_t negative = std::int16_t(x ^ sign) >> 15;
        const auto size = std::uint16_t(x < 0 ? -x : x);
        const auto product = std::uint16_t((size < 127 ? size : 127) * factor);
        const std::uint16_t odd = product >> 8 & 1;
        const std::uint16_t whole = std::uint16_t(product + 127 + odd) >> 8;
        const std::int16_t within = whole < limit ? whole : limit;
        to[i] = std::int8_t((within ^ negative) - negative);
    }
}

// Quantises bytes to int8. With AVX-512 VBMI, input of 1024 bytes or more is looked up in
// a table with the results for all 256 bytes. Other input is converted in 16-bit
// arithmetic if 256 · factor and the limit are whole numbers and the product cannot
// overflow. Otherwise it is converted in float arithmetic.
void convert_bytes(const std::int8_t* from,
                   std::size_t count,
                   float factor,
                   float limit,
                   std::int8_t* to)
{
#ifdef __AVX512BW__
    if (count >= 1024 && __builtin_cpu_supports("avx512vbmi")) {
        std::int8_t all[256], table[256];
        for (int x = 0; x < 256; ++x) {
            all[x] = std::int8_t(x);
        }
        convert(all, 256, factor, limit, table);
        look_up(from, count, table, to);
        const auto remainder = count % 64;
        from += count - remainder;
        to += count - remainder;
        count = remainder;
    }
#endif
    const float size = (factor < 0 ? -factor : factor) * 256;
    if (size <= 515 && size == float(int(size)) && limit == float(int(limit))) {
        const auto sign = std::int16_t(factor < 0 ? -1 : 0);
        return multiply(from, count, std::int16_t(size), std::int16_t(limit), sign, to);
    }
    convert(from, count, factor, limit, to);
}

} // namespace

extern const kernels all;
const kernels all{
    { convert_bytes, convert<std::int8_t, std::int16_t>, convert<std::int8_t, float> },
    { convert<float, std::int8_t>, convert<float, std::int16_t>, convert<float, float> },
    { convert<std::uint8_t, std::int8_t>,
      convert<std::uint8_t, std::int16_t>,
      convert<std::uint8_t, float> }
};

} // namespace GPUFEC_ISA
} // namespace input
} // namespace gr::gpufec::ldpc
