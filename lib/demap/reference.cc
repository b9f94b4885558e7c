// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "demapper.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::demap {

demapped reference_demap(const constellation& c,
                         method how,
                         symbol_format format,
                         const void* symbols,
                         std::size_t count,
                         std::optional<int> level,
                         std::int8_t* llr)
{
    std::vector<float> parts(2 * count);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto* const bytes = static_cast<const char*>(symbols);
        if (format == symbol_format::float32) {
            std::memcpy(&parts[i], bytes + 4 * i, 4);
            if (!std::isfinite(parts[i])) {
                parts[i] = 0;
            }
        } else if (format == symbol_format::int16) {
            std::int16_t x;
            std::memcpy(&x, bytes + 2 * i, 2);
            parts[i] = x;
        } else {
            parts[i] = static_cast<signed char>(bytes[i]);
        }
    }
    float largest = 0;
    for (const auto x : parts) {
        largest = std::max(largest, std::abs(x));
    }
    const auto factor = integer_factor(largest);
    std::vector<std::int16_t> integers;
    for (const auto x : parts) {
        integers.push_back(integer_part(x, factor));
    }
    moments m;
    for (std::size_t s = 0; s < count; ++s) {
        m.add(integers[2 * s], integers[2 * s + 1]);
    }
    const bool fixed = level.has_value();
    int at = fixed ? *level : estimate_level(m, count, c);
    unsigned passes = 0;
    for (;;) {
        const auto rule = cell_rule::of(m, count, c, at);
        std::uint64_t errors = 0;
        for (std::size_t s = 0; s < count; ++s) {
            const auto cell =
                make_cell(c, at, how, rule(integers[2 * s]), rule(integers[2 * s + 1]));
            errors += cell.error;
            for (unsigned b = 0; b < c.bits; ++b) {
                llr[c.bits == 2 ? 2 * s + b : c.columns[b] * count + s] = cell.llr[b];
            }
        }
        ++passes;
        const auto next = level_of_errors(errors, count);
        if (fixed || c.bits < 4 || next == at || passes == most_passes) {
            return { at, passes };
        }
        at = next;
    }
}

} // namespace gr::gpufec::demap
