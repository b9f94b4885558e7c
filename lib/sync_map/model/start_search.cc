// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Derives the parameters of the search for the beginnings of frames, and the look-ahead
 * of a stream, from the options. */

#include "setup.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {

namespace {

/* Returns the number of message symbols after which the initial metrics of a recursion
 * no longer influence that recursion. On most channels these are the symbols that carry
 * 55 bits of evidence. Channels with many insertions and deletions need more, by an
 * empirical formula. Double precision needs 35 % more. */
double symbols_to_forget(const sync_options& o)
{
    const auto& c = o.channel;
    const double p = (c.p_insert() + c.p_delete()) / 2, at = p / 0.03;
    const double n = o.code.n();
    const double measured =
        32 * std::pow(at, at > 1 ? 1.9 : 0.63) * std::min(3.0, 1 + 50 * c.p_substitute());
    const double symbols =
        std::max(55 / std::max(0.25, evidence_per_item(o)), 10 * measured) / n;
    return o.precision == sync_precision::float64 ? 1.35 * symbols : symbols;
}

// Returns the number of symbol indices after which the codebook repeats.
unsigned period(const sync_code& code)
{
    const unsigned N = code.frame_symbols();
    const std::size_t size = std::size_t(code.q()) * code.n();
    const auto repeats = [&](unsigned P) {
        for (unsigned i = P; i < N; ++i) {
            if (std::memcmp(code.word(i, 0), code.word(i - P, 0), size) != 0) {
                return false;
            }
        }
        return true;
    };
    for (unsigned P = 1; P < N; ++P) {
        if (N % P == 0 && repeats(P)) {
            return P;
        }
    }
    return N;
}

} // namespace

start_search make_search(const sync_options& o)
{
    constexpr double max_symbols = 4096;
    constexpr unsigned max_anchors = 64;
    // Largest number of consecutive items, lost or inserted, that the search bridges.
    constexpr int longest_slip = 2000;
    const auto symbols = symbols_to_forget(o);
    if (o.mode != sync_mode::stream || o.form != sync_form::linear ||
        symbols > max_symbols) {
        return {};
    }
    start_search s;
    s.frame_first = decoder_window(o).first;
    // Number of items in a period of the codebook.
    const double again = double(o.code.n()) * period(o.code);
    const int nearer = int(0.48 * again);
    // If the recursion forgets its start slowly, the number of symbols that it needs
    // varies between streams. The warm-up then begins with half that number, and a stream
    // can double the warm-up later.
    s.warmup = unsigned(std::ceil(symbols >= 160 ? symbols / 2 : symbols));
    s.max_warmup = 2 * s.warmup;
    s.anchors = max_anchors;
    const auto spread = [&](double frames) {
        return drift_spread(o.channel, frames * o.code.frame_bits());
    };
    // About five standard deviations of the drift must fit in half a period.
    const auto ambiguous = [&] { return 5 * spread(s.anchors).most > 6 * nearer; };
    while (s.anchors > 1 && ambiguous()) {
        s.anchors /= 2;
    }
    if (ambiguous()) {
        return {};
    }
    s.radius = std::min(nearer, int(std::ceil(spread(s.anchors).most)));
    s.most = std::min(nearer, s.radius + longest_slip);
    // The reach is chosen so that the first attempt finds most frames.
    s.reach = std::max(6, int(spread(s.anchors / 2.0).most / 4));
    const drift_spread before(o.channel, double(s.max_warmup) * o.code.n());
    const double beyond = s.reach + before.most;
    s.first = -int(std::ceil(beyond + std::max(0.0, before.mean)));
    s.window = int(std::ceil(beyond + std::max(0.0, -before.mean))) - s.first + 1;
    // The warm-up is assumed to carry 55 bits of evidence. Identifying one of `window`
    // drifts requires log2(window) bits; an error probability of 1/1000 requires 10 more.
    s.decision_symbols =
        unsigned(std::ceil(s.warmup * (std::log2(double(s.window)) + 10) / 55));
    s.first_look = (s.decision_symbols + 1) / 2;
    s.next_look = (s.decision_symbols + 3) / 4;
    const auto within = [&o](double symbols) {
        const drift_spread spread(o.channel, symbols * o.code.n());
        return int(std::ceil(spread.most + std::abs(spread.mean)));
    };
    s.near_guess = std::min(-s.first, s.reach + within(s.warmup));
    // A narrowed window extends to either side by twice the spread of the drift over two
    // steps.
    s.nearest = 2 * within(2 * s.step_symbols);
    // The window must be shorter than the period of the codebook, because a longer window
    // could contain two equally likely beginnings.
    return s.window <= std::min<double>(drift_range::max_size, 0.9 * again)
               ? s
               : start_search{};
}

double evidence_per_item(const sync_options& o)
{
    const auto entropy = [](double p) { return p > 0 ? -p * std::log2(p) : 0; };
    const auto& c = o.channel;
    return std::log2(double(o.code.alphabet())) -
           (std::log2(double(o.code.q())) / o.code.n() + entropy(c.p_insert()) +
            entropy(c.p_delete()) + entropy(c.p_transmit()) +
            c.p_transmit() * (entropy(c.p_substitute()) + entropy(1 - c.p_substitute())));
}

unsigned chosen_lookahead(const sync_options& o)
{
    if (o.mode == sync_mode::framed) {
        return 0;
    }
    if (o.lookahead) {
        return o.lookahead;
    }
    // The backward recursion needs fewer symbols than the warm-up of a forward recursion,
    // because the drift is already known.
    return unsigned(std::clamp(
        std::ceil(0.6 * symbols_to_forget(o)), 4.0, double(sync_options::max_lookahead)));
}

drift_spread::drift_spread(const bsid_model& channel, double symbols)
{
    const double not_inserted = 1 - channel.p_insert(),
                 deleted = channel.p_delete() / not_inserted;
    mean = symbols * (channel.p_insert() / not_inserted - deleted);
    most =
        2 + 6 * std::sqrt(symbols * (channel.p_insert() / (not_inserted * not_inserted) +
                                     deleted * (1 - deleted)));
}

} // namespace gr::gpufec::sync_map
