// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a check of a lock looks at first: how many signs of the last steps before it are
 * wrong. A device counts them behind each batch, where bits and values both lie, so that
 * the host need not touch either. */

#ifndef INCLUDED_GPUFEC_VITERBI_CHECK_TALLIES_H
#define INCLUDED_GPUFEC_VITERBI_CHECK_TALLIES_H

#include "pipeline/host_device.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

struct setup;
struct job;

//! Stages from one check of a lock to the next, whole pieces: while it is young, and once
//! it is old.
std::uint64_t young_stretch(std::uint64_t piece);
std::uint64_t old_stretch(const conv_code& code, std::uint64_t piece);

//! Of a check: over its last 8, 16, …, 512 steps.
struct check_tallies {
    static constexpr unsigned sizes = 7, least = 8;
    static constexpr std::uint16_t missing = 0xffff; //!< they begin before the batch

    std::uint16_t values[sizes]; //!< that are not erased, or `missing`
    std::uint16_t wrong[sizes];  //!< whose sign disagrees

    //! The last steps before a check that tallies of a size are made of.
    static constexpr std::uint64_t steps(unsigned size)
    {
        return std::uint64_t(least) << size;
    }
};

//! Where the checks of a stream lie once a lock is old, and the code as they see it:
//! steps are those of encode_again. Passed to kernels by value.
struct check_plan {
    static constexpr unsigned most_values = 8;

    std::uint32_t every = 0; //!< stages; 0: no tallies are made of such a code
    std::uint32_t stages = 0, values = 0; //!< of a step
    std::uint32_t memory = 0;             //!< K−1
    //! Of each value of a step: its stage, and the bits that it is the sum of, the newest
    //! least significant.
    struct {
        std::uint16_t taps;
        std::uint8_t stage, inverted;
    } value[most_values] = {};

    //! Checks behind stage \p first up to stage \p end.
    GPUFEC_HOST_DEVICE std::uint64_t count(std::uint64_t first, std::uint64_t end) const
    {
        return every ? end / every - first / every : 0;
    }
};

check_plan make_check_plan(const conv_code& code, std::uint32_t decode_length);

//! The tallies of a batch, as the CPU makes them.
void make_tallies(const setup& setup,
                  const job& job,
                  const std::byte* input,
                  const std::byte* output,
                  check_tallies* to);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CHECK_TALLIES_H */
