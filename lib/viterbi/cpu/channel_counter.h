// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Estimates the channel statistics of a batch: re-encodes decoded bits, counts the
 * received signs that disagree, and sums their magnitudes. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H

#include "viterbi/code/reencoder.h"
#include "viterbi/model/job.h"
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

class channel_estimator
{
public:
    explicit channel_estimator(const setup& setup);

    //! The part of a batch from which the channel is estimated.
    struct sample {
        std::size_t first_value; //!< index of the first soft value in the batch's input
        std::size_t values;      //!< number of soft values
        std::size_t first_byte;  //!< offset of the first decoded bits in the output
        std::size_t bytes;       //!< number of output bytes
        std::size_t skipped; //!< number of bits at the beginning whose soft values are
                             //!< not in the input
    };

    //! Returns the first stages of a batch, or of its first frame, at most 2048 stages;
    //! nothing if a sample needs more. \p bits is the number of decoded bits of the
    //! batch.
    std::optional<sample> beginning(const job& job, std::size_t bits) const;

    //! Returns the distance between samples at fixed positions of the stream, as a
    //! number of pieces. A piece is a parallel block of a stream, or a frame. The
    //! distance is about 2^20 bits, or one piece if a piece is longer.
    std::uint64_t pieces_between() const;

    //! Returns the first stages of piece \p piece of a batch, at most 2048 stages;
    //! nothing if a sample needs more. \p bits is the number of decoded bits from the
    //! piece on.
    std::optional<sample>
    of_piece(const job& job, std::size_t piece, std::size_t bits) const;

    //! Estimates the channel from a sample; without one, all statistics are 0. \p input
    //! and \p output are the batch's soft values and decoded bits.
    viterbi_decoder::batch_statistics operator()(const job& job,
                                                 const std::optional<sample>& s,
                                                 const std::byte* input,
                                                 const std::byte* output);

    //! Prefetches the sample that is pieces_between() pieces after \p s.
    void prefetch_after(const job& job,
                        const sample& s,
                        const std::byte* input,
                        const std::byte* output) const;

private:
    // Returns the sample of `stages` stages of a stream or a frame. The sample begins
    // with stage number `stage`, whose bit is the first one in output byte `byte`. The
    // input has the values from `first` to `end` − 1 of the stream or frame; value
    // `first` is at index `before` of the input.
    std::optional<sample> place(std::size_t before,
                                std::uint64_t stage,
                                std::size_t stages,
                                std::uint64_t first,
                                std::uint64_t end,
                                std::size_t byte) const;
    const setup d_setup;
    const reencoder d_encode;
    std::vector<std::int8_t> d_values; // soft values of the compared stages
    std::vector<std::uint8_t> d_bits;  // decoded bits to re-encode
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H */
