// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of message_rule.h on a device, one value per thread; nothing is
 * contracted, so that floats come out as they do on the CPU. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H
#define INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H

#include "cuda_kernels.h"

namespace gr::gpufec::ldpc {
namespace device {

// Magnitudes to the edge with the least, and to others.
template <class Value>
struct outgoing {
    Value to_least, to_all;
};

// In float, of a check with these least magnitudes, and twice its offsets; before what is
// kept of them.
__device__ inline outgoing<float> unkept_floats_leaving(float least,
                                                        float second,
                                                        float third,
                                                        float twice_to_all,
                                                        float twice_to_least,
                                                        float decline,
                                                        float normalization)
{
    // Products are exact, or nothing is subtracted from them: they may be contracted.
    const auto after = [decline, normalization](float m, float next, float twice) {
        const float near = __saturatef(fmaf(__fsub_rn(next, m), -decline, 0.5f));
        return __saturatef(fmaf(m, normalization, -__fmul_rn(twice, near)));
    };
    const float after_second = after(second, third, twice_to_least);
    const float after_least = after(least, after_second, twice_to_all);
    return { least < second ? after_second : after_least, after_least };
}

template <class Message>
struct integer_values {
    using message = Message;        // as stored, channel values too
    using posterior = std::int16_t; // as stored
    using value = int;              // as computed
    static constexpr value largest = 32767;

    static __device__ value add(value a, value b) { return a + b; }
    static __device__ value subtract(value a, value b) { return a - b; }
    static __device__ value magnitude(value a) { return abs(a); }
    static __device__ value smaller(value a, value b) { return min(a, b); }
    static __device__ value larger(value a, value b) { return max(a, b); }
    static __device__ outgoing<value>
    leaving(unsigned, value least, value second, value, const device_arithmetic& a)
    {
        const auto magnitude = [&a](value m) {
            const int x = max(0, min(m - int(a.offset), int(a.message_limit)));
            return (x * a.sixteenths + 8) >> 4;
        };
        return { magnitude(second), magnitude(least) };
    }
};

struct float_values {
    using message = float;
    using posterior = float;
    using value = float;
    static constexpr value largest = 3.4e38f;

    static __device__ value add(value a, value b) { return __fadd_rn(a, b); }
    static __device__ value subtract(value a, value b) { return __fsub_rn(a, b); }
    static __device__ value magnitude(value a) { return fabsf(a); }
    static __device__ value smaller(value a, value b) { return fminf(a, b); }
    static __device__ value larger(value a, value b) { return fmaxf(a, b); }
    static __device__ outgoing<value> leaving(unsigned degree,
                                              value least,
                                              value second,
                                              value third,
                                              const device_arithmetic& a)
    {
        const auto of = [degree](const declining_offset& o) {
            return fmaf(o.per_edge, float(min(degree, o.most)), o.base); // exact
        };
        const auto kept = [](float x) {
            return __uint_as_float(__float_as_uint(x) & kept_bits);
        };
        const auto x = unkept_floats_leaving(least,
                                             second,
                                             third,
                                             of(a.twice_to_all),
                                             of(a.twice_to_least),
                                             a.decline,
                                             a.normalization);
        return { kept(x.to_least), kept(x.to_all) };
    }
};

//! What a check has heard.
template <class Values>
struct heard {
    using value = typename Values::value;
    value least = Values::largest, second = least, third = least;
    bool negative = false;
    unsigned degree = 0;

    __device__ void take(value t)
    {
        ++degree;
        const value m = Values::magnitude(t);
        third = Values::smaller(third, Values::larger(second, m));
        second = Values::smaller(second, Values::larger(least, m));
        least = Values::smaller(least, m);
        negative ^= t < 0;
    }
    __device__ outgoing<value> leaving(const device_arithmetic& a) const
    {
        return Values::leaving(degree, least, second, third, a);
    }
    //! The new message of the edge that said \p t.
    __device__ value answer(value t, const outgoing<value>& magnitudes) const
    {
        const value m =
            Values::magnitude(t) == least ? magnitudes.to_least : magnitudes.to_all;
        return negative != (t < 0) ? -m : m;
    }
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H */
