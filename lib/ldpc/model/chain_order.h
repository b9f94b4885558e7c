// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of the layers of a code with a parity chain, such as the codes of DVB-S2. The
 * code has q layers, and layer i has the checks j·q + i. A layer uses whole groups of
 * message bits (a group has 360) and the parity bits of layers i and i − 1.
 *
 * Layers of long codes with checks of few edges are divided into two chains. The second
 * chain begins near the middle layer, and the two chains share parity bits only at their
 * ends. The chains are decoded in phases. Within a phase, the layers of one chain use no
 * group that the other chain uses, so that decoders can work on both chains at the same
 * time. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_ORDER_H
#define INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_ORDER_H

#include <gnuradio/gpufec/ldpc.h>
#include <array>
#include <vector>

namespace gr::gpufec::ldpc {

struct chain_order {
    explicit chain_order(const ldpc_code& code);

    //! Returns the layers in the order of decoding.
    std::vector<unsigned> layers() const;

    unsigned chains() const { return begins[1] < begins[2] ? 2 : 1; }

    //! The first layer of each chain, then the number of layers.
    std::array<unsigned, 3> begins;
    //! For each phase, the number of layers of each chain. If there is only one chain,
    //! the second number is 0.
    std::vector<std::array<unsigned, 2>> phases;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_ORDER_H */
