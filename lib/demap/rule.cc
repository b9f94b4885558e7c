// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "rule.h"
#include <algorithm>

namespace gr::gpufec::demap {

std::size_t symbol_bytes(symbol_format format)
{
    return format == symbol_format::float32 ? 8 : format == symbol_format::int16 ? 4 : 2;
}

int level_of(double esn0_db)
{
    const auto db = std::isfinite(esn0_db) ? esn0_db : 0.0;
    return int(std::lrint(std::clamp(4 * db, double(first_level), double(last_level))));
}

double ratio_of(int level) { return std::pow(10, level / 40.0); }

model make_model(const constellation& c)
{
    model m{};
    m.bits = c.bits;
    m.points = std::uint32_t(c.points.size());
    for (unsigned b = 0; b < c.bits; ++b) {
        m.column[b] = c.columns[b];
    }
    m.kurtosis = c.kurtosis();
    for (unsigned label = 0; label < m.points; ++label) {
        m.i[label] = c.points[label].real();
        m.q[label] = c.points[label].imag();
    }
    for (int at = 0; at < levels; ++at) {
        m.ratio[at] = ratio_of(first_level + at);
        // Three standard deviations of the noise beyond the outermost point.
        m.width[at] = (c.peak() + 3 * std::sqrt(0.5 / m.ratio[at])) / 127;
        if (at + 1 < levels) {
            m.threshold[at] = std::pow(10, (first_level + at + 0.5) / 40.0);
        }
    }
    return m;
}

} // namespace gr::gpufec::demap
