// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Which codeword lies where in a batch. */

#ifndef INCLUDED_GPUFEC_LDPC_JOB_H
#define INCLUDED_GPUFEC_LDPC_JOB_H

#include "setup.h"
#include <vector>

namespace gr::gpufec::ldpc {

//! Where a codeword lies, in bytes from the beginning of input and output.
struct frame_place {
    std::uint32_t input;
    std::uint32_t output;
    std::uint32_t status; //!< its index in the status
    float soft_factor;    //!< of message_rule.h, where LLRs are given
};

//! What became of a codeword.
struct frame_status {
    std::uint32_t iterations;
    std::uint32_t unsatisfied; //!< checks that the decisions violate
};

//! A codeword as its caller has it, and how its values become steps.
struct raw_frame {
    std::uint32_t from;   //!< bytes from the beginning of what is lent
    std::uint32_t to;     //!< and of the input that is decoded
    std::uint32_t values; //!< of the codeword
    float factor, limit;
    std::uint32_t constellation; //!< of symbols: in the setup
    std::int32_t level;          //!< of symbols: their Es/N0, or demap::estimated
};

/*!
 * \brief One batch of codewords.
 *
 * The input begins with a table of frame_place, codewords of one code next to each other,
 * and goes on with the channel values from values_offset() on. Decisions are packed,
 * first bit most significant; LLRs, if any, are setup::soft_offset() behind them.
 *
 * A raw batch has its channel values, or symbols, as its caller has them, elsewhere, and
 * a second table, of raw_frame, after the first. Batches of symbols are all raw.
 */
struct job {
    struct run {
        std::uint32_t code;  //!< in the setup
        std::uint32_t first; //!< in the table
        std::uint32_t count;
    };
    std::vector<run> runs;
    std::size_t input_bytes = 0; //!< used, the table included
    std::size_t output_bytes = 0;
    std::uint32_t codewords = 0;
    std::size_t raw_bytes = 0; //!< of a raw batch: all that is lent; else 0

    //! Bytes of the tables of a full batch of \p codewords.
    static std::size_t values_offset(std::size_t codewords)
    {
        return (raw_offset(codewords) + codewords * sizeof(raw_frame) + 255) / 256 * 256;
    }
    //! Where its second table is.
    static std::size_t raw_offset(std::size_t codewords)
    {
        return (codewords * sizeof(frame_place) + 15) / 16 * 16;
    }
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_JOB_H */
