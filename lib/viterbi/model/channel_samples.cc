// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Chooses the samples from which the channel is estimated. */

#include "channel_samples.h"
#include "viterbi/code/reencoder.h"
#include <algorithm>

namespace gr::gpufec::viterbi {

namespace {
constexpr std::uint32_t sample_distance = 1u << 20; // bits between samples
}

std::uint16_t taps_of(const conv_code& code, unsigned r)
{
    const unsigned memory = code.constraint_length() - 1;
    std::uint16_t taps = 0;
    for (unsigned bit = 0; bit <= memory; ++bit) {
        const unsigned state = bit > 0 ? 1u << (memory - bit) : 0;
        const auto word = code.output_word(state, bit == 0);
        taps |= (word >> (code.outputs() - 1 - r) & 1u) << bit;
    }
    return taps;
}

sample_plan
make_sample_plan(const conv_code& code, const block_layout& layout, bool packed)
{
    const auto step = reencoder::step_of(code);
    sample_plan plan{};
    plan.streaming = layout.streaming();
    plan.piece_stages = plan.streaming ? layout.decode_length : layout.frame_bits;
    plan.piece_blocks = plan.streaming ? 1 : layout.blocks_per_frame;
    plan.frame_values = layout.frame_values;
    plan.piece_values = layout.frame_values + (packed ? layout.frame_values % 2 : 0);
    plan.piece_bits = (plan.piece_stages + 31) / 32 * 32;
    plan.every = std::max(1u, sample_distance / plan.piece_stages);
    plan.step_stages = step.stages;
    plan.step_values = step.values;
    plan.memory = code.constraint_length() - 1;
    for (unsigned r = 0; r < code.outputs(); ++r) {
        plan.taps[r] = taps_of(code, r);
        plan.inverted[r] = code.inverted(r);
    }
    return plan;
}

} // namespace gr::gpufec::viterbi
