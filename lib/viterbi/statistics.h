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

private:
    const setup d_setup;
    std::vector<std::uint8_t> d_words; // of each register content, inversion included
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STATISTICS_H */
