/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "input_format.h"
#include "job.h"
#include <algorithm>

namespace gr {
namespace gpufec {

const ldpc_input::kernels& ldpc_input::kernels_of(const std::string& instruction_set)
{
#ifdef GPUFEC_X86_VARIANTS
    if (instruction_set == "avx512") {
        return avx512::all;
    }
    if (instruction_set == "avx2") {
        return avx2::all;
    }
#endif
    return baseline::all;
}

input_format::input_format(const message_rule& rule, llr_format format, float llr_scale)
    : d_format(format),
      d_precision(rule.precision),
      d_factor(format == llr_format::int8 ? rule.scale / llr_scale : rule.scale),
      d_limit(rule.channel_limit),
      d_kernels(ldpc_input::kernels_of(cpu_ldpc_instruction_sets().front()))
{
    for (unsigned b = 0; b < 256; ++b) {
        d_of_byte[b] = in_steps(std::max(-127, int(std::int8_t(b))));
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
        return convert_int8(from, first, count, reinterpret_cast<std::int8_t*>(to));
    case ldpc_precision::int16:
        return convert_as(from, first, count, reinterpret_cast<std::int16_t*>(to));
    default:
        return convert_as(from, first, count, reinterpret_cast<float*>(to));
    }
}

void input_format::convert_int8(const void* from,
                                std::size_t first,
                                std::size_t count,
                                std::int8_t* to) const
{
    if (d_format == llr_format::float32) {
        d_kernels.of_floats(
            static_cast<const float*>(from) + first, count, d_factor, d_limit, to);
    } else {
        d_kernels.of_bytes(
            static_cast<const std::int8_t*>(from) + first, count, d_factor, d_limit, to);
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
        to[i] = Value(d_of_byte[bytes[i]]);
    }
}

} // namespace gpufec
} // namespace gr
