// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The plain synchronisation decoders that the fast ones answer to: enumeration of every
 * message, the corridor recursion of the papers, and the linear form. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_REFERENCE_H
#define INCLUDED_GPUFEC_SYNC_MAP_REFERENCE_H

#include <gnuradio/gpufec/sync_map.h>
#include <vector>

namespace gr::gpufec::sync_map {
namespace reference {

/*!
 * \brief What is received of some message symbols, and what is known beforehand.
 *
 * Boundary i (0 to symbols) at drift m lies at received position origin + n·i + m.
 */
struct map_problem {
    sync_code code;
    bsid_model channel;
    drift_range window; //!< drifts considered at every boundary
    unsigned symbols;   //!< may exceed the code's frame_symbols: indices repeat
    int origin = 0;     //!< received position of boundary 0 at drift 0
    //! Probability of each received item given each channel symbol sent without
    //! substitution: positions × alphabet, each row of sum 1. Hard: 1 or 0.
    std::vector<double> likelihood;
    std::vector<double> start;  //!< weights of window's drifts at boundary 0
    std::vector<double> end;    //!< the same at the last boundary
    std::vector<double> priors; //!< symbols × q, or empty: all alike

    int positions() const { return likelihood.size() / code.alphabet(); }
};

//! A frame of hard channel symbols that begins at drift 0 and ends with the last item.
map_problem frame_problem(const sync_code& code,
                          const bsid_model& channel,
                          drift_range window,
                          const std::vector<std::uint8_t>& received);

struct map_result {
    std::vector<double> posteriors; //!< L_i(D), symbols × q, rows of sum 1
    std::vector<double> drifts;     //!< λ_i(m), (symbols + 1) × window, rows of sum 1
    double log_probability = 0;     //!< natural logarithm of P(Y)
    bool valid = true;              //!< false: P(Y) is 0, and posteriors are uniform
};

//! By enumeration of all q^symbols messages, for very small problems.
map_result enumeration(const map_problem& p);

//! The papers' recursion with branch metrics of drift changes \p change a symbol.
map_result corridor(const map_problem& p, drift_range change);

//! The same in floating point of 50 decimal digits.
map_result corridor_exact(const map_problem& p, drift_range change);

//! The linear form: each word's lattice once over the whole window.
map_result linear(const map_problem& p);

//! Posteriors of a message given all of \p reads, which differ in what was received: by
//! enumeration of all q^symbols messages, for very small problems. Symbols × q, rows of
//! sum 1.
std::vector<double> joint_posteriors(const std::vector<map_problem>& reads);

/*!
 * \brief What sync_reads_decoder computes: each read \p passes times, one after the
 * other, with what the others say as priors.
 *
 * What a read says is its posteriors divided by its priors, as parts of the largest of
 * the q, with read_rule::least_said at least. So is what the others say, their product,
 * which is multiplied by the first problem's priors. All three are floats. Symbols × q,
 * rows of sum 1.
 */
std::vector<double> read_by_read(const std::vector<map_problem>& reads, unsigned passes);

} // namespace reference
} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_REFERENCE_H */
