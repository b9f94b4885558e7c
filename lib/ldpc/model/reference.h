// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference LDPC decoders, against which the fast ones are tested: sum-product and the
 * min-sum of Feltrin's thesis in double precision, and the bit-true model of both
 * backends. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H

#include "layer_plan.h"
#include "message_rule.h"
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {
namespace reference {

struct result {
    std::vector<std::uint8_t> bits; //!< decisions, n of them, one per byte
    unsigned iterations = 0;        //!< iterations made
    unsigned unsatisfied = 0;       //!< checks that the decisions violate
    std::vector<double> posteriors; //!< n, in nats or steps like the channel values
};

/*!
 * \brief Returns the soft output of a decoded codeword, by the rule.
 * \param channel values from which it was decoded, for extrinsic LLRs
 * \param factor result of soft_factor()
 */
std::vector<std::int8_t> soft_output(const result& decoded,
                                     const std::vector<float>& channel,
                                     bool extrinsic,
                                     float factor);

/*!
 * \brief Belief propagation in double precision.
 *
 * Check nodes compute 2·atanh(Π tanh(t/2)) (Gallager), in flooding or layer by layer.
 *
 * \param llr n channel values in nats, positive means bit 0
 * \param early_stop stop after the first iteration whose decisions satisfy every check
 */
result sum_product(const ldpc_code& code,
                   ldpc_schedule schedule,
                   const std::vector<double>& llr,
                   unsigned max_iterations,
                   bool early_stop);

/*!
 * \brief The min-sum decoder of Feltrin's thesis: flooding, no offset, in double.
 */
result min_sum(const ldpc_code& code,
               const std::vector<double>& llr,
               unsigned max_iterations,
               bool early_stop);

/*!
 * \brief The bit-true model of the layered decoders, which message_rule.h and
 * layer_plan.h define.
 *
 * \param channel n channel values, in steps; in float precision each operation is
 *        rounded to a float
 */
result layered(const ldpc_code& code,
               const layer_plan& plan,
               const message_rule& rule,
               const std::vector<float>& channel,
               unsigned max_iterations,
               bool early_stop);

/*!
 * \brief The bit-true model of the flooding decoders.
 *
 * In each iteration all check nodes update their messages from the posteriors, by the
 * rule; then the posterior of each bit becomes its channel value plus its messages, added
 * in the order of its checks.
 */
result flooding(const ldpc_code& code,
                const message_rule& rule,
                const std::vector<float>& channel,
                unsigned max_iterations,
                bool early_stop);

//! Returns the number of checks that bits (one per byte) violate.
unsigned violated_checks(const ldpc_code& code, const std::vector<std::uint8_t>& bits);

} // namespace reference
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H */
