// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fills the positions of a codeword from its sent values, in each precision. */

#include "ldpc/model/value_types.h"
#include "sent_values.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

// Returns the number of sent bits before the first repetition. Repetitions follow all
// different bits.
std::size_t different_bits(const ldpc_code& code)
{
    return std::min<std::size_t>(code.sent_positions().size(),
                                 code.n() - code.punctured().size() -
                                     code.shortened().size());
}

template <class Value>
void spread(const ldpc_code& code, Value certain, const std::byte* values, std::byte* all)
{
    const auto* const from = reinterpret_cast<const Value*>(values);
    auto* const to = reinterpret_cast<Value*>(all);
    for (const auto position : code.punctured()) {
        to[position] = 0;
    }
    for (const auto position : code.shortened()) {
        to[position] = certain;
    }
    const auto& sent = code.sent_positions();
    const auto different = different_bits(code);
    for (std::size_t i = 0; i < different; ++i) {
        if (sent[i] != ldpc_code::fill) {
            to[sent[i]] = from[i];
        }
    }
    for (std::size_t i = different; i < sent.size(); ++i) {
        if (sent[i] != ldpc_code::fill) {
            auto sum = to[sent[i]] + from[i]; // sum is of type int or float
            using sum_type = decltype(sum);
            sum = std::clamp(sum, sum_type(-certain), sum_type(certain));
            to[sent[i]] = Value(sum);
        }
    }
}

} // namespace

bool repeats_bits(const ldpc_code& code)
{
    const auto& sent = code.sent_positions();
    return std::any_of(sent.begin() + different_bits(code),
                       sent.end(),
                       [](auto position) { return position != ldpc_code::fill; });
}

std::vector<std::uint32_t> sources_of(const ldpc_code& code)
{
    std::vector<std::uint32_t> sources(code.n(), no_value);
    for (const auto position : code.shortened()) {
        sources[position] = certain_zero;
    }
    const auto& sent = code.sent_positions();
    for (std::size_t i = 0; i < sent.size(); ++i) {
        if (sent[i] != ldpc_code::fill) {
            sources[sent[i]] = std::uint32_t(i);
        }
    }
    return sources;
}

void spread_sent(const ldpc_code& code,
                 const setup& setup,
                 const std::byte* values,
                 std::byte* codeword)
{
    if (code.sent_positions().empty()) {
        std::memcpy(codeword, values, code.n() * setup.value_bytes());
        return;
    }
    const auto limit = setup.rule(code).channel_limit;
    with_channel_value(setup.precision, [&](auto value) {
        spread(code, decltype(value)(limit), values, codeword);
    });
}

} // namespace gr::gpufec::ldpc
