// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Cuts a stream into frames and writes their inputs. The first frame's beginning is found
 * by a search over offsets, and later beginnings by the forward recursion. */

#include "stream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {

double lock_limit(const sync_options& o)
{
    const double worth = evidence_per_item(o);
    return worth > 0 ? std::log(2.0) * worth / 2 : -INFINITY;
}

stream_cutter::stream_cutter(const sync_options& options, const setup& setup)
    : d_options(options),
      d_setup(setup),
      d_window(decoder_window(options)),
      d_carrier(setup),
      d_items(setup.item_bytes()),
      d_alpha(window_metrics({}, d_window)),
      d_acquired(options.acquire == 0)
{
    if (!d_acquired) {
        const unsigned span = std::min(options.code.frame_bits() - 1, options.acquire);
        auto wide = setup;
        wide.form = sync_form::linear;
        wide.window += span;
        wide.max_items += span;
        wide.drifts = true;
        wide.output = sync_output::symbols;
        d_search = std::make_unique<search>(std::move(wide), cpu_kernels());
    }
}

stream_cutter::search::search(setup s, const lane_kernels& kernels)
    : wide(std::move(s)),
      group(wide, std::make_shared<word_tries>(wide.code), kernels),
      input(wide.input_bytes()),
      output(wide.output_bytes())
{
}

void stream_cutter::resume(stream_cutter&& other)
{
    d_items = std::move(other.d_items);
    d_origin = other.d_origin;
    d_acquired = other.d_acquired;
    if (d_acquired) {
        d_search.reset();
    }
    d_finished = other.d_finished;
    d_alpha = window_metrics({ other.d_window.first, other.d_alpha }, d_window);
}

void stream_cutter::push(const void* items, std::size_t count)
{
    d_items.push(static_cast<const std::byte*>(items), count);
}

bool stream_cutter::ready() const
{
    const std::int64_t n = d_setup.code.n();
    if (d_finished) {
        // The last frame is decoded only if deletions can explain all missing items.
        return received() > d_origin &&
               d_origin + n * d_setup.outputs + d_window.first <= received();
    }
    const std::int64_t offsets = d_acquired ? 0 : d_options.acquire;
    return d_origin + offsets + n * d_setup.symbols + d_window.last <= received();
}

stream_cutter::place stream_cutter::place_of(std::int64_t origin) const
{
    const auto whole = std::int64_t(d_setup.code.n()) * d_setup.symbols;
    return { origin, d_finished ? std::min(whole, received() - origin) : whole };
}

stream_cutter::place stream_cutter::write(std::byte* frame)
{
    if (!d_acquired) {
        acquire();
    }
    const auto at = place_of(d_origin);
    fill(d_setup, at.origin, d_window, d_alpha, frame);
    advance(frame);
    return at;
}

stream_cutter::place stream_cutter::write(const frame_ends& before,
                                          std::byte* frame) const
{
    const auto begin = after(before);
    fill(d_setup, begin.origin, d_window, begin.alpha, frame);
    return place_of(begin.origin);
}

item_span stream_cutter::items(std::int64_t first, std::int64_t last) const
{
    return d_items.span(std::max(first, first_item()), std::min(last, received()));
}

void stream_cutter::copy(std::int64_t first, std::int64_t last, std::byte* to) const
{
    const std::int64_t size = d_setup.item_bytes();
    const auto there = std::clamp(received(), first, std::max(first, last));
    d_items.copy(first, there, to);
    erase(to + (there - first) * size, last - there);
}

void stream_cutter::erase(std::byte* to, std::int64_t count) const
{
    // The byte 0xff makes every item an erasure: as a float it is a NaN, and as a symbol
    // it is outside the alphabet.
    std::fill_n(
        to, std::max<std::int64_t>(0, count) * d_setup.item_bytes(), std::byte(0xff));
}

void stream_cutter::fill(const setup& setup,
                         std::int64_t origin,
                         drift_range window,
                         const std::vector<double>& start,
                         std::byte* frame) const
{
    const auto begin = std::max(first_item(), origin + window.first);
    const auto end = origin + std::int64_t(setup.code.n()) * setup.symbols + window.last;
    const std::int64_t there =
        std::max<std::int64_t>(0, std::min(end, received()) - begin);
    // Items after the end of the stream count as erasures.
    const std::int64_t count = d_finished ? std::max(there, end - begin) : there;
    write_frame(setup,
                { std::int32_t(count), std::int32_t(origin - begin), window.first, 0 },
                start,
                std::vector<double>(setup.window, 1.0),
                nullptr,
                frame);
    const auto size = setup.item_bytes();
    auto* const to = frame + setup.items_at();
    d_items.copy(begin, begin + there, to);
    erase(to + there * size, count - there);
}

