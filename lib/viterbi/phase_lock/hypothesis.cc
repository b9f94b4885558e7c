// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads soft values under a phase hypothesis, and lists the hypotheses of a set of codes
 * that can be distinguished. hypothesis.h defines stream value, code value and cycle. */

#include "common/refuse.h"
#include "hypothesis.h"
#include <algorithm>
#include <cstring>
#include <numeric>

namespace gr::gpufec::viterbi {

namespace {

// The coded bit that a stream value represents under a hypothesis.
struct meaning {
    std::int64_t stage;
    unsigned polynomial;
    bool flipped; // whether only the hypothesis or only the code inverts the sign
};

// Returns the coded bits that stream values 0 to `count` − 1 represent under a
// hypothesis. The range is the same for all hypotheses, so that the results can be
// compared.
std::vector<meaning> meanings(const hypothesis& h, unsigned count)
{
    constexpr unsigned margin = 4;
    const auto& code = h.code();
    std::vector<meaning> found(count, meaning{ 0, 0, false });
    const auto cycle = h.cycle();
    // Reading starts before stream value 0, so that the values before the first whole
    // cycle are included.
    for (std::uint64_t j = 0; j < count + cycle + 2 * margin; ++j) {
        const auto at =
            std::int64_t(h.place()) + h.from(j) - std::int64_t(cycle) - margin;
        if (at < 0 || at >= std::int64_t(count)) {
            continue;
        }
        const auto stage = code.stage_of(j);
        auto nth = j - code.values(stage);
        unsigned r = 0;
        while (!code.sent(stage, r) || nth-- > 0) {
            ++r;
        }
        found[at] = { std::int64_t(stage),
                      code.polynomial(r),
                      h.flips(j) != code.inverted(r) };
    }
    return found;
}

// Returns whether the sign changes from `a` to `b` form a code sequence. Each sign
// change, or its absence, rules out branches of the trellis. The changes form a code
// sequence if at least one path through the trellis is not ruled out.
bool is_sequence(const conv_code& code,
                 const std::vector<meaning>& a,
                 const std::vector<meaning>& b)
{
    struct flip {
        unsigned polynomial;
        bool set;
    };
    std::vector<std::vector<flip>> stages;
    const auto first = std::min_element(a.begin(), a.end(), [](auto& x, auto& y) {
                           return x.stage < y.stage;
                       })->stage;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto stage = std::size_t(a[i].stage - first);
        stages.resize(std::max(stages.size(), stage + 1));
        stages[stage].push_back({ a[i].polynomial, a[i].flipped != b[i].flipped });
    }
    const unsigned N = code.states();
    std::vector<bool> possible(N, true);
    for (const auto& flips : stages) {
        std::vector<bool> next(N, false);
        for (unsigned state = 0; state < N; ++state) {
            for (unsigned bit = 0; possible[state] && bit < 2; ++bit) {
                const auto word = code.output_word(state, bit);
                bool fits = true;
                for (const auto& f : flips) {
                    for (unsigned r = 0; r < code.outputs(); ++r) {
                        fits &= code.polynomial(r) != f.polynomial ||
                                bool(word >> (code.outputs() - 1 - r) & 1u) == f.set;
                    }
                }
                next[code.next_state(state, bit)] =
                    next[code.next_state(state, bit)] || fits;
            }
        }
        possible = std::move(next);
    }
    return std::find(possible.begin(), possible.end(), true) != possible.end();
}

// Returns whether two hypotheses fit every signal equally well.
bool same(const conv_code& code,
          const std::vector<meaning>& a,
          const std::vector<meaning>& b)
{
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].polynomial != b[i].polynomial ||
            a[i].stage - a[0].stage != b[i].stage - b[0].stage) {
            return false;
        }
    }
    return is_sequence(code, a, b);
}

bool alike_in_sign(const std::vector<meaning>& a, const std::vector<meaning>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) {
        return x.flipped == y.flipped;
    });
}

} // namespace

hypothesis::hypothesis(const conv_code& code,
                       unsigned which,
                       unsigned cycle,
                       unsigned place,
                       order arrangement,
                       bool alternate,
                       bool inverted)
    : d_code(code),
      d_which(which),
      d_cycle(cycle),
      d_place(place),
      d_arrangement(arrangement),
      d_alternate(alternate),
      d_inverted(inverted)
{
    constexpr int from[4][2] = { { 0, 1 }, { 1, 0 }, { 0, 3 }, { 3, 0 } };
    std::copy_n(from[unsigned(arrangement)], 2, d_from);
}

