// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference decoders: maximum likelihood over a whole sequence, and the bit-true model of
 * the backends, which decode parallel blocks. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_REFERENCE_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_REFERENCE_H

#include "block_layout.h"
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {
namespace reference {

/*!
 * \brief Decodes one sequence or frame by maximum likelihood, with a full traceback.
 *
 * The path metric is the sum of |v| over all soft values v whose sign contradicts the
 * path's output. The path with the smallest metric wins. On a tie the even predecessor
 * survives, and among final states with equal metrics the one with the lowest index is
 * chosen. −128 counts as −127. A tail-biting frame is decoded once for each of its
 * 2^(K−1) possible initial states, so this function suits only short frames. A streaming
 * sequence may begin in any state. A streaming sequence and a truncated frame may end in
 * any state.
 *
 * \param values int8 soft values as sent (punctured), positive means bit 0; missing
 *        values at the end are erased
 * \param bits number of information bits of the sequence
 * \return the information bits, one per byte
 */
std::vector<std::uint8_t> maximum_likelihood(const conv_code& code,
                                             termination ends,
                                             const std::vector<std::int8_t>& values,
                                             std::size_t bits);

/*!
 * \brief Decodes parallel blocks; the bit-true model of both backends.
 *
 * Each block of \p plan is decoded independently and traced back from state 0. Path
 * metrics and tie-breaking are those of maximum_likelihood().
 *
 * \param values soft values of the stream, or of a whole number of frames
 * \param bits number of information bits of the stream; not used for frames
 * \return the information bits, one per byte
 */
std::vector<std::uint8_t> parallel_blocks(const conv_code& code,
                                          const block_layout& plan,
                                          const std::vector<std::int8_t>& values,
                                          std::size_t bits);

} // namespace reference
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_REFERENCE_H */
