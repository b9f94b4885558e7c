// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reference LDPC decoders, against which the fast decoders are tested. Sum-product and
 * the min-sum of L. Feltrin's thesis (README.md, Sources) compute in double precision;
 * layered() and flooding() are the bit-exact models of both backends. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H

#include "layer_plan.h"
#include "message_rule.h"
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {
namespace reference {

struct result {
    std::vector<std::uint8_t> bits; //!< n decisions, one per byte
    unsigned iterations = 0;
    unsigned unsatisfied = 0;       //!< number of checks that the decisions violate
    std::vector<double> posteriors; //!< n posteriors, in the unit of the channel values
};

/*!
 * \brief Returns the soft output of a decoded codeword, as message_rule.h defines it.
 * \param channel the n channel values of the codeword
 * \param factor result of soft_factor()
 */
std::vector<std::int8_t> soft_output(const result& decoded,
                                     const std::vector<float>& channel,
                                     bool extrinsic,
                                     float factor);

/*!
 * \brief Decodes by belief propagation in double precision.
 *
 * Check nodes compute 2·atanh(Π tanh(t/2)) (Gallager) and clamp the messages to ±40 nats.
 * layer_plan.h defines the layered schedule.
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
 * \brief Decodes by min-sum as in Feltrin's thesis, with the flooding schedule and
 * without an offset, in double precision.
 */
result min_sum(const ldpc_code& code,
               const std::vector<double>& llr,
               unsigned max_iterations,
               bool early_stop);

/*!
 * \brief Reproduces the layered decoders of both backends to the last bit. message_rule.h
 * and layer_plan.h define the arithmetic and the order.
 *
 * \param channel n channel values in steps of the rule
 */
result layered(const ldpc_code& code,
               const layer_plan& plan,
               const message_rule& rule,
               const std::vector<float>& channel,
               unsigned max_iterations,
               bool early_stop);

/*!
 * \brief Reproduces the flooding decoders of both backends to the last bit.
 *
 * In each iteration all check nodes update their messages from the posteriors, by the
 * rule. Then the posterior of each bit becomes its channel value plus its messages, added
 * in the order of its checks.
 */
result flooding(const ldpc_code& code,
                const message_rule& rule,
                const std::vector<float>& channel,
                unsigned max_iterations,
                bool early_stop);

//! Returns the number of checks that \p bits, one per byte, violate.
unsigned violated_checks(const ldpc_code& code, const std::vector<std::uint8_t>& bits);

} // namespace reference
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_REFERENCE_H */
