// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The int8 message rule, as kernels compute it with 16-bit floats in both halves of a
 * word. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGE_RULE_H
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGE_RULE_H

#include "ldpc/model/message_rule.h"
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

//! Returns a word with the 16-bit float \p x in both halves.
std::uint32_t in_both_halves(double x);

//! The magnitude of a check-to-variable message as a function of a minimum.
struct int8x2_message_rule {
    double slope, floor, span;
    explicit int8x2_message_rule(const message_rule& rule);
    //! Returns the magnitude for a minimum of m steps.
    double of(int m) const;
    //! Returns whether this rule has the same magnitudes as \p rule for minima of 0 to
    //! 2047 steps.
    bool follows(const message_rule& rule) const;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGE_RULE_H */
