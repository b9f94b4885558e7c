/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "input_format.h"
#include <type_traits>
#include <algorithm>

namespace gr {
namespace gpufec {

input_format::input_format(const message_rule& rule, llr_format format, float llr_scale)
    : d_format(format),
      d_precision(rule.precision),
      d_factor(format == llr_format::int8 ? rule.scale / llr_scale : rule.scale),
      d_limit(rule.channel_limit)
{
    for (unsigned b = 0; b < 256; ++b) {
        d_of_byte[b] = in_steps(std::max(-127, int(std::int8_t(b))));
        d_byte_of_byte[b] = d_precision == ldpc_precision::int8 ? d_of_byte[b] : 0;
    }
}

float input_format::in_steps(float value) const
{
    const float x = value == value ? value * d_factor : 0.0f;
    const float clamped = std::min(std::max(x, -d_limit), d_limit);
    if (d_precision == ldpc_precision::float32) {
        return clamped;
    }
    // Rounds to even: beyond 2^23 a float has no fraction. Unlike a call of rint() this
    // is done for many values at once.
    constexpr float whole = 12582912.0f;
    return (clamped + whole) - whole;
}

void input_format::convert(const void* from,
                           std::size_t first,
                           std::size_t count,
                           std::byte* to) const
{
    switch (d_precision) {
    case ldpc_precision::int8:
        return convert_as(from, first, count, reinterpret_cast<std::int8_t*>(to));
    case ldpc_precision::int16:
        return convert_as(from, first, count, reinterpret_cast<std::int16_t*>(to));
    default:
        return convert_as(from, first, count, reinterpret_cast<float*>(to));
    }
}

template <class Value>
void input_format::convert_as(const void* from,
                              std::size_t first,
                              std::size_t count,
                              Value* to) const
{
    if (d_format == llr_format::float32) {
        const auto* const values = static_cast<const float*>(from) + first;
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = Value(in_steps(values[i]));
        }
        return;
    }
    const auto* const bytes = static_cast<const std::uint8_t*>(from) + first;
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Value, std::int8_t>) {
            to[i] = d_byte_of_byte[bytes[i]];
        } else {
            to[i] = Value(d_of_byte[bytes[i]]);
        }
    }
}

} // namespace gpufec
} // namespace gr
