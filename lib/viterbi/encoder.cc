/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "block_plan.h"

namespace gr {
namespace gpufec {

namespace {

// Writes what stage \p stage sends of the word for (state, bit); returns the new end.
std::uint8_t* send(const conv_code& code,
                   std::uint64_t stage,
                   unsigned state,
                   unsigned bit,
                   std::uint8_t* out)
{
    const unsigned R = code.outputs();
    const unsigned word = code.output_word(state, bit);
    for (unsigned r = 0; r < R; ++r) {
        if (code.sent(stage, r)) {
            *out++ = (word >> (R - 1 - r) & 1u) ^ unsigned(code.inverted(r));
        }
    }
    return out;
}

} // namespace

conv_encoder_kernel::conv_encoder_kernel(const conv_code& code,
                                         termination ends,
                                         unsigned frame_bits)
    : d_code(code), d_ends(ends), d_frame_bits(frame_bits)
{
    check_frame_bits(code, ends, frame_bits);
}

std::size_t conv_encoder_kernel::coded_bits(std::size_t bits) const
{
    if (d_ends == termination::streaming) {
        return d_code.values(d_stage + bits) - d_code.values(d_stage);
    }
    return d_code.values(sent_stages(d_code, d_ends, d_frame_bits));
}

std::size_t conv_encoder_kernel::encode(const std::uint8_t* bits,
                                        std::size_t count,
                                        std::uint8_t* out)
{
    auto* end = out;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned bit = bits[i] & 1u;
        end = send(d_code, d_stage++, d_state, bit, end);
        d_state = d_code.next_state(d_state, bit);
    }
    return end - out;
}

std::size_t conv_encoder_kernel::encode_frame(const std::uint8_t* bits,
                                              std::uint8_t* out) const
{
    unsigned state = 0;
    if (d_ends == termination::tailbiting) {
        for (unsigned i = d_frame_bits - (d_code.constraint_length() - 1);
             i < d_frame_bits;
             ++i) {
            state = d_code.next_state(state, bits[i] & 1u);
        }
    }
    const auto stages = sent_stages(d_code, d_ends, d_frame_bits);
    auto* end = out;
    for (unsigned i = 0; i < stages; ++i) {
        const unsigned bit = i < d_frame_bits ? bits[i] & 1u : 0u;
        end = send(d_code, i, state, bit, end);
        state = d_code.next_state(state, bit);
    }
    return end - out;
}

} // namespace gpufec
} // namespace gr
