// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "links.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

// Sums of a few terms at a time, each into one of so many parts, for one sum alone would
// wait for each addition. \p term(m, to) adds to Sums values.
constexpr unsigned parts = 8;

template <unsigned Sums, class Real, class Term>
std::array<double, Sums> sum_up(std::int64_t first, std::int64_t last, Term&& term)
{
    Real sums[Sums][parts] = {};
    std::int64_t m = first;
    for (; m + std::int64_t(parts) <= last; m += parts) {
        for (unsigned k = 0; k < parts; ++k) {
            Real to[Sums];
            term(m + k, to);
            for (unsigned s = 0; s < Sums; ++s) {
                sums[s][k] += to[s];
            }
        }
    }
    for (; m < last; ++m) {
        Real to[Sums];
        term(m, to);
        for (unsigned s = 0; s < Sums; ++s) {
            sums[s][0] += to[s];
        }
    }
    std::array<double, Sums> all{};
    for (unsigned s = 0; s < Sums; ++s) {
        for (const auto x : sums[s]) {
            all[s] += x;
        }
    }
    return all;
}

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

    const auto [sum_carried, sum_began, sum_ahead, sum_looked] =
        sum_up<4, Real>(0, M, [&](std::int64_t m, Real* to) {
            to[0] = carried[m];
            to[1] = began[m];
            to[2] = ahead[m];
            to[3] = looked[m];
        });
    link l{ 1, 1, 1 };
    if (!(sum_carried > 0 && sum_began > 0 && sum_ahead > 0 && sum_looked > 0)) {
        return l;
    }
    // All rows are scaled to sum 1, so that products stay within the range of a float.
    const Real a1 = 1 / sum_carried, b1 = 1 / sum_began, x1 = 1 / sum_ahead,
               y1 = 1 / sum_looked;
    const auto [began_ahead, carried_looked] =
        sum_up<2, Real>(0, M, [&](std::int64_t m, Real* to) {
            to[0] = began[m] * b1 * (ahead[m] * x1);
            to[1] = carried[m] * a1 * (looked[m] * y1);
        });
    const auto [carried_ahead] =
        sum_up<1, Real>(low, high, [&](std::int64_t m, Real* to) {
            to[0] = carried[m + shift] * a1 * (ahead[m] * x1);
        });
    if (!(carried_ahead > 0 && began_ahead > 0 && carried_looked > 0)) {
        return l;
    }
    const Real p = 1 / carried_ahead, q = 1 / began_ahead, r = 1 / carried_looked;
    const auto [difference, start, end] =
        sum_up<3, Real>(low, high, [&](std::int64_t m, Real* to) {
            const Real a = carried[m + shift] * a1, b = began[m] * b1, x = ahead[m] * x1;
            to[0] = std::abs(a - b);
            to[1] = std::abs(a * p - b * q) * x;
            to[2] = a * std::abs(looked[m + shift] * y1 * r - x * p);
        });
    // What lies in one of the windows only.
    double left = 0, left_start = 0, left_end = 0, outside = 0;
    const auto each_but = [&](std::int64_t from, std::int64_t to, auto&& use) {
        for (std::int64_t m = 0; m < from; ++m) {
            use(m);
        }
        for (std::int64_t m = to; m < M; ++m) {
            use(m);
        }
    };
    each_but(low, high, [&](std::int64_t m) {
        left += began[m] * b1;
        left_start += began[m] * b1 * q * (ahead[m] * x1);
    });
    each_but(low + shift, high + shift, [&](std::int64_t m) {
        outside += carried[m] * a1;
        left_end += carried[m] * a1 * (looked[m] * y1) * r;
    });
    // No β of boundary 0 is above 1.
    l.difference = std::min(1.0, (difference + left + outside) / 2);
    l.start_bound = std::min(1.0, start + left_start + outside * p);
    l.end_bound = std::min(1.0, end + left_end);
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
