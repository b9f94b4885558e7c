// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference decoders for tests of the fast decoders: enumeration of all messages, the
 * corridor recursion of Briffa (2014), the linear form, and joint decoding of several
 * received copies. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_REFERENCE_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_REFERENCE_H

#include <gnuradio/gpufec/sync_map.h>
#include <vector>

namespace gr::gpufec::sync_map {
namespace reference {

/*!
 * \brief Received items of some message symbols, and prior knowledge about them.
 *
 * Boundary i (0 to symbols) at drift m lies at received position origin + n·i + m.
 */
struct map_problem {
    sync_code code;
    bsid_model channel;
    drift_range window; //!< drifts considered at every boundary
    //! Number of symbols. Symbol i has the words of symbol i mod frame_symbols of the
    //! code.
    unsigned symbols;
    int origin = 0; //!< received position of boundary 0 at drift 0
    //! Probability of each received item for each channel symbol, if that symbol was
    //! transmitted without substitution: positions × alphabet, rows of sum 1. The values
    //! of hard items are 1 and 0.
    std::vector<double> likelihood;
    std::vector<double> start; //!< weights of the drifts in the window at boundary 0
    std::vector<double> end; //!< weights of the drifts in the window at the last boundary
    std::vector<double> priors; //!< symbols × q values, or empty for uniform priors

    int positions() const { return likelihood.size() / code.alphabet(); }
};

//! Makes the problem of a frame of hard channel symbols that begins at drift 0 and ends
//! with the last item.
//! \throws std::invalid_argument if a drift at either end lies outside the window
map_problem frame_problem(const sync_code& code,
                          const bsid_model& channel,
                          drift_range window,
                          const std::vector<std::uint8_t>& received);

struct map_result {
    std::vector<double> posteriors; //!< posteriors of the symbols: symbols × q, rows of
                                    //!< sum 1
    std::vector<double> drifts; //!< drift posteriors: (symbols + 1) × window, rows of sum
                                //!< 1
    double log_probability = 0; //!< natural logarithm of P(received items)
    bool valid = true; //!< false if P(received items) is 0; posteriors are then uniform
};

//! Enumerates all q^symbols messages, for very small problems.
map_result enumeration(const map_problem& p);

//! Runs the recursion of Briffa (2014), with branch metrics for drift changes \p change
//! per symbol.
map_result corridor(const map_problem& p, drift_range change);

//! Runs corridor() in floating point of 50 decimal digits.
map_result corridor_exact(const map_problem& p, drift_range change);

//! Runs the linear form, which computes each word's lattice once for the whole window.
map_result linear(const map_problem& p);

//! Enumerates all q^symbols messages, for very small problems, and returns the posteriors
//! of one message given several reads (received copies) of it: symbols × q, rows of sum
//! 1. The priors are those of the first read.
std::vector<double> joint_posteriors(const std::vector<map_problem>& reads);

/*!
 * \brief Decodes the reads one after another, \p passes times, by the rule of
 * sync_reads_decoder: the priors of each read come from the other reads' extrinsics.
 *
 * A read's extrinsics are its posteriors divided by its priors. Each row of the
 * extrinsics, and of the product of the other reads' extrinsics, is divided by its
 * largest value. Values below read_rule::min_extrinsic (see reads.h) are raised to it.
 * The product is then multiplied by the first problem's priors. Extrinsics, product and
 * priors are rounded to float. A read that cannot be decoded keeps its extrinsics.
 * Returns symbols × q, rows of sum 1.
 */
std::vector<double> read_by_read(const std::vector<map_problem>& reads, unsigned passes);

} // namespace reference
} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_REFERENCE_H */
