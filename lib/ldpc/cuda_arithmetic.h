// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of message_rule.h on a device, one value per thread; nothing is
 * contracted, so that floats come out as they do on the CPU. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H
#define INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H

#include "cuda_kernels.h"

namespace gr::gpufec::ldpc {
namespace device {

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
    static __device__ value outgoing(value least, const device_arithmetic& a)
    {
        const int x = max(0, min(least - int(a.offset), int(a.message_limit)));
        return (x * a.sixteenths + 8) >> 4;
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
    static __device__ value outgoing(value least, const device_arithmetic& a)
    {
        const float x = fmaxf(fminf(__fsub_rn(least, a.offset), a.message_limit), 0.0f);
        return __fmul_rn(x, a.normalization);
    }
};

//! What a check has heard.
template <class Values>
struct heard {
    using value = typename Values::value;
    value least = Values::largest, second = Values::largest;
    bool negative = false;

    __device__ void take(value t)
    {
        const value m = Values::magnitude(t);
        second = Values::smaller(second, Values::larger(least, m));
        least = Values::smaller(least, m);
        negative ^= t < 0;
    }
    //! The new message of the edge that said \p t.
    __device__ value answer(value t, value to_all, value to_least) const
    {
        const value m = Values::magnitude(t) == least ? to_least : to_all;
        return negative != (t < 0) ? -m : m;
    }
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H */
