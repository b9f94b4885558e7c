// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Viterbi decoding of whole sequences by maximum likelihood, with exact tail-biting. */

#include "maximum_likelihood.h"
#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace gr::gpufec::viterbi {

namespace {

// Path metric of unreachable states, larger than that of any reachable state. A stage
// adds at most 6·127 (six code bits). Metrics of reachable states differ by at most the
// sum of K − 1 = 8 stages, and are renormalised every 1024 stages. The maximum is
// therefore (8 + 1024)·6·127, and its sum with `unreachable` does not overflow.
constexpr std::int32_t unreachable = 1 << 29;
constexpr std::size_t renormalise_every = 1024;

} // namespace

maximum_likelihood_decoder::maximum_likelihood_decoder(const conv_code& code,
                                                       termination ends)
    : d_code(code),
      d_ends(ends),
      d_map(make_value_map(code)),
      d_states(code.states()),
      d_cost(std::size_t(1) << code.outputs()),
      d_metrics(d_states),
      d_next(d_states),
      d_odd(std::max(8u, d_states))
{
    unsigned inversion = 0;
    for (unsigned r = 0; r < code.outputs(); ++r) {
        inversion = inversion << 1 | unsigned(code.inverted(r));
    }
    for (unsigned odd = 0; odd < 2; ++odd) {
        for (unsigned j = 0; j < d_states; ++j) {
            const unsigned from = 2 * j % d_states + odd;
            d_word[odd].push_back(code.output_word(from, 2 * j / d_states) ^ inversion);
        }
    }
}

void maximum_likelihood_decoder::start_equal()
{
    std::fill(d_metrics.begin(), d_metrics.end(), 0);
}

void maximum_likelihood_decoder::start_in(unsigned state)
{
    std::fill(d_metrics.begin(), d_metrics.end(), unreachable);
    d_metrics[state] = 0;
}

void maximum_likelihood_decoder::branch_metrics(const std::int8_t* values,
                                                std::size_t count,
                                                std::size_t stage)
{
    const unsigned R = d_code.outputs();
    std::fill(d_cost.begin(), d_cost.end(), 0);
    for (unsigned r = 0; r < R; ++r) {
        const auto index = d_map(stage, r);
        if (index < 0 || std::size_t(index) >= count) {
            continue;
        }
        const int value = std::max<int>(values[index], -127);
        const unsigned contradicting = value > 0 ? 1 : 0;
        for (unsigned word = 0; word < d_cost.size(); ++word) {
            if ((word >> (R - 1 - r) & 1u) == contradicting) {
                d_cost[word] += std::abs(value);
            }
        }
    }
}

// Performs add-compare-select for one stage. Stores a decision bit per state.
void maximum_likelihood_decoder::step(std::uint8_t* decisions)
{
    const unsigned N = d_states;
    const metric* cost = d_cost.data();
    const metric* now = d_metrics.data();
    const std::uint8_t* even_word = d_word[0].data();
    const std::uint8_t* odd_word = d_word[1].data();
    metric* next = d_next.data();
    std::uint8_t* odd = d_odd.data();
    for (unsigned half = 0; half < N; half += N / 2) { // next states by input bit
        for (unsigned i = 0; i < N / 2; ++i) {
            const unsigned j = half + i;
            const metric even = now[2 * i] + cost[even_word[j]];
            const metric other = now[2 * i + 1] + cost[odd_word[j]];
            odd[j] = other < even;
            next[j] = other < even ? other : even;
        }
    }
    d_metrics.swap(d_next);
    for (unsigned j = 0; j < N; j += 8) {
        unsigned byte = 0;
        for (unsigned i = 0; i < 8; ++i) {
            byte |= unsigned(odd[j + i]) << i;
        }
        decisions[j / 8] = byte;
    }
}

void maximum_likelihood_decoder::renormalise()
{
    const auto least = *std::min_element(d_metrics.begin(), d_metrics.end());
    for (auto& m : d_metrics) {
        m -= least;
    }
}

void maximum_likelihood_decoder::run(const std::int8_t* values,
                                     std::size_t count,
                                     std::size_t stages)
{
    const std::size_t bytes = std::max(1u, d_states / 8);
    d_stages = stages;
    d_decisions.resize(stages * bytes);
    for (std::size_t stage = 0; stage < stages; ++stage) {
        branch_metrics(values, count, stage);
        step(&d_decisions[stage * bytes]);
        // decode_tailbiting() compares the path metrics of several runs, so there is no
        // renormalisation. The metrics stay below `unreachable` in frames of up to
        // 704,000 bits (2²⁹ / (6·127)).
        if (d_ends != termination::tailbiting &&
            stage % renormalise_every == renormalise_every - 1) {
            renormalise();
        }
    }
}

unsigned maximum_likelihood_decoder::best_state() const
{
    return std::min_element(d_metrics.begin(), d_metrics.end()) - d_metrics.begin();
}

void maximum_likelihood_decoder::trace(unsigned state,
                                       std::size_t bits,
                                       std::uint8_t* out) const
{
    const std::size_t bytes = std::max(1u, d_states / 8);
    for (std::size_t stage = d_stages; stage-- > 0;) {
        if (stage < bits) {
            out[stage] = 2 * state / d_states;
        }
        const unsigned odd = d_decisions[stage * bytes + state / 8] >> state % 8 & 1u;
        state = 2 * state % d_states + odd;
    }
}

void maximum_likelihood_decoder::decode(const std::int8_t* values,
                                        std::size_t count,
                                        std::size_t bits,
                                        std::uint8_t* out)
{
    const auto tail = d_code.constraint_length() - 1;
    switch (d_ends) {
    case termination::streaming:
        start_equal();
        run(values, count, bits);
        trace(best_state(), bits, out);
        return;
    case termination::terminated:
        start_in(0);
        run(values, count, bits + tail);
        trace(0, bits, out);
        return;
    case termination::truncated:
        start_in(0);
        run(values, count, bits);
        trace(best_state(), bits, out);
        return;
    case termination::tailbiting:
        decode_tailbiting(values, count, bits, out);
        return;
    }
}

/* If a run starts with equal path metrics, the final metric of each state is a lower
 * bound on the metric of every tail-biting path that begins and ends in this state.
 * States are tried in the order of their bounds, until the next bound exceeds the best
 * metric. This usually takes fewer runs than one per state. */
void maximum_likelihood_decoder::decode_tailbiting(const std::int8_t* values,
                                                   std::size_t count,
                                                   std::size_t bits,
                                                   std::uint8_t* out)
{
    start_equal();
    run(values, count, bits);
    const auto bound = d_metrics;
    std::vector<unsigned> order(d_states);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
        return bound[a] < bound[b];
    });
    metric best = unreachable;
    unsigned best_end = d_states;
    for (const auto state : order) {
        if (bound[state] > best) {
            break;
        }
        start_in(state);
        run(values, count, bits);
        const auto reached = d_metrics[state];
        if (reached < best || (reached == best && state < best_end)) {
            best = reached;
            best_end = state;
            trace(state, bits, out);
        }
    }
}

} // namespace gr::gpufec::viterbi
