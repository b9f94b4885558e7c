// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Encodes by polynomial division, and decodes with syndromes, the Berlekamp-Massey
 * algorithm and a search for roots among all positions. */

#include "field.h"
#include "reference.h"

namespace gr::gpufec::bch {

std::vector<std::uint8_t> reference_encode(const bch_code& code,
                                           const std::vector<std::uint8_t>& message)
{
    const auto& g = code.generator();
    const auto parity = code.n() - code.k();
    auto divided = message;
    divided.resize(code.n());
    for (unsigned i = 0; i < code.k(); ++i) {
        if (divided[i]) {
            for (unsigned j = 0; j <= parity; ++j) {
                divided[i + j] ^= g[parity - j];
            }
        }
    }
    std::copy(message.begin(), message.end(), divided.begin());
    return divided;
}

int reference_decode(const bch_code& code, std::vector<std::uint8_t>& codeword)
{
    const field f(code.field());
    const unsigned n = code.n(), t = code.t();

    // Syndrome j is the codeword's value at alpha^j.
    std::vector<field::element> syndromes(2 * t + 1);
    bool clean = true;
    for (unsigned j = 1; j <= 2 * t; ++j) {
        for (unsigned i = 0; i < n; ++i) {
            syndromes[j] = f.multiply(syndromes[j], f.power(j % f.order())) ^ codeword[i];
        }
        clean = clean && syndromes[j] == 0;
    }
    if (clean) {
        return 0;
    }

    // The Berlekamp-Massey algorithm finds the shortest recursion of the syndromes.
    std::vector<field::element> locator(2 * t + 2), before(2 * t + 2);
    locator[0] = before[0] = 1;
    unsigned length = 0, shift = 1;
    field::element last = 1;
    for (unsigned r = 0; r < 2 * t; ++r) {
        auto discrepancy = syndromes[r + 1];
        for (unsigned i = 1; i <= length; ++i) {
            discrepancy ^= f.multiply(locator[i], syndromes[r + 1 - i]);
        }
        if (discrepancy == 0) {
            ++shift;
            continue;
        }
        const auto old = locator;
        const auto factor = f.divide(discrepancy, last);
        for (unsigned i = 0; i + shift < locator.size(); ++i) {
            locator[i + shift] ^= f.multiply(factor, before[i]);
        }
        if (2 * length > r) {
            ++shift;
            continue;
        }
        length = r + 1 - length;
        before = old;
        last = discrepancy;
        shift = 1;
    }
    if (length > t) {
        return bch_decoder_kernel::failed;
    }

    // An error at x^e makes alpha^−e a root of the locator.
    std::vector<unsigned> errors;
    for (unsigned e = 0; e < n; ++e) {
        field::element value = 0;
        for (unsigned i = 0; i <= length; ++i) {
            const auto inverse = (f.order() - e) % f.order();
            const auto power = std::uint64_t(inverse) * i % f.order();
            value ^= f.multiply(locator[i], f.power(power));
        }
        if (value == 0) {
            errors.push_back(e);
        }
    }
    if (errors.size() != length) {
        return bch_decoder_kernel::failed;
    }
    for (const auto e : errors) {
        codeword[n - 1 - e] ^= 1;
    }
    return length;
}

} // namespace gr::gpufec::bch
