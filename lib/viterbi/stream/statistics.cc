// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Estimates the channel statistics from samples of at most 2048 stages. */

#include "statistics.h"
#include "viterbi/model/soft_input.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

namespace {
constexpr std::size_t sample_stages = 2048;
constexpr std::size_t sample_every = 1u << 20;

void fetch(const std::byte* from, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch(from + i);
    }
}

} // namespace

channel_estimator::channel_estimator(const setup& setup)
    : d_setup(setup),
      d_encode(setup.code),
      d_values(setup.code.values(sample_stages + setup.code.period()) + 2 +
               reencoder::slack),
      d_bits(sample_stages / 8 + reencoder::slack)
{
}

viterbi_decoder::batch_statistics channel_estimator::operator()(const job& job,
                                                                const std::byte* input,
                                                                const std::byte* output,
                                                                std::size_t bits)
{
    const auto& plan = d_setup.plan;
    if (!plan.streaming()) {
        return of_piece(job, 0, input, output, plan.frame_bits);
    }
    return compare(job,
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
                                                              std::size_t bits)
{
    const auto& plan = d_setup.plan;
    const auto stages = std::min(bits, sample_stages);
    if (plan.streaming()) {
        return compare(job,
                       0,
                       (job.first_block + piece) * plan.decode_length,
                       std::min<std::size_t>(stages, plan.decode_length),
                       job.first_value,
                       job.first_value + job.values,
                       input,
                       output + piece * (plan.decode_length / 8));
    }
    const auto at = piece * d_setup.frame_input_bytes();
    return compare(job,
                   job.floats ? at : 0,
                   0,
                   std::min<std::size_t>(stages, plan.frame_bits),
                   0,
                   plan.frame_values,
                   job.floats ? input : input + at,
                   output + piece * d_setup.frame_output_bytes());
}

// This function must be fast, because the thread that submits batches calls it many times
// per batch.
viterbi_decoder::batch_statistics channel_estimator::compare(const job& job,
                                                             std::size_t before,
                                                             std::uint64_t stage,
                                                             std::size_t stages,
                                                             std::uint64_t first,
                                                             std::uint64_t end,
                                                             const std::byte* input,
                                                             const std::byte* output)
{
    // Skips the first K−1 stages, because `output` does not have the bits before them.
    const auto& code = d_setup.code;
    const auto unit = d_encode.step_stages();
    const auto begin = (stage + code.constraint_length() - 1 + unit - 1) / unit;
    auto last = (stage + stages) / unit;
    while (last > begin && code.values(last * unit) > end) {
        --last;
    }
    if (last <= begin) {
        return {};
    }
    const auto value = code.values(begin * unit);
    const auto steps = std::size_t(last - begin);
    const auto count = steps * d_encode.step_values();
    // Prefetches the sample of the next fixed position of the stream.
    const auto apart = code.values(pieces_between() * d_setup.plan.decode_length);
    if (!job.floats && !d_setup.packed4 && value + apart + count <= end) {
        fetch(input + before + (value - first) + apart, count);
        fetch(output + pieces_between() * (d_setup.plan.decode_length / 8), stages / 8);
    }
    read_steps(
        job, d_setup.packed4, input, before + (value - first), count, d_values.data());
    std::memcpy(d_bits.data(), output, (stages + 7) / 8);
    std::uint64_t against = 0;
    const auto signs = d_encode(
        d_bits.data(), begin * unit - stage, d_values.data(), steps, nullptr, &against);
    viterbi_decoder::batch_statistics s;
    s.channel_error_rate = signs.rate();
    s.metric = double(against) / double(count);
    return s;
}

} // namespace gr::gpufec::viterbi
