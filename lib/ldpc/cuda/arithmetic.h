// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of message_rule.h on a device, one value per thread. Products and
 * sums are fused only where this changes no result, so that floats are the same as on
 * the CPU. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H
#define INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H

#include "kernels.h"
#include <type_traits>

namespace gr::gpufec::ldpc {
namespace device {

// Magnitudes of a check's messages: for the edge with the smallest variable-to-check
// magnitude (min1), and for all other edges.
template <class Value>
struct message_magnitudes {
    Value to_min1, to_all;
};

// Returns the float magnitudes of a check's messages, not yet truncated to the bits that
// are stored. \p min1, \p min2 and \p third are the check's smallest magnitudes.
__device__ inline message_magnitudes<float>
check_to_variable_without_stored_floats(float min1,
                                        float min2,
                                        float third,
                                        float offset_x2_others,
                                        float offset_x2_min,
                                        float decline,
                                        float normalization)
{
    // Fused multiply-adds have the CPU's results, because the product with \c decline is
    // exact, and either the product with \c normalization is exact or 0 is subtracted
    // from the product.
    const auto after = [decline, normalization](float m, float next, float twice) {
        const float near = __saturatef(fmaf(__fsub_rn(next, m), -decline, 0.5f));
        return __saturatef(fmaf(m, normalization, -__fmul_rn(twice, near)));
    };
    const float after_min2 = after(min2, third, offset_x2_min);
    const float after_min1 = after(min1, after_min2, offset_x2_others);
    return { min1 < min2 ? after_min2 : after_min1, after_min1 };
}

template <class Message>
struct integer_values {
    using message = Message;        // type of stored messages and channel values
    using posterior = std::int16_t; // type of stored posteriors
    using value = int;              // type for computations
    static constexpr value largest = 32767;

    static __device__ value add(value a, value b) { return a + b; }
    static __device__ value subtract(value a, value b) { return a - b; }
    static __device__ value magnitude(value a) { return abs(a); }
    static __device__ value smaller(value a, value b) { return min(a, b); }
    static __device__ value larger(value a, value b) { return max(a, b); }
    static __device__ message_magnitudes<value>
    check_to_variable(unsigned, value min1, value min2, value, const device_arithmetic& a)
    {
        const auto magnitude = [&a](value m) {
            const int x = max(0, min(m - int(a.offset), int(a.message_limit)));
            return (x * a.sixteenths + 8) >> 4;
        };
        return { magnitude(min2), magnitude(min1) };
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
    static __device__ message_magnitudes<value> check_to_variable(
        unsigned degree, value min1, value min2, value third, const device_arithmetic& a)
    {
        const auto of = [degree](const declining_offset& o) {
            return fmaf(o.per_edge, float(min(degree, o.most)), o.base); // exact
        };
        const auto truncated = [](float x) {
            return __uint_as_float(__float_as_uint(x) & kept_bits);
        };
        const auto x = check_to_variable_without_stored_floats(min1,
                                                               min2,
                                                               third,
                                                               of(a.offset_x2_others),
                                                               of(a.offset_x2_min),
                                                               a.decline,
                                                               a.normalization);
        return { truncated(x.to_min1), truncated(x.to_all) };
    }
};

//! The arithmetic for channel values of type \p Channel.
template <class Channel>
using values_of = std::conditional_t<std::is_floating_point_v<Channel>,
                                     float_values,
                                     integer_values<Channel>>;

//! The three smallest magnitudes and the product of the signs of a check's
//! variable-to-check messages.
template <class Values>
struct check_input {
    using value = typename Values::value;
    value min1 = Values::largest, min2 = min1, third = min1;
    bool negative = false;
    unsigned degree = 0;

    __device__ void add(value t)
    {
        ++degree;
        const value m = Values::magnitude(t);
        third = Values::smaller(third, Values::larger(min2, m));
        min2 = Values::smaller(min2, Values::larger(min1, m));
        min1 = Values::smaller(min1, m);
        negative ^= t < 0;
    }
    __device__ message_magnitudes<value>
    check_to_variable(const device_arithmetic& a) const
    {
        return Values::check_to_variable(degree, min1, min2, third, a);
    }
    //! Returns the check-to-variable message for variable-to-check message \p t.
    __device__ value message_to(value t,
                                const message_magnitudes<value>& magnitudes) const
    {
        const value m =
            Values::magnitude(t) == min1 ? magnitudes.to_min1 : magnitudes.to_all;
        return negative != (t < 0) ? -m : m;
    }
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_ARITHMETIC_H */
