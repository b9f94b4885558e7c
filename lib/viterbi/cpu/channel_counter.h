// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Re-encodes the samples of a batch, and counts the received signs that disagree. */

#ifndef INCLUDED_GPUFEC_VITERBI_CPU_CHANNEL_COUNTER_H
#define INCLUDED_GPUFEC_VITERBI_CPU_CHANNEL_COUNTER_H

#include "viterbi/code/reencoder.h"
#include "viterbi/model/setup.h"
#include <vector>

namespace gr::gpufec::viterbi {

class channel_counter
{
public:
    explicit channel_counter(const setup& setup);

    //! Counts the signs of all samples of a batch. \p input and \p output are the batch's
    //! soft values and decoded bits.
    void operator()(const job& job,
                    const std::byte* input,
                    const std::byte* output,
                    channel_counts* to);

private:
    const sample_plan d_plan;
    const bool d_packed4;
    const reencoder d_encode;
    std::vector<std::int8_t> d_values; // soft values of the compared stages
    std::vector<std::uint8_t> d_bits;  // decoded bits to re-encode
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CPU_CHANNEL_COUNTER_H */
