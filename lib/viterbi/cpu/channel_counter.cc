// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts the wrong signs in the samples of a batch. */

#include "channel_counter.h"
#include "viterbi/model/soft_input.h"
#include <cstring>

namespace gr::gpufec::viterbi {

namespace {

void fetch(const std::byte* from, std::size_t bytes)
{
    for (std::size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch(from + i);
    }
}

} // namespace

channel_counter::channel_counter(const setup& setup)
    : d_plan(setup.samples),
      d_packed4(setup.packed4),
      d_encode(setup.code),
      d_values(setup.code.values(sample_plan::max_stages + setup.code.period()) + 2 +
               reencoder::slack),
      d_bits(sample_plan::max_stages / 8 + 2 + reencoder::slack)
{
}

// This function must be fast, because the thread that submits batches calls it.
void channel_counter::operator()(const job& job,
                                 const std::byte* input,
                                 const std::byte* output,
                                 channel_counts* to)
{
    const auto count = d_plan.count(job);
    auto next = d_plan.at(job, 0);
    for (std::uint32_t i = 0; i < count; ++i, ++to) {
        const auto sample = next;
        if (i + 1 < count) {
            next = d_plan.at(job, i + 1);
            if (!job.floats && !d_packed4) {
                fetch(input + next.value, next.values);
                fetch(output + next.bit / 8, next.stages / 8);
            }
        }
        *to = {};
        if (sample.stages == 0) {
            continue;
        }
        read_steps(job, d_packed4, input, sample.value, sample.values, d_values.data());
        const auto bit = sample.bit - d_plan.memory;
        std::memcpy(d_bits.data(),
                    output + bit / 8,
                    (sample.bit + sample.stages + 7) / 8 - bit / 8);
        std::uint64_t against = 0;
        const auto signs = d_encode(d_bits.data(),
                                    bit % 8 + d_plan.memory,
                                    d_values.data(),
                                    sample.stages / d_plan.step_stages,
                                    nullptr,
                                    &against);
        *to = { signs.values, signs.wrong, std::uint32_t(against) };
    }
}

} // namespace gr::gpufec::viterbi
