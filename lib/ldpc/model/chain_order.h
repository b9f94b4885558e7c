// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of the layers of a code with a parity chain, as DVB-S2's: layer i has the
 * checks j·q + i and, besides groups of message bits, the parity bits of layers i and i
 * − 1.
 *
 * Long codes with checks of few edges are divided into two chains of layers, the second
 * from about the middle on, which share parity bits at their ends only. Layers are
 * decoded in phases: the layers of a phase in one chain share no group with those in the
 * other, so that decoders can do both chains at the same time. */

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

    std::array<unsigned, 3> begins; //!< the first layers of chains, and the end
    //! The number of layers of each chain in each phase, at least one.
    std::vector<std::array<unsigned, 2>> phases;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_ORDER_H */
