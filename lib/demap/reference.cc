// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The reference demapper, which applies rule.h to each symbol without tables. */

#include "demapper.h"
#include <cmath>
#include <cstring>
#include <numeric>

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
    std::vector<std::uint32_t> classes(energy_classes::count);
    const scale_samples samples(count);
    for (std::uint32_t n = 0; n < samples.count; ++n) {
        if (const auto s = samples(n); s < count) {
            ++classes[energy_classes::of(parts[2 * s], parts[2 * s + 1])];
        }
    }
    const auto all = std::accumulate(classes.begin() + 1, classes.end(), 0u);
    integer_rule rule;
    for (std::uint32_t c = 1, before = 0; c < classes.size(); before += classes[c++]) {
        if (has_quartile(before, classes[c], all)) {
            rule = integer_rule::of(c, before, classes[c], all);
        }
    }
    std::vector<std::int16_t> integers;
    for (const auto x : parts) {
        integers.push_back(rule(x));
    }
    frame_moments sums;
    for (std::uint32_t s = 0; s < count; ++s) {
        const auto energy = integer_rule::energy(integers[2 * s], integers[2 * s + 1]);
        if (!rule.erases(energy)) {
            sums.part[s / part_length(count)].add(energy);
        }
    }
    const auto fading = sums.fading();
    level_search search;
    search.begin(level == estimated ? estimate_level(sums, fading, m) : level);
    for (;;) {
        std::uint64_t errors = 0;
        for (std::uint32_t s = 0; s < count; ++s) {
            const auto i = integers[2 * s], q = integers[2 * s + 1];
            const auto scale =
                cell_rule::of(sums, s / part_length(count), fading, m, search.level);
            cell made{};
            if (!rule.erases(integer_rule::energy(i, q)) && scale.factor != 0) {
                made = make_cell(m, search.level, how, scale(i), scale(q));
            }
            errors += made.error;
            for (unsigned b = 0; b < m.bits; ++b) {
                const auto place = m.place(s, b, count);
                if (place < frame_bits) { // the last symbol may have unused bits
                    llr[place] = made.llr[b];
                }
            }
        }
        if (level != estimated || !m.refines() ||
            !search.go_on(errors, sums.whole().symbols)) {
            return { search.level, search.passes };
        }
    }
}

} // namespace gr::gpufec::demap
