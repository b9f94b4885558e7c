// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic law of path metrics that the CPU and CUDA share. */

#ifndef INCLUDED_GPUFEC_VITERBI_METRIC_RULE_H
#define INCLUDED_GPUFEC_VITERBI_METRIC_RULE_H

namespace gr::gpufec::viterbi {

//! Decisions (bits of history) H that path metrics of 16 bits have room for: what a strip
//! of H stages adds and what metrics differ by, (H + K−1)·127·R, must fit in 16 − H bits.
constexpr unsigned metric_history(unsigned constraint_length, unsigned outputs)
{
    return (constraint_length + 3) * outputs * 127 + 1 < 4096 ? 4 : 2;
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_METRIC_RULE_H */
