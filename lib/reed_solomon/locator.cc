// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes the error-locator polynomial, its zeros and the values of the errors. */

#include "locator.h"
#include "syndromes.h"
#include <algorithm>

namespace gr::gpufec {

reed_solomon_locator::reed_solomon_locator(const reed_solomon_code& code,
                                           const std::string& variant)
    : d_n(code.n()),
      d_parity(code.parity()),
      d_first_root(code.first_root()),
      d_field(code.field()),
      d_kernels(reed_solomon::kernels_of(variant))
{
    d_positions.fill(0);
    for (unsigned e = 0; e < 256; ++e) {
        d_inverses[e] = d_field.power(-std::int64_t(code.root_step() * e));
        if (e < field::order) {
            d_positions[d_inverses[e]] = std::uint8_t(e);
        }
    }
    const bool logs = d_kernels.width == 0;
    const auto gfni = reed_solomon::gfni_elements(d_field);
    for (unsigned i = 0; i <= d_parity; ++i) {
        for (unsigned e = 0; e < 256; ++e) {
            const auto power = d_field.power(-std::int64_t(code.root_step() * e * i));
            d_powers.push_back(d_kernels.gfni ? gfni[power]
                               : logs         ? std::uint8_t(d_field.log(power))
                                              : power);
        }
    }
    for (unsigned a = 0; a < 256; ++a) {
        if (d_kernels.gfni) {
            d_multipliers.push_back(gfni[a]);
            continue;
        }
        for (unsigned shift = 0; shift <= 4; shift += 4) {
            for (unsigned nibble = 0; nibble < 16; ++nibble) {
                d_multipliers.push_back(
                    d_field.multiply(std::uint8_t(a), std::uint8_t(nibble << shift)));
            }
        }
    }
}

bool reed_solomon_locator::locate(const std::uint8_t* syndromes,
                                  const std::uint8_t* erased,
                                  unsigned erased_count,
                                  errors& found) const
{
    if (erased_count > d_parity) {
        return false;
    }
    // The locator polynomial of the erasures is the product of 1 − X x.
    polynomial locator{};
    locator[0] = 1;
    for (unsigned i = 0; i < erased_count; ++i) {
        const auto x = d_field.inverse(d_inverses[erased[i]]);
        for (unsigned j = i + 1; j > 0; --j) {
            locator[j] ^= d_field.multiply(locator[j - 1], x);
        }
    }
    unsigned degree;
    if (!recursion(syndromes, erased_count, locator, degree) ||
        !zeros(locator, degree, found)) {
        return false;
    }
    values(syndromes, locator, degree, found);
    return true;
}

// Extends the locator polynomial of the erasures to that of all errors. Returns false if
// there are too many errors.
bool reed_solomon_locator::recursion(const std::uint8_t* syndromes,
                                     unsigned erased_count,
                                     polynomial& locator,
                                     unsigned& degree) const
{
    std::array<field::log_type, reed_solomon_code::max_parity> syndrome_logs;
    for (unsigned i = 0; i < d_parity; ++i) {
        syndrome_logs[i] = d_field.log(syndromes[i]);
    }
    // An earlier locator, divided by its discrepancy. The update multiplies it by
    // x^shift.
    auto before = locator;
    unsigned shift = 1;
    unsigned before_degree = erased_count;
    degree = erased_count;
    for (unsigned r = erased_count; r < d_parity; ++r) {
        field::element discrepancy = 0;
        for (unsigned i = 0; i <= degree; ++i) {
            discrepancy ^=
                d_field.power_of_sum(d_field.log(locator[i]), syndrome_logs[r - i]);
        }
        if (discrepancy == 0) {
            ++shift;
            continue;
        }
        const auto old = locator;
        const auto log = d_field.log(discrepancy);
        // Higher powers than x^d_parity occur only if there are too many errors.
        const auto end = std::min(before_degree, d_parity - shift);
        for (unsigned i = 0; i <= end; ++i) {
            locator[i + shift] ^= d_field.power_of_sum(d_field.log(before[i]), log);
        }
        if (2 * degree > r + erased_count) {
            ++shift;
            continue;
        }
        before_degree = degree;
        degree = r + 1 + erased_count - degree;
        const auto inverse = d_field.log(d_field.inverse(discrepancy));
        for (unsigned i = 0; i <= before_degree; ++i) {
            before[i] = d_field.power_of_sum(d_field.log(old[i]), inverse);
        }
        shift = 1;
    }
    return 2 * degree <= d_parity + erased_count && locator[degree] != 0;
}

// Finds the positions of the errors. Returns false unless the polynomial has as many
// zeros among the positions of the codeword as its degree.
bool reed_solomon_locator::zeros(const polynomial& locator,
                                 unsigned degree,
                                 errors& found) const
{
    found.count = 0;
    if (degree == 1) {
        const auto position = d_positions[d_field.inverse(locator[1])];
        found.positions[found.count++] = position;
        return position < d_n;
    }
    if (d_kernels.width) {
        std::uint64_t words[4];
        d_kernels.zeros(
            { d_powers.data(), d_multipliers.data() }, locator.data(), degree, words);
        for (unsigned w = 0; w < 4; ++w) {
            for (auto word = words[w]; word; word &= word - 1) {
                const auto position = 64 * w + unsigned(__builtin_ctzll(word));
                if (position < d_n && found.count < degree) {
                    found.positions[found.count++] = std::uint8_t(position);
                }
            }
        }
        return found.count == degree;
    }
    std::array<std::uint8_t, 256> at{};
    for (unsigned i = 0; i <= degree; ++i) {
        const auto log = d_field.log(locator[i]);
        const auto* const powers = &d_powers[256 * i];
        for (unsigned e = 0; e < d_n; ++e) {
            at[e] ^= d_field.power_of_sum(log, powers[e]);
        }
    }
    for (unsigned e = 0; e < d_n && found.count < degree; ++e) {
        if (at[e] == 0) {
            found.positions[found.count++] = std::uint8_t(e);
        }
    }
    return found.count == degree;
}

// Computes the values of the errors with Forney's formula.
void reed_solomon_locator::values(const std::uint8_t* syndromes,
                                  const polynomial& locator,
                                  unsigned degree,
                                  errors& found) const
{
    std::array<field::log_type, reed_solomon_code::max_parity + 1> logs, evaluator;
    for (unsigned i = 0; i <= degree; ++i) {
        logs[i] = d_field.log(locator[i]);
    }
    // The evaluator is the product of syndromes and locator; its degree is below that of
    // the locator.
    for (unsigned i = 0; i < degree; ++i) {
        field::element sum = 0;
        for (unsigned j = 0; j <= i; ++j) {
            sum ^= d_field.power_of_sum(d_field.log(syndromes[i - j]), logs[j]);
        }
        evaluator[i] = d_field.log(sum);
    }
    for (unsigned e = 0; e < found.count; ++e) {
        const auto inverse = d_inverses[found.positions[e]]; // 1 / X
        const auto log = d_field.log(inverse);
        // Computes two values at x = 1 / X: the evaluator, and x times the derivative of
        // the locator. In characteristic 2, the derivative has only the terms of odd
        // powers.
        field::element numerator = 0, denominator = 0;
        unsigned power = 0;
        for (unsigned i = 0; i <= degree; ++i) {
            if (i < degree) {
                numerator ^= d_field.power_of_sum(evaluator[i], field::log_type(power));
            }
            if (i % 2) {
                denominator ^= d_field.power_of_sum(logs[i], field::log_type(power));
            }
            power += log;
            power -= power >= field::order ? field::order : 0;
        }
        // X^(−first_root) · evaluator / (x · derivative)
        const auto factor = d_field.power(std::int64_t(log) * d_first_root);
        found.values[e] = d_field.multiply(d_field.multiply(numerator, factor),
                                           d_field.inverse(denominator));
    }
}

} // namespace gr::gpufec
