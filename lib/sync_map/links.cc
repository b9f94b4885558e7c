// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "links.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

template <class Real>
link compare_as(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    const std::int64_t M = setup.window;
    const auto* const begins = reinterpret_cast<const Real*>(next.metrics);
    const auto* const ends = reinterpret_cast<const Real*>(frame.metrics);
    const Real *const began = begins, *const ahead = begins + M;
    const Real *const carried = ends + 2 * M, *const looked = ends + 3 * M;
    // Drift number m of the next frame is number m + shift of this one.
    const auto shift = std::clamp(
        next.origin - frame.origin - std::int64_t(setup.code.n()) * setup.outputs, -M, M);
    const auto low = std::max<std::int64_t>(0, -shift), high = std::min(M, M - shift);

    double outside = 0, sum_carried = 0, sum_began = 0, most_ahead = 0;
    double carried_ahead = 0, began_ahead = 0, carried_looked = 0;
    for (std::int64_t m = 0; m < M; ++m) {
        sum_carried += carried[m];
        sum_began += began[m];
        began_ahead += double(began[m]) * ahead[m];
        most_ahead = std::max(most_ahead, double(ahead[m]));
        carried_looked += double(carried[m]) * looked[m];
    }
    for (std::int64_t m = low; m < high; ++m) {
        carried_ahead += double(carried[m + shift]) * ahead[m];
    }
    link l{ 1, 1, 1 };
    if (!(sum_carried > 0 && sum_began > 0 && carried_ahead > 0 && began_ahead > 0 &&
          carried_looked > 0)) {
        return l;
    }
    double difference = 0, start = 0, end = 0;
    const double to_1[] = { 1 / sum_carried, 1 / sum_began };
    const double to_ahead[] = { 1 / carried_ahead, 1 / began_ahead };
    const double to_looked[] = { 1 / carried_looked, 1 / carried_ahead };
    for (std::int64_t m = low; m < high; ++m) {
        const double a = carried[m + shift], b = began[m], x = ahead[m];
        difference += std::abs(a * to_1[0] - b * to_1[1]);
        start += std::abs(a * to_ahead[0] - b * to_ahead[1]) * x;
        end += a * std::abs(looked[m + shift] * to_looked[0] - x * to_looked[1]);
    }
    // What lies in one of the windows only.
    for (std::int64_t m = 0; m < M; ++m) {
        if (m < low || m >= high) {
            difference += began[m] * to_1[1];
            start += began[m] * double(ahead[m]) * to_ahead[1];
        }
        if (m < low + shift || m >= high + shift) {
            outside += carried[m];
            end += double(carried[m]) * looked[m] * to_looked[0];
        }
    }
    l.difference = std::min(1.0, (difference + outside * to_1[0]) / 2);
    l.start_bound = std::min(1.0, start + outside * most_ahead * to_ahead[0]);
    l.end_bound = std::min(1.0, end);
    return l;
}

} // namespace

link compare(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    return setup.precision == sync_precision::float32
               ? compare_as<float>(setup, frame, next)
               : compare_as<double>(setup, frame, next);
}

double link_tolerance(const setup& setup)
{
    return setup.precision == sync_precision::float64 ? 1e-10 : 1e-6;
}

} // namespace gr::gpufec::sync_map
