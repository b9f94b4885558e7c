// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the conversion kernel for a caller's format and a precision. */

#include "common/cpu_variant.h"
#include "input_format.h"

namespace gr::gpufec::ldpc {

compiled_variants<input::kernels> input::variants() { return GPUFEC_VARIANTS(all); }

input_format::input_format(const message_rule& rule,
                           llr_format format,
                           float llr_scale,
                           unsigned positive_bit)
    : d_format(format),
      d_precision(rule.precision),
      d_factor((positive_bit ? -1 : 1) *
               (format == llr_format::float32 ? rule.scale : rule.scale / llr_scale)),
      d_limit(rule.channel_limit),
      d_kernels(input::variants().of(""))
{
}

input_format::input_format(ldpc_precision precision,
                           llr_format format,
                           float factor,
                           float limit,
                           const input::kernels& kernels)
    : d_format(format),
      d_precision(precision),
      d_factor(factor),
      d_limit(limit),
      d_kernels(kernels)
{
}

void input_format::convert(const void* from,
                           std::size_t first,
                           std::size_t count,
                           std::byte* to) const
{
    const auto convert_from = [&](auto* values, const auto& converters) {
        switch (d_precision) {
        case ldpc_precision::int8:
            return converters.to_int8(
                values, count, d_factor, d_limit, reinterpret_cast<std::int8_t*>(to));
        case ldpc_precision::int16:
            return converters.to_int16(
                values, count, d_factor, d_limit, reinterpret_cast<std::int16_t*>(to));
        default:
            return converters.to_float(
                values, count, d_factor, d_limit, reinterpret_cast<float*>(to));
        }
    };
    switch (d_format) {
    case llr_format::int8:
        return convert_from(static_cast<const std::int8_t*>(from) + first,
                            d_kernels.bytes);
    case llr_format::uint8:
        return convert_from(static_cast<const std::uint8_t*>(from) + first,
                            d_kernels.offset_bytes);
    case llr_format::float32:
        return convert_from(static_cast<const float*>(from) + first, d_kernels.floats);
    }
}

} // namespace gr::gpufec::ldpc
