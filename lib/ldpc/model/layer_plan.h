// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The schedule of layered decoding: the order of the checks of a code, and of the edges
 * to bits that occur in a layer more than once. The reference and both backends follow
 * this schedule.
 *
 * Checks of one layer are decoded at the same time, so that all of them read the
 * posteriors as they were before the layer. A bit may occur in a layer more than once (in
 * double circulants of DVB-S2). The edge whose index within its check is lowest then
 * writes the bit, as variable-to-check message + new message. The bit's other edges are
 * \em deferred. After all other edges of the layer have written their bits, each deferred
 * edge adds new − old message. The first deferred edge of each bit, in the order of edge
 * indices, does so in round 1, the second in round 2 …
 *
 * Codes with a parity chain, such as those of DVB-S2, have q layers. Layer i has the
 * checks j·q + i, and the layers are in the order of chain_order.h.
 *
 * Other codes of circulants have one layer per row of the base matrix. Rows with more
 * circulants come first, so that rows of equal degree are adjacent. Within one degree,
 * the order avoids barriers. A column of the base matrix is in use if a row since the
 * last barrier has a circulant in it. Among the first 64 remaining rows of one degree,
 * the first row without a column in use is next. If there is no such row, there is a
 * barrier, and the first remaining row is next.
 *
 * A row whose blocks have several circulants is divided into the smallest number of
 * layers of successive checks in which no bit occurs twice. All of these layers except
 * the last have the same size. If two shifts of a block differ by less than 32 (modulo
 * the lifting size), the layers would be too small. The row is then divided into layers
 * of up to 360 checks, and edges are deferred.
 *
 * In all other codes, checks are assigned one after the other, each to the first layer
 * that has none of the check's bits, so that no edge is deferred. Checks are also
 * assigned in this way if a code would need deferred edges but has checks of more than
 * 32 bits, or has a parity chain with layers of more than 360 checks. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_LAYER_PLAN_H
#define INCLUDED_GPUFEC_LDPC_MODEL_LAYER_PLAN_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

struct layer_plan {
    struct edge {
        std::uint32_t bit;
        bool shared; //!< whether the bit occurs in this layer more than once
        //! Round of a deferred edge, from 1; 0 if the edge writes the bit.
        std::uint8_t round;
    };

    //! Checks in the order of decoding, layer after layer.
    std::vector<std::uint32_t> order;
    //! For each layer, the index of its first check in \c order; then the number of
    //! checks.
    std::vector<std::uint32_t> layer_begin;
    //! For each check in \c order, the index of its first edge in \c edges; then the
    //! number of edges.
    std::vector<std::uint32_t> edge_begin;
    std::vector<edge> edges;
    //! The number of rounds of deferred edges in each layer.
    std::vector<std::uint8_t> rounds;

    std::size_t layers() const { return layer_begin.size() - 1; }
};

layer_plan make_layer_plan(const ldpc_code& code);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_LAYER_PLAN_H */
