// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What is known of a frame's symbols from several reads of it. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_READS_H
#define INCLUDED_GPUFEC_SYNC_MAP_READS_H

#include <cstddef>
#include <vector>

namespace gr::gpufec::sync_map {

//! Of one frame. Rows are of q words, as parts of the row's largest.
struct read_beliefs {
    std::vector<float> known;             //!< beforehand; empty: nothing
    std::vector<double> total;            //!< what all reads say
    std::vector<std::vector<float>> said; //!< by each, unless nothing is taken back
};

/*!
 * \brief How what reads say of symbols is put together.
 *
 * A read says of a symbol the posterior divided by the prior that it was decoded with.
 * What is below least_said of a row's largest counts as that: floats would soon not tell
 * it from 0, and no read alone is to rule a symbol out.
 */
class read_rule
{
public:
    static constexpr double least_said = 1e-20;

    //! \p remember: what a read says is taken back where it is decoded again.
    read_rule(unsigned symbols, unsigned q, unsigned reads, bool remember);

    //! Bytes of what is known of a frame.
    double bytes() const;

    //! Begins a frame of which \p weights (symbols × q) are known beforehand; nullptr:
    //! nothing is.
    void begin(read_beliefs& b, const float* weights) const;

    //! The priors that read \p r is decoded with, symbols × q; good until the next call.
    const float* priors(const read_beliefs& b, unsigned r);

    //! Read \p r has posteriors \p L (symbols × q), with these priors.
    template <class Value>
    void take(read_beliefs& b, unsigned r, const Value* L);

    //! Posteriors of symbol \p i, q of sum 1; without what is known beforehand if \p
    //! extrinsic. Good until the next call.
    const double* symbol(const read_beliefs& b, unsigned i, bool extrinsic);

private:
    void weigh_others(const read_beliefs& b, unsigned r, unsigned i, float* priors);

    const unsigned d_symbols, d_q, d_reads;
    const bool d_remember;
    std::vector<double> d_others; // what they say of one symbol
    std::vector<double> d_row;
    std::vector<float> d_priors;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_READS_H */
