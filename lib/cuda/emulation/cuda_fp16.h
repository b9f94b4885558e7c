// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What stands in for CUDA's header of pairs of halves, see cuda_runtime.h. */

#ifndef INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_FP16_H
#define INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_FP16_H

#include <algorithm>
#include <cmath>
#include <cstdint>

struct half2 {
    std::uint16_t x, y; // bits of the lower half and of the upper
};

inline double emulated_value(std::uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double x =
        exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    return half & 0x8000 ? -x : x;
}
// Rounded to the nearest, ties to even; what is too large has no place in kernels.
inline std::uint16_t emulated_half(double x)
{
    const unsigned sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    int exponent = x > 0 ? std::max(std::ilogb(x), -14) : -14;
    auto fraction = unsigned(std::nearbyint(std::ldexp(x, 10 - exponent)));
    // Of a fraction of 1024 and more the highest bit adds 1 to the exponent.
    return std::uint16_t(sign + ((exponent + 14) << 10) + fraction);
}
template <class Operation>
half2 emulated_halves(const half2& a, const half2& b, const half2& c, Operation&& o)
{
    const auto one = [&o](std::uint16_t a, std::uint16_t b, std::uint16_t c) {
        return emulated_half(o(emulated_value(a), emulated_value(b), emulated_value(c)));
    };
    return { one(a.x, b.x, c.x), one(a.y, b.y, c.y) };
}

inline half2 __float2half2_rn(float x) { return { emulated_half(x), emulated_half(x) }; }
inline float __low2float(half2 a) { return float(emulated_value(a.x)); }
inline float __high2float(half2 a) { return float(emulated_value(a.y)); }
inline half2 __hneg2(half2 a)
{
    return { std::uint16_t(a.x ^ 0x8000), std::uint16_t(a.y ^ 0x8000) };
}
inline half2 __habs2(half2 a)
{
    return { std::uint16_t(a.x & 0x7fff), std::uint16_t(a.y & 0x7fff) };
}
inline half2 __hadd2(half2 a, half2 b)
{
    return emulated_halves(a, b, b, [](double a, double b, double) { return a + b; });
}
inline half2 __hsub2(half2 a, half2 b) { return __hadd2(a, __hneg2(b)); }
inline half2 __hmin2(half2 a, half2 b)
{
    return emulated_halves(
        a, b, b, [](double a, double b, double) { return std::min(a, b); });
}
inline half2 __hmax2(half2 a, half2 b)
{
    return emulated_halves(
        a, b, b, [](double a, double b, double) { return std::max(a, b); });
}
inline half2 __hfma2(half2 a, half2 b, half2 c)
{
    return emulated_halves(
        a, b, c, [](double a, double b, double c) { return a * b + c; });
}
inline half2 __hfma2_sat(half2 a, half2 b, half2 c)
{
    return emulated_halves(a, b, c, [](double a, double b, double c) {
        return std::min(std::max(a * b + c, 0.0), 1.0);
    });
}

// Of host code.
using __half = std::uint16_t;
inline __half __double2half(double x) { return emulated_half(x); }
inline float __half2float(__half x) { return float(emulated_value(x)); }
inline std::uint16_t __half_as_ushort(__half x) { return x; }

#endif /* INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_FP16_H */
