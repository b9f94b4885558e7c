// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes the parameters of a constellation for each level of Es/N0, and converts
 * between levels and Es/N0. */

#include "rule.h"
#include <algorithm>
#include <numeric>
#include <vector>

namespace gr::gpufec::demap {

namespace {

// Returns ratio_of_moments() of the expected moments at Es/N0 \p ratio, for
// constellations whose points have one magnitude. The result differs from \p ratio,
// because the strongest symbols are erased.
double ratio_as_estimated(double ratio)
{
    if (ratio > 8) {
        return ratio; // so few symbols are erased that the estimate is unbiased
    }
    // Magnitudes have a Rice density, sampled on a grid.
    constexpr int steps = 1000;
    const double width = (1 + 6 / std::sqrt(ratio)) / steps;
    std::vector<double> density;
    for (int k = 0; k < steps; ++k) {
        const double x = (k + 0.5) * width, z = x * ratio;
        double bessel = 0, term = 1; // power series of I0(2z)
        for (int n = 1; term > 1e-12 * bessel; ++n) {
            bessel += term;
            term *= z * z / (double(n) * n);
        }
        density.push_back(x * std::exp(-(x * x + 1) * ratio) * bessel);
    }
    const auto all = std::accumulate(density.begin(), density.end(), 0.0);
    int k = 0;
    double below = 0;
    for (; below < 0.75 * all; ++k) {
        below += density[k];
    }
    const double quartile = (k - (below - 0.75 * all) / density[k - 1]) * width;
    const double most = std::sqrt(5.0) * quartile;
    double sum = 0, second = 0, fourth = 0;
    for (k = 0; k < steps && (k + 0.5) * width <= most; ++k) {
        const double energy = (k + 0.5) * width * (k + 0.5) * width;
        sum += density[k];
        second += density[k] * energy;
        fourth += density[k] * energy * energy;
    }
    return ratio_of_moments(second / sum, fourth / sum, 1, 0);
}

// Returns model::threshold for constellations whose points have one magnitude.
const std::vector<double>& phase_thresholds()
{
    static const auto made = [] {
        std::vector<double> thresholds;
        for (int level = first_level; level < last_level; ++level) {
            thresholds.push_back(ratio_as_estimated(std::pow(10, (level + 0.5) / 40)));
        }
        return thresholds;
    }();
    return made;
}

} // namespace

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
        // Cells reach three standard deviations of the noise beyond the outermost point.
        m.width[at] = (c.peak() + 3 * std::sqrt(0.5 / m.ratio[at])) / 127;
        if (at + 1 < levels) {
            m.threshold[at] = m.refines() ? std::pow(10, (first_level + at + 0.5) / 40.0)
                                          : phase_thresholds()[at];
        }
    }
    return m;
}

} // namespace gr::gpufec::demap
