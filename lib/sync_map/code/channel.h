// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Weights of the BSID channel (substitution, insertion, deletion) for the decoders, and
 * the exclusion probability per symbol. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CODE_CHANNEL_H
#define INCLUDED_GPUFEC_SYNC_MAP_CODE_CHANNEL_H

#include <gnuradio/gpufec/sync_map.h>

namespace gr::gpufec::sync_map {

//! Returns the probability p per symbol for which 1 − (1 − p)^symbols is \p exclusion.
double exclusion_per_symbol(double exclusion, unsigned symbols);

//! Weights of the steps of a lattice path.
struct bsid_weights {
    explicit bsid_weights(const bsid_model& channel);

    double match; //!< weight of a symbol transmitted and received as sent
    //! Weight of a symbol transmitted and received as one particular other symbol.
    double mismatch;
    double insertion; //!< weight of one particular symbol being inserted
    double deletion;

    //! Returns the weight of a transmission.
    //! \param likelihood P(received item | symbol sent); the likelihoods of all symbols
    //! add up to 1
    double transmission(double likelihood) const
    {
        return match * likelihood + mismatch * (1 - likelihood);
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CODE_CHANNEL_H */
