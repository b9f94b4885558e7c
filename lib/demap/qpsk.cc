// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantises QPSK symbols with the scale of the previous window. */

#include "common/cpu_variant.h"
#include "qpsk.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::gpufec::demap {

namespace {

const compiled_variants<qpsk_kernels> variants GPUFEC_VARIANTS(all);

} // namespace

qpsk_quantiser::qpsk_quantiser(symbol_format format, const std::string& variant)
    : d_format(format), d_kernels(variants.of(variant))
{
}

void qpsk_quantiser::restart()
{
    d_level = 0;
    d_window = 1;
    d_have = d_summands = 0;
    d_sum = 0;
}

template <class Part>
void qpsk_quantiser::quantise(const Part* parts,
                              std::size_t count,
                              std::int8_t* out) const
{
    const float scale = d_level > 0 ? mean_magnitude / d_level : 0;
    if constexpr (std::is_same_v<Part, float>) {
        d_kernels.quantise(parts, count, scale, out);
    } else {
        float converted[2 * max_window];
        std::copy_n(parts, count, converted);
        d_kernels.quantise(converted, count, scale, out);
    }
}

template <class Part>
void qpsk_quantiser::measure(const Part* parts, std::size_t count)
{
    constexpr auto largest = std::numeric_limits<float>::max();
    const float limit = d_level > 0 ? std::min(256 * d_level, largest) : largest;
    for (std::size_t i = 0; i < count; ++i) {
        const float magnitude = std::abs(float(parts[i]));
        const bool counts = magnitude > 0;
        d_sum += counts ? std::min(magnitude, limit) : 0;
        d_summands += counts;
    }
}

template <class Part>
void qpsk_quantiser::convert_all(const Part* parts, std::size_t count, std::int8_t* out)
{
    while (count > 0) {
        const auto n = unsigned(std::min<std::size_t>(count, d_window - d_have));
        quantise(parts, 2 * n, out);
        if (d_have < max_measured) {
            measure(parts, 2 * std::min(n, max_measured - d_have));
        }
        parts += 2 * n;
        out += 2 * n;
        count -= n;
        d_have += n;
        if (d_have == d_window) {
            if (d_summands > 0) {
                d_level = float(d_sum / d_summands);
            }
            d_window = std::min(2 * d_window, max_window);
            d_have = d_summands = 0;
            d_sum = 0;
        }
    }
}

void qpsk_quantiser::convert(const void* symbols, std::size_t count, std::int8_t* out)
{
    switch (d_format) {
    case symbol_format::float32:
        return convert_all(static_cast<const float*>(symbols), count, out);
    case symbol_format::int16:
        return convert_all(static_cast<const std::int16_t*>(symbols), count, out);
    case symbol_format::int8:
        return convert_all(static_cast<const std::int8_t*>(symbols), count, out);
    }
}

} // namespace gr::gpufec::demap
