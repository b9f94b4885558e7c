// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of the fast decoders: the steps in which values are quantised, limits
 * and rounding. The reference and both backends follow it to the last bit.
 *
 * A decoder holds channel values, clamped to ±channel_limit, one unclamped posterior per
 * bit and one message per edge, whose magnitude never exceeds message_limit. All are in
 * steps of 1 / scale nat. The variable-to-check message is t = posterior − old message.
 * The sign of an edge's new message is the product of the signs of the other edges' t,
 * where zero counts as positive. In int8 and int16 its magnitude is
 *
 *     m = min |t| over the other edges
 *     x = max(0, min(m − offset, message_limit))
 *     magnitude = (x · sixteenths + 8) >> 4
 *
 * In float the magnitude follows from the three smallest |t| of the check, a ≤ b ≤ c. If
 * a check has fewer than three edges, no_message replaces the missing values. The result
 * of each operation is rounded to a float, and sat(x) clamps x to 0 … 1:
 *
 *     after(m, next, offset) =
 *         sat(m · normalization − 2 · offset · sat(1/2 − (next − m) · decline))
 *     second = after(b, c, offset_min)
 *     first = after(a, second, offset_others)
 *     magnitude = truncated(second)     to the edge with |t| = a, if a < b
 *     magnitude = truncated(first)      to all other edges
 *
 * where offset_min and offset_others are half of offset_x2_min and offset_x2_others, for
 * the check's degree. truncated(x) is x rounded towards zero to 16 significant bits, so
 * that kernels can store signs in the words of the two magnitudes.
 *
 * The sum-product rule combines two magnitudes a ≤ b into
 * a − ln(1 + e^(a−b)) + ln(1 + e^−(a+b)). The last term matters only if both magnitudes
 * are small. The rule above approximates sum-product from three magnitudes, by offsets
 * that decline with b − a. The offsets grow with the check's degree, because the omitted
 * magnitudes would also reduce the result. With a decline of 0, the rule is offset
 * min-sum.
 *
 * The posterior becomes t + new message. In int8 and int16 all values are integers.
 *
 * The decisions are the signs of the posteriors; negative means bit 1. With early stop,
 * decoding of a codeword ends after the first iteration in which the decisions satisfy
 * every check.
 *
 * Soft output is computed from the posterior of each bit (posterior LLRs) or from the
 * posterior minus the channel value (extrinsic LLRs; in float precision the difference is
 * rounded). The value is multiplied by a factor in float, clamped to ±soft_limit and
 * rounded to an integer, ties to even. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_MESSAGE_RULE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_MESSAGE_RULE_H

#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gr::gpufec::ldpc {

//! Float: an offset that grows with a check's degree, up to degree \c most. The rounded
//! result of of() is exact, because either \c base and \c per_edge are small multiples of
//! one power of two, or \c per_edge is 0.
struct declining_offset {
    static constexpr unsigned most = 8;
    float base, per_edge;

    float of(unsigned degree) const
    {
        return base + per_edge * float(std::min(degree, most));
    }
};

struct message_rule {
    ldpc_precision precision;
    float scale; //!< steps per nat; in float 2^-20, so that the message limit of one step
                 //!< is 2^20 nats
    float channel_limit; //!< largest magnitude of a channel value, in steps
    float message_limit; //!< largest magnitude of a message, in steps; 1 in float
    float offset; //!< int8 and int16: offset of offset min-sum, a whole number of steps
    //! Float: twice the offsets, in steps.
    declining_offset offset_x2_others, offset_x2_min;
    float decline; //!< float: factor of next − m in the rule; 0 or a power of two, so
                   //!< that products are exact
    float normalization; //!< float: factor of normalised min-sum, or 1
    int sixteenths;      //!< int8 and int16: factor of normalised min-sum in sixteenths

    //! Returns the largest magnitude of the posterior of a bit with \p degree checks.
    float posterior_limit(unsigned degree) const
    {
        return channel_limit + degree * message_limit;
    }
};

/*!
 * \brief Returns the rule for a code.
 *
 * A negative \p offset or \p normalization selects the code's own tuning or, if there is
 * none, the tuning for the code's rate. In float offset min-sum, a negative \p offset
 * selects declining offsets.
 *
 * \param offset offset of offset min-sum, up to 15 nats
 * \param normalization factor of normalised min-sum, up to 1
 * \throws std::invalid_argument if \p offset or \p normalization is out of range
 */
message_rule make_message_rule(const ldpc_code& code,
                               ldpc_algorithm algorithm,
                               ldpc_precision precision,
                               double offset,
                               double normalization);

//! Float: the magnitude that replaces the |t| of a missing edge; larger than all others.
constexpr float no_message = 3.4e38f;

//! Float: mask of the stored bits of a magnitude.
constexpr std::uint32_t kept_bits = 0xffffff00u;

//! Float: magnitudes of a check's messages, for the edge that alone has the smallest |t|
//! and for all other edges.
struct message_magnitudes {
    float to_min1, to_all;
};

//! Returns the magnitudes for a check of \p degree edges with minima \p a ≤ \p b ≤ \p c.
inline message_magnitudes
check_to_variable(const message_rule& rule, unsigned degree, float a, float b, float c)
{
    const auto sat = [](float x) { return std::clamp(x, 0.0f, 1.0f); };
    const auto after = [&](float m, float next, float twice) {
        const float near = sat(0.5f - (next - m) * rule.decline);
        return sat(m * rule.normalization - twice * near);
    };
    const auto truncated = [](float x) {
        std::uint32_t bits;
        std::memcpy(&bits, &x, sizeof(x));
        bits &= kept_bits;
        std::memcpy(&x, &bits, sizeof(x));
        return x;
    };
    const float second = after(b, c, rule.offset_x2_min.of(degree));
    const float first = after(a, second, rule.offset_x2_others.of(degree));
    return { truncated(a < b ? second : first), truncated(first) };
}

constexpr float soft_limit = 127;

//! Returns the factor that converts steps of the rule to LLRs of \p soft_scale steps per
//! nat. Positive LLRs mean \p positive_bit.
inline float
soft_factor(const message_rule& rule, float soft_scale, unsigned positive_bit)
{
    return (positive_bit ? -1 : 1) * soft_scale / rule.scale;
}

//! Returns the soft output for \p x, a posterior or extrinsic value in steps of the rule.
//! \p factor is the result of soft_factor().
inline std::int8_t soft_value(float x, float factor)
{
    return std::int8_t(std::nearbyint(std::clamp(x * factor, -soft_limit, soft_limit)));
}

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_MESSAGE_RULE_H */
