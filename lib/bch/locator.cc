// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes syndromes, the error-locator polynomial and its roots. */

#include "locator.h"
#include <algorithm>

namespace gr::gpufec {

bch_locator::bch_locator(const bch_code& code)
    : d_field(code.field()), d_n(code.n()), d_t(code.t()), d_bytes(256 * code.t())
{
    for (unsigned j = 1; j < 2 * d_t; j += 2) {
        auto* const values = &d_bytes[j / 2 * 256];
        for (unsigned bit = 0; bit < 8; ++bit) {
            const auto power = d_field.power(j * bit % d_field.order());
            for (unsigned b = 0; b < 1u << bit; ++b) {
                values[b | 1u << bit] = values[b] ^ power;
            }
        }
    }
}

int bch_locator::locate(const bch_divider::remainder& r,
                        unsigned filled,
                        unsigned errors[most]) const
{
    element s[2 * most + 1];
    polynomial p;
    element found[most];
    syndromes(r, s);
    if (!recursion(s, p) || !roots(p, found)) {
        return bch_decoder_kernel::failed;
    }
    // The remainder is that of the codeword times x^(192 + filled), so the error
    // positions found are too high by 192 + filled.
    const auto order = d_field.order(), moved = (192 + filled) % order;
    for (unsigned i = 0; i < p.degree; ++i) {
        errors[i] = (d_field.log(found[i]) + order - moved) % order;
        if (errors[i] >= d_n) {
            return bch_decoder_kernel::failed;
        }
    }
    return p.degree;
}

// Evaluates the remainder at alpha^1 to alpha^2t.
void bch_locator::syndromes(const bch_divider::remainder& r, element* s) const
{
    unsigned logs[most];
    element values[most] = {};
    for (unsigned i = 0; i < d_t; ++i) {
        logs[i] = 8 * (2 * i + 1) % d_field.order();
    }
    for (unsigned byte = 0; byte < 24; ++byte) {
        const unsigned b = r[byte / 8] >> (56 - byte % 8 * 8) & 0xff;
        for (unsigned i = 0; i < d_t; ++i) {
            const auto v = values[i];
            values[i] =
                (v ? d_field.power(d_field.log(v) + logs[i]) : 0) ^ d_bytes[256 * i + b];
        }
    }
    for (unsigned i = 0; i < d_t; ++i) {
        s[2 * i + 1] = values[i];
    }
    for (unsigned j = 2; j <= 2 * d_t; j += 2) {
        s[j] = d_field.square(s[j / 2]);
    }
}

// Computes the reciprocal of the error-locator polynomial with the Berlekamp–Massey
// algorithm. The roots of the reciprocal are the error locators. Returns false if there
// are more than t errors.
bool bch_locator::recursion(const element* s, polynomial& reciprocal) const
{
    element c[2 * most + 2] = { 1 }, before[2 * most + 2] = { 1 }, old[2 * most + 2];
    unsigned length = 0, shift = 1;
    element last = 1;
    for (unsigned r = 0; r < 2 * d_t;
         r += 2) { // in a binary code every other discrepancy is 0
        auto discrepancy = s[r + 1];
        for (unsigned i = 1; i <= length; ++i) {
            discrepancy ^= d_field.multiply(c[i], s[r + 1 - i]);
        }
        if (discrepancy == 0) {
            shift += 2;
            continue;
        }
        const auto factor = d_field.divide(discrepancy, last);
        const bool longer = 2 * length <= r;
        if (longer) {
            std::copy(std::begin(c), std::end(c), old);
        }
        const auto end = std::min(2 * d_t + 2 - shift, d_t + 1);
        for (unsigned i = 0; i < end; ++i) {
            c[i + shift] ^= d_field.multiply(factor, before[i]);
        }
        shift += 2;
        if (longer) {
            length = r + 1 - length;
            if (length > d_t) {
                return false;
            }
            std::copy(std::begin(old), std::end(old), before);
            last = discrepancy;
            shift = 2;
        }
    }
    reciprocal.degree = length;
    for (unsigned i = 0; i <= length; ++i) {
        reciprocal.at[i] = c[length - i];
    }
    return c[length] != 0;
}

// Reduces \p a modulo \p by, which is monic.
void bch_locator::reduce(polynomial& a, const polynomial& by) const
{
    for (; a.degree >= by.degree && a.degree > 0; --a.degree) {
        const auto factor = a.at[a.degree];
        if (factor) {
            for (unsigned i = 0; i < by.degree; ++i) {
                a.at[a.degree - by.degree + i] ^= d_field.multiply(factor, by.at[i]);
            }
        }
    }
    while (a.degree > 0 && a.at[a.degree] == 0) {
        --a.degree;
    }
}

// Returns the greatest common divisor of a, which is monic, and b, which has a lower
// degree and is not constant.
bch_locator::polynomial bch_locator::common_divisor(polynomial a, polynomial b) const
{
    for (;;) {
        const auto highest = b.at[b.degree];
        for (unsigned i = 0; i <= b.degree; ++i) {
            b.at[i] = d_field.divide(b.at[i], highest);
        }
        if (b.degree == 0) {
            return b;
        }
        reduce(a, b);
        if (a.degree == 0 && a.at[0] == 0) {
            return b;
        }
        std::swap(a, b);
    }
}

bch_locator::polynomial bch_locator::quotient(polynomial a, const polynomial& by) const
{
    polynomial q;
    q.degree = a.degree - by.degree;
    for (unsigned at = q.degree + 1; at-- > 0;) {
        const auto factor = q.at[at] = a.at[at + by.degree];
        for (unsigned i = 0; i < by.degree; ++i) {
            a.at[at + i] ^= d_field.multiply(factor, by.at[i]);
        }
    }
    return q;
}

// Finds the roots of p. Returns false unless p is a product of distinct linear factors.
bool bch_locator::roots(const polynomial& p, element* found) const
{
    const auto n = p.degree, m = d_field.degree();
    if (n == 1) {
        found[0] = p.at[0];
        return true;
    }

    // x^i modulo p, for i up to 2n − 2.
    element powers[2 * most][most] = {};
    for (unsigned i = 0; i < n; ++i) {
        powers[i][i] = 1;
    }
    for (unsigned i = n; i < 2 * n - 1; ++i) {
        const auto highest = powers[i - 1][n - 1];
        for (unsigned k = 0; k < n; ++k) {
            powers[i][k] =
                (k ? powers[i - 1][k - 1] : 0) ^ d_field.multiply(highest, p.at[k]);
        }
    }

    // x^(2^i) modulo p. If x^(2^m) = x, then p divides x^(2^m) − x, whose roots are all
    // elements of the field.
    element squares[17][most] = {};
    squares[0][1] = 1;
    for (unsigned i = 0; i < m; ++i) {
        for (unsigned k = 0; k < n; ++k) {
            const auto factor = d_field.square(squares[i][k]);
            if (2 * k < n) {
                squares[i + 1][2 * k] ^= factor;
            } else if (factor) {
                for (unsigned j = 0; j < n; ++j) {
                    squares[i + 1][j] ^= d_field.multiply(factor, powers[2 * k][j]);
                }
            }
        }
    }
    if (!std::equal(squares[m], squares[m] + n, squares[0])) {
        return false;
    }

    // For any two roots r and s, some element b of a basis has Tr(b·r) ≠ Tr(b·s). The
    // greatest common divisor of p and Tr(b·x) then has only one of the two roots.
    polynomial factors[most] = { p };
    unsigned count = 1;
    for (unsigned b = 0; b < m && count < n; ++b) {
        polynomial trace{ n - 1, {} };
        for (unsigned i = 0; i < m; ++i) {
            const auto factor = d_field.power((b << i) % d_field.order());
            for (unsigned k = 0; k < n; ++k) {
                trace.at[k] ^= d_field.multiply(factor, squares[i][k]);
            }
        }
        for (unsigned f = 0, end = count; f < end; ++f) {
            if (factors[f].degree == 1) {
                continue;
            }
            auto remainder = trace;
            reduce(remainder, factors[f]);
            if (remainder.degree == 0) {
                continue;
            }
            const auto divisor = common_divisor(factors[f], remainder);
            if (divisor.degree > 0) {
                factors[count++] = quotient(factors[f], divisor);
                factors[f] = divisor;
            }
        }
    }
    for (unsigned f = 0; f < count; ++f) {
        found[f] = factors[f].at[0];
    }
    return count == n;
}

} // namespace gr::gpufec
