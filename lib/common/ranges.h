// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks of ranges that several floating-point parameters share. */

#ifndef INCLUDED_GPUFEC_COMMON_RANGES_H
#define INCLUDED_GPUFEC_COMMON_RANGES_H

#include "refuse.h"
#include <cmath>
#include <string>

namespace gr::gpufec {

//! Throws std::invalid_argument unless \p value is finite and above 0.
template <class Real>
void require_above_0(const std::string& name, Real value)
{
    require(std::isfinite(value) && value > 0, name, value, "finite values above 0");
}

//! Throws std::invalid_argument unless \p value is finite and 0 or more.
template <class Real>
void require_from_0(const std::string& name, Real value)
{
    require(
        std::isfinite(value) && value >= 0, name, value, "finite values of 0 or more");
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_RANGES_H */
