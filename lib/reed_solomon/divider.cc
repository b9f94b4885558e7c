// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Division by the generator polynomial, one symbol at a time. */

#include "divider.h"
#include "field.h"

namespace gr::gpufec {

using reed_solomon::field;

reed_solomon_divider::reed_solomon_divider(const reed_solomon_code& code)
    : d_k(code.k()), d_parity(code.parity())
{
    const field f(code.field());
    const reed_solomon::basis basis(code);
    // The generator polynomial, highest coefficient first.
    std::vector<field::element> generator = { 1 };
    for (unsigned j = 0; j < d_parity; ++j) {
        const auto root = f.power(code.root_step() * (code.first_root() + j));
        generator.push_back(0);
        for (auto i = generator.size() - 1; i > 0; --i) {
            generator[i] ^= f.multiply(generator[i - 1], root);
        }
    }
    // divide_all() is compiled for these numbers of words.
    d_words = d_parity <= 16 ? 2 : d_parity <= 32 ? 4 : 8;
    d_rows.resize(256 * d_words);
    for (unsigned b = 0; b < 256; ++b) {
        for (unsigned i = 0; i < d_parity; ++i) {
            const auto symbol = f.multiply(basis.element[b], generator[i + 1]);
            d_rows[b * d_words + i / 8] |= std::uint64_t(basis.byte[symbol])
                                           << (56 - i % 8 * 8);
        }
    }
}

void reed_solomon_divider::divide(const std::uint8_t* message,
                                  unsigned interleaving,
                                  std::uint8_t* parity) const
{
    if (d_words == 2) {
        divide_all<2>(message, interleaving, parity);
    } else if (d_words == 4) {
        divide_all<4>(message, interleaving, parity);
    } else {
        divide_all<8>(message, interleaving, parity);
    }
}

template <unsigned Words>
void reed_solomon_divider::divide_all(const std::uint8_t* message,
                                      unsigned interleaving,
                                      std::uint8_t* parity) const
{
    unsigned i = 0;
    for (; i + 4 <= interleaving; i += 4) {
        divide_some<Words, 4>(message + i, interleaving, parity + i);
    }
    for (; i < interleaving; ++i) {
        divide_some<Words, 1>(message + i, interleaving, parity + i);
    }
}

template <unsigned Words, unsigned Codewords>
void reed_solomon_divider::divide_some(const std::uint8_t* message,
                                       unsigned interleaving,
                                       std::uint8_t* parity) const
{
    std::uint64_t remainders[Codewords][Words] = {};
    for (unsigned j = 0; j < d_k; ++j) {
        for (unsigned c = 0; c < Codewords; ++c) {
            auto& r = remainders[c];
            const auto* const row =
                &d_rows[(message[j * interleaving + c] ^ r[0] >> 56) * Words];
            for (unsigned w = 0; w + 1 < Words; ++w) {
                r[w] = (r[w] << 8 | r[w + 1] >> 56) ^ row[w];
            }
            r[Words - 1] = r[Words - 1] << 8 ^ row[Words - 1];
        }
    }
    for (unsigned c = 0; c < Codewords; ++c) {
        for (unsigned i = 0; i < d_parity; ++i) {
            parity[i * interleaving + c] =
                std::uint8_t(remainders[c][i / 8] >> (56 - i % 8 * 8));
        }
    }
}

} // namespace gr::gpufec
