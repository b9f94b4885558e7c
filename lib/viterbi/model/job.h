// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The description of one batch (job): its parallel blocks, and the format and phase
 * rotation of its input. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_JOB_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_JOB_H

#include "block_layout.h"
#include "viterbi/phase_lock/sign_error_counts.h"

namespace gr::gpufec::viterbi {

/*!
 * \brief Correction of a rotation of the constellation, or of an exchange of I and Q.
 *
 * Received values 2i and 2i+1 are a pair, I and Q of a symbol. Soft value j of the code
 * is received value j, or the other value of the pair if \p exchanged is set. The sign of
 * soft value j is changed if changed[j % 2] is set.
 */
struct phase_rotation {
    bool exchanged = false;
    bool changed[2] = { false, false };

    //! Returns whether the rotation changes any value.
    GPUFEC_HOST_DEVICE bool any() const { return exchanged || changed[0] || changed[1]; }
};

/*!
 * \brief One batch of parallel blocks.
 *
 * For streaming, the input holds \p values soft values. The first of them is value \p
 * first_value of the stream (with packed4, in the high nibble). Values of the blocks'
 * windows that are not in the input are erased. The output has D/8 bytes per block. For
 * frames, the input consists of whole frames, one after the other, and the output has
 * frame_output_bytes() per frame.
 */
struct job {
    std::uint64_t first_block = 0; //!< index of the first block in the stream
    std::uint32_t blocks = 0;      //!< number of blocks, a multiple of blocks_per_frame
    std::uint64_t first_value = 0;
    std::uint64_t values = 0;
    /*! Whether the input is floats, which are scaled to int8: the first \p scaled_before
     * values by scale[0], and later values by scale[1]. */
    bool floats = false;
    std::uint64_t scaled_before = 0;
    float scale[2] = { 1, 1 };
    //! Whether the input is offset binary: unsigned bytes in which 128 means 0.
    bool offset_binary = false;
    //! Applied to the input before decoding. If any() is true, \p first_value is even.
    viterbi::phase_rotation phase_rotation{};
    //! Whether the decoder of a stream also writes one element of sign_error_counts for
    //! each of the checks() to the batch's status.
    bool error_counts = false;

    //! Returns the number of stages in the batch at which phase search checks its lock.
    GPUFEC_HOST_DEVICE std::uint64_t checks(const check_plan& plan,
                                            std::uint32_t decode_length) const
    {
        return plan.count(first_block * decode_length,
                          (first_block + blocks) * decode_length);
    }

    //! Returns the scale of the input's float \p index.
    GPUFEC_HOST_DEVICE float scale_of(std::uint64_t index) const
    {
        return scale[index >= scaled_before];
    }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_JOB_H */
