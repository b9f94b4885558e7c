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

std::optional<channel_estimator::sample>
channel_estimator::beginning(const job& job, std::size_t bits) const
{
    const auto& plan = d_setup.plan;
    if (!plan.streaming()) {
        return of_piece(job, 0, plan.frame_bits);
    }
    return place(0,
                 job.first_block * plan.decode_length,
                 std::min(bits, sample_stages),
                 job.first_value,
                 job.first_value + job.values,
                 0);
}

std::uint64_t channel_estimator::pieces_between() const
{
    const auto& plan = d_setup.plan;
    const auto bits = plan.streaming() ? plan.decode_length : plan.frame_bits;
    return std::max<std::uint64_t>(1, sample_every / bits);
}

std::optional<channel_estimator::sample>
channel_estimator::of_piece(const job& job, std::size_t piece, std::size_t bits) const
{
    const auto& plan = d_setup.plan;
    const auto stages = std::min(bits, sample_stages);
    if (plan.streaming()) {
        return place(0,
                     (job.first_block + piece) * plan.decode_length,
                     std::min<std::size_t>(stages, plan.decode_length),
                     job.first_value,
                     job.first_value + job.values,
                     piece * (plan.decode_length / 8));
    }
    const auto values_per_byte = d_setup.packed4 ? 2 : 1;
    return place(piece * d_setup.frame_input_bytes() * values_per_byte,
                 0,
                 std::min<std::size_t>(stages, plan.frame_bits),
                 0,
                 plan.frame_values,
                 piece * d_setup.frame_output_bytes());
}

std::optional<channel_estimator::sample> channel_estimator::place(std::size_t before,
                                                                  std::uint64_t stage,
                                                                  std::size_t stages,
                                                                  std::uint64_t first,
                                                                  std::uint64_t end,
                                                                  std::size_t byte) const
{
    // Skips the first K−1 stages, because the output lacks the bits before them.
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
    return sample{ std::size_t(before + (code.values(begin * unit) - first)),
                   std::size_t(last - begin) * d_encode.step_values(),
                   byte,
                   (stages + 7) / 8,
                   std::size_t(begin * unit - stage) };
}

void channel_estimator::prefetch_after(const job& job,
                                       const sample& s,
                                       const std::byte* input,
                                       const std::byte* output) const
{
    const auto apart = d_setup.code.values(pieces_between() * d_setup.plan.decode_length);
    if (!job.floats && !d_setup.packed4 &&
        s.first_value + apart + s.values <= job.values) {
        fetch(input + s.first_value + apart, s.values);
        fetch(output + s.first_byte + pieces_between() * (d_setup.plan.decode_length / 8),
              s.bytes);
    }
}

// This function must be fast, because the thread that submits batches calls it many times
// per batch.
viterbi_decoder::batch_statistics
channel_estimator::operator()(const job& job,
                              const std::optional<sample>& s,
                              const std::byte* input,
                              const std::byte* output)
{
    if (!s) {
        return {};
    }
    read_steps(job, d_setup.packed4, input, s->first_value, s->values, d_values.data());
    std::memcpy(d_bits.data(), output + s->first_byte, s->bytes);
    std::uint64_t against = 0;
    const auto signs = d_encode(d_bits.data(),
                                s->skipped,
                                d_values.data(),
                                s->values / d_encode.step_values(),
                                nullptr,
                                &against);
    viterbi_decoder::batch_statistics statistics;
    statistics.channel_error_rate = signs.rate();
    statistics.metric = double(against) / double(s->values);
    return statistics;
}

} // namespace gr::gpufec::viterbi
