// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory of the trie lattice on CUDA: codewords, weights, and the layout of a warp's rows
 * in shared memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_LAYOUT_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_LAYOUT_CUH

#include "sync_map/cuda/common.cuh"
#include "sync_map/cuda/reductions.cuh"
#include <cmath>

namespace gr::gpufec::sync_map {

constexpr unsigned trie_bits = 10; //!< number of bits of a codeword
//! Number of rows at the end of the first trie, one for each value of four bits.
constexpr int trie_rows = 16;

/*! Packed codeword. Bits 4 to 7 are the codeword's first four bits, which choose a row of
 * the first trie. Bits 0 to 3, 15 and 16 are its ending, the path in the second trie,
 * whose highest bit is visited first. Bit 17 is 0, so that no ending equals that
 * of `none`. Bits from number_shift on are the codeword's number D. The codewords of an
 * index are in the order in which the second trie visits them. */
struct trie_word {
    static constexpr std::uint32_t row = 0xf0, ending = 0x3800f, none = 0xffffffff;
    static constexpr unsigned outer_shift = 15, number_shift = 18;
};

//! Weights of insertions, and weights of a transmitted bit relative to the weight of its
//! deletion.
template <class Row, int C>
struct trie_weights {
    Row match, mismatch, erased;
    Row insertion[C + 1]; //!< element k: weight of an insertion to the power of k
    Row size;             //!< scale of normalised rows, a power of two of at most 1
    double log_size;
    //! Natural logarithm of the factor per index that rows omit.
    double log_index;

    //! log2 of the largest value that a row may reach within an index.
    static constexpr double range = sizeof(Row) == 4 ? 120 : 1000;
    //! log2 of the ratio of a row's largest value to the smallest one that must not
    //! underflow.
    static constexpr double min_range = sizeof(Row) == 4 ? 80 : 500;

    //! Returns log2 of the largest factor by which an index multiplies a row.
    static double growth(const sync_geometry& g)
    {
        const double most = std::fmax(g.match, g.mismatch) / g.deletion;
        return g.n * std::log2((most + 1) / (1 - g.insertion)) + std::log2(double(g.q));
    }
    //! Returns whether the weights keep rows within `range` and `min_range`.
    static bool possible(const sync_geometry& g)
    {
        return g.deletion > 0 && growth(g) <= 2 * range - min_range;
    }

    explicit trie_weights(const sync_geometry& g)
        : match(g.match / g.deletion),
          mismatch(g.mismatch / g.deletion),
          erased(g.erased / g.deletion),
          log_index(g.n * std::log(g.deletion))
    {
        for (int k = 0; k <= C; ++k) {
            insertion[k] = std::pow(g.insertion, k);
        }
        const int exponent = std::fmin(0, std::floor(range - growth(g)));
        size = std::ldexp(1.0, exponent);
        log_size = exponent * std::log(2.0);
    }
};

// 32 items as bits; `known` marks the items that are not erasures.
struct alignas(8) trie_items {
    std::uint32_t bits, known;
};

struct trie_memory {
    const std::uint32_t* words; //!< trie_words: 2 directions × frame_symbols × q
    void* alpha;                //!< per warp: α, (outputs + 2) × 32·C values
    void* partial;              //!< per warp: each lane's part of L(D), q × 32
    trie_items* items;          //!< per warp: packed items, frames × item_words
};

// Sixteen bytes, read or written by one instruction.
template <class Row>
struct alignas(16) sixteen {
    Row v[16 / sizeof(Row)];
};

template <class Row>
__device__ sixteen<Row> read_sixteen(const std::byte* from)
{
    return *reinterpret_cast<const sixteen<Row>*>(from);
}

// Values of a lattice row at a lane's C drifts, and the layout of the lane's 16 rows in
// shared memory. Rows are stored in pieces of sixteen bytes. If one value of each row
// remains after the whole pieces, these values follow the pieces of all rows.
template <class Row, int C>
struct alignas(16) trie_row {
    Row x[C];

    static constexpr int piece = 16 / sizeof(Row);
    static constexpr bool single = C % piece == 1;
    static constexpr int pieces = single ? C / piece : (C + piece - 1) / piece;
    static constexpr unsigned bytes = 16 * pieces;
    static constexpr unsigned singles_at = trie_rows * bytes;
    // An odd multiple of 16 bytes, so that adjacent lanes begin at different banks.
    static constexpr unsigned lane_bytes =
        (singles_at / 16 + single * trie_rows * sizeof(Row) / 16) / 2 * 32 + 16;
};

// Reads a row. \p number is the row's number times 16.
template <class Row, int C>
__device__ trie_row<Row, C> read_row(const std::byte* lane, unsigned number)
{
    using row = trie_row<Row, C>;
    row r;
    for (int k = 0; k < row::pieces; ++k) {
        const auto piece = read_sixteen<Row>(lane + number * row::pieces + k * 16);
        for (int c = 0; c < row::piece && k * row::piece + c < C; ++c) {
            r.x[k * row::piece + c] = piece.v[c];
        }
    }
    if (row::single) {
        r.x[C - 1] = *reinterpret_cast<const Row*>(lane + row::singles_at +
                                                   number / 16 * sizeof(Row));
    }
    return r;
}

template <class Row, int C>
__device__ void write_row(std::byte* lane, unsigned number, const trie_row<Row, C>& r)
{
    using row = trie_row<Row, C>;
    for (int k = 0; k < row::pieces; ++k) {
        sixteen<Row> piece{};
        for (int c = 0; c < row::piece && k * row::piece + c < C; ++c) {
            piece.v[c] = r.x[k * row::piece + c];
        }
        *reinterpret_cast<sixteen<Row>*>(lane + number * row::pieces + k * 16) = piece;
    }
    if (row::single) {
        *reinterpret_cast<Row*>(lane + row::singles_at + number / 16 * sizeof(Row)) =
            r.x[C - 1];
    }
}

//! Division of a warp's lanes and memory among its frames, computed by the host.
struct trie_layout {
    std::uint32_t lanes;      //!< number of lanes per frame
    std::uint32_t frames;     //!< number of frames per warp
    std::uint32_t item_words; //!< number of trie_items per frame
    std::uint32_t warp_bytes; //!< shared memory per warp, in bytes

    template <class Row, int C>
    static trie_layout of(unsigned window, unsigned symbols)
    {
        trie_layout l;
        l.lanes = (window + C - 1) / C;
        l.frames = 32 / l.lanes;
        // An index reads 32 items, which span two trie_items if they begin within one.
        l.item_words = (symbols * trie_bits + l.lanes * C + 31) / 32 + 2;
        l.warp_bytes = l.lanes * l.frames * trie_row<Row, C>::lane_bytes;
        return l;
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_LAYOUT_CUH */
