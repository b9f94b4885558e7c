// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "stream.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gr::gpufec::sync_map {

namespace {

double entropy(double p) { return p > 0 ? -p * std::log2(p) : 0; }

} // namespace

double lock_limit(const sync_options& o)
{
    const auto& c = o.channel;
    const double worth = std::log2(double(o.code.alphabet()));
    const double followed =
        std::log2(double(o.code.q())) / o.code.n() + entropy(c.p_insert()) +
        entropy(c.p_delete()) + entropy(c.p_transmit()) +
        c.p_transmit() * (entropy(c.p_substitute()) + entropy(1 - c.p_substitute()));
    return followed < worth ? std::log(2.0) * (worth - followed) / 2 : -INFINITY;
}

stream_cutter::stream_cutter(const sync_options& options, const setup& setup)
    : d_options(options),
      d_setup(setup),
      d_window(decoder_window(options)),
      d_carrier(setup),
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

void stream_cutter::resume(const stream_cutter& other)
{
    d_items = other.d_items;
    d_first_item = other.d_first_item;
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
    const auto* bytes = static_cast<const std::byte*>(items);
    d_items.insert(d_items.end(), bytes, bytes + count * d_setup.item_bytes());
}

bool stream_cutter::ready() const
{
    const std::int64_t n = d_setup.code.n();
    if (d_finished) {
        // A frame is there if no more is missing than can have been deleted.
        return received() > d_origin &&
               d_origin + n * d_setup.outputs + d_window.first <= received();
    }
    const std::int64_t offsets = d_acquired ? 0 : d_options.acquire;
    return d_origin + offsets + n * d_setup.symbols + d_window.last <= received();
}

stream_cutter::place stream_cutter::write(std::byte* frame)
{
    if (!d_acquired) {
        acquire();
    }
    const auto whole = std::int64_t(d_setup.code.n()) * d_setup.symbols;
    const place at{ d_origin, std::min(whole, received() - d_origin) };
    fill(d_setup, at.origin, d_window, d_alpha, frame);
    advance(frame);
    return at;
}

void stream_cutter::fill(const setup& setup,
                         std::int64_t origin,
                         drift_range window,
                         const std::vector<double>& start,
                         std::byte* frame) const
{
    const auto begin = std::max(d_first_item, origin + window.first);
    const auto end = origin + std::int64_t(setup.code.n()) * setup.symbols + window.last;
    const std::int64_t there =
        std::max<std::int64_t>(0, std::min(end, received()) - begin);
    // Items yet unknown are erased, which is to leave them out of account.
    const std::int64_t count = d_finished ? std::max(there, end - begin) : there;
    write_frame(setup,
                { std::int32_t(count), std::int32_t(origin - begin), window.first, 0 },
                start,
                std::vector<double>(setup.window, 1.0),
                nullptr,
                frame);
    const auto size = setup.item_bytes();
    auto* const to = frame + setup.items_at();
    std::memcpy(to, d_items.data() + (begin - d_first_item) * size, there * size);
    for (auto k = there; k < count; ++k) {
        const float unknown = std::numeric_limits<float>::quiet_NaN();
        setup.soft_input ? std::memcpy(to + k * size, &unknown, size)
                         : std::memset(to + k, 0xff, 1);
    }
}

// Carries α over the frame, and lets the window follow its mean.
void stream_cutter::advance(const std::byte* frame)
{
    std::vector<double> next(d_window.size());
    d_carrier.carry(frame, next.data());
    double sum = 0, mean = 0;
    for (unsigned m = 0; m < next.size(); ++m) {
        sum += next[m];
        mean += next[m] * (d_window.first + int(m));
    }
    const int shift = sum > 0 ? int(std::lround(mean / sum)) : 0;
    d_alpha.assign(next.size(), 0);
    for (int m = 0; m < int(next.size()); ++m) {
        const int from = m + shift;
        if (sum > 0 && from >= 0 && from < int(next.size())) {
            d_alpha[m] = next[from];
        } else if (!(sum > 0)) {
            d_alpha[m] = 1; // the channel was not as it should be: nothing is known
        }
    }
    d_origin += std::int64_t(d_setup.code.n()) * d_setup.outputs + shift;
    forget();
}

void stream_cutter::forget()
{
    const auto keep = std::min(received(), d_origin + d_window.first);
    const auto drop = keep - d_first_item;
    // Seldom, so that what stays is moved seldom.
    if (drop > 0 && std::size_t(drop) * 2 > held()) {
        d_items.erase(d_items.begin(), d_items.begin() + drop * d_setup.item_bytes());
        d_first_item += drop;
    }
}

// Finds the first boundary. Every frame of the stream has one that explains as much, so
// offsets are looked at a frame's length at a time: the earliest that is followed is it.
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

// Among offsets that are all as likely before the frame is received.
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
