// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The division of a stream or a frame into parallel blocks, and the position of each
 * stage's soft values in the input. The reference decoder and both backends use the same
 * division.
 *
 * Parallel block b decodes D stages, or fewer at the end of a frame. For this, the block
 * computes a window of W stages. The path metrics settle in the L stages before the
 * decoded ones, and the survivors merge in the L stages after the decoded ones (L is the
 * decision depth). All path metrics of a window start equal, except that a window at the
 * beginning of a terminated or truncated frame starts in state 0. The traceback starts in
 * state 0 at the window's end. The windows are:
 *  - streaming: [bD − L, bD + D + L). Stages outside the stream are erased. L ≥ K−1
 *    erased stages connect every state to state 0 at no cost. A traceback from state 0
 *    after the end of the stream therefore reaches the best state at its end.
 *  - terminated: as for streaming, but shifted to lie inside the frame, or shortened to
 *    the length of the frame. The last window ends with the frame, in state 0. If a frame
 *    has only one block, its window is the whole frame.
 *  - truncated: as for terminated, but the frame is extended by K−1 erased stages.
 *  - tailbiting: [bD − L, bD + D + L) modulo the length of the frame. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H

#include "common/host_device.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>

namespace gr::gpufec::viterbi {

//! The window of a parallel block, and the stages that it decodes.
struct block_window {
    std::int64_t start;  //!< first stage, counted from the beginning of stream or frame
    std::uint32_t lead;  //!< number of stages before the first decoded one
    std::uint32_t count; //!< number of decoded stages
    //! Whether the window starts in state 0; otherwise all path metrics start equal.
    bool from_zero;
};

//! The positions of the soft values of each stage in the punctured sequence.
struct value_map {
    std::uint32_t period;
    std::uint32_t values_per_period;
    std::uint32_t outputs;
    //! [s·outputs + r]: position of output r of stage s in the period; −1 if punctured.
    std::int16_t position[conv_code::max_period * conv_code::max_outputs];

    //! Returns the index of the soft value of output \p r at stage \p stage, or −1 if it
    //! is punctured.
    GPUFEC_HOST_DEVICE std::int64_t operator()(std::uint64_t stage, unsigned r) const
    {
        const std::uint64_t whole = stage / period;
        const auto p = position[(stage - whole * period) * outputs + r];
        return p < 0 ? -1 : std::int64_t(whole * values_per_period + p);
    }
};

//! The division of a stream, or of each frame, into parallel blocks.
struct block_layout {
    gpufec::termination termination;
    std::uint32_t decode_length; //!< D, a multiple of 32
    std::uint32_t overlap;       //!< L, the decision depth
    std::uint32_t window;        //!< W, number of stages, the same for every block

    // The following members describe frames. A stream uses only blocks_per_frame.

    std::uint32_t frame_bits; //!< number of information bits per frame
    //! Number of stages per frame, including a tail of K−1 stages unless frames are
    //! tail-biting. The tail is sent (terminated) or erased (truncated).
    std::uint32_t frame_stages;
    std::uint32_t frame_values; //!< number of soft values received per frame
    //! Number of parallel blocks per frame; 1 for a stream.
    std::uint32_t blocks_per_frame;

    GPUFEC_HOST_DEVICE bool streaming() const
    {
        return termination == termination::streaming;
    }

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
        if (termination == termination::tailbiting) {
            return { start, overlap, count, false };
        }
        const std::int64_t last = std::int64_t(frame_stages) - window;
        start = start < 0 ? 0 : start > last ? last : start;
        return { start, std::uint32_t(first - start), count, start == 0 };
    }
};

//! Returns the number of stages that are sent per frame: one per information bit, and, if
//! frames are terminated, K−1 for the tail of zeros.
std::uint32_t sent_stages(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief Checks the number of information bits per frame.
 * \throws std::invalid_argument unless it is 0 for streaming, K−1 to 2^24 for
 *         tail-biting frames, or 1 to 2^24 for other frames
 */
void check_frame_bits(const conv_code& code, termination ends, unsigned frame_bits);

/*!
 * \brief Divides a stream or frames of a code into parallel blocks.
 *
 * \param code the code
 * \param ends termination of the frames, or streaming
 * \param frame_bits information bits per frame; 0 for streaming
 * \param decode_length D, 32 to 65536, a multiple of 32. With 0, D is the smallest power
 *        of two that is at least 10·L, limited to 128 … 2048. Frames are then divided
 *        evenly into blocks of about D stages, and a frame shorter than 2·D is one block.
 * \param overlap L, K−1 to 4096. With 0, L is (16/3)·(K−1)/(1−r), or 6·(K−1)/(1−r) from
 *        K=8 on, rounded up to a multiple of 4, where r is the code rate, but at most
 *        0.95. For K=7 at rate 1/2, L is 64. With L=48 at Eb/N0 = 2 dB, 1.5 times as many
 *        error events as with maximum likelihood began in the last 16 of a block's 512
 *        stages.
 * \throws std::invalid_argument if a parameter is outside its range
 */
block_layout make_block_layout(const conv_code& code,
                               termination ends,
                               unsigned frame_bits,
                               unsigned decode_length,
                               unsigned overlap);

//! Returns the positions of the code's soft values for one puncturing period.
value_map make_value_map(const conv_code& code);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_BLOCK_LAYOUT_H */
