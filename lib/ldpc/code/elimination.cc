// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds message positions and dense generators of a code of no special form, by
 * Gauss-Jordan elimination with the pivots taken from the last column backwards. */

#include "code_tables.h"
#include <algorithm>

namespace gr::gpufec {

namespace {

class bit_matrix
{
public:
    bit_matrix(std::size_t rows, std::size_t columns)
        : d_words((columns + 63) / 64), d_data(rows * d_words, 0)
    {
    }
    void set(std::size_t r, std::size_t c)
    {
        row(r)[c / 64] ^= std::uint64_t(1) << c % 64;
    }
    bool get(std::size_t r, std::size_t c) const
    {
        return d_data[r * d_words + c / 64] >> c % 64 & 1;
    }
    void swap_rows(std::size_t a, std::size_t b)
    {
        std::swap_ranges(row(a), row(a) + d_words, row(b));
    }
    void add_row(std::size_t from, std::size_t to)
    {
        const auto* const source = row(from);
        auto* const target = row(to);
        for (std::size_t w = 0; w < d_words; ++w) {
            target[w] ^= source[w];
        }
    }

private:
    std::uint64_t* row(std::size_t r) { return d_data.data() + r * d_words; }
    std::size_t d_words;
    std::vector<std::uint64_t> d_data;
};

} // namespace

void ldpc_code::tables::eliminate()
{
    std::vector<bool> zero(n, false); // shortened: neither message nor parity
    for (const auto position : shortened) {
        zero[position] = true;
    }
    bit_matrix h(checks, n);
    for (unsigned c = 0; c < checks; ++c) {
        for (auto e = begin[c]; e < begin[c + 1]; ++e) {
            h.set(c, bits[e]);
        }
    }
    unsigned rank = 0;
    for (unsigned column = n; column-- > 0;) {
        if (zero[column]) {
            continue;
        }
        unsigned pivot = rank;
        while (pivot < checks && !h.get(pivot, column)) {
            ++pivot;
        }
        if (pivot == checks) {
            message.push_back(column);
            continue;
        }
        if (pivot != rank) {
            h.swap_rows(pivot, rank);
        }
        for (unsigned r = 0; r < checks; ++r) {
            if (r != rank && h.get(r, column)) {
                h.add_row(rank, r);
            }
        }
        parity.push_back(column);
        ++rank;
    }
    std::reverse(message.begin(), message.end());
    k = message.size();
    form = encoding_form::eliminated;
    generators.assign(rank * generator_words(), 0);
    for (unsigned r = 0; r < rank; ++r) {
        for (unsigned i = 0; i < k; ++i) {
            if (h.get(r, message[i])) {
                generators[r * generator_words() + i / 64] |= std::uint64_t(1) << i % 64;
            }
        }
    }
}

} // namespace gr::gpufec
