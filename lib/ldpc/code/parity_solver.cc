// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parity solver: finds the order in which checks determine bits, inverts the dense
 * matrix of the bits that were put off, and computes the unknown bits of a word. */

#include "parity_solver.h"
#include <algorithm>
#include <queue>

namespace gr::gpufec::ldpc {

namespace {

void add(std::uint64_t* to, const std::uint64_t* from, std::size_t words)
{
    for (std::size_t w = 0; w < words; ++w) {
        to[w] ^= from[w];
    }
}

} // namespace

std::optional<parity_solver>
parity_solver::make(unsigned n,
                    const std::vector<std::vector<std::uint32_t>>& checks,
                    const std::vector<std::uint32_t>& unknown,
                    std::size_t most)
{
    enum : std::uint8_t { known, open, put_off, found };
    std::vector<std::uint8_t> state(n, known);
    for (const auto bit : unknown) {
        state[bit] = open;
    }
    std::vector<std::vector<std::uint32_t>> checks_of(n);
    std::vector<std::uint32_t> lacks(checks.size(), 0);
    // The number of open (still unknown) bits of a check, and the index of the check.
    using entry = std::pair<std::uint32_t, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> next;
    for (std::uint32_t c = 0; c < checks.size(); ++c) {
        for (const auto bit : checks[c]) {
            if (state[bit] == open) {
                checks_of[bit].push_back(c);
                ++lacks[c];
            }
        }
        next.push({ lacks[c], c });
    }

    parity_solver s;
    std::vector<bool> used(checks.size(), false);
    const auto close = [&](std::uint32_t bit, std::uint8_t as) {
        state[bit] = as;
        for (const auto c : checks_of[bit]) {
            if (--lacks[c] > 0 && !used[c]) {
                next.push({ lacks[c], c });
            }
        }
    };
    while (!next.empty()) {
        const auto [count, c] = next.top();
        next.pop();
        if (used[c] || count != lacks[c] || count == 0) {
            continue;
        }
        used[c] = true;
        // The check determines the open bit that is in the fewest checks. The check's
        // other open bits are put off.
        std::vector<std::uint32_t> bits;
        for (const auto bit : checks[c]) {
            if (state[bit] == open) {
                bits.push_back(bit);
            }
        }
        std::iter_swap(bits.begin(),
                       std::min_element(bits.begin(), bits.end(), [&](auto a, auto b) {
                           return checks_of[a].size() < checks_of[b].size();
                       }));
        for (std::size_t i = 1; i < bits.size(); ++i) {
            s.d_put_off.push_back(bits[i]);
            close(bits[i], put_off);
        }
        if (s.d_put_off.size() > most) {
            return {};
        }
        step step{ bits[0], std::uint32_t(s.d_others.size()), 0 };
        for (const auto bit : checks[c]) {
            if (bit != bits[0]) {
                s.d_others.push_back(bit);
            }
        }
        step.last = std::uint32_t(s.d_others.size());
        s.d_steps.push_back(step);
        close(bits[0], found);
    }
    if (std::find(state.begin(), state.end(), open) != state.end()) {
        return {}; // an unknown bit is in no check
    }

    // Expresses every found bit as a sum of bits that were put off. Then expresses every
    // remaining check as a sum of these bits.
    const std::size_t words = (s.d_put_off.size() + 63) / 64;
    std::vector<std::uint32_t> row_of(n, 0);
    std::vector<std::uint64_t> sums((s.d_steps.size() + s.d_put_off.size() + 1) * words);
    std::uint32_t rows = 1; // row 0 is the empty sum, which known bits use
    for (std::size_t i = 0; i < s.d_put_off.size(); ++i) {
        row_of[s.d_put_off[i]] = rows;
        sums[rows++ * words + i / 64] = std::uint64_t(1) << i % 64;
    }
    for (const auto& step : s.d_steps) {
        auto* const sum = sums.data() + rows * words;
        for (auto i = step.first; i < step.last; ++i) {
            add(sum, sums.data() + row_of[s.d_others[i]] * words, words);
        }
        row_of[step.bit] = rows++;
    }
    std::vector<std::uint64_t> dense;
    s.d_left_begin.push_back(0);
    for (std::size_t c = 0; c < checks.size(); ++c) {
        if (used[c]) {
            continue;
        }
        dense.resize(dense.size() + words, 0);
        for (const auto bit : checks[c]) {
            add(dense.data() + dense.size() - words,
                sums.data() + row_of[bit] * words,
                words);
            s.d_left_bits.push_back(bit);
        }
        s.d_left_begin.push_back(std::uint32_t(s.d_left_bits.size()));
    }
    s.d_left_words = (s.d_left_begin.size() - 1 + 63) / 64;
    if (!s.invert(std::move(dense), words)) {
        return {};
    }
    return s;
}

// Inverts the dense matrix of the remaining checks by Gauss-Jordan elimination of the
// matrix extended by an identity. Returns false if the checks do not determine a bit that
// was put off.
bool parity_solver::invert(std::vector<std::uint64_t> dense, std::size_t words)
{
    const std::size_t left = d_left_begin.size() - 1, size = d_put_off.size();
    std::vector<std::uint64_t> beside(left * d_left_words, 0);
    for (std::size_t r = 0; r < left; ++r) {
        beside[r * d_left_words + r / 64] |= std::uint64_t(1) << r % 64;
    }
    std::vector<std::size_t> order(left); // order of the rows; the rows themselves are
                                          // not moved
    for (std::size_t r = 0; r < left; ++r) {
        order[r] = r;
    }
    for (std::size_t c = 0; c < size; ++c) {
        const auto has = [&](std::size_t r) {
            return dense[r * words + c / 64] >> c % 64 & 1;
        };
        auto pivot = c;
        while (pivot < left && !has(order[pivot])) {
            ++pivot;
        }
        if (pivot >= left) {
            return false;
        }
        std::swap(order[c], order[pivot]);
        const auto p = order[c];
        for (std::size_t r = 0; r < left; ++r) {
            if (r != p && has(r)) {
                add(&dense[r * words + c / 64],
                    &dense[p * words + c / 64],
                    words - c / 64);
                add(&beside[r * d_left_words], &beside[p * d_left_words], d_left_words);
            }
        }
    }
    for (std::size_t c = 0; c < size; ++c) {
        const auto* const row = &beside[order[c] * d_left_words];
        d_inverse.insert(d_inverse.end(), row, row + d_left_words);
    }
    return true;
}

void parity_solver::find(std::uint8_t* word) const
{
    for (const auto& step : d_steps) {
        std::uint8_t sum = 0;
        for (auto i = step.first; i < step.last; ++i) {
            sum ^= word[d_others[i]];
        }
        word[step.bit] = sum;
    }
}

void parity_solver::solve(std::uint8_t* word) const
{
    for (const auto bit : d_put_off) {
        word[bit] = 0;
    }
    find(word);
    std::vector<std::uint64_t> residual(d_left_words, 0);
    for (std::size_t r = 0; r + 1 < d_left_begin.size(); ++r) {
        std::uint64_t sum = 0;
        for (auto i = d_left_begin[r]; i < d_left_begin[r + 1]; ++i) {
            sum ^= word[d_left_bits[i]];
        }
        residual[r / 64] |= sum << r % 64;
    }
    for (std::size_t i = 0; i < d_put_off.size(); ++i) {
        std::uint64_t sum = 0;
        for (std::size_t w = 0; w < d_left_words; ++w) {
            sum ^= d_inverse[i * d_left_words + w] & residual[w];
        }
        word[d_put_off[i]] = __builtin_parityll(sum);
    }
    find(word);
}

} // namespace gr::gpufec::ldpc
