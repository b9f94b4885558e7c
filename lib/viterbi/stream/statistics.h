// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Estimates a channel's bit error rate by encoding decoded bits again. */

#ifndef INCLUDED_GPUFEC_VITERBI_STATISTICS_H
#define INCLUDED_GPUFEC_VITERBI_STATISTICS_H

#include "encode_again.h"
#include "job.h"
#include <vector>

namespace gr::gpufec::viterbi {

class channel_estimator
{
public:
    explicit channel_estimator(const setup& setup);

    //! From the first stages of a batch (of its first frame), 2048 at most.
    viterbi_decoder::batch_statistics operator()(const job& job,
                                                 const std::byte* input,
                                                 const std::byte* output,
                                                 std::size_t bits);

    //! The pieces (parallel blocks of a stream, or frames) from one that is measured by
    //! itself to the next: about 2^20 bits.
    std::uint64_t pieces_between() const;

    //! From the first stages of one piece of a batch, 2048 at most, of which the output
    //! holds \p bits.
    viterbi_decoder::batch_statistics of_piece(const job& job,
                                               std::size_t piece,
                                               const std::byte* input,
                                               const std::byte* output,
                                               std::size_t bits);

private:
    // From stages of a stream or a frame, as many as are given from number `stage` on.
    // Its value number `first` is the job's number `before`, and `end` there is not.
    viterbi_decoder::batch_statistics compare(const job& job,
                                              std::size_t before,
                                              std::uint64_t stage,
                                              std::size_t stages,
                                              std::uint64_t first,
                                              std::uint64_t end,
                                              const std::byte* input,
                                              const std::byte* output);
    const setup d_setup;
    const encode_again d_encode;
    std::vector<std::int8_t> d_values; // of a sample
    std::vector<std::uint8_t> d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STATISTICS_H */
