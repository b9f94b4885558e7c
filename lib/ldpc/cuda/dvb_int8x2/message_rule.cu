// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Derives the parameters with which kernels compute the int8 message rule in 16-bit
 * floats, and compares the result with message_rule.h. */

#include "arithmetic.cuh"
#include "message_rule.h"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

double half_of(double x) { return __half2float(__double2half(x)); }

} // namespace

std::uint32_t in_both_halves(double x)
{
    const auto h = __half_as_ushort(__double2half(x));
    return h | std::uint32_t(h) << 16;
}

int8x2_message_rule::int8x2_message_rule(const message_rule& rule)
{
    const double limit = rule.message_limit;
    slope = half_of(1 / (limit * dvb_int8x2::unit));
    // Minima are raised by 1/32 step, so that halves are rounded up as in message_rule.h.
    floor = half_of((1 / 32.0 - rule.offset) / limit);
    span = half_of(limit * rule.sixteenths / 16 * dvb_int8x2::unit);
}

double int8x2_message_rule::of(int m) const
{
    const double x = std::min(
        1.0, std::max(0.0, half_of(m * double(dvb_int8x2::unit) * slope + floor)));
    return (half_of(x * span + 0.5) - 0.5) / dvb_int8x2::unit;
}

bool int8x2_message_rule::follows(const message_rule& rule) const
{
    for (int m = 0; m < 2048; ++m) {
        const int x =
            std::max(0, std::min(m - int(rule.offset), int(rule.message_limit)));
        if (of(m) != (x * rule.sixteenths + 8) >> 4) {
            return false;
        }
    }
    return true;
}

} // namespace device
} // namespace gr::gpufec::ldpc
