// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The reference decoders. The schedules are templates over the value type and the check
 * node update. */

#include "reference.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::gpufec::ldpc {
namespace reference {

namespace {

template <class Value>
std::vector<std::uint8_t> decide(const std::vector<Value>& posteriors)
{
    std::vector<std::uint8_t> bits;
    for (const auto p : posteriors) {
        bits.push_back(p < 0);
    }
    return bits;
}

// Calls iterate(posteriors) max_iterations times. With early stop, the calls end once the
// decisions satisfy every check.
template <class Value, class Iterate>
result repeat(const ldpc_code& code,
              std::vector<Value> posteriors,
              unsigned max_iterations,
              bool early_stop,
              Iterate&& iterate)
{
    result result;
    do {
        iterate(posteriors);
        ++result.iterations;
        result.bits = decide(posteriors);
        result.unsatisfied = violated_checks(code, result.bits);
    } while (result.iterations < max_iterations &&
             !(early_stop && result.unsatisfied == 0));
    result.posteriors.assign(posteriors.begin(), posteriors.end());
    return result;
}

// Decodes with the flooding schedule: an iteration updates all check nodes, then all
// variable nodes. check() returns the new messages of a check node from its
// variable-to-check messages.
template <class Value, class Check>
result flood(const ldpc_code& code,
             const std::vector<Value>& channel,
             unsigned max_iterations,
             bool early_stop,
             Check&& check)
{
    std::vector<Value> messages(code.edges(), 0);
    return repeat(code, channel, max_iterations, early_stop, [&](auto& posteriors) {
        std::size_t edge = 0;
        auto sums = channel;
        for (unsigned c = 0; c < code.checks(); ++c) {
            std::vector<Value> inputs;
            for (const auto bit : code.check(c)) {
                inputs.push_back(posteriors[bit] - messages[edge + inputs.size()]);
            }
            const auto updated = check(inputs);
            for (std::size_t i = 0; i < updated.size(); ++i) {
                messages[edge + i] = updated[i];
                sums[code.check(c).begin()[i]] += updated[i];
            }
            edge += updated.size();
        }
        posteriors = sums;
    });
}

// Decodes layer after layer, in the schedule of layer_plan.h.
template <class Value, class Check>
result layer_by_layer(const ldpc_code& code,
                      const layer_plan& plan,
                      const std::vector<Value>& channel,
                      unsigned max_iterations,
                      bool early_stop,
                      Check&& check)
{
    struct difference {
        unsigned round;
        std::uint32_t bit;
        Value value;
    };
    std::vector<Value> messages(plan.edges.size(), 0);
    return repeat(code, channel, max_iterations, early_stop, [&](auto& posteriors) {
        for (std::size_t l = 0; l < plan.layers(); ++l) {
            const auto before = plan.rounds[l] ? posteriors : std::vector<Value>();
            const auto& read = plan.rounds[l] ? before : posteriors;
            std::vector<difference> deferred;
            for (auto i = plan.layer_begin[l]; i < plan.layer_begin[l + 1]; ++i) {
                const auto first = plan.edge_begin[i];
                std::vector<Value> inputs;
                for (auto e = first; e < plan.edge_begin[i + 1]; ++e) {
                    inputs.push_back(read[plan.edges[e].bit] - messages[e]);
                }
                const auto updated = check(inputs);
                for (std::size_t e = 0; e < updated.size(); ++e) {
                    const auto& edge = plan.edges[first + e];
                    if (edge.round > 0) {
                        deferred.push_back(
                            { edge.round, edge.bit, updated[e] - messages[first + e] });
                    } else {
                        posteriors[edge.bit] = inputs[e] + updated[e];
                    }
                    messages[first + e] = updated[e];
                }
            }
            std::stable_sort(
                deferred.begin(), deferred.end(), [](const auto& a, const auto& b) {
                    return a.round < b.round;
                });
            for (const auto& d : deferred) {
                posteriors[d.bit] += d.value;
            }
        }
    });
}

std::vector<double> sum_product_check(const std::vector<double>& inputs)
{
    // The product of all factors except factor i is below[i] · above[i + 1], so that no
    // division is needed.
    const auto n = inputs.size();
    std::vector<double> below(n + 1, 1.0), above(n + 1, 1.0), messages(n);
    for (std::size_t i = 0; i < n; ++i) {
        below[i + 1] = below[i] * std::tanh(inputs[i] / 2);
    }
    for (std::size_t i = n; i-- > 0;) {
        above[i] = above[i + 1] * std::tanh(inputs[i] / 2);
    }
    for (std::size_t i = 0; i < n; ++i) {
        // atanh(1) is infinite. For smaller arguments, 2·atanh() is at most 37.4 in
        // double.
        messages[i] = std::clamp(2 * std::atanh(below[i] * above[i + 1]), -40.0, 40.0);
    }
    return messages;
}

// Returns the new message of each edge. weigh() maps the smallest magnitude of the other
// edges to the magnitude of the message.
template <class Value, class Weigh>
std::vector<Value> min_sum_check(const std::vector<Value>& inputs, Weigh&& weigh)
{
    std::vector<Value> messages(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Value smallest = std::numeric_limits<Value>::infinity();
        bool negative = false;
        for (std::size_t j = 0; j < inputs.size(); ++j) {
            if (j != i) {
                smallest = std::min(smallest, std::abs(inputs[j]));
                negative ^= inputs[j] < 0;
            }
        }
        const Value m = weigh(smallest);
        messages[i] = negative ? -m : m;
    }
    return messages;
}

std::vector<float> rule_check(const message_rule& rule, const std::vector<float>& inputs)
{
    if (rule.precision != ldpc_precision::float32) {
        return min_sum_check(inputs, [&rule](float min1) -> float {
            const float x =
                std::max(0.0f, std::min(min1 - rule.offset, rule.message_limit));
            return std::floor((x * rule.sixteenths + 8) / 16);
        });
    }
    std::vector<float> sorted(3, no_message);
    for (const auto t : inputs) {
        sorted.push_back(std::abs(t));
    }
    std::sort(sorted.begin(), sorted.end());
    const auto magnitudes =
        check_to_variable(rule, unsigned(inputs.size()), sorted[0], sorted[1], sorted[2]);
    return min_sum_check(inputs, [&](float min_of_others) {
        return min_of_others > sorted[0] ? magnitudes.to_min1 : magnitudes.to_all;
    });
}

} // namespace

std::vector<std::int8_t> soft_output(const result& decoded,
                                     const std::vector<float>& channel,
                                     bool extrinsic,
                                     float factor)
{
    std::vector<std::int8_t> llrs;
    for (std::size_t i = 0; i < channel.size(); ++i) {
        const auto posterior = float(decoded.posteriors[i]);
        const float x = (extrinsic ? posterior - channel[i] : posterior) * factor;
        llrs.push_back(std::int8_t(x < -127 ? -127 : x > 127 ? 127 : std::lrint(x)));
    }
    return llrs;
}

unsigned violated_checks(const ldpc_code& code, const std::vector<std::uint8_t>& bits)
{
    unsigned violated = 0;
    for (unsigned c = 0; c < code.checks(); ++c) {
        unsigned sum = 0;
        for (const auto bit : code.check(c)) {
            sum ^= bits[bit];
        }
        violated += sum;
    }
    return violated;
}

result sum_product(const ldpc_code& code,
                   ldpc_schedule schedule,
                   const std::vector<double>& llr,
                   unsigned max_iterations,
                   bool early_stop)
{
    if (schedule == ldpc_schedule::flooding) {
        return flood(code, llr, max_iterations, early_stop, sum_product_check);
    }
    return layer_by_layer(
        code, make_layer_plan(code), llr, max_iterations, early_stop, sum_product_check);
}

result min_sum(const ldpc_code& code,
               const std::vector<double>& llr,
               unsigned max_iterations,
               bool early_stop)
{
    return flood(code, llr, max_iterations, early_stop, [](const auto& inputs) {
        return min_sum_check(inputs, [](double min1) { return min1; });
    });
}

result layered(const ldpc_code& code,
               const layer_plan& plan,
               const message_rule& rule,
               const std::vector<float>& channel,
               unsigned max_iterations,
               bool early_stop)
{
    return layer_by_layer(
        code, plan, channel, max_iterations, early_stop, [&rule](const auto& inputs) {
            return rule_check(rule, inputs);
        });
}

result flooding(const ldpc_code& code,
                const message_rule& rule,
                const std::vector<float>& channel,
                unsigned max_iterations,
                bool early_stop)
{
    return flood(code, channel, max_iterations, early_stop, [&rule](const auto& inputs) {
        return rule_check(rule, inputs);
    });
}

} // namespace reference
} // namespace gr::gpufec::ldpc
