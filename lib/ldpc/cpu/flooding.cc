// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flooding min-sum in plain C++, which reproduces reference::flooding() to the last
 * bit. */

#include "flooding.h"
#include "ldpc/model/value_types.h"
#include <type_traits>
#include <algorithm>
#include <limits>

namespace gr::gpufec::ldpc {

namespace {

template <class Value>
constexpr Value beyond = std::numeric_limits<Value>::max();
template <>
constexpr float beyond<float> = no_message;

// Magnitudes of int8 and int16 messages, which depend on two minima only.
struct integer_magnitudes {
    std::int32_t to_min1, to_all;
};
integer_magnitudes check_to_variable(
    const message_rule& rule, unsigned, std::int32_t a, std::int32_t b, std::int32_t)
{
    const auto magnitude = [&rule](std::int32_t min1) {
        const auto limit = std::int32_t(rule.message_limit);
        const auto x = std::clamp(min1 - std::int32_t(rule.offset), 0, limit);
        return (x * rule.sixteenths + 8) >> 4;
    };
    return { magnitude(b), magnitude(a) };
}

} // namespace

flooding_decoder::flooding_decoder(const setup& s) : d_setup(s)
{
    std::size_t most = 0;
    for (const auto& code : s.codes) {
        most = std::max(most, code.edges() + 2 * std::size_t(code.n()));
    }
    if (s.precision == ldpc_precision::float32) {
        d_floats.resize(most);
    } else {
        d_integers.resize(most);
    }
}

ldpc_status flooding_decoder::decode(const ldpc_code& code,
                                     const message_rule& rule,
                                     const std::byte* channel,
                                     std::byte* output,
                                     float soft_factor)
{
    return with_channel_value(d_setup.precision, [&](auto value) {
        const auto* const values = reinterpret_cast<const decltype(value)*>(channel);
        if constexpr (std::is_floating_point_v<decltype(value)>) {
            return run(d_floats, code, rule, values, output, soft_factor);
        } else {
            return run(d_integers, code, rule, values, output, soft_factor);
        }
    });
}

template <class Sample, class Value>
ldpc_status flooding_decoder::run(std::vector<Value>& memory,
                                  const ldpc_code& code,
                                  const message_rule& rule,
                                  const Sample* channel,
                                  std::byte* output,
                                  float soft_factor) const
{
    const std::size_t n = code.n();
    auto* const messages = memory.data();
    auto* posteriors = messages + code.edges();
    auto* next = posteriors + n;
    std::fill_n(messages, code.edges(), Value(0));
    std::copy_n(channel, n, posteriors);
    ldpc_status status{ 0, 0 };
    do {
        std::copy_n(channel, n, next);
        auto* message = messages; // message of the check's first edge
        for (unsigned c = 0; c < code.checks(); ++c) {
            Value min1 = beyond<Value>, min2 = min1, third = min1;
            bool negative = false;
            auto* old = message;
            for (const auto bit : code.check(c)) {
                const Value in = posteriors[bit] - *old++;
                const Value size = in < 0 ? -in : in;
                negative ^= in < 0;
                third = std::min(third, std::max(size, min2));
                min2 = std::min(min2, std::max(size, min1));
                min1 = std::min(min1, size);
            }
            const auto magnitudes = check_to_variable(
                rule, unsigned(code.check(c).size()), min1, min2, third);
            for (const auto bit : code.check(c)) {
                const Value in = posteriors[bit] - *message;
                const auto size =
                    (in < 0 ? -in : in) == min1 ? magnitudes.to_min1 : magnitudes.to_all;
                *message = negative != (in < 0) ? -size : size;
                next[bit] += *message++;
            }
        }
        std::swap(posteriors, next);
        ++status.iterations;
        status.unsatisfied = 0;
        for (unsigned c = 0; c < code.checks(); ++c) {
            bool odd = false;
            for (const auto bit : code.check(c)) {
                odd ^= posteriors[bit] < 0;
            }
            status.unsatisfied += odd;
        }
    } while (status.iterations < d_setup.max_iterations &&
             !(d_setup.early_stop && status.unsatisfied == 0));

    std::fill_n(output, d_setup.decision_bytes(code), std::byte(0));
    for (unsigned i = 0; i < d_setup.output_bits(code); ++i) {
        output[i / 8] |= std::byte((posteriors[i] < 0) << (7 - i % 8));
    }
    if (d_setup.soft != ldpc_soft_output::none) {
        const bool extrinsic = d_setup.soft == ldpc_soft_output::extrinsic;
        auto* const llrs = output + d_setup.soft_offset(code);
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = extrinsic ? Value(posteriors[i] - channel[i]) : posteriors[i];
            llrs[i] = std::byte(soft_value(float(x), soft_factor));
        }
    }
    return status;
}

} // namespace gr::gpufec::ldpc
