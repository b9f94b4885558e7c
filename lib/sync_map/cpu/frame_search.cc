// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Searches for the beginnings of frames. Each attempt runs the forward recursion over
 * some symbols before the frame (see start_search.h). */

#include "frame_search.h"
#include "kernels.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gr::gpufec::sync_map {

forward_recursion::forward_recursion(const setup& setup,
                                     const lane_kernels& kernels,
                                     unsigned max_symbols,
                                     unsigned max_window)
    : d_kernel(setup.precision == sync_precision::float32 ? kernels.carriers->float32
                                                          : kernels.carriers->float64),
      d_words(words_by_lane(setup.code, d_kernel.lanes)),
      d_transmission((std::size_t(setup.code.n()) * max_symbols + max_window) *
                     setup.code.alphabet() * d_kernel.real_bytes),
      d_alpha((max_window + d_kernel.lanes) * d_kernel.real_bytes),
      d_scratch(forward_recursion_scratch(max_window, d_kernel.lanes) * d_kernel.lanes *
                d_kernel.real_bytes)
{
    d_frame.words = d_words.data();
    d_frame.n = setup.code.n();
    d_frame.q = setup.code.q();
    d_frame.alphabet = setup.code.alphabet();
    d_frame.frame_symbols = setup.code.frame_symbols();
    d_frame.insertion = setup.insertion();
    d_frame.deletion = setup.deletion();
    d_frame.transmission = d_transmission.data();
    d_frame.alpha = d_alpha.data();
    d_frame.scratch = d_scratch.data();
}

start_finder::start_finder(const setup& setup, const lane_kernels& kernels)
    : d_setup(setup),
      d_window{ setup.search.frame_first,
                setup.search.frame_first + int(setup.window) - 1 },
      d_weigh(setup),
      d_log_symbol(setup.code.n() * std::log(setup.unit()) -
                   std::log(double(setup.code.q()))),
      d_recursion(setup, kernels, setup.search.max_warmup, setup.search.window),
      d_start(setup.window),
      d_ends(setup.window, 1.0)
{
}

// Runs the forward recursion over `symbols` symbols, beginning with symbol index `index`
// and the metrics in d_recursion. The first drift of the window corresponds to item
// `base`.
template <class Real>
double start_finder::carry(const item_span& items,
                           std::int64_t base,
                           unsigned index,
                           unsigned symbols,
                           unsigned window)
{
    return d_recursion.run<Real>(index, symbols, window, [&](std::int64_t k, Real* out) {
        const auto at = base + k;
        if (at >= 0 && at < items.count) {
            d_weigh(items.items + at * d_setup.item_bytes(), out);
        } else {
            std::fill_n(out, d_setup.code.alphabet(), Real(0));
        }
    });
}

// Returns the result of an attempt. The origin is the mean position, weighted by α, over
// a window around the peak of α. This window is as wide as that of a frame. The first
// value of α belongs to item `begin`. If α is 0, the evidence is −inf.
template <class Real>
start_finder::found_at start_finder::centre(std::int64_t begin, double evidence)
{
    const int window = d_recursion.window();
    const auto* const alpha = d_recursion.alpha<Real>();
    const int mode = std::max_element(alpha, alpha + window) - alpha;
    const int first = std::max(0, mode + d_window.first);
    const int last = std::min(window - 1, mode + d_window.last);
    double sum = 0, mean = 0;
    for (int m = first; m <= last; ++m) {
        sum += alpha[m];
        mean += double(alpha[m]) * m;
    }
    return { begin + (sum > 0 ? std::llround(mean / sum) : -d_setup.search.first),
             sum > 0 ? evidence : -INFINITY,
             begin };
}

// Makes an attempt with the full window, up to the boundary that is searched for.
template <class Real>
start_finder::found_at
start_finder::run_in_full(const item_span& items, std::int64_t place, unsigned warmup)
{
    const auto& s = d_setup.search;
    const unsigned N = d_setup.code.frame_symbols();
    const auto begin = place + s.first;
    std::fill_n(d_recursion.alpha<Real>(), s.window, Real(1));
    const auto log_sum = carry<Real>(items,
                                     begin - std::int64_t(d_setup.code.n()) * warmup,
                                     (N - warmup % N) % N,
                                     warmup,
                                     s.window);
    return centre<Real>(begin,
                        log_sum + warmup * d_log_symbol - std::log(double(s.window)));
}

// Makes an attempt with a window that narrows. If the evidence is accepted before the
// boundary is reached, the remaining symbols are assumed to have their mean length.
template <class Real>
start_finder::found_at start_finder::run_narrowing(const item_span& items,
                                                   std::int64_t place,
                                                   unsigned warmup,
                                                   double accepted)
{
    const auto& s = d_setup.search;
    const unsigned N = d_setup.code.frame_symbols();
    const std::int64_t n = d_setup.code.n();
    auto* const alpha = d_recursion.alpha<Real>();
    int window = std::min(2 * s.near_guess + 1, int(s.window));
    // Item of the window's first drift at the boundary that is searched for.
    auto begin = place - s.near_guess;
    double log_sum = -std::log(double(window)), evidence = 0;
    bool narrows = false;
    unsigned done = 0;
    std::fill_n(alpha, window, Real(1));
    while (true) {
        const auto symbols = done == 0 ? s.first_look
                             : narrows ? s.step_symbols
                                       : s.next_look;
        const auto next = std::min(done + symbols, warmup);
        log_sum += carry<Real>(items,
                               begin - n * (warmup - done),
                               (N - warmup % N + done) % N,
                               next - done,
                               window);
        done = next;
        evidence = log_sum + done * d_log_symbol;
        if (done == warmup || evidence >= accepted) {
            break;
        }
        if (done >= s.decision_symbols && evidence < 0) {
            return { place, -INFINITY, begin };
        }
        narrows =
            narrows || done >= s.decision_symbols || evidence >= s.sufficient_evidence;
        if (narrows) {
            const int mode = std::max_element(alpha, alpha + window) - alpha;
            const int low = std::max(0, mode - s.nearest);
            const int high = std::min(window, mode + s.nearest + 1);
            std::copy(alpha + low, alpha + high, alpha);
            std::fill(
                alpha + (high - low), alpha + window + d_recursion.lanes(), Real(0));
            begin += low;
            window = high - low;
        }
    }
    const drift_spread rest(d_setup.channel, double(n) * (warmup - done));
    return centre<Real>(begin + std::llround(rest.mean), evidence);
}

