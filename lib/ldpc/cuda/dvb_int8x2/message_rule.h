// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The rule as kernels for pairs of codewords compute it. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIR_RULE_H
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIR_RULE_H

#include "message_rule.h"
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

//! A number in both halves of a word.
std::uint32_t in_both_halves(double x);

//! What leaves with a least magnitude.
struct pair_outgoing {
    double slope, floor, span;
    explicit pair_outgoing(const message_rule& rule);
    //! Of m steps.
    double of(int m) const;
    //! Whether that is what the rule says.
    bool follows(const message_rule& rule) const;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIR_RULE_H */
