// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The division of a stream or a frame into parallel blocks, and the position of each
 * stage's soft values in the input. The reference and both backends share it.
 *
 * A parallel block b decodes D stages from a window of W stages around them: the path
 * metrics settle in the L stages before, the survivors merge in the L stages after (L is
 * the decision depth). Path metrics start equal in each window, or in state 0 where a
 * frame begins there. The traceback starts in state 0 at the window's end.
 *  - streaming: [bD − L, bD + D + L); stages outside the stream are erased. After
 *    the end of a stream, L ≥ K−1 erasures lead from state 0 back to the best state.
 *  - terminated: the same, shifted to lie inside the frame; the last window ends in
 *    state 0.
 *  - truncated: as terminated, but the tail of K−1 stages is erased.
 *  - tailbiting: [bD − L, bD + D + L) around the circle of the frame. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H

#include "common/host_device.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>

namespace gr::gpufec::viterbi {

//! The window of a parallel block, and the stages that it decodes.
struct block_window {
    std::int64_t start;  //!< first stage, from the stream's or the frame's beginning
    std::uint32_t lead;  //!< stages of the window before the first decoded one
    std::uint32_t count; //!< decoded stages
    bool from_zero;      //!< starts in state 0, not with equal path metrics
};

//! The positions of a stage's soft values in the punctured sequence.
struct value_map {
    std::uint32_t period;
    std::uint32_t values_per_period;
    std::uint32_t outputs;
    //! [s·outputs + r]: position of output r of stage s in the period; −1: punctured.
    std::int16_t position[conv_code::max_period * conv_code::max_outputs];

    //! Returns the index of the soft value of output \p r at \p stage; −1: punctured.
    GPUFEC_HOST_DEVICE std::int64_t operator()(std::uint64_t stage, unsigned r) const
    {
        const std::uint64_t whole = stage / period;
        const auto p = position[(stage - whole * period) * outputs + r];
        return p < 0 ? -1 : std::int64_t(whole * values_per_period + p);
    }
};

struct block_layout {
    termination ends;
    std::uint32_t decode_length; //!< D, a multiple of 32
    std::uint32_t overlap;       //!< L, the decision depth
    std::uint32_t window;        //!< W, the same for every block

    // The following members are used for frames only.
    std::uint32_t frame_bits;
    //! Number of stages per frame, including a tail that is sent (terminated) or erased
    //! (truncated).
    std::uint32_t frame_stages;
    std::uint32_t frame_values;     //!< soft values per frame
    std::uint32_t blocks_per_frame; //!< blocks per frame; 1 in streaming mode

    GPUFEC_HOST_DEVICE bool streaming() const { return ends == termination::streaming; }

    //! Returns the window of block \p block of the stream, or of the frame.
    GPUFEC_HOST_DEVICE block_window at(std::uint64_t block) const
    {
        const std::int64_t first = std::int64_t(block) * decode_length;
        std::int64_t start = first - overlap;
        if (streaming()) {
            return { start, overlap, decode_length, false };
        }
        const auto rest = std::uint32_t(frame_bits - first);
        const auto count = rest < decode_length ? rest : decode_length;
        if (ends == termination::tailbiting) {
            return { start, overlap, count, false };
        }
        const std::int64_t last = std::int64_t(frame_stages) - window;
        start = start < 0 ? 0 : start > last ? last : start;
        return { start, std::uint32_t(first - start), count, start == 0 };
    }
};

//! Returns the number of stages that a frame sends, including the tail of K−1 zero bits
//! if terminated.
std::uint32_t sent_stages(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief Checks the information bits of a frame.
 * \throws std::invalid_argument unless they are 0 in streaming, at least K−1 in
 *         tail-biting frames, at least 1 in others, and at most 2^24
 */
void check_frame_bits(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief Divides a stream or frames of a code into parallel blocks.
 *
 * \p overlap 0: L = 16(K−1)/3(1−r) at code rate r, and 6(K−1)/(1−r) from K=8 on. K=7 at
 * rate 1/2 gets 64; with 48, 1.5 times as many errors begin in a block's last 16 stages.
 * \p decode_length 0: D is the smallest power of two that is at least 10·L, at most 2048.
 * Frames are divided evenly into blocks of about that length; a frame shorter than 2·D is
 * one block. \throws std::invalid_argument
 */
block_layout make_block_layout(const conv_code& code,
                               termination ends,
                               unsigned frame_bits,
                               unsigned decode_length,
                               unsigned overlap);

value_map make_value_map(const conv_code& code);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H */