boundary_match_header start_finder::find_coarse(const item_span& items,
                                                std::int64_t guess,
                                                unsigned warmup,
                                                double accepted)
{
    const auto& s = d_setup.search;
    if (!s.may_narrow(warmup)) {
        return {};
    }
    for (int k = 0; std::abs(s.offset(k)) - s.reach < s.radius; ++k) {
        const auto found = run(items, guess + s.offset(k), warmup, true, accepted);
        if (found.evidence >= accepted) {
            return { std::int32_t(found.origin - guess), float(found.evidence), 1 };
        }
    }
    return {};
}

start_finder::found_at start_finder::run(const item_span& items,
                                         std::int64_t place,
                                         unsigned warmup,
                                         bool narrow,
                                         double accepted)
{
    if (d_recursion.in_float()) {
        return narrow ? run_narrowing<float>(items, place, warmup, accepted)
                      : run_in_full<float>(items, place, warmup);
    }
    return narrow ? run_narrowing<double>(items, place, warmup, accepted)
                  : run_in_full<double>(items, place, warmup);
}

// Extracts a frame's window from α of the last attempt, scaled to sum 1; all 1 if α is 0
// in the whole window.
template <class Real>
void start_finder::cut(const found_at& found, double* start)
{
    const auto* const alpha = d_recursion.alpha<Real>();
    const auto shift = found.origin - found.begin + d_window.first;
    double sum = 0;
    for (unsigned m = 0; m < d_setup.window; ++m) {
        const auto from = shift + m;
        start[m] = from >= 0 && from < d_recursion.window() ? double(alpha[from]) : 0;
        sum += start[m];
    }
    for (unsigned m = 0; m < d_setup.window; ++m) {
        start[m] = sum > 0 ? start[m] / sum : 1;
    }
}

boundary_match_header start_finder::find(const item_span& items,
                                         std::int64_t guess,
                                         unsigned warmup,
                                         int radius,
                                         double accepted,
                                         double* start)
{
    const auto& s = d_setup.search;
    const auto to_the_end = std::numeric_limits<double>::infinity();
    std::int64_t place = guess, best_place = guess;
    found_at best{ guess, -INFINITY, guess + s.first };
    // Attempts with narrowing windows cover the search radius once. If no narrowing
    // attempt is accepted, attempts with the full window follow.
    bool narrow = s.narrows(warmup);
    for (int k = 0;; ++k) {
        const int away = std::abs(s.offset(k)) - s.reach;
        if (away >= (narrow ? radius : s.most)) {
            if (!narrow) {
                break;
            }
            narrow = false;
            k = -1;
            continue;
        }
        place = guess + s.offset(k);
        const auto last = run(items, place, warmup, narrow, to_the_end);
        const bool near = !narrow && away < radius;
        if (last.evidence >= accepted || (near && last.evidence > best.evidence)) {
            best = last;
            best_place = place;
        }
        if (last.evidence >= accepted) {
            break;
        }
    }
    if (std::abs(best.origin - best_place) > s.reach || best_place != place) {
        // Repeats the attempt around the best origin, because α may belong to
        // another attempt or lack drifts at one end of the frame's window.
        const auto again = run(items, best.origin, warmup, false, to_the_end);
        best = again.evidence > -INFINITY ? again : best;
    }
    if (start) {
        d_recursion.in_float() ? cut<float>(best, start) : cut<double>(best, start);
    }
    return { std::int32_t(best.origin - guess),
             float(best.evidence),
             best.evidence >= accepted };
}

boundary_match_header start_finder::write(const item_span& items,
                                          std::int64_t guess,
                                          unsigned warmup,
                                          std::byte* frame)
{
    const auto& s = d_setup.search;
    auto boundary_match =
        find(items, guess, warmup, s.radius, s.accepted, d_start.data());
    boundary_match.origin += guess;
    const auto begin = std::max<std::int64_t>(0, boundary_match.origin + d_window.first);
    const auto end = boundary_match.origin +
                     std::int64_t(d_setup.code.n()) * d_setup.symbols + d_window.last;
    const auto count = std::max<std::int64_t>(0, std::min(end, items.count) - begin);
    write_frame(d_setup,
                { std::int32_t(count),
                  std::int32_t(boundary_match.origin - begin),
                  d_window.first,
                  0 },
                d_start,
                d_ends,
                nullptr,
                frame);
    std::memcpy(frame + d_setup.items_at(),
                items.items + begin * d_setup.item_bytes(),
                count * d_setup.item_bytes());
    return boundary_match;
}

} // namespace gr::gpufec::sync_map
