// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference decoders, which favour clarity over speed: metrics have 64 bits, and all
 * decisions are stored. */

#include "reference.h"
#include <algorithm>
#include <limits>

namespace gr::gpufec::viterbi {
namespace reference {

namespace {

using metric = std::int64_t;
constexpr metric unreachable = std::numeric_limits<metric>::max() / 4;

// The add-compare-select of a trellis, with all decisions stored.
class trellis
{
public:
    trellis(const conv_code& code, std::vector<metric> start)
        : d_code(code), d_metrics(std::move(start))
    {
    }

    // Appends a stage. `soft` holds one value per output. A positive value means bit 0,
    // and 0 an erasure.
    void step(const std::vector<int>& soft)
    {
        const unsigned N = d_code.states();
        std::vector<metric> next(N);
        std::vector<bool> odd(N);
        for (unsigned j = 0; j < N; ++j) {
            const unsigned bit = 2 * j / N;
            const unsigned even_state = 2 * j % N;
            const auto even = d_metrics[even_state] + cost(even_state, bit, soft);
            const auto other =
                d_metrics[even_state + 1] + cost(even_state + 1, bit, soft);
            odd[j] = other < even; // On a tie, the even predecessor survives.
            next[j] = std::min(even, other);
        }
        d_metrics = std::move(next);
        d_odd.push_back(std::move(odd));
    }

    metric at(unsigned state) const { return d_metrics[state]; }

    unsigned best_state() const
    {
        return std::min_element(d_metrics.begin(), d_metrics.end()) - d_metrics.begin();
    }

    // Returns the input bits of the path that ends in `state`.
    std::vector<std::uint8_t> trace(unsigned state) const
    {
        const unsigned N = d_code.states();
        std::vector<std::uint8_t> bits(d_odd.size());
        for (std::size_t stage = d_odd.size(); stage-- > 0;) {
            bits[stage] = 2 * state / N;
            state = 2 * state % N + d_odd[stage][state];
        }
        return bits;
    }

private:
    metric cost(unsigned state, unsigned bit, const std::vector<int>& soft) const
    {
        const unsigned R = d_code.outputs();
        const unsigned word = d_code.output_word(state, bit);
        metric sum = 0;
        for (unsigned r = 0; r < R; ++r) {
            const bool one = (word >> (R - 1 - r) & 1u) != unsigned(d_code.inverted(r));
            sum += std::max(0, one ? soft[r] : -soft[r]);
        }
        return sum;
    }

    const conv_code& d_code;
    std::vector<metric> d_metrics;
    std::vector<std::vector<bool>> d_odd;
};

std::vector<metric> start_in(const conv_code& code, unsigned state)
{
    std::vector<metric> start(code.states(), unreachable);
    start[state] = 0;
    return start;
}

std::vector<int> stage_values(const conv_code& code,
                              const value_map& map,
                              const std::int8_t* values,
                              std::size_t count,
                              std::int64_t stage)
{
    std::vector<int> soft(code.outputs(), 0);
    for (unsigned r = 0; stage >= 0 && r < code.outputs(); ++r) {
        const auto index = map(stage, r);
        if (index >= 0 && std::size_t(index) < count) {
            soft[r] = std::max<int>(values[index], -127);
        }
    }
    return soft;
}

} // namespace

std::vector<std::uint8_t> maximum_likelihood(const conv_code& code,
                                             termination ends,
                                             const std::vector<std::int8_t>& values,
                                             std::size_t bits)
{
    const auto map = make_value_map(code);
    const auto stages =
        ends == termination::terminated ? bits + code.constraint_length() - 1 : bits;
    const auto run = [&](std::vector<metric> start) {
        trellis t(code, std::move(start));
        for (std::size_t s = 0; s < stages; ++s) {
            t.step(stage_values(code, map, values.data(), values.size(), s));
        }
        return t;
    };
    const auto cut = [&](std::vector<std::uint8_t> path) {
        path.resize(bits);
        return path;
    };

    switch (ends) {
    case termination::streaming: {
        const auto t = run(std::vector<metric>(code.states(), 0));
        return cut(t.trace(t.best_state()));
    }
    case termination::terminated:
        return cut(run(start_in(code, 0)).trace(0));
    case termination::truncated: {
        const auto t = run(start_in(code, 0));
        return cut(t.trace(t.best_state()));
    }
    case termination::tailbiting:
        break;
    }
    metric best = unreachable;
    std::vector<std::uint8_t> path;
    for (unsigned state = 0; state < code.states(); ++state) {
        const auto t = run(start_in(code, state));
        if (t.at(state) < best) {
            best = t.at(state);
            path = t.trace(state);
        }
    }
    return cut(path);
}

std::vector<std::uint8_t> parallel_blocks(const conv_code& code,
                                          const block_layout& plan,
                                          const std::vector<std::int8_t>& values,
                                          std::size_t bits)
{
    const auto map = make_value_map(code);
    const auto frames = plan.streaming() ? 1 : values.size() / plan.frame_values;
    const auto frame_bits = plan.streaming() ? bits : plan.frame_bits;
    const auto blocks = (frame_bits + plan.decode_length - 1) / plan.decode_length;
    const auto count = plan.streaming() ? values.size() : plan.frame_values;

    std::vector<std::uint8_t> decoded;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto w = plan.at(block);
            trellis t(code,
                      w.from_zero ? start_in(code, 0)
                                  : std::vector<metric>(code.states(), 0));
            for (std::int64_t s = w.start; s < w.start + plan.window; ++s) {
                auto stage = s;
                if (plan.termination == termination::tailbiting) {
                    stage = (s % std::int64_t(plan.frame_stages) + plan.frame_stages) %
                            plan.frame_stages;
                }
                t.step(
                    stage_values(code, map, values.data() + frame * count, count, stage));
            }
            const auto path = t.trace(0);
            decoded.insert(
                decoded.end(), path.begin() + w.lead, path.begin() + w.lead + w.count);
        }
    }
    decoded.resize(frames * frame_bits);
    return decoded;
}

} // namespace reference
} // namespace gr::gpufec::viterbi