// Runs the forward recursion over the frame, moves on to the next, and drops items that
// no frame needs.
void stream_cutter::advance(const std::byte* frame)
{
    std::vector<double> next(d_window.size());
    d_carrier.carry(frame, next.data());
    auto begin = after(d_origin, next.data());
    d_origin = begin.origin;
    d_alpha = std::move(begin.alpha);
    const auto& s = d_setup.search;
    forget(d_origin - std::int64_t(d_setup.code.n()) * s.max_warmup - s.most -
           2 * s.window - d_setup.window);
}

// Returns the beginning of the next frame, whose window is centred on the mean of α.
stream_cutter::beginning stream_cutter::after(std::int64_t origin,
                                              const double* carried) const
{
    const int M = d_window.size();
    double sum = 0, mean = 0;
    for (int m = 0; m < M; ++m) {
        sum += carried[m];
        mean += carried[m] * (d_window.first + m);
    }
    const int shift = sum > 0 ? int(std::lround(mean / sum)) : 0;
    // If no path explains the items, all drifts start with the same weight.
    std::vector<double> alpha(M, sum > 0 ? 0 : 1);
    for (int m = 0; sum > 0 && m < M; ++m) {
        const int from = m + shift;
        alpha[m] = from >= 0 && from < M ? carried[from] / sum : 0;
    }
    return { origin + std::int64_t(d_setup.code.n()) * d_setup.outputs + shift, alpha };
}

stream_cutter::beginning stream_cutter::after(const frame_ends& before) const
{
    const auto M = d_window.size();
    std::vector<double> carried(M);
    const auto* const row = before.metrics + 2 * M * d_setup.metric_bytes();
    for (unsigned m = 0; m < M; ++m) {
        float narrow;
        if (d_setup.metric_bytes() == sizeof(narrow)) {
            std::memcpy(&narrow, row + m * sizeof(narrow), sizeof(narrow));
            carried[m] = narrow;
        } else {
            std::memcpy(&carried[m], row + m * sizeof(double), sizeof(double));
        }
    }
    return after(before.origin, carried.data());
}

void stream_cutter::begin_after(const frame_ends& before)
{
    auto begin = after(before);
    d_origin = begin.origin;
    d_alpha = std::move(begin.alpha);
}

// Finds the first boundary. All frame boundaries in the items are equally likely, so the
// search covers ranges of one frame's length in order, and stops at the first range whose
// most likely offset is locked. If there is no such range, the most likely offset of all
// ranges is used.
void stream_cutter::acquire()
{
    const auto frame = std::uint64_t(d_setup.code.n()) * d_setup.outputs;
    const auto there = std::uint64_t(std::max<std::int64_t>(1, received() - d_origin));
    boundary best{ 0, -INFINITY };
    for (std::uint64_t first = 0; first <= d_options.acquire && first < there;
         first += frame) {
        const auto last = std::min<std::uint64_t>(first + frame - 1, d_options.acquire);
        const auto found = most_likely_boundary(first, last);
        if (found.log_probability > best.log_probability) {
            best = found;
        }
        if (found.log_probability > lock_limit(d_options)) {
            best = found;
            break;
        }
    }
    d_origin += best.offset;
    for (unsigned m = 0; m < d_window.size(); ++m) {
        const int from = best.offset + d_window.first + int(m);
        d_alpha[m] = from >= 0 && from <= int(d_options.acquire);
    }
    d_acquired = true;
    d_search.reset();
}

// Returns the most likely of the offsets first to last. All offsets have the same
// prior.
stream_cutter::boundary stream_cutter::most_likely_boundary(unsigned first, unsigned last)
{
    const unsigned span = last - first;
    auto& s = *d_search;
    const drift_range window{ d_window.first, int(span) + d_window.last };
    std::vector<double> start(s.wide.window, 0);
    std::fill_n(start.begin() - window.first, span + 1, 1.0);

    fill(s.wide, d_origin + first, window, start, s.input.data());
    sync_status status;
    s.group.decode(s.input.data(), 1, s.output.data(), &status);
    if (!status.valid) {
        return { int(first), -INFINITY };
    }
    const auto whole = std::int64_t(d_setup.code.n()) * d_setup.symbols;
    const auto items =
        std::min(whole, received() - d_origin - first - status.start_drift);
    return { int(first) + status.start_drift,
             status.log_probability / std::max<std::int64_t>(1, items) };
}

} // namespace gr::gpufec::sync_map
