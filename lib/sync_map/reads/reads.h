// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Combines the extrinsics of several reads (received copies) of a frame. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_READS_READS_H
#define INCLUDED_GPUFEC_SYNC_MAP_READS_READS_H

#include <cstddef>
#include <vector>

namespace gr::gpufec::sync_map {

//! Symbol probabilities of one frame: one row of q values per symbol, scaled to a
//! maximum of 1.
struct read_beliefs {
    std::vector<float> known;  //!< prior of the frame; empty: uniform
    std::vector<double> total; //!< product of the extrinsics of all reads decoded so far
    //! Extrinsics of each read; empty if each read is decoded only once.
    std::vector<std::vector<float>> extrinsics;
};

/*!
 * \brief The rule that combines the extrinsics of reads.
 *
 * A read's extrinsics are its posteriors divided by the priors that it was decoded with.
 * Extrinsics below min_extrinsic times the row's maximum are raised to this limit, so
 * that a single read cannot exclude a symbol. Products of extrinsics are computed in
 * double. A product that enters the priors has the same lower limit, because priors are
 * floats.
 */
class read_rule
{
public:
    static constexpr double min_extrinsic = 1e-20;

    //! \param remember whether to store the extrinsics of each read, so that reads can
    //! be decoded again
    read_rule(unsigned symbols, unsigned q, unsigned reads, bool remember);

    //! Returns the size in bytes of a frame's read_beliefs.
    double bytes() const;

    //! Begins a frame.
    //! \param weights priors, symbols × q; nullptr: uniform
    void begin(read_beliefs& b, const float* weights) const;

    //! Returns the priors for decoding read \p r, symbols × q, valid until the next call
    //! of priors() or take().
    const float* priors(const read_beliefs& b, unsigned r);

    //! Updates the product of extrinsics with the posteriors \p L (symbols × q) of read
    //! \p r, decoded with priors(b, r).
    template <class Value>
    void take(read_beliefs& b, unsigned r, const Value* L);

    //! Returns the q posterior probabilities of symbol \p i, normalised to sum 1. If \p
    //! extrinsic is true, the frame's priors are left out. Valid until the next call of
    //! symbol() or take().
    const double* symbol(const read_beliefs& b, unsigned i, bool extrinsic);

private:
    void weigh_others(const read_beliefs& b, unsigned r, unsigned i, float* priors);

    const unsigned d_symbols, d_q, d_reads;
    const bool d_remember;
    std::vector<double> d_others; // product of the other reads' extrinsics of one symbol
    std::vector<double> d_row;
    std::vector<float> d_priors;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_READS_READS_H */
