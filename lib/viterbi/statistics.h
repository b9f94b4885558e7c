// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Estimates a channel's bit error rate by encoding decoded bits again. */

#ifndef INCLUDED_GPUFEC_VITERBI_STATISTICS_H
#define INCLUDED_GPUFEC_VITERBI_STATISTICS_H

#include "job.h"

namespace gr::gpufec::viterbi {

class channel_estimator
{
public:
    explicit channel_estimator(const setup& setup);

    //! From the first stages of a batch (of its first frame), 2048 at most.
    viterbi_decoder::batch_statistics operator()(const job& job,
                                                 const std::byte* input,
                                                 const std::byte* output,
                                                 std::size_t bits) const;

    //! The pieces (parallel blocks of a stream, or frames) from one that is measured by
    //! itself to the next: about 2^20 bits.
    std::uint64_t pieces_between() const;

    //! From the first stages of one piece of a batch, 2048 at most, of which the output
    //! holds \p bits.
    viterbi_decoder::batch_statistics of_piece(const job& job,
                                               std::size_t piece,
                                               const std::byte* input,
                                               const std::byte* output,
                                               std::size_t bits) const;

private:
    // Of stages from number `stage` on of a stream or a frame; `input` begins with value
    // `first_value` and ends before `end_value`; that is value `before` of the job's.
    viterbi_decoder::batch_statistics encode_again(const job& job,
                                                   std::size_t before,
                                                   std::uint64_t stage,
                                                   std::size_t stages,
                                                   std::uint64_t first_value,
                                                   std::uint64_t end_value,
                                                   const std::byte* input,
                                                   const std::byte* output) const;
    // The same, with value(i) for value i of the job's.
    template <class Value>
    viterbi_decoder::batch_statistics encode_again(std::uint64_t stage,
                                                   std::size_t stages,
                                                   std::size_t before,
                                                   std::uint64_t first_value,
                                                   std::uint64_t end_value,
                                                   const std::byte* output,
                                                   Value&& value) const;

    const setup d_setup;
    std::vector<std::uint8_t> d_words; // of each register content, inversion included
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STATISTICS_H */
