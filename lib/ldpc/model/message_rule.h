// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of the fast decoders: steps, clamps, rounding. The reference and both
 * backends follow it to the last bit.
 *
 * A decoder holds, in steps of which \c scale make a nat: channel values, clamped to
 * ±channel_limit; a posterior a bit, never clamped; a message an edge, whose magnitude
 * never exceeds message_limit. With t = posterior − old message, the new message of an
 * edge has the product of the signs of the other edges' t, zero counting as positive,
 * and in int8 and int16 the magnitude
 *
 *     m = min |t| over the other edges
 *     x = max(0, min(m − offset, message_limit))
 *     magnitude = (x · sixteenths + 8) >> 4
 *
 * In float it follows from the three least |t| of the check, a ≤ b ≤ c, those that it
 * lacks being unheard, with every step rounded and x clamped to 0 … 1 by sat(x):
 *
 *     after(m, next, offset) =
 *         sat(m · normalization − 2 · offset · sat(1/2 − (next − m) · decline))
 *     second = after(b, c, offset to the least, of the check's degree)
 *     first = after(a, second, offset to all, of the check's degree)
 *     magnitude = kept(second)     to an edge that alone has a
 *     magnitude = kept(first)      to all others
 *
 * where kept(x) has the sixteen highest significant bits of x, rounded towards zero, so
 * that kernels have room for the signs in the words of two magnitudes.
 *
 * The sum-product of two magnitudes is the smaller less ln(1 + e^-distance), but for a
 * term that matters where both are small. Offsets that decline with the distance follow
 * it, of three magnitudes; that they are larger where there are more edges makes up for
 * the other magnitudes. Where nothing declines, this is offset min-sum.
 *
 * The posterior becomes t + new message. In int8 and int16 all of them are integers.
 *
 * After each iteration, where decoding may stop early, a codeword stops as soon as the
 * signs of its posteriors (negative means bit 1) satisfy every check; its decisions are
 * those signs.
 *
 * Soft output is of the same posteriors, of all bits: posterior, or posterior less
 * channel value (in float rounded), times a factor (rounded to a float), clamped to
 * ±soft_limit, rounded to an integer, ties to even. */

#ifndef INCLUDED_GPUFEC_LDPC_MESSAGE_RULE_H
#define INCLUDED_GPUFEC_LDPC_MESSAGE_RULE_H

#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace gr::gpufec::ldpc {

//! Float: an offset that grows with a check's degree up to \c most. Both numbers are
//! small multiples of one power of two, or the second is 0, so that nothing is rounded.
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
    float scale;         //!< steps a nat; in float 2^-20, so that 1 is beyond reach
    float channel_limit; //!< steps
    float message_limit; //!< steps; 1 in float
    float offset;        //!< int8 and int16: steps, a whole number
    declining_offset twice_to_all, twice_to_least; //!< float: steps
    float decline;       //!< float: 0, or a power of two, so that products are exact
    float normalization; //!< float: 1 where there is an offset
    int sixteenths;      //!< int8 and int16: the normalization

    //! The largest magnitude of a posterior of a bit of \p degree checks.
    float posterior_limit(unsigned degree) const
    {
        return channel_limit + degree * message_limit;
    }
};

/*!
 * \brief The rule for a code.
 *
 * \p offset (nats) and \p normalization: negative for the values of the code's rate or,
 * in float, offsets that decline.
 * \throws std::invalid_argument
 */
message_rule make_message_rule(const ldpc_code& code,
                               ldpc_algorithm algorithm,
                               ldpc_precision precision,
                               double offset,
                               double normalization);

//! Float: a magnitude beyond all.
constexpr float unheard = 3.4e38f;

//! Float: the bits of a magnitude that are kept of it.
constexpr std::uint32_t kept_bits = 0xffffff00u;

//! Float: magnitudes that leave a check, to an edge that alone has the least and to
//! others.
struct outgoing {
    float to_least, to_all;
};

//! Of a check of \p degree edges, whose least magnitudes are \p a ≤ \p b ≤ \p c.
inline outgoing
leaving(const message_rule& rule, unsigned degree, float a, float b, float c)
{
    const auto sat = [](float x) { return std::clamp(x, 0.0f, 1.0f); };
    const auto after = [&](float m, float next, float twice) {
        const float near = sat(0.5f - (next - m) * rule.decline);
        return sat(m * rule.normalization - twice * near);
    };
    const auto kept = [](float x) {
        std::uint32_t bits;
        std::memcpy(&bits, &x, sizeof(x));
        bits &= kept_bits;
        std::memcpy(&x, &bits, sizeof(x));
        return x;
    };
    const float second = after(b, c, rule.twice_to_least.of(degree));
    const float first = after(a, second, rule.twice_to_all.of(degree));
    return { kept(a < b ? second : first), kept(first) };
}

constexpr float soft_limit = 127;

//! What makes an LLR of \p soft_scale steps per nat of a step of the rule, with the sign
//! that says \p positive_bit.
inline float
soft_factor(const message_rule& rule, float soft_scale, unsigned positive_bit)
{
    return (positive_bit ? -1 : 1) * soft_scale / rule.scale;
}

//! The LLR of \p x steps.
inline std::int8_t soft_value(float x, float factor)
{
    return std::int8_t(std::nearbyint(std::clamp(x * factor, -soft_limit, soft_limit)));
}

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MESSAGE_RULE_H */
