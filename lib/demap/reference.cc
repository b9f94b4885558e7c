// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "demapper.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::demap {

demapped reference_demap(const model& m,
                         method how,
                         symbol_format format,
                         const void* symbols,
                         std::uint32_t frame_bits,
                         int level,
                         std::int8_t* llr)
{
    const auto count = m.symbols(frame_bits);
    std::vector<float> parts(2 * std::size_t(count));
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
    moments sums;
    for (std::size_t s = 0; s < count; ++s) {
        sums.add(integers[2 * s], integers[2 * s + 1]);
    }
    level_search search;
    search.begin(level == estimated ? estimate_level(sums, count, m) : level);
    for (;;) {
        const auto rule = cell_rule::of(sums, count, m, search.level);
        std::uint64_t errors = 0;
        for (std::uint32_t s = 0; s < count; ++s) {
            const auto cell = make_cell(
                m, search.level, how, rule(integers[2 * s]), rule(integers[2 * s + 1]));
            errors += cell.error;
            for (unsigned b = 0; b < m.bits; ++b) {
                const auto place = m.place(s, b, count);
                if (place < frame_bits) { // else it fills up the last symbol
                    llr[place] = cell.llr[b];
                }
            }
        }
        if (level != estimated || !m.refines() || !search.go_on(errors, count)) {
            return { search.level, search.passes };
        }
    }
}

} // namespace gr::gpufec::demap
