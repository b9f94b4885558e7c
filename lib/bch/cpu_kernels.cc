// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel that reduces polynomials with carry-less multiplication (PCLMUL on x86,
 * PMULL on Arm). This file is compiled once for each instruction set. */

#include "cpu_kernels.h"

#ifdef __PCLMUL__
#include <immintrin.h>
#elif defined(__ARM_FEATURE_CRYPTO)
#include <arm_neon.h>
#endif

namespace gr::gpufec::bch {
namespace GPUFEC_ISA {

namespace {

#ifdef __PCLMUL__

using vec = __m128i;

vec pair(std::uint64_t high, std::uint64_t low) { return _mm_set_epi64x(high, low); }
vec load(const std::uint8_t* from)
{
    const auto swap = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const vec*>(from)), swap);
}
vec add(vec a, vec b) { return _mm_xor_si128(a, b); }
// Returns the product of word A of a and word B of b; word 1 is the upper one.
template <int A, int B>
vec product(vec a, vec b)
{
    return _mm_clmulepi64_si128(a, b, A | B << 4);
}
vec high_word(vec a) { return _mm_srli_si128(a, 8); }
vec to_high_word(vec a) { return _mm_slli_si128(a, 8); }
void store(vec a, std::uint64_t* high, std::uint64_t* low)
{
    *high = _mm_extract_epi64(a, 1);
    *low = _mm_extract_epi64(a, 0);
}

#elif defined(__ARM_FEATURE_CRYPTO)

using vec = uint64x2_t;

vec pair(std::uint64_t high, std::uint64_t low) { return vec{ low, high }; }
vec load(const std::uint8_t* from)
{
    const auto x = vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(from)));
    return vextq_u64(x, x, 1);
}
vec add(vec a, vec b) { return veorq_u64(a, b); }
// Returns the product of word A of a and word B of b; word 1 is the upper one.
template <int A, int B>
vec product(vec a, vec b)
{
    return vreinterpretq_u64_p128(
        vmull_p64(poly64_t(vgetq_lane_u64(a, A)), poly64_t(vgetq_lane_u64(b, B))));
}
vec high_word(vec a) { return vextq_u64(a, vec{}, 1); }
vec to_high_word(vec a) { return vextq_u64(vec{}, a, 1); }
void store(vec a, std::uint64_t* high, std::uint64_t* low)
{
    *high = vgetq_lane_u64(a, 1);
    *low = vgetq_lane_u64(a, 0);
}

#endif

#if defined(__PCLMUL__) || defined(__ARM_FEATURE_CRYPTO)
#define GPUFEC_CARRYLESS

void fold(const std::uint8_t* bytes,
          std::size_t count,
          std::uint64_t sum[4],
          const fold_constants& constants)
{
    // A constant has three words, the most significant first: word 0 is in high, words 1
    // and 2 are in low.
    vec low[4], high[4];
    for (int i = 0; i < 4; ++i) {
        const auto& c = constants.words[i];
        low[i] = pair(c[1], c[2]);
        high[i] = pair(c[0], c[0]);
    }
    auto upper = pair(sum[0], sum[1]), lower = pair(sum[2], sum[3]);
    for (; count > 0; --count, bytes += 32) {
        auto next_upper = load(bytes), next_lower = load(bytes + 16);
        const auto multiply = [&](vec a, vec b, int i, int j) {
            // Multiplies the upper word of a by constant i and the lower word by constant
            // j. Adds the products with words 0 and 2 of the constants to next_upper and
            // next_lower. Returns b plus the products with word 1.
            next_lower = add(next_lower, product<1, 0>(a, low[i]));
            next_upper = add(next_upper, product<1, 0>(a, high[i]));
            next_lower = add(next_lower, product<0, 0>(a, low[j]));
            next_upper = add(next_upper, product<0, 0>(a, high[j]));
            return add(b, add(product<1, 1>(a, low[i]), product<0, 1>(a, low[j])));
        };
        auto middle = multiply(upper, vec{}, 0, 1);
        middle = multiply(lower, middle, 2, 3);
        upper = add(next_upper, high_word(middle));
        lower = add(next_lower, to_high_word(middle));
    }
    store(upper, &sum[0], &sum[1]);
    store(lower, &sum[2], &sum[3]);
}
#endif

} // namespace

extern const kernels all;
#ifdef GPUFEC_CARRYLESS
const kernels all = { fold };
#else
const kernels all = { nullptr };
#endif

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::bch
