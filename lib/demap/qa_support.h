// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input symbols for the tests of demappers. */

#ifndef INCLUDED_GPUFEC_DEMAP_QA_SUPPORT_H
#define INCLUDED_GPUFEC_DEMAP_QA_SUPPORT_H

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

namespace gr::gpufec::demap {

//! Returns variants of a frame of ten or more symbols. They have zeros, values that are
//! not finite, and extreme or constant amplitudes.
inline std::vector<std::vector<std::complex<float>>>
bad_symbols(const std::vector<std::complex<float>>& good)
{
    const auto inf = std::numeric_limits<float>::infinity();
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::vector<std::complex<float>>> bad(8, good);
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
