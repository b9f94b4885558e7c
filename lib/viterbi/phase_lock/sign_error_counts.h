// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stages at which a lock is checked, and counts of the soft values whose sign differs
 * from the re-encoded bit in the last steps before a check. These counts usually decide
 * the check. A GPU computes the counts in its own memory, so that the host need not read
 * the bits and values of the batch. locking.h defines lock and check, and class reencoder
 * defines a step. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_SIGN_ERROR_COUNTS_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_SIGN_ERROR_COUNTS_H

#include "common/host_device.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

struct setup;
struct job;

//! Returns the number of stages between checks of a new lock: at least 512, a multiple of
//! \p piece, the number of stages per parallel block or frame.
std::uint64_t young_stretch(std::uint64_t piece);
//! Returns the number of stages between checks of an established lock: those of about
//! 16384 soft values, rounded down to a multiple of \p piece, but at least
//! young_stretch().
std::uint64_t old_stretch(const conv_code& code, std::uint64_t piece);

//! The counts of one check, over the last 8, 16, …, 512 steps before the check.
struct sign_error_counts {
    static constexpr unsigned sizes = 7, min_steps = 8;
    //! Marks a count whose bits or values are not all in the batch.
    static constexpr std::uint16_t missing = 0xffff;

    std::uint16_t values[sizes]; //!< number of values that are not erased, or `missing`
    std::uint16_t wrong[sizes];  //!< number of values with a wrong sign

    //! Returns the number of steps that the counts at index \p size cover.
    static constexpr std::uint64_t steps(unsigned size)
    {
        return std::uint64_t(min_steps) << size;
    }
};

//! The stages at which an established lock is checked, and the code in the form that
//! kernels use to re-encode bits. Passed to kernels by value.
struct check_plan {
    static constexpr unsigned max_values = 8;

    std::uint32_t every = 0; //!< stages between checks; 0 if the code has no counts
    std::uint32_t stages = 0, values = 0; //!< number of stages and values per step
    std::uint32_t memory = 0;             //!< K−1
    //! For each value of a step: its stage in the step, whether it is inverted, and the
    //! mask of the bits whose sum modulo 2 is the coded bit, the newest bit least
    //! significant.
    struct {
        std::uint16_t taps;
        std::uint8_t stage, inverted;
    } value[max_values] = {};

    //! Returns the number of checks after stage \p first, up to and including stage
    //! \p end.
    GPUFEC_HOST_DEVICE std::uint64_t count(std::uint64_t first, std::uint64_t end) const
    {
        return every ? end / every - first / every : 0;
    }
};

//! Returns the check plan of a stream that is decoded in parallel blocks of
//! \p decode_length stages.
check_plan make_check_plan(const conv_code& code, std::uint32_t decode_length);

//! Computes the counts of all checks of a batch, job.checks() elements, on the CPU.
void make_sign_error_counts(const setup& setup,
                            const job& job,
                            const std::byte* input,
                            const std::byte* output,
                            sign_error_counts* to);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_SIGN_ERROR_COUNTS_H */
