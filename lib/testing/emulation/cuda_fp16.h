// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the parts of CUDA's half-precision header that kernels use when they are
 * compiled for the CPU. Each operation is computed in double, and its result is rounded
 * to half precision. */

#ifndef INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_FP16_H
#define INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_FP16_H

#include <cuda_runtime.h>
#include <algorithm>

struct __half {
    std::uint16_t bits;
};
struct half2 {
    __half x, y;
};

inline double emulated_double(__half h)
{
    const unsigned exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
    const std::uint64_t sign = std::uint64_t(h.bits & 0x8000u) << 48;
    if (exponent == 0) {
        return (sign ? -0x1p-24 : 0x1p-24) * fraction;
    }
    const std::uint64_t biased = exponent == 31 ? 2047 : exponent + 1008;
    return emulated_bits<double>(sign | biased << 52 | std::uint64_t(fraction) << 42);
}

// Rounds to the nearest half-precision number, ties to even.
inline __half emulated_half(double x)
{
    const auto sign = std::uint16_t(emulated_bits<std::uint64_t>(x) >> 48 & 0x8000u);
    const double size = std::abs(x);
    if (isnan(x)) {
        return { 0x7fff };
    }
    if (size >= 65520) {
        return { std::uint16_t(sign | 0x7c00u) };
    }
    const auto exponent =
        std::max(int(emulated_bits<std::uint64_t>(size) >> 52) - 1023, -14);
    // Magnitude in units of the last place.
    const auto units = unsigned(std::nearbyint(
        size * emulated_bits<double>(std::uint64_t(1033 - exponent) << 52)));
    // A mantissa rounded up to the next power of two carries into the exponent.
    return { std::uint16_t(sign | (unsigned(exponent + 14) * 1024 + units)) };
}

template <class Operation>
half2 emulated_both(Operation&& of)
{
    return { emulated_half(of([](half2 h) { return emulated_double(h.x); })),
             emulated_half(of([](half2 h) { return emulated_double(h.y); })) };
}

inline __half __double2half(double x) { return emulated_half(x); }
inline float __half2float(__half x) { return float(emulated_double(x)); }
inline std::uint16_t __half_as_ushort(__half x) { return x.bits; }
inline half2 __float2half2_rn(float x) { return { emulated_half(x), emulated_half(x) }; }
inline float __low2float(half2 a) { return __half2float(a.x); }
inline float __high2float(half2 a) { return __half2float(a.y); }
inline half2 __habs2(half2 a)
{
    return { { std::uint16_t(a.x.bits & 0x7fffu) },
             { std::uint16_t(a.y.bits & 0x7fffu) } };
}
inline half2 __hneg2(half2 a)
{
    return { { std::uint16_t(a.x.bits ^ 0x8000u) },
             { std::uint16_t(a.y.bits ^ 0x8000u) } };
}
inline half2 __hadd2(half2 a, half2 b)
{
    return emulated_both([=](auto of) { return of(a) + of(b); });
}
inline half2 __hsub2(half2 a, half2 b)
{
    return emulated_both([=](auto of) { return of(a) - of(b); });
}
inline half2 __hsub2_sat(half2 a, half2 b)
{
    return emulated_both([=](auto of) {
        const double x = of(a) - of(b); // NaN becomes 0, as on a device
        return x > 1 ? 1 : x > 0 ? x : 0;
    });
}
inline half2 __hfma2(half2 a, half2 b, half2 c)
{
    return emulated_both([=](auto of) { return of(a) * of(b) + of(c); });
}
inline half2 __hfma2_sat(half2 a, half2 b, half2 c)
{
    return emulated_both([=](auto of) {
        const double x = of(a) * of(b) + of(c);
        return x > 1 ? 1 : x > 0 ? x : 0;
    });
}
inline half2 __hmin2(half2 a, half2 b)
{
    return emulated_both([=](auto of) { return of(b) < of(a) ? of(b) : of(a); });
}
inline half2 __hmax2(half2 a, half2 b)
{
    return emulated_both([=](auto of) { return of(b) > of(a) ? of(b) : of(a); });
}

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_FP16_H */
