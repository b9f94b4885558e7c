// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds the tries of a code's words, and counts the lattice rows that kernels need. */

#include "sync_map/cpu/kernels.h"
#include <algorithm>
#include <functional>
#include <numeric>

namespace gr::gpufec::sync_map {

namespace {

// symbol_at(D, d) is the channel symbol of word D that leads from depth d to d + 1.
using symbol_at = std::function<std::uint8_t(unsigned D, unsigned d)>;

class trie_builder
{
public:
    trie_builder(unsigned q, unsigned depth, symbol_at symbol)
        : d_depth(depth), d_symbol(std::move(symbol))
    {
        auto& order = d_trie.order;
        order.resize(q);
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
            for (unsigned d = 0; d < d_depth; ++d) {
                if (d_symbol(a, d) != d_symbol(b, d)) {
                    return d_symbol(a, d) < d_symbol(b, d);
                }
            }
            return a < b;
        });
        d_trie.leaf.resize(q);
        d_trie.nodes.push_back({});
        grow(0, 0, q, 0);
        d_trie.begin.push_back(q);
    }

    word_trie take() { return std::move(d_trie); }

private:
    // Grows the subtree of words order[first] to order[last − 1], whose symbols agree up
    // to depth.
    void grow(unsigned node, unsigned first, unsigned last, unsigned depth)
    {
        const auto& order = d_trie.order;
        if (depth == d_depth) {
            const unsigned leaf = d_trie.begin.size();
            d_trie.begin.push_back(first);
            d_trie.nodes[node].leaf = leaf;
            for (unsigned k = first; k < last; ++k) {
                d_trie.leaf[order[k]] = leaf;
            }
            return;
        }
        std::vector<unsigned> ends;
        const unsigned child = d_trie.nodes.size();
        for (unsigned k = first; k < last; ++k) {
            if (k + 1 == last ||
                d_symbol(order[k], depth) != d_symbol(order[k + 1], depth)) {
                ends.push_back(k + 1);
                d_trie.nodes.push_back({ 0, 0, d_symbol(order[k], depth), 0 });
            }
        }
        d_trie.nodes[node].child = child;
        d_trie.nodes[node].children = ends.size();
        for (unsigned c = 0; c < ends.size(); ++c) {
            grow(child + c, c ? ends[c - 1] : first, ends[c], depth + 1);
        }
    }

    unsigned d_depth;
    symbol_at d_symbol;
    word_trie d_trie;
};

} // namespace

word_tries::word_tries(const sync_code& code)
    : d_n(code.n()), d_q(code.q()), d_alphabet(code.alphabet())
{
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        const auto ahead = [&](unsigned D, unsigned d) { return code.word(i, D)[d]; };
        const auto back = [&](unsigned D, unsigned d) {
            return code.word(i, D)[d_n - 1 - d];
        };
        d_tries.push_back({ trie_builder(d_q, split(), ahead).take(),
                            trie_builder(d_q, d_n - split(), back).take() });
        d_max_leaves = std::max({ d_max_leaves,
                                  d_tries.back().prefix.leaves(),
                                  d_tries.back().suffix.leaves() });
    }
}

unsigned row_vectors(const word_tries& tries)
{
    // Rows: one for a boundary; three per leaf (one for each trie and one for sums); and
    // one for each child of the nodes on a path down the deeper trie.
    const unsigned branches = std::min(tries.alphabet(), tries.q());
    return 1 + 3 * tries.max_leaves() + branches * (tries.n() - tries.split());
}

} // namespace gr::gpufec::sync_map
