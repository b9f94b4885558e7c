// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Encodes by polynomial division, and decodes with the Euclidean algorithm of Sugiyama,
 * Kasahara, Hirasawa and Namekawa (1975), a search for zeros and Forney's formula. */

#include "bch/field.h"
#include "field.h"
#include "reference.h"
#include <algorithm>

namespace gr::gpufec::reed_solomon {

namespace {

using element = bch::field::element;
using polynomial = std::vector<element>; // coefficient of x^0 first; no leading zeros

void trim(polynomial& p)
{
    while (!p.empty() && p.back() == 0) {
        p.pop_back();
    }
}

polynomial product(const bch::field& f, const polynomial& a, const polynomial& b)
{
    polynomial made(a.size() + b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            made[i + j] ^= f.multiply(a[i], b[j]);
        }
    }
    trim(made);
    return made;
}

// Replaces \p a by the remainder of its division by \p b and returns the quotient.
polynomial divide(const bch::field& f, polynomial& a, const polynomial& b)
{
    polynomial quotient(a.size());
    while (a.size() >= b.size()) {
        const auto factor = f.divide(a.back(), b.back());
        const auto shift = a.size() - b.size();
        quotient[shift] = factor;
        for (std::size_t i = 0; i < b.size(); ++i) {
            a[i + shift] ^= f.multiply(factor, b[i]);
        }
        trim(a);
    }
    trim(quotient);
    return quotient;
}

element value(const bch::field& f, const polynomial& p, element at)
{
    element sum = 0;
    for (auto i = p.size(); i-- > 0;) {
        sum = f.multiply(sum, at) ^ p[i];
    }
    return sum;
}

// Returns root j of the generator polynomial.
element root_of(const bch::field& f, const reed_solomon_code& code, unsigned j)
{
    return f.power(code.root_step() * (code.first_root() + j) % f.order());
}

// Returns the syndromes, or an empty polynomial if they are all 0.
polynomial
syndromes_of(const bch::field& f, const reed_solomon_code& code, const polynomial& word)
{
    polynomial syndromes;
    for (unsigned j = 0; j < code.parity(); ++j) {
        syndromes.push_back(value(f, word, root_of(f, code, j)));
    }
    trim(syndromes);
    return syndromes;
}

} // namespace

std::vector<std::uint8_t> reference_encode(const reed_solomon_code& code,
                                           const std::vector<std::uint8_t>& message)
{
    const bch::field f(code.field());
    const basis basis(code);
    polynomial generator = { 1 };
    for (unsigned j = 0; j < code.parity(); ++j) {
        generator = product(f, generator, { root_of(f, code, j), 1 });
    }
    polynomial divided(code.n());
    for (unsigned i = 0; i < code.k(); ++i) {
        divided[code.n() - 1 - i] = basis.element[message[i]];
    }
    trim(divided);
    divide(f, divided, generator);
    divided.resize(code.parity());
    auto codeword = message;
    for (unsigned i = code.parity(); i-- > 0;) {
        codeword.push_back(basis.byte[divided[i]]);
    }
    return codeword;
}

int reference_decode(const reed_solomon_code& code,
                     std::vector<std::uint8_t>& codeword,
                     const std::vector<std::uint8_t>& erasures)
{
    const bch::field f(code.field());
    const basis basis(code);
    const unsigned n = code.n(), parity = code.parity();
    polynomial word(n);
    for (unsigned i = 0; i < n; ++i) {
        word[n - 1 - i] = basis.element[codeword[i]];
    }
    const auto syndromes = syndromes_of(f, code, word);
    if (syndromes.empty()) {
        return 0;
    }
    // An error at x^e has the locator X = alpha^(root_step · e).
    const auto locator_of = [&](unsigned e) {
        return f.power(code.root_step() * e % f.order());
    };
    polynomial erased = { 1 };
    unsigned erased_count = 0;
    for (unsigned i = 0; i < erasures.size(); ++i) {
        if (erasures[i]) {
            erased = product(f, erased, { 1, locator_of(n - 1 - i) });
            ++erased_count;
        }
    }
    if (erased_count > parity) {
        return reed_solomon_decoder_kernel::failed;
    }

    // Runs the Euclidean algorithm on x^parity and the modified syndromes until the
    // degree of the remainder is below (parity + erased_count) / 2.
    polynomial before(parity + 1);
    before[parity] = 1;
    auto remainder = product(f, syndromes, erased);
    remainder.resize(std::min<std::size_t>(remainder.size(), parity));
    trim(remainder);
    polynomial before_factor, factor = { 1 };
    while (remainder.size() > 0 && 2 * (remainder.size() - 1) >= parity + erased_count) {
        const auto quotient = divide(f, before, remainder);
        std::swap(before, remainder);
        auto next = product(f, quotient, factor);
        next.resize(std::max(next.size(), before_factor.size()));
        for (std::size_t i = 0; i < before_factor.size(); ++i) {
            next[i] ^= before_factor[i];
        }
        trim(next);
        before_factor = factor;
        factor = next;
    }
    const auto locator = product(f, factor, erased);

    // Applies Forney's formula at each zero of the locator.
    polynomial derivative(locator.begin() + 1, locator.end());
    for (std::size_t i = 1; i < derivative.size(); i += 2) {
        derivative[i] = 0;
    }
    unsigned zeros = 0;
    int changed = 0;
    auto corrected = codeword;
    for (unsigned e = 0; e < n; ++e) {
        const auto x = locator_of(e), inverse = f.divide(1, x);
        if (value(f, locator, inverse) != 0) {
            continue;
        }
        ++zeros;
        const auto slope = value(f, derivative, inverse);
        if (slope == 0) {
            return reed_solomon_decoder_kernel::failed;
        }
        auto error = f.multiply(x, f.divide(value(f, remainder, inverse), slope));
        for (unsigned i = 0; i < code.first_root(); ++i) {
            error = f.multiply(error, inverse);
        }
        word[e] ^= error;
        corrected[n - 1 - e] = basis.byte[word[e]];
        changed += error != 0;
    }
    if (zeros + 1 != locator.size() || 2 * zeros > parity + erased_count ||
        !syndromes_of(f, code, word).empty()) {
        return reed_solomon_decoder_kernel::failed;
    }
    codeword = corrected;
    return changed;
}

} // namespace gr::gpufec::reed_solomon
