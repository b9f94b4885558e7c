// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares the metrics of consecutive frames at their common boundary on the CPU. */

#include "boundary_matches.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::sync_map {

namespace {

// The function object \c sum of boundary_match_of() (see boundary_match_rule.h).
template <class Real>
struct sum_of_parts {
    template <class Term, unsigned Sums>
    void operator()(int first, int last, Term&& term, double (&all)[Sums]) const
    {
        Real sums[boundary_match_parts][Sums] = {};
        int m = first;
        const auto add = [&](int k) {
            Real to[Sums];
            term(m + k, to);
            for (unsigned s = 0; s < Sums; ++s) {
                sums[k][s] += to[s];
            }
        };
        for (; m + boundary_match_parts <= last; m += boundary_match_parts) {
            for (int k = 0; k < boundary_match_parts; ++k) {
                add(k);
            }
        }
        for (int k = 0; k < last - m; ++k) {
            add(k);
        }
        for (unsigned s = 0; s < Sums; ++s) {
            all[s] = 0;
            for (const auto& part : sums) {
                all[s] += part[s];
            }
        }
    }
};

template <class Real>
boundary_match
compare_as(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    const int M = setup.window;
    const auto* const ends = reinterpret_cast<const Real*>(frame.metrics);
    const auto* const begins = reinterpret_cast<const Real*>(next.metrics);
    return boundary_match_of<Real>(ends + 2 * M,
                                   ends + 3 * M,
                                   begins,
                                   begins + M,
                                   M,
                                   boundary_match_shift(setup, frame.origin, next.origin),
                                   sum_of_parts<Real>{});
}

} // namespace

int boundary_match_shift(const setup& setup, std::int64_t origin, std::int64_t next)
{
    const std::int64_t M = setup.window;
    return int(
        std::clamp(next - origin - std::int64_t(setup.code.n()) * setup.outputs, -M, M));
}

boundary_match
compare(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    return setup.precision == sync_precision::float32
               ? compare_as<float>(setup, frame, next)
               : compare_as<double>(setup, frame, next);
}

void compare_found(const setup& setup, const std::byte* before, std::byte* next)
{
    boundary_match_header last, header;
    std::memcpy(&last, before + setup.boundary_matches_at(), sizeof(last));
    std::memcpy(&header, next + setup.boundary_matches_at(), sizeof(header));
    header.to_previous = compare(setup,
                                 { before + setup.metrics_at(), last.origin },
                                 { next + setup.metrics_at(), header.origin });
    header.compared = 1;
    std::memcpy(next + setup.boundary_matches_at(), &header, sizeof(header));
}

double boundary_match_tolerance(const setup& setup)
{
    return setup.precision == sync_precision::float64 ? 1e-10 : 1e-6;
}

} // namespace gr::gpufec::sync_map
