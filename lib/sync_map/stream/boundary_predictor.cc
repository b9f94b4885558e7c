// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Predicts beginnings of frames from anchors, which the CPU searches for. */

#include "boundary_predictor.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {

boundary_predictor::boundary_predictor(const setup& setup)
    : d_setup(setup),
      d_mean(drift_spread(setup.channel, setup.code.frame_bits()).mean),
      d_finder(setup, cpu_kernels())
{
}

void boundary_predictor::begin(std::uint64_t frame, std::int64_t origin)
{
    d_frame = frame;
    d_origin = origin;
}

std::int64_t boundary_predictor::expected(std::uint64_t frame) const
{
    const auto frames = std::int64_t(frame - d_frame);
    return d_origin + frames * d_setup.code.frame_bits() +
           std::llround(double(frames) * d_mean);
}

boundary_match_header boundary_predictor::look(std::int64_t guess,
                                               const stream_cutter& stream,
                                               unsigned warmup,
                                               double accepted)
{
    const auto first = std::max(stream.first_item(), guess - items_before());
    return d_finder.find(stream.items(first, guess + items_after()),
                         guess - first,
                         warmup,
                         d_setup.search.radius,
                         accepted,
                         nullptr);
}

std::int64_t boundary_predictor::guess(std::uint64_t frame, const stream_cutter& stream)
{
    const auto& s = d_setup.search;
    for (auto next = (d_frame / s.anchors + 1) * s.anchors; next <= frame;
         next += s.anchors) {
        // The threshold is twice that of other frames, because an error would affect all
        // frames up to the next anchor.
        const double accepted = 2 * s.accepted;
        const auto guess = expected(next);
        const auto first = std::max(stream.first_item(), guess - items_before());
        auto found = d_finder.find_coarse(stream.items(first, guess + items_after()),
                                          guess - first,
                                          s.warmup,
                                          accepted);
        if (!found.found) {
            found = look(guess, stream, s.warmup, accepted);
        }
        if (!found.found) {
            found = look(guess, stream, s.max_warmup, accepted);
        }
        d_origin = guess + found.origin;
        d_frame = next;
    }
    return expected(frame);
}

std::int64_t boundary_predictor::find(std::int64_t guess, const stream_cutter& stream)
{
    return guess +
           look(guess, stream, d_setup.search.warmup, d_setup.search.accepted).origin;
}

std::int64_t boundary_predictor::items_before() const
{
    const auto& s = d_setup.search;
    return std::int64_t(d_setup.code.n()) * s.max_warmup + s.most + 2 * s.window +
           d_setup.window;
}

std::int64_t boundary_predictor::items_after() const
{
    const auto& s = d_setup.search;
    return std::int64_t(d_setup.code.n()) * d_setup.symbols + s.most + 2 * s.window +
           d_setup.window;
}

} // namespace gr::gpufec::sync_map
