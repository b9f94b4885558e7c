// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the decoders take from the BSID channel. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CHANNEL_H
#define INCLUDED_GPUFEC_SYNC_MAP_CHANNEL_H

#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec::sync_map {

//! The exclusion probability of one of \p symbols symbols, from that of them all.
double exclusion_per_symbol(double exclusion, unsigned symbols);

//! Weights of the steps of a lattice path.
struct bsid_weights {
    explicit bsid_weights(const bsid_model& channel);

    double match;     //!< transmitted and received as sent
    double mismatch;  //!< transmitted and received as one given other symbol
    double insertion; //!< one given symbol inserted
    double deletion;

    //! Weight of a transmission when \p likelihood is the received item's probability
    //! given the symbol sent, and those of all symbols add up to 1.
    double transmission(double likelihood) const
    {
        return match * likelihood + mismatch * (1 - likelihood);
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CHANNEL_H */
