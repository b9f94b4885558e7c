// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input symbols for the tests of demappers. */

#ifndef INCLUDED_GPUFEC_DEMAP_QA_SUPPORT_H
#define INCLUDED_GPUFEC_DEMAP_QA_SUPPORT_H

#include "constellation.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace gr::gpufec::demap {

using complexes = std::vector<std::complex<float>>;

struct sent {
    std::vector<unsigned> labels;
    complexes symbols;
};

//! Returns random symbols of a constellation with white Gaussian noise, multiplied by \p
//! amplitude.
inline sent transmit(const constellation& c,
                     std::size_t count,
                     double esn0_db,
                     double amplitude,
                     unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, std::sqrt(std::pow(10, -esn0_db / 10) / 2));
    sent made;
    for (std::size_t s = 0; s < count; ++s) {
        made.labels.push_back(random() % c.points.size());
        const std::complex<double> n(noise(random), noise(random));
        made.symbols.emplace_back(amplitude * (c.points[made.labels.back()] + n));
    }
    return made;
}

//! Returns variants of a frame of ten or more symbols. They have zeros, values that are
//! not finite, and extreme or constant amplitudes.
inline std::vector<complexes> bad_symbols(const complexes& good)
{
    const auto inf = std::numeric_limits<float>::infinity();
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<complexes> bad(8, good);
    std::fill(bad[0].begin(), bad[0].end(), 0);
    std::fill(bad[1].begin(), bad[1].end(), std::complex<float>(nan, nan));
    bad[2][7] = { inf, 1 };
    bad[2][8] = { 0, -inf };
    bad[3][7] = { 1e38f, -3e38f };
    bad[4][9] = { nan, 1 };
    for (auto& s : bad[5]) {
        s *= 1e-42f;
    }
    for (auto& s : bad[6]) {
        s *= 1e37f;
    }
    std::fill(bad[7].begin(), bad[7].end(), std::complex<float>(1, 0));
    return bad;
}

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_QA_SUPPORT_H */
