// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "soft_input.h"
#include "statistics.h"
#include <algorithm>

namespace gr::gpufec::viterbi {

namespace {
constexpr std::size_t sample_stages = 2048;
constexpr std::size_t sample_every = 1u << 20;
} // namespace

channel_estimator::channel_estimator(const setup& setup) : d_setup(setup)
{
    const auto& code = d_setup.code;
    unsigned inverted = 0;
    for (unsigned r = 0; r < code.outputs(); ++r) {
        inverted = inverted << 1 | unsigned(code.inverted(r));
    }
    for (unsigned bit = 0; bit < 2; ++bit) {
        for (unsigned state = 0; state < code.states(); ++state) {
            d_words.push_back(code.output_word(state, bit) ^ inverted);
        }
    }
}

viterbi_decoder::batch_statistics channel_estimator::operator()(const job& job,
                                                                const std::byte* input,
                                                                const std::byte* output,
                                                                std::size_t bits) const
{
    const auto& plan = d_setup.plan;
    if (!plan.streaming()) {
        return of_piece(job, 0, input, output, plan.frame_bits);
    }
    return encode_again(job,
                        0,
                        job.first_block * plan.decode_length,
                        std::min(bits, sample_stages),
                        job.first_value,
                        job.first_value + job.values,
                        input,
                        output);
}

std::uint64_t channel_estimator::pieces_between() const
{
    const auto& plan = d_setup.plan;
    const auto bits = plan.streaming() ? plan.decode_length : plan.frame_bits;
    return std::max<std::uint64_t>(1, sample_every / bits);
}

viterbi_decoder::batch_statistics channel_estimator::of_piece(const job& job,
                                                              std::size_t piece,
                                                              const std::byte* input,
                                                              const std::byte* output,
                                                              std::size_t bits) const
{
    const auto& plan = d_setup.plan;
    const auto stages = std::min(bits, sample_stages);
    if (plan.streaming()) {
        return encode_again(job,
                            0,
                            (job.first_block + piece) * plan.decode_length,
                            std::min<std::size_t>(stages, plan.decode_length),
                            job.first_value,
                            job.first_value + job.values,
                            input,
                            output + piece * (plan.decode_length / 8));
    }
    const auto at = piece * d_setup.frame_input_bytes();
    return encode_again(job,
                        job.floats ? at : 0,
                        0,
                        std::min<std::size_t>(stages, plan.frame_bits),
                        0,
                        plan.frame_values,
                        job.floats ? input : input + at,
                        output + piece * d_setup.frame_output_bytes());
}

viterbi_decoder::batch_statistics
channel_estimator::encode_again(const job& job,
                                std::size_t before,
                                std::uint64_t origin,
                                std::size_t stages,
                                std::uint64_t first_value,
                                std::uint64_t end_value,
                                const std::byte* input,
                                const std::byte* output) const
{
    if (job.turn.any()) {
        return encode_again(
            origin, stages, before, first_value, end_value, output, [&](auto i) {
                const auto at = i ^ std::size_t(job.turn.exchanged);
                const int v =
                    at < job.values ? soft_value(job, input, at, d_setup.packed4) : 0;
                return job.turn.changed[i % 2] ? -v : v;
            });
    }
    if (job.floats) {
        const auto* const floats = reinterpret_cast<const float*>(input);
        return encode_again(
            origin, stages, before, first_value, end_value, output, [&](auto i) {
                return int(soft_value(floats[i], job.scale_of(i)));
            });
    }
    if (d_setup.packed4) {
        return encode_again(
            origin, stages, before, first_value, end_value, output, [&](auto i) {
                return soft_value(input, i, true);
            });
    }
    return encode_again(
        origin, stages, before, first_value, end_value, output, [&](auto i) {
            return soft_value(input, i, false);
        });
}

// This runs many times per batch on the thread that the batches wait for, so it divides
// nothing and branches little.
template <class Value>
viterbi_decoder::batch_statistics
channel_estimator::encode_again(std::uint64_t origin,
                                std::size_t stages,
                                std::size_t before,
                                std::uint64_t first_value,
                                std::uint64_t end_value,
                                const std::byte* output,
                                Value&& value) const
{
    const auto& map = d_setup.map;
    const unsigned K = d_setup.code.constraint_length(), R = map.outputs;
    std::size_t values = 0, nonzero = 0, contradicted = 0, cost = 0;
    std::size_t shift_register = 0;
    auto phase = unsigned(origin % map.period);
    auto period_begins = origin / map.period * map.values_per_period;
    for (std::size_t i = 0; i < stages; ++i) {
        const auto bit = std::size_t(output[i / 8] >> (7 - i % 8)) & 1u;
        shift_register = shift_register >> 1 | bit << (K - 1);
        // At first the register lacks bits from before the batch.
        if (i + 1 >= K) {
            const unsigned word = d_words[shift_register];
            for (unsigned r = 0; r < R; ++r) {
                const auto at = map.position[phase * R + r];
                const auto index = period_begins + at;
                if (at < 0 || index >= end_value) {
                    continue;
                }
                const int v = value(before + index - first_value);
                const int zero = int(word >> (R - 1 - r) & 1u) - 1; // else all ones
                const int against = (v ^ zero) - zero;
                ++values;
                nonzero += v != 0;
                contradicted += against > 0;
                cost += std::max(against, 0);
            }
        }
        if (++phase == map.period) {
            phase = 0;
            period_begins += map.values_per_period;
        }
    }
    viterbi_decoder::batch_statistics s;
    s.channel_error_rate = nonzero ? double(contradicted) / nonzero : 0;
    s.metric = values ? double(cost) / values : 0;
    return s;
}

} // namespace gr::gpufec::viterbi
