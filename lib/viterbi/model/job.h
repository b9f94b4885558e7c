// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Where a batch of parallel blocks lies in its input. */

#ifndef INCLUDED_GPUFEC_VITERBI_JOB_H
#define INCLUDED_GPUFEC_VITERBI_JOB_H

#include "setup.h"

namespace gr::gpufec::viterbi {

/*!
 * \brief What a receiver does to pairs of soft values that is turned, or has I and Q
 * exchanged.
 *
 * The code's value number j is the one received as number j, or as its pair's other if
 * they are exchanged, with its sign changed where changed[j % 2] says so.
 */
struct turn {
    bool exchanged = false;
    bool changed[2] = { false, false };

    GPUFEC_HOST_DEVICE bool any() const { return exchanged || changed[0] || changed[1]; }
};

/*!
 * \brief One batch of parallel blocks.
 *
 * Streaming: the input begins with soft value \p first_value of the stream (packed4: in
 * the high nibble) and holds \p values of them; what the blocks need beyond is erased.
 * Output: D/8 bytes per block. Frames: the input is whole frames, one after the other,
 * the output is frame_output_bytes() a frame.
 */
struct job {
    std::uint64_t first_block = 0; //!< streaming: index in the stream
    std::uint32_t blocks = 0;      //!< frames: blocks_per_frame times the frames
    std::uint64_t first_value = 0;
    std::uint64_t values = 0;
    /*! The input is floats, to be scaled to int8: the first \p scaled_before values by
     *  the first scale, the others by the second. */
    bool floats = false;
    std::uint64_t scaled_before = 0;
    float scale[2] = { 1, 1 };
    viterbi::turn turn{}; //!< of the input; then \p first_value is even
    //! Streaming: the status is to be the tallies of the checks behind the batch's first
    //! stage, up to its end.
    bool tallies = false;

    GPUFEC_HOST_DEVICE std::uint64_t checks(const check_plan& plan,
                                            std::uint32_t decode_length) const
    {
        return plan.count(first_block * decode_length,
                          (first_block + blocks) * decode_length);
    }

    GPUFEC_HOST_DEVICE float scale_of(std::uint64_t index) const
    {
        return scale[index >= scaled_before];
    }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_JOB_H */
