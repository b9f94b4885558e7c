// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The words of each symbol index as two tries, one of first halves and one of reversed
 * second halves. The lattice rows of a prefix or suffix that several words share are
 * computed only once. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_TRIE_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_TRIE_H

#include <gnuradio/gpufec/sync_map.h>
#include <cstdint>
#include <vector>

namespace gr::gpufec::sync_map {

//! A trie whose leaves all have the same depth; node 0 is the root.
struct word_trie {
    struct node {
        std::uint32_t child;   //!< first child; the other children follow
        std::uint32_t leaf;    //!< index of the leaf; defined only for leaves
        std::uint8_t symbol;   //!< channel symbol on the branch to this node
        std::uint8_t children; //!< number of children; 0 for a leaf
    };
    std::vector<node> nodes;
    std::vector<std::uint32_t> leaf; //!< index of the leaf of each message symbol
    //! Message symbols sorted by leaf: leaf l has the symbols order[begin[l]] to
    //! order[begin[l + 1] − 1].
    std::vector<std::uint32_t> order, begin;

    unsigned leaves() const { return begin.size() - 1; }
};

//! The two tries of one symbol index.
struct index_tries {
    word_trie prefix; //!< trie of channel symbols 0 to split − 1
    word_trie suffix; //!< trie of channel symbols n − 1 down to split
};

class word_tries
{
public:
    explicit word_tries(const sync_code& code);

    unsigned n() const { return d_n; }
    unsigned q() const { return d_q; }
    unsigned alphabet() const { return d_alphabet; }
    unsigned frame_symbols() const { return d_tries.size(); }
    //! Returns the number of channel symbols in a prefix, which is less than n.
    unsigned split() const { return d_n / 2; }
    const index_tries& operator[](unsigned i) const { return d_tries[i]; }
    //! Returns the largest number of leaves of a trie.
    unsigned max_leaves() const { return d_max_leaves; }

private:
    unsigned d_n, d_q, d_alphabet, d_max_leaves = 0;
    std::vector<index_tries> d_tries;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_TRIE_H */
