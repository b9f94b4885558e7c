// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Estimates the channel statistics of a batch: re-encodes decoded bits, counts the
 * received signs that disagree, and sums their magnitudes. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H

#include "viterbi/code/reencoder.h"
#include "viterbi/model/job.h"
#include <vector>

namespace gr::gpufec::viterbi {

class channel_estimator
{
public:
    explicit channel_estimator(const setup& setup);

    //! Estimates the channel from the first stages of a batch, or of its first frame, at
    //! most 2048 stages. \p input, \p output: the batch's soft values and decoded bits in
    //! the slot. \p bits: number of decoded bits of the batch.
    viterbi_decoder::batch_statistics operator()(const job& job,
                                                 const std::byte* input,
                                                 const std::byte* output,
                                                 std::size_t bits);

    //! Returns the distance between estimates at fixed positions of the stream, as a
    //! number of pieces. A piece is a parallel block of a stream, or a frame. The
    //! distance is about 2^20 bits, or one piece if a piece is longer.
    std::uint64_t pieces_between() const;

    //! Estimates the channel from the first stages of piece \p piece of a batch, at most
    //! 2048 stages. \p bits: number of decoded bits from the piece on.
    viterbi_decoder::batch_statistics of_piece(const job& job,
                                               std::size_t piece,
                                               const std::byte* input,
                                               const std::byte* output,
                                               std::size_t bits);

private:
    // Estimates the channel from `stages` stages of a stream or a frame. The first of
    // them is stage number `stage`, and its bit is the first one in `output`. `input` has
    // the values from `first` to `end` − 1 of the stream or frame; value `first` is at
    // index `before` of `input`.
    viterbi_decoder::batch_statistics compare(const job& job,
                                              std::size_t before,
                                              std::uint64_t stage,
                                              std::size_t stages,
                                              std::uint64_t first,
                                              std::uint64_t end,
                                              const std::byte* input,
                                              const std::byte* output);
    const setup d_setup;
    const reencoder d_encode;
    // Soft values whose signs are compared with re-encoded bits.
    std::vector<std::int8_t> d_values;
    std::vector<std::uint8_t> d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_STATISTICS_H */
