// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters that select a convolutional code. */

#ifndef INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_PARAMETERS_H

#include <gnuradio/gpufec/viterbi.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the code and termination that the preset selects, or, if \p preset is
 * "", the other four parameters. The defaults of these four are 7, (171, 133) octal, no
 * puncturing and streaming.
 * \throws std::invalid_argument if a preset is combined with one of the other parameters,
 *         or if a value is not allowed
 */
std::pair<conv_code, termination>
conv_code_of(std::optional<int> constraint_length,
             const std::optional<std::vector<int>>& polynomials,
             const std::optional<std::string>& puncturing,
             std::optional<gpufec::termination> termination,
             const std::string& preset);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_VITERBI_CONV_PARAMETERS_H */
