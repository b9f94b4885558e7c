// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "links.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::sync_map {

namespace {

// Sums all parts at once.
template <class Real>
struct sum_of_parts {
    template <class Term, unsigned Sums>
    void operator()(int first, int last, Term&& term, double (&all)[Sums]) const
    {
        Real sums[link_parts][Sums] = {};
        int m = first;
        const auto add = [&](int k) {
            Real to[Sums];
            term(m + k, to);
            for (unsigned s = 0; s < Sums; ++s) {
                sums[k][s] += to[s];
            }
        };
        for (; m + link_parts <= last; m += link_parts) {
            for (int k = 0; k < link_parts; ++k) {
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
link compare_as(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    const int M = setup.window;
    const auto* const ends = reinterpret_cast<const Real*>(frame.metrics);
    const auto* const begins = reinterpret_cast<const Real*>(next.metrics);
    return link_of<Real>(ends + 2 * M,
                         ends + 3 * M,
                         begins,
                         begins + M,
                         M,
                         link_shift(setup, frame.origin, next.origin),
                         sum_of_parts<Real>{});
}

} // namespace

int link_shift(const setup& setup, std::int64_t origin, std::int64_t next)
{
    const std::int64_t M = setup.window;
    return int(
        std::clamp(next - origin - std::int64_t(setup.code.n()) * setup.outputs, -M, M));
}

link compare(const setup& setup, const frame_ends& frame, const frame_ends& next)
{
    return setup.precision == sync_precision::float32
               ? compare_as<float>(setup, frame, next)
               : compare_as<double>(setup, frame, next);
}

void compare_found(const setup& setup, const std::byte* before, std::byte* next)
{
    link_header last, header;
    std::memcpy(&last, before + setup.links_at(), sizeof(last));
    std::memcpy(&header, next + setup.links_at(), sizeof(header));
    header.to_previous = compare(setup,
                                 { before + setup.metrics_at(), last.origin },
                                 { next + setup.metrics_at(), header.origin });
    header.compared = 1;
    std::memcpy(next + setup.links_at(), &header, sizeof(header));
}

double link_tolerance(const setup& setup)
{
    return setup.precision == sync_precision::float64 ? 1e-10 : 1e-6;
}

} // namespace gr::gpufec::sync_map
