// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The samples of a batch from which the channel is estimated. A decoder re-encodes the
 * decoded bits of each sample, and counts the received soft values whose sign differs
 * from the coded bit. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_CHANNEL_SAMPLES_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_CHANNEL_SAMPLES_H

#include "job.h"
#include <cstddef>

namespace gr::gpufec::viterbi {

//! A sample: stages of a batch, which begin and end with a puncturing period.
struct channel_sample {
    std::uint64_t item;   //!< index in the batch of the sample's parallel block or frame
    std::uint64_t value;  //!< index in the batch's input of the first soft value
    std::uint64_t bit;    //!< index in the batch's output of the first stage's bit
    std::uint32_t stages; //!< number of stages; 0 if the batch ends before
    std::uint32_t values; //!< number of soft values
};

//! The counts of one sample.
struct channel_counts {
    std::uint32_t values;  //!< number of soft values that are not erased
    std::uint32_t wrong;   //!< number of these values with a wrong sign
    std::uint32_t against; //!< sum of the magnitudes of values with a wrong sign
};

/*!
 * \brief The samples of batches, and the code in the form that kernels use to re-encode.
 *
 * A piece is a parallel block of a stream, or a frame. A batch has a sample at its
 * beginning and one at the beginning of every `every`-th piece of the stream. A sample
 * has at most 2048 stages of one piece, or of several parallel blocks at the beginning of
 * a stream's batch. A sample lacks the first stages of its piece, because the output
 * lacks the K−1 bits before them. Passed to kernels by value.
 */
struct sample_plan {
    static constexpr std::uint32_t max_stages = 2048;

    bool streaming;
    std::uint32_t piece_stages, piece_blocks;
    std::uint32_t piece_values; //!< values per frame in the input, with padding
    std::uint32_t frame_values; //!< values per frame without padding
    std::uint32_t piece_bits;   //!< bits in the output per piece
    std::uint32_t every;        //!< distance of samples in pieces, about 2^20 bits
    std::uint32_t step_stages, step_values; //!< see class reencoder
    std::uint32_t memory;                   //!< K−1
    //! For each output, the mask of the bits whose sum modulo 2 is the coded bit, the
    //! newest bit least significant, and whether the output is inverted.
    std::uint16_t taps[conv_code::max_outputs];
    bool inverted[conv_code::max_outputs];

    //! Returns the number of samples of a batch.
    GPUFEC_HOST_DEVICE std::uint32_t count(const job& job) const
    {
        const auto first = job.first_block / piece_blocks;
        const auto end = first + job.blocks / piece_blocks;
        return 1 + std::uint32_t((end + every - 1) / every - (first + every - 1) / every);
    }

    //! Returns the largest number of samples of a batch of \p blocks parallel blocks.
    std::size_t most(std::size_t blocks) const
    {
        return blocks / piece_blocks / every + 2;
    }

    //! Returns the counts of a batch in its status: those of its samples, and then those
    //! of its checks, if job.error_counts is set.
    channel_counts* counts(std::byte* status) const
    {
        return reinterpret_cast<channel_counts*>(status);
    }
    sign_error_counts* checks(const job& job, std::byte* status) const
    {
        return reinterpret_cast<sign_error_counts*>(counts(status) + count(job));
    }

    //! Returns sample \p index of a batch; sample 0 is the one at its beginning.
    GPUFEC_HOST_DEVICE channel_sample at(const job& job, std::uint32_t index) const
    {
        const std::uint64_t first = job.first_block / piece_blocks;
        const std::uint64_t item =
            index == 0 ? 0 : ((first + every - 1) / every + (index - 1)) * every - first;
        std::uint64_t most = piece_stages;
        if (index == 0 && streaming) {
            most *= job.blocks;
        }
        most = most < max_stages ? most : max_stages;
        const std::uint64_t stage = streaming ? (first + item) * piece_stages : 0;
        const std::uint64_t begin = (stage + memory + step_stages - 1) / step_stages;
        const std::uint64_t values =
            streaming ? job.first_value + job.values : frame_values;
        const std::uint64_t last = (stage + most) / step_stages,
                            received = values / step_values;
        const std::uint64_t end = last < received ? last : received;
        const std::uint64_t before = begin * step_values;
        const auto steps = std::uint32_t(end > begin ? end - begin : 0);
        return { item,
                 streaming ? before - job.first_value : before + item * piece_values,
                 item * piece_bits + (begin * step_stages - stage),
                 steps * step_stages,
                 steps * step_values };
    }
};

//! Returns the mask of the bits whose sum modulo 2 is output \p r of a code, without its
//! inversion, the newest bit least significant.
std::uint16_t taps_of(const conv_code& code, unsigned r);

//! Returns the samples of a stream or of frames. \p packed tells whether the input is
//! packed4.
sample_plan
make_sample_plan(const conv_code& code, const block_layout& layout, bool packed);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_CHANNEL_SAMPLES_H */
