// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The description of a batch of codewords, the tables at the beginning of its input, and
 * the results of decoding. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_JOB_H
#define INCLUDED_GPUFEC_LDPC_MODEL_JOB_H

#include "setup.h"
#include <vector>

namespace gr::gpufec::ldpc {

//! The place of a codeword in the buffers of a batch.
struct frame_place {
    std::uint32_t input;  //!< offset of the channel values in bytes from the beginning of
                          //!< the batch's input
    std::uint32_t output; //!< offset of the output in bytes from the beginning of the
                          //!< batch's output
    std::uint32_t status; //!< index in the batch's array of ldpc_status
    float soft_factor;    //!< LLR steps per step of the rule, see soft_factor() in
                          //!< message_rule.h; used only for LLR output
};

//! A codeword in the caller's format, and how its values are quantised.
struct caller_frame {
    //! Offset in bytes from the beginning of the input in the caller's format.
    std::uint32_t from;
    //! Offset in bytes of the quantised values from the beginning of the batch's input.
    std::uint32_t to;
    std::uint32_t values; //!< number of channel values; for symbols, number of LLRs
    //! Factor that converts the caller's values, or a demapper's LLRs, to steps of the
    //! message rule.
    float factor;
    float limit; //!< largest magnitude of a quantised value, in these steps
    std::uint32_t constellation; //!< for symbols: index in setup::constellations
    std::int32_t level;          //!< for symbols: Es/N0 level of demap/rule.h, or
                                 //!< demap::estimated
};

/*!
 * \brief One batch of codewords.
 *
 * The input begins with a table of frame_place, in which codewords of one code are next
 * to each other. Channel values follow at values_offset(). A codeword's output begins
 * with its decisions, packed with the first bit most significant. LLRs, if any, follow at
 * setup::soft_offset().
 *
 * If a batch is in the caller's format, its channel values or symbols are in other
 * memory, and a second table, of caller_frame, follows the first. All batches of symbols
 * are in the caller's format.
 */
struct job {
    struct run {
        std::uint32_t code;  //!< index in setup::codes
        std::uint32_t first; //!< index of the first codeword in the tables
        std::uint32_t count;
    };
    std::vector<run> runs;
    std::size_t input_bytes = 0; //!< number of bytes in use, including the tables
    std::size_t output_bytes = 0;
    std::uint32_t codewords = 0;
    //! Size in bytes of all input in the caller's format, or 0 if there is none.
    std::size_t caller_item_bytes = 0;

    //! Returns the offset of the channel values, which follow both tables of a batch of
    //! up to \p codewords codewords.
    static std::size_t values_offset(std::size_t codewords)
    {
        return (caller_offset(codewords) + codewords * sizeof(caller_frame) + 255) / 256 *
               256;
    }
    //! Returns the offset of the table of caller_frame.
    static std::size_t caller_offset(std::size_t codewords)
    {
        return (codewords * sizeof(frame_place) + 15) / 16 * 16;
    }
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_JOB_H */