void hypothesis::read(const std::int8_t* values,
                      std::int64_t begin,
                      std::int64_t end,
                      std::uint64_t first,
                      std::size_t count,
                      std::int8_t* out) const
{
    // −128 counts as −127, as in the decoder, because 128 does not fit an int8.
    const auto sign = [](std::int8_t v, int s) {
        return std::int8_t(std::max<int>(v, -127) * s);
    };
    const auto checked = [&](std::size_t i) {
        const auto at = from(first + i);
        out[i] = at >= begin && at < end
                     ? sign(values[at - begin], flips(first + i) ? -1 : 1)
                     : std::int8_t(0);
    };
    std::size_t i = 0;
    if (std::int64_t(first) > begin && std::int64_t(first + count + ahead) <= end) {
        if (as_received()) {
            std::memcpy(out, values + (std::int64_t(first) - begin), count);
            return;
        }
        if (first % 2 && count > 0) {
            checked(i++);
        }
        const int signs[2] = { flips(0) ? -1 : 1, flips(1) ? -1 : 1 };
        const auto* at = values + (std::int64_t(first + i) - begin);
        for (; i + 2 <= count; i += 2, at += 2) {
            out[i] = sign(at[d_from[0]], signs[0]);
            out[i + 1] = sign(at[d_from[1]], signs[1]);
        }
    }
    while (i < count) {
        checked(i++);
    }
}

unsigned hypothesis::quarter_turns() const { return d_alternate ? 1 : 0; }

bool hypothesis::swapped() const
{
    const bool exchanged =
        d_arrangement == order::swapped || d_arrangement == order::half_swapped;
    return exchanged != d_alternate;
}

constellation constellation_from_string(const std::string& name)
{
    return choose<constellation>("lock_constellation",
                                 name,
                                 { { "bpsk", constellation::bpsk },
                                   { "qpsk", constellation::qpsk },
                                   { "oqpsk", constellation::oqpsk } });
}

std::vector<hypothesis> all_hypotheses(const std::vector<conv_code>& codes,
                                       constellation symbols,
                                       std::vector<std::vector<hypothesis>>* alike)
{
    using order = hypothesis::order;
    std::vector<order> orders{ order::as_sent };
    std::vector<bool> alternate{ false };
    if (symbols != constellation::bpsk) {
        orders.push_back(order::swapped);
        alternate.push_back(true);
    }
    if (symbols == constellation::oqpsk) {
        orders.push_back(order::half);
        orders.push_back(order::half_swapped);
    }
    const auto cycle_of = [&](const conv_code& code) {
        const auto n = code.values_per_period();
        return symbols == constellation::bpsk ? n : std::lcm(n, 2u);
    };
    unsigned common = 1;
    for (const auto& code : codes) {
        common = std::max(common, cycle_of(code));
    }
    std::vector<hypothesis> all;
    std::vector<std::vector<meaning>> known;
    // The code values that the stream values represent, for each member of each group of
    // equivalent hypotheses.
    std::vector<std::vector<std::vector<meaning>>> signs;
    for (unsigned which = 0; which < codes.size(); ++which) {
        const auto& code = codes[which];
        const auto cycle = cycle_of(code);
        // The number of values covers, in whole cycles, the longest cycle of all codes
        // and 24 stages (the memory is at most 8 stages), plus two cycles. Over this
        // number, is_sequence() rejects differences that are not code sequences.
        const auto count =
            cycle * ((common + 24 * code.outputs() + cycle - 1) / cycle + 2);
        for (unsigned place = 0; place < cycle; ++place) {
            for (const auto o : orders) {
                for (const bool a : alternate) {
                    for (const bool inverted : { false, true }) {
                        hypothesis h(code, which, cycle, place, o, a, inverted);
                        auto m = meanings(h, count);
                        const auto fits = [&](std::size_t k) {
                            const auto& other = all[k];
                            return other.code().constraint_length() ==
                                       code.constraint_length() &&
                                   other.cycle() == cycle &&
                                   known[k].size() == m.size() && same(code, m, known[k]);
                        };
                        std::size_t k = 0;
                        while (k < all.size() && !fits(k)) {
                            ++k;
                        }
                        if (k == all.size()) {
                            all.push_back(h);
                            known.push_back(m);
                            signs.emplace_back();
                        }
                        // A hypothesis is left out if another member of its group reads
                        // all values in the same way.
                        if (std::none_of(signs[k].begin(), signs[k].end(), [&](auto& s) {
                                return alike_in_sign(s, m);
                            })) {
                            signs[k].push_back(m);
                            if (alike) {
                                alike->resize(all.size());
                                (*alike)[k].push_back(h);
                            }
                        }
                    }
                }
            }
        }
    }
    return all;
}

} // namespace gr::gpufec::viterbi
