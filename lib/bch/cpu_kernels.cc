// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel that reduces polynomials with carry-less multiplication (PCLMUL). This file
 * is compiled once for each instruction set. */

#include "cpu_kernels.h"

#ifdef __PCLMUL__
#include <immintrin.h>
#endif

namespace gr::gpufec::bch {
namespace GPUFEC_ISA {

namespace {

#ifdef __PCLMUL__
void fold(const std::uint8_t* bytes,
          std::size_t count,
          std::uint64_t sum[4],
          const fold_constants& constants)
{
    // low has words 1 and 2 of each constant; high has word 0 twice.
    __m128i low[4], high[4];
    for (int i = 0; i < 4; ++i) {
        const auto& c = constants.words[i];
        low[i] = _mm_set_epi64x(c[1], c[2]);
        high[i] = _mm_set1_epi64x(c[0]);
    }
    const auto swap = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    auto upper = _mm_set_epi64x(sum[0], sum[1]), lower = _mm_set_epi64x(sum[2], sum[3]);
    for (; count > 0; --count, bytes += 32) {
        const auto* from = reinterpret_cast<const __m128i*>(bytes);
        auto next_upper = _mm_shuffle_epi8(_mm_loadu_si128(from), swap);
        auto next_lower = _mm_shuffle_epi8(_mm_loadu_si128(from + 1), swap);
        const auto clmul_all = [&](__m128i a, __m128i b, int i, int j) {
            // Multiplies the upper word of a by constant i and the lower word by constant
            // j. Adds the products with words 0 and 2 of the constants to next_upper and
            // next_lower. Returns b plus the products with word 1.
            next_lower = _mm_xor_si128(next_lower, _mm_clmulepi64_si128(a, low[i], 0x01));
            next_upper =
                _mm_xor_si128(next_upper, _mm_clmulepi64_si128(a, high[i], 0x01));
            next_lower = _mm_xor_si128(next_lower, _mm_clmulepi64_si128(a, low[j], 0x00));
            next_upper =
                _mm_xor_si128(next_upper, _mm_clmulepi64_si128(a, high[j], 0x00));
            return _mm_xor_si128(b,
                                 _mm_xor_si128(_mm_clmulepi64_si128(a, low[i], 0x11),
                                               _mm_clmulepi64_si128(a, low[j], 0x10)));
        };
        auto middle = clmul_all(upper, _mm_setzero_si128(), 0, 1);
        middle = clmul_all(lower, middle, 2, 3);
        upper = _mm_xor_si128(next_upper, _mm_srli_si128(middle, 8));
        lower = _mm_xor_si128(next_lower, _mm_slli_si128(middle, 8));
    }
    sum[0] = _mm_extract_epi64(upper, 1);
    sum[1] = _mm_extract_epi64(upper, 0);
    sum[2] = _mm_extract_epi64(lower, 1);
    sum[3] = _mm_extract_epi64(lower, 0);
}
#endif

} // namespace

extern const kernels all;
#ifdef __PCLMUL__
const kernels all = { fold };
#else
const kernels all = { nullptr };
#endif

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::bch
