// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes the number of errors that a probability of false alarm allows in a marker. */

#include "common/refuse.h"
#include "sync_marker.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::framing {

double chance_of_marker(unsigned bits, unsigned errors)
{
    double term = std::ldexp(1.0, -int(bits)), sum = term;
    for (unsigned i = 1; i <= errors && i <= bits; ++i) {
        term *= double(bits - i + 1) / i;
        sum += term;
    }
    return sum;
}

marker_tolerance tolerance(const sync_marker& marker,
                           std::size_t period,
                           unsigned hypotheses,
                           double false_alarm)
{
    require(false_alarm > 0 && false_alarm < 1,
            "false_alarm",
            false_alarm,
            "above 0 and below 1");
    const auto positions = double(period) * hypotheses;
    const auto searched = [&](unsigned errors) {
        const auto p = chance_of_marker(marker.bits, errors);
        return positions * p * p <= false_alarm && positions * p <= 1;
    };
    const auto tracked = [&](unsigned errors) {
        const auto p = 2 * chance_of_marker(marker.bits, errors);
        return p * p <= false_alarm;
    };
    if (!searched(0) || !tracked(0)) {
        const auto p = chance_of_marker(marker.bits, 0);
        refuse("false_alarm",
               false_alarm,
               "allowed values are from " +
                   value_text(float(1.01 * std::max(positions, 4.0) * p * p)) +
                   " on with this code");
    }
    marker_tolerance found{ 0, 0 };
    while (searched(found.search + 1)) {
        ++found.search;
    }
    while (tracked(found.track + 1)) {
        ++found.track;
    }
    return found;
}

} // namespace gr::gpufec::framing
