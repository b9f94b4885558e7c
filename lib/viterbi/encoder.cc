// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "block_plan.h"

namespace gr::gpufec {

using namespace viterbi;

conv_encoder_kernel::conv_encoder_kernel(const conv_code& code,
                                         termination ends,
                                         unsigned frame_bits)
    : d_code(code), d_ends(ends), d_frame_bits(frame_bits)
{
    check_frame_bits(code, ends, frame_bits);
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

// Encodes a bit at stage number `stage`; moves the state on, returns the new end.
std::uint8_t* conv_encoder_kernel::send(std::uint64_t stage,
                                        unsigned& state,
                                        unsigned bit,
                                        std::uint8_t* out) const
{
    const unsigned R = d_code.outputs();
    const unsigned word = d_words[bit * d_code.states() + state];
    for (unsigned r = 0; r < R; ++r) {
        if (d_code.period() == 1 || d_code.sent(stage, r)) {
            *out++ = word >> (R - 1 - r) & 1u;
        }
    }
    state = d_code.next_state(state, bit);
    return out;
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
        end = send(d_stage++, d_state, bits[i] & 1u, end);
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
        end = send(i, state, i < d_frame_bits ? bits[i] & 1u : 0u, end);
    }
    return end - out;
}

} // namespace gr::gpufec
