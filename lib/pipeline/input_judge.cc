// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Statistics of input samples, and the default chance error rate of an input_judge. */

#include "input_judge.h"
#include <cmath>
#include <limits>
#include <sstream>

namespace gr::gpufec {

double input_judge::chance_error_rate() const
{
    return std::numeric_limits<double>::quiet_NaN();
}

namespace {

template <class Item>
sample_facts facts(const Item* values, std::size_t count)
{
    sample_facts f;
    f.items = count;
    double sums[5] = {}; // moments: sums of powers of the magnitudes
    for (std::size_t i = 0; i < count; ++i) {
        const double x = values[i];
        f.zeros += !(x < 0 || x > 0); // NaN counts as an erasure, like 0
        f.ones += x == 1;
        const double size = std::isfinite(x) ? std::abs(x) : 0;
        sums[1] += size;
        sums[2] += size * size;
        sums[4] += size * size * size * size;
    }
    const double n = double(count - f.zeros);
    if (n > 0) {
        f.mean = sums[1] / n;
        const double m2 = sums[2] / n, m4 = sums[4] / n;
        f.spread = std::sqrt(std::max(0.0, m2 - f.mean * f.mean)) / f.mean;
        // If x is ±a plus Gaussian noise of variance s²:
        // E x² = a² + s², E x⁴ = a⁴ + 6a²s² + 3s⁴.
        const double a2 = std::sqrt(std::max(0.0, (3 * m2 * m2 - m4) / 2));
        f.amplitude = std::sqrt(std::min(a2, m2));
        f.noise = std::sqrt(std::max(0.0, m2 - a2));
    }
    return f;
}

} // namespace

sample_facts facts_of(const float* values, std::size_t count)
{
    return facts(values, count);
}
sample_facts facts_of(const std::int8_t* values, std::size_t count)
{
    return facts(values, count);
}

std::string short_number(double x)
{
    std::ostringstream out;
    out.precision(3);
    out << x;
    return out.str();
}

} // namespace gr::gpufec
