// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Search of the trellis for a code's distance spectrum, and the union bound. */

#include "distance_spectrum.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::gpufec::viterbi {

namespace {

struct path_count {
    double paths = 0;
    double bits = 0;
};

// Counts of paths, indexed by [state][Hamming weight].
using front = std::vector<std::vector<path_count>>;

unsigned
weight_sent(const conv_code& code, std::uint64_t stage, unsigned state, unsigned bit)
{
    const unsigned R = code.outputs();
    const unsigned word = code.output_word(state, bit);
    unsigned weight = 0;
    for (unsigned r = 0; r < R; ++r) {
        weight += code.sent(stage, r) && (word >> (R - 1 - r) & 1u);
    }
    return weight;
}

void move(const path_count& from, unsigned bit, path_count& to)
{
    to.paths += from.paths;
    to.bits += from.bits + bit * from.paths;
}

// Returns the weight of the codeword of a single 1 that enters at `stage`. This weight is
// an upper bound on the free distance.
unsigned impulse_weight(const conv_code& code, unsigned stage)
{
    unsigned weight = weight_sent(code, stage, 0, 1);
    unsigned state = code.next_state(0, 1);
    while (state != 0) {
        weight += weight_sent(code, ++stage, state, 0);
        state = code.next_state(state, 0);
    }
    return weight;
}

// Returns whether an endless path exists that avoids state 0 and has output weight 0.
bool catastrophic(const conv_code& code)
{
    std::vector<bool> now(code.states(), true);
    for (unsigned step = 0; step < code.states() * code.period(); ++step) {
        std::vector<bool> next(code.states(), false);
        for (unsigned state = 1; state < code.states(); ++state) {
            for (unsigned bit = 0; now[state] && bit < 2; ++bit) {
                if (weight_sent(code, step, state, bit) == 0) {
                    next[code.next_state(state, bit)] = true;
                }
            }
        }
        now = std::move(next);
    }
    return std::find(now.begin() + 1, now.end(), true) != now.end();
}

// Follows all paths that leave state 0 at `stage` until they return, or until their
// weight reaches returned.size(). Adds the paths that return to `returned`, by weight.
void follow(const conv_code& code, unsigned stage, std::vector<path_count>& returned)
{
    const std::size_t weights = returned.size();
    front now(code.states(), std::vector<path_count>(weights));
    const unsigned first = weight_sent(code, stage, 0, 1);
    if (first < weights) {
        now[code.next_state(0, 1)][first] = { 1, 1 };
    }
    for (unsigned step = 1;; ++step) {
        front next(code.states(), std::vector<path_count>(weights));
        bool alive = false;
        for (unsigned state = 1; state < code.states(); ++state) {
            for (unsigned bit = 0; bit < 2; ++bit) {
                const auto added = weight_sent(code, stage + step, state, bit);
                const auto to = code.next_state(state, bit);
                for (std::size_t w = 0; w + added < weights; ++w) {
                    if (now[state][w].paths > 0) {
                        move(now[state][w],
                             bit,
                             to ? next[to][w + added] : returned[w + added]);
                        alive |= to != 0;
                    }
                }
            }
        }
        if (!alive) {
            return;
        }
        now = std::move(next);
    }
}

double gaussian_tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

} // namespace

distance_spectrum::distance_spectrum(const conv_code& code, unsigned terms)
    : d_rate(code.rate()), d_period(code.period())
{
    if (catastrophic(code)) {
        throw std::invalid_argument("polynomials and puncturing are " + code.to_string() +
                                    ": the code must not be catastrophic");
    }
    unsigned limit = impulse_weight(code, 0);
    for (unsigned stage = 1; stage < d_period; ++stage) {
        limit = std::min(limit, impulse_weight(code, stage));
    }
    std::vector<path_count> returned(limit + terms);
    for (unsigned stage = 0; stage < d_period; ++stage) {
        follow(code, stage, returned);
    }
    for (unsigned weight = 0; weight < returned.size() && d_lines.size() < terms;
         ++weight) {
        if (!d_lines.empty() || returned[weight].paths > 0) {
            d_lines.push_back({ weight, returned[weight].paths, returned[weight].bits });
        }
    }
}

double distance_spectrum::bit_error_bound(double ebn0_db) const
{
    const double ebn0 = std::pow(10, ebn0_db / 10);
    double sum = 0;
    for (const auto& l : d_lines) {
        sum += l.bits * gaussian_tail(std::sqrt(2 * l.distance * d_rate * ebn0));
    }
    return sum / d_period;
}

} // namespace gr::gpufec::viterbi
