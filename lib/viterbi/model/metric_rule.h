// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Divides a 16-bit word between a path metric and decisions, for the CPU and for CUDA. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H

namespace gr::gpufec::viterbi {

//! Returns H, the number of low bits that hold decisions: 4 or 2. These bits collect the
//! decisions of H stages, a strip, before the decisions are stored as survivors. The
//! other 16 − H bits must hold the spread of the path metrics at R outputs, (K−1)·127·R,
//! and their growth over a strip, H·127·R.
constexpr unsigned metric_history(unsigned constraint_length, unsigned outputs)
{
    return (constraint_length + 3) * outputs * 127 + 1 < 4096 ? 4 : 2;
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_METRIC_RULE_H */
