// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How a stream or a frame is cut into parallel blocks, and where in the input the soft
 * values of a stage lie: the geometry that the reference and both backends share.
 *
 * A parallel block decodes D stages from a window of W stages around them: the path
 * metrics settle in the stages before, the survivors merge in the stages after. In
 * every window the metrics start equal, or in state 0 where a frame begins there, and
 * the traceback starts in state 0 at the window's end:
 *  - streaming: [bD − L, bD + D + L); what lies outside the stream is erased. Behind
 *    the end of a stream L ≥ K−1 erasures lead from state 0 back to the best state.
 *  - terminated: the same, moved to lie inside the frame; the last ends in state 0.
 *  - truncated: as terminated, the tail of K−1 stages erased.
 *  - tailbiting: [bD − L, bD + D + L) around the circle of the frame. */

#ifndef INCLUDED_GPUFEC_VITERBI_BLOCK_PLAN_H
#define INCLUDED_GPUFEC_VITERBI_BLOCK_PLAN_H

#include "pipeline/host_device.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>

namespace gr::gpufec::viterbi {

//! Where a parallel block reads and what it decodes.
struct block_window {
    std::int64_t start;  //!< first stage, from the stream's or the frame's beginning
    std::uint32_t lead;  //!< stages of the window before the first decoded one
    std::uint32_t count; //!< decoded stages
    bool from_zero;      //!< starts in state 0, not with equal metrics
};

//! The soft values of a stage in the punctured sequence.
struct value_map {
    std::uint32_t period;
    std::uint32_t values_per_period;
    std::uint32_t outputs;
    //! Position in the period of output r of stage s at [s·outputs + r]; −1: not sent.
    std::int16_t position[conv_code::max_period * conv_code::max_outputs];

    //! Index of the soft value of output \p r at \p stage; −1: not sent.
    GPUFEC_HOST_DEVICE std::int64_t operator()(std::uint64_t stage, unsigned r) const
    {
        const std::uint64_t whole = stage / period;
        const auto p = position[(stage - whole * period) * outputs + r];
        return p < 0 ? -1 : std::int64_t(whole * values_per_period + p);
    }
};

struct block_plan {
    termination ends;
    std::uint32_t decode_length; //!< D, a multiple of 32
    std::uint32_t overlap;       //!< L
    std::uint32_t window;        //!< W, the same for every block

    // Frames only.
    std::uint32_t frame_bits;
    std::uint32_t
        frame_stages; //!< with the tail, sent (terminated) or erased (truncated)
    std::uint32_t frame_values;     //!< soft values per frame
    std::uint32_t blocks_per_frame; //!< 1 in streaming

    GPUFEC_HOST_DEVICE bool streaming() const { return ends == termination::streaming; }

    //! The window of block \p block of the stream, or of the frame.
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

//! Stages that a frame sends: with the tail of K−1 zero bits where it is terminated.
std::uint32_t sent_stages(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief Checks the information bits of a frame.
 * \throws std::invalid_argument unless they are 0 in streaming, at least K−1 in
 *         tail-biting frames, at least 1 in others, and at most 2^24
 */
void check_frame_bits(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief The parallel blocks of a code.
 *
 * \p decode_length and \p overlap 0: L = 16(K−1)/3(1−r) at code rate r (6(K−1)/(1−r) from
 * K=8 on), so that K=7 at 1/2 gets 64 (with 48, half as many errors again begin in a
 * block's last 16 stages); D the power of two from 10·L up, 2048 at most, in frames near
 * it such that the blocks share a frame evenly, and a frame of less than 2·D is a single
 * block. \throws std::invalid_argument
 */
block_plan make_block_plan(const conv_code& code,
                           termination ends,
                           unsigned frame_bits,
                           unsigned decode_length,
                           unsigned overlap);

value_map make_value_map(const conv_code& code);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_BLOCK_PLAN_H */
