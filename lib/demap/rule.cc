// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "rule.h"
#include <algorithm>
#include <cmath>

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

// 2^14 and less is the largest part.
float integer_factor(float largest)
{
    if (!(largest > 0)) {
        return 0;
    }
    int exponent;
    std::frexp(largest, &exponent); // largest < 2^exponent
    return std::ldexp(1.0f, std::clamp(14 - exponent, -120, 120));
}

int estimate_level(const moments& m, std::size_t symbols, const constellation& c)
{
    const double second = double(m.squares) / symbols;
    const double fourth = double(m.fourth) * 4096 / symbols;
    const double signal_squared = (2 * second * second - fourth) / (2 - c.kurtosis());
    if (!(signal_squared > 0)) {
        return first_level;
    }
    const double signal = std::sqrt(signal_squared);
    const double noise = second - signal;
    return noise > 0 ? level_of(10 * std::log10(signal / noise)) : last_level;
}

double cell_width(const constellation& c, int level)
{
    // Three standard deviations of the noise beyond the outermost point.
    return (c.peak() + 3 * std::sqrt(0.5 / ratio_of(level))) / 127;
}

cell_rule
cell_rule::of(const moments& m, std::size_t symbols, const constellation& c, int level)
{
    const double power = double(m.squares) / symbols;
    const double ratio = ratio_of(level);
    const double amplitude = std::sqrt(power * ratio / (1 + ratio));
    return { amplitude > 0 ? float(1 / (amplitude * cell_width(c, level))) : 0 };
}

cell make_cell(
    const constellation& c, int level, method how, std::int32_t i, std::int32_t q)
{
    const auto width = cell_width(c, level), ratio = ratio_of(level);
    const std::complex<double> y(i * width, q * width);
    double exponents[32], best = -1e300; // of the points' likelihoods
    for (unsigned label = 0; label < c.points.size(); ++label) {
        exponents[label] = -std::norm(y - c.points[label]) * ratio;
        best = std::max(best, exponents[label]);
    }
    cell made{};
    const auto steps = [](double llr) {
        return std::int8_t(
            std::nearbyint(std::clamp(llr * steps_per_nat, -127.0, 127.0)));
    };
    if (c.bits == 2) { // each part has a bit of its own
        made.llr[0] = steps(std::sqrt(8) * i * width * ratio);
        made.llr[1] = steps(std::sqrt(8) * q * width * ratio);
        return made;
    }
    for (unsigned b = 0; b < c.bits; ++b) {
        double most[2] = { -1e300, -1e300 }, sum[2] = {};
        for (unsigned label = 0; label < c.points.size(); ++label) {
            const auto bit = label >> (c.bits - 1 - b) & 1;
            most[bit] = std::max(most[bit], exponents[label]);
        }
        double llr = most[0] - most[1];
        if (how == method::log_map) {
            for (unsigned label = 0; label < c.points.size(); ++label) {
                const auto bit = label >> (c.bits - 1 - b) & 1;
                const auto e = exponents[label] - most[bit];
                sum[bit] += e > -20 ? std::exp(e) : 0;
            }
            llr += std::log(sum[0] / sum[1]);
        }
        made.llr[b] = steps(llr);
    }
    double weight = 0, error = 0;
    for (unsigned label = 0; label < c.points.size(); ++label) {
        const auto e = exponents[label];
        if (e > best - 20) { // the others add nothing
            const auto w = std::exp(e - best);
            weight += w;
            error -= w * e / ratio;
        }
    }
    made.error = std::uint16_t(std::min(std::nearbyint(4096 * error / weight), 65535.0));
    return made;
}

int level_of_errors(std::uint64_t errors, std::size_t symbols)
{
    return errors == 0 ? last_level
                       : level_of(-10 * std::log10(double(errors) / (4096.0 * symbols)));
}

} // namespace gr::gpufec::demap
