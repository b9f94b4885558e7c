// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Chooses the stages at which locks are checked, and counts sign errors on the CPU. Class
 * reencoder defines a step. */

#include "sign_error_counts.h"
#include "viterbi/code/reencoder.h"
#include "viterbi/model/setup.h"
#include "viterbi/model/soft_input.h"
#include <algorithm>
#include <cstring>
#include <vector>

namespace gr::gpufec::viterbi {

namespace {

constexpr std::uint64_t least_stretch = 512;
// Number of values between checks of an established lock.
constexpr std::uint64_t long_values = 16384;
// Maximum number of bits of a step plus the K−1 bits before it. A kernel reads these bits
// from one 32-bit word, in which they begin at any of eight bit positions.
constexpr unsigned max_bits = 24;

} // namespace

std::uint64_t young_stretch(std::uint64_t piece)
{
    return (least_stretch + piece - 1) / piece * piece;
}

std::uint64_t old_stretch(const conv_code& code, std::uint64_t piece)
{
    return std::max(young_stretch(piece), code.stages(long_values) / piece * piece);
}

check_plan make_check_plan(const conv_code& code, std::uint32_t decode_length)
{
    check_plan plan;
    plan.memory = code.constraint_length() - 1;
    if (code.values_per_period() > check_plan::max_values) {
        return plan;
    }
    const auto step = reencoder::step_of(code);
    plan.stages = step.stages;
    plan.values = step.values;
    if (plan.memory + plan.stages > max_bits) {
        return plan;
    }
    plan.every = old_stretch(code, decode_length);
    unsigned i = 0;
    for (unsigned stage = 0; stage < plan.stages; ++stage) {
        for (unsigned r = 0; r < code.outputs(); ++r) {
            if (!code.sent(stage, r)) {
                continue;
            }
            auto& value = plan.value[i++];
            value.stage = stage;
            value.inverted = code.inverted(r);
            value.taps = taps_of(code, r);
        }
    }
    return plan;
}

void make_sign_error_counts(const setup& setup,
                            const job& job,
                            const std::byte* input,
                            const std::byte* output,
                            sign_error_counts* to)
{
    const auto& plan = setup.checks;
    const reencoder encode(setup.code);
    const auto D = setup.plan.decode_length;
    const auto first = job.first_block * D, end = first + std::uint64_t(job.blocks) * D;
    constexpr auto most = std::uint64_t(sign_error_counts::min_steps)
                          << (sign_error_counts::sizes - 1);
    std::vector<std::uint8_t> bits(most * plan.stages / 8 + 8 + reencoder::slack);
    std::vector<std::int8_t> values(most * plan.values + reencoder::slack);
    for (auto check = first / plan.every + 1; check <= end / plan.every; ++check, ++to) {
        const auto last = check * plan.every / plan.stages;
        for (unsigned i = 0; i < sign_error_counts::sizes; ++i) {
            const auto steps = std::uint64_t(sign_error_counts::min_steps) << i;
            const auto begin = last - std::min(last, steps);
            const auto value = begin * plan.values;
            if (last < steps || begin * plan.stages < first + plan.memory ||
                value < job.first_value ||
                last * plan.values > job.first_value + job.values) {
                to->values[i] = sign_error_counts::missing;
                to->wrong[i] = 0;
                continue;
            }
            read_steps(job,
                       setup.packed4,
                       input,
                       value - job.first_value,
                       steps * plan.values,
                       values.data());
            const auto bit = begin * plan.stages - plan.memory - first;
            const auto end_byte = (last * plan.stages - first + 7) / 8;
            std::memcpy(bits.data(), output + bit / 8, end_byte - bit / 8);
            const auto sum =
                encode(bits.data(), bit % 8 + plan.memory, values.data(), steps);
            to->values[i] = std::uint16_t(sum.values);
            to->wrong[i] = std::uint16_t(sum.wrong);
        }
    }
}

} // namespace gr::gpufec::viterbi
