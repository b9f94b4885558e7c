// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Gauss-Jordan elimination, which finds message positions and dense generators of codes
 * whose matrix has no special form. */

#include "code_tables.h"
#include "common/refuse.h"
#include <algorithm>
#include <numeric>

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

bit_matrix matrix_of(const ldpc_code_access::tables& t)
{
    bit_matrix h(t.checks + t.extra_checks.size(), t.n);
    for (unsigned c = 0; c < t.checks; ++c) {
        for (auto e = t.begin[c]; e < t.begin[c + 1]; ++e) {
            h.set(c, t.bits[e]);
        }
    }
    for (std::size_t c = 0; c < t.extra_checks.size(); ++c) {
        for (const auto bit : t.extra_checks[c]) {
            h.set(t.checks + c, bit);
        }
    }
    return h;
}

} // namespace

// Returns the positions of the rule "gr_fec_ldpc_encoder" of with_message_positions().
std::vector<std::uint32_t> ldpc_code::tables::gr_fec_positions() const
{
    if (std::uint64_t(n) * checks > max_elimination) {
        refuse("message_positions",
               "\"gr_fec_ldpc_encoder\"",
               "the matrix of " + name +
                   " is too large to eliminate (checks x bits must be at most " +
                   std::to_string(max_elimination) + ")");
    }
    auto h = matrix_of(*this);
    std::vector<std::uint32_t> columns(n);
    std::iota(columns.begin(), columns.end(), 0);
    auto diagonal = columns.begin();
    for (unsigned r = 0; r < checks; ++r) {
        const auto pivot = std::find_if(
            diagonal, columns.end(), [&](auto column) { return h.get(r, column); });
        if (pivot == columns.end()) {
            continue;
        }
        std::iter_swap(diagonal, pivot);
        for (unsigned below = r + 1; below < checks; ++below) {
            if (h.get(below, *diagonal)) {
                h.add_row(r, below);
            }
        }
        ++diagonal;
    }
    return { diagonal, columns.end() };
}

void ldpc_code::tables::eliminate(const std::vector<std::uint32_t>& order)
{
    auto h = matrix_of(*this);
    const unsigned rows = checks + extra_checks.size();
    message.clear();
    parity.clear();
    unsigned rank = 0;
    for (const auto column : order) {
        unsigned pivot = rank;
        while (pivot < rows && !h.get(pivot, column)) {
            ++pivot;
        }
        if (pivot == rows) {
            message.push_back(column);
            continue;
        }
        if (pivot != rank) {
            h.swap_rows(pivot, rank);
        }
        for (unsigned r = 0; r < rows; ++r) {
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
