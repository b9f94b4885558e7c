// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The division of a path metric's 16 bits into metric and decisions, shared by the CPU
 * and CUDA. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H

namespace gr::gpufec::viterbi {

//! Returns H, the number of decision bits in a 16-bit path metric. The growth of a path
//! metric over a strip of H stages plus the spread of the path metrics, (H + K−1)·127·R
//! in total, must fit into 16 − H bits.
constexpr unsigned metric_history(unsigned constraint_length, unsigned outputs)
{
    return (constraint_length + 3) * outputs * 127 + 1 < 4096 ? 4 : 2;
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H */
