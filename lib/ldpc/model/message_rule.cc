// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Chooses the scale, limits and offsets of the arithmetic for a code, algorithm and
 * precision. */

#include "common/refuse.h"
#include "ldpc/code/code_tables.h"
#include "message_rule.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::ldpc {

namespace {

// Offsets of the float rule in nats. An offset declines to 0 where two magnitudes differ
// by 2 nats. The values are from simulations of 16 codes of several rates and standards,
// 0.05 to 0.2 dB above the decoding thresholds of sum-product. With these offsets,
// decoding needs 1.01 to 1.16 times the iterations of sum-product
// (docs/decisions/2026-11-24-float-offsets.md).
constexpr declining_offset to_all{ 44 / 128.0f, 3 / 128.0f };
constexpr declining_offset to_min1{ 76 / 128.0f, 5 / 128.0f };
constexpr float declines_over = 2;

struct rate_values {
    double up_to; //!< largest rate of a code to which the tuning applies
    code_tuning tuning;
};

// Returns the code's own tuning or, if there is none, the tuning for the code's rate. The
// values in the table have the fewest frame errors and, in case of a tie, the fewest
// iterations. Except for rate 3/5, they were measured with the codes of DVB-S2 at 0.1 dB
// above the thresholds in EN 302 307-1.
code_tuning tuning_of(const ldpc_code& code)
{
    if (const auto& own = ldpc_code_access::of(code).tuning) {
        return *own;
    }
    const double rate = double(code.k()) / code.sent();
    static const rate_values table[] = {
        { 0.35, { 0.25, 0.85, 4, 63 } },   // 1/4, 1/3
        { 0.42, { 1.0 / 3, 0.8, 3, 31 } }, // 2/5
        { 0.55, { 0.5, 0.8, 2, 31 } },     // 1/2
        // 3/5: chosen by frame errors over 8PSK, see
        // docs/decisions/2026-11-24-float-offsets.md.
        { 0.62, { 0.6, 0.75, 5, 47 } },
        { 0.81, { 1.0 / 3, 0.8, 3, 31 } }, // 2/3, 3/4, 4/5
        { 1.0, { 0.5, 0.8, 2, 31 } },      // 5/6, 8/9, 9/10
    };
    return std::find_if(std::begin(table),
                        std::end(table) - 1,
                        [rate](const auto& v) { return rate <= v.up_to; })
        ->tuning;
}

// Returns twice the offset, in steps. In codes with a parity chain, the offset of the
// largest check degree applies to all checks, because the kernels support only one.
declining_offset twice(const declining_offset& nats, const ldpc_code& code, float scale)
{
    if (code.q() > 0) {
        return { 2 * scale * nats.of(code.largest_check_degree()), 0 };
    }
    return { 2 * scale * nats.base, 2 * scale * nats.per_edge };
}

} // namespace

message_rule make_message_rule(const ldpc_code& code,
                               ldpc_algorithm algorithm,
                               ldpc_precision precision,
                               double offset,
                               double normalization)
{
    const auto v = tuning_of(code);
    const bool offsets = algorithm == ldpc_algorithm::offset_min_sum;
    const bool normalizes = algorithm == ldpc_algorithm::normalized_min_sum;
    if (!(offset <= 15)) {
        refuse("offset",
               offset,
               "allowed values are 0 to 15 nats, and negative values for the default of "
               "the code");
    }
    if (!(normalization <= 1)) {
        refuse(
            "normalization",
            normalization,
            "allowed values are 0 to 1, and negative values for the default of the code");
    }
    const double nats = !offsets ? 0 : offset < 0 ? v.offset : offset;
    const double factor = !normalizes         ? 1
                          : normalization < 0 ? v.normalization
                                              : normalization;

    message_rule rule;
    rule.precision = precision;
    switch (precision) {
    case ldpc_precision::int8:
        rule.scale = v.int8_scale;
        rule.message_limit = v.int8_limit;
        // The sum of a channel value and a message fits in a byte.
        rule.channel_limit = 127 - v.int8_limit;
        break;
    case ldpc_precision::int16:
        rule.scale = 12;
        rule.message_limit = 511;
        rule.channel_limit = 1023;
        break;
    case ldpc_precision::float32:
        rule.scale = 0x1p-20f;
        // Without a limit, messages of checks with a single bit would grow without bound.
        rule.message_limit = 1;
        rule.channel_limit = 4096 * rule.scale;
        break;
    }
    // Posteriors must fit in 16-bit integers.
    const float capacity = (32767 - rule.channel_limit) / code.largest_bit_degree();
    if (precision != ldpc_precision::float32 && capacity < rule.message_limit) {
        rule.message_limit = std::floor(capacity);
    }
    const bool exact = precision == ldpc_precision::float32;
    rule.offset = std::rint(nats * rule.scale);
    rule.decline = 0;
    rule.offset_x2_others = rule.offset_x2_min = { 2 * float(nats) * rule.scale, 0 };
    if (exact && offsets && offset < 0) {
        rule.decline = 1 / (2 * declines_over * rule.scale);
        rule.offset_x2_others = twice(to_all, code, rule.scale);
        rule.offset_x2_min = twice(to_min1, code, rule.scale);
    }
    rule.normalization = float(factor);
    rule.sixteenths = int(std::rint(factor * 16));
    return rule;
}

} // namespace gr::gpufec::ldpc
