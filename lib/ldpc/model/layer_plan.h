// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The order in which a layered decoder goes through the checks of a code: what the
 * reference and both backends share.
 *
 * Checks of one layer are decoded at the same time: all of them read the posteriors as
 * they were before the layer. A bit that takes part in a layer more than once (a double
 * circulant of DVB-S2) is written by the edge of lowest place in its check, as
 * input + new message; its other edges are \em deferred: once all have been read and
 * written, they add new − old message one after the other, in the order of their places:
 * the first of each bit in round 1, the second in round 2 …
 *
 * Codes with a parity chain, as DVB-S2's: q layers of the checks j·q + i, in the order of
 * chain_order.h. Other codes of circulants: a layer a row of them. Rows of more edges
 * come first, so that decoders find those of one kind together. Of rows with as many, the
 * next is the first, of up to 64, without a column that was in use since a row last had
 * one of those; if all have one, simply the first: decoders wait before such a row. Where
 * blocks of a row have several circulants, as many layers of successive checks, of one
 * size but the last, as it takes for no bit to be in one twice; layers of up to 360
 * checks if those had fewer than 32. All others, and codes that would defer edges of
 * checks with more than 32 bits: each check in turn goes to the first layer that has none
 * of its bits, so that nothing is deferred. */

#ifndef INCLUDED_GPUFEC_LDPC_LAYER_PLAN_H
#define INCLUDED_GPUFEC_LDPC_LAYER_PLAN_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

struct layer_plan {
    struct edge {
        std::uint32_t bit;
        bool shared;        //!< the bit takes part in this layer more than once
        std::uint8_t round; //!< 0: this edge writes it; else the round it is deferred to
    };

    //! Checks in the order of decoding, layer after layer.
    std::vector<std::uint32_t> order;
    //! Where each layer begins in the order, and the end.
    std::vector<std::uint32_t> layer_begin;
    //! Where the edges of each check of the order begin, and the end.
    std::vector<std::uint32_t> edge_begin;
    std::vector<edge> edges;
    //! How many rounds of deferred edges a layer has.
    std::vector<std::uint8_t> rounds;

    std::size_t layers() const { return layer_begin.size() - 1; }
};

layer_plan make_layer_plan(const ldpc_code& code);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_LAYER_PLAN_H */
