// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds decoded frames, compares them at their boundaries, and decides which frames are
 * decoded again. */

#include "stream_results.h"
#include <algorithm>
#include <utility>

namespace gr::gpufec::sync_map {

stream_results::stream_results(const setup& setup, std::uint64_t first, order again)
    : d_setup(setup),
      d_first(first),
      d_again(std::move(again)),
      d_tolerance(boundary_match_tolerance(setup))
{
}

void stream_results::add(const stream_frame& f, bool known)
{
    auto& e = d_frames.add();
    e.frame = f;
    e.copied = false;
    e.version = 0;
    e.from = known ? 0 : -1;
    e.compared_with = -1;
    e.matches = e.redecoding = false;
}

std::uint64_t stream_results::next() const
{
    if (d_proven < d_frames.size()) {
        return d_frames[d_proven].frame.number;
    }
    return d_frames.empty() ? (d_any ? d_before.frame.number + 1 : d_first)
                            : d_frames.back().frame.number + 1;
}

void stream_results::replace(const stream_frame& f)
{
    auto& e = d_frames[f.number - d_frames.front().frame.number];
    e.redecoding = false;
    e.compared_with = -1;
    // The new result was decoded from the previous frame's end metrics. If it is not
    // locked, or if its log-probability is lower by more than `slip` nats, items were
    // probably lost or inserted before the frame. A locked first result is then retained.
    constexpr double slip = 30;
    const bool own = e.frame.locked && (!f.locked || e.frame.status.log_probability >
                                                         f.status.log_probability + slip);
    if (!own) {
        e.frame = f;
        e.copied = false;
        keep(e);
        ++e.version;
    } else {
        e.frame.bound = 1;
    }
}

void stream_results::compare_with_previous(const entry& before, entry& e)
{
    e.compared_with = before.version;
    const bool as_compared = e.frame.compared && before.version == 0 && e.version == 0;
    const auto l = as_compared ? e.frame.to_previous
                               : compare(d_setup, before.ends(d_setup), e.ends(d_setup));
    if (e.from == long(before.version)) {
        e.matches = true;
        e.frame.bound = std::max<double>(e.frame.bound, l.end_bound);
        return;
    }
    ++d_boundary_matches;
    e.matches = l.difference <= d_tolerance && l.start_bound <= 10 * d_tolerance;
    e.frame.bound = std::max(l.start_bound, l.end_bound);
    if (e.matches) {
        return;
    }
    ++d_failed;
    if (!before.frame.locked) {
        // The end metrics of an unlocked frame are no more reliable than a search.
        e.matches = true;
        e.frame.bound = 1;
    } else {
        ++d_unproven;
    }
}

void stream_results::compare_boundaries()
{
    for (std::size_t i = d_proven; i < d_frames.size(); ++i) {
        auto& e = d_frames[i];
        if (i == 0 && !d_any) {
            e.matches = true; // no frame precedes the first frame of the stream
        } else {
            const auto& before = i == 0 ? d_before : d_frames[i - 1];
            const bool stays = i <= d_proven || before.matches;
            if (before.redecoding || e.redecoding) {
                continue;
            }
            if (e.compared_with != long(before.version)) {
                compare_with_previous(before, e);
            }
            if (!e.matches && stays) {
                e.redecoding = true;
                e.from = before.version;
                d_again(e.frame.number, before.ends(d_setup));
            }
        }
        if (i == d_proven && e.matches && !e.redecoding) {
            ++d_proven;
        }
    }
}

void stream_results::pop()
{
    auto& e = d_frames.front();
    if (e.copied || d_frames.size() == 1) {
        keep(e);
        std::swap(d_before, e);
        d_any = true;
    }
    d_frames.pop();
    --d_proven;
}

void stream_results::keep(entry& e) const
{
    if (!e.copied) {
        e.memory.assign(e.frame.output, e.frame.output + d_setup.output_bytes());
        e.frame.output = e.memory.data();
        e.copied = true;
    }
}

void stream_results::keep()
{
    for (std::size_t i = 0; i < d_frames.size(); ++i) {
        keep(d_frames[i]);
    }
}

const frame_ends* stream_results::abandon()
{
    d_frames.cut(d_proven);
    if (d_frames.empty() && !d_any) {
        return nullptr;
    }
    const auto& e = d_frames.empty() ? d_before : d_frames.back();
    d_last = e.ends(d_setup);
    return &d_last;
}

} // namespace gr::gpufec::sync_map
