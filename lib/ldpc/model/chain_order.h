// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of the layers of a code with a parity chain, such as those of DVB-S2. Layer i
 * has the checks j·q + i. Its bits are groups of message bits and the parity bits of
 * layers i and i − 1.
 *
 * Long codes with checks of few edges are divided into two chains of layers. The
 * second chain begins at about the middle layer, and the two chains share parity bits
 * only at their ends. Layers are decoded in phases: in a phase, the layers of one
 * chain share no group with those of the other, so that decoders can work on both
 * chains at the same time. */

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
