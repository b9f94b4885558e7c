// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The order of the layers of a code with a parity chain, as DVB-S2's: layer i has the
 * checks j·q + i and, besides groups of message bits, the parity bits of layers i and
 * i − 1.
 *
 * Long codes of small checks are two chains of layers, the second from about the middle
 * on, which share no parity bit but at their ends. The order is one of phases: the layers
 * of a phase in one chain share no group with those in the other, so that decoders can do
 * both chains at the same time. */

#ifndef INCLUDED_GPUFEC_LDPC_CHAIN_ORDER_H
#define INCLUDED_GPUFEC_LDPC_CHAIN_ORDER_H

#include <gnuradio/gpufec/ldpc.h>
#include <array>
#include <vector>

namespace gr::gpufec::ldpc {

struct chain_order {
    explicit chain_order(const ldpc_code& code);

    //! The layers in the order of decoding.
    std::vector<unsigned> layers() const;

    unsigned chains() const { return begins[1] < begins[2] ? 2 : 1; }

    std::array<unsigned, 3> begins; //!< of chains: their first layers, and the end
    //! How many layers of each chain, at least one, from where the phase before left it.
    std::vector<std::array<unsigned, 2>> phases;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CHAIN_ORDER_H */
