// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the stream decoder for the phase search, which compares decoded bits
 * with the input. locking.h defines check; sign_error_counts.h describes the counts. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H

#include "viterbi/model/job.h"
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::gpufec::viterbi {

//! A stream decoder that gives access to whole batches and their input. The default
//! implementations of all functions do nothing.
class watched_decoder
{
public:
    virtual ~watched_decoder() = default;

    //! A decoded batch of a stream, valid while it stays in its slot.
    struct decoded_batch {
        const std::uint8_t* bits; //!< decoded bits, packed, most significant first
        std::uint64_t first, end; //!< the stages from `first` to `end` − 1
        //! Index in the stream of the soft value after the batch's input.
        std::uint64_t value;
        //! Whether the batch has its full size; false if it was submitted early, for
        //! example to keep the latency low.
        bool full;
        //! Sign error counts of the checks in the batch; nullptr if the batch was
        //! submitted to the CPU, or if there are no counts for this code.
        const sign_error_counts* error_counts;
        //! Number of stages between the checks that have counts; 0 if there are no
        //! counts.
        std::uint32_t every;

        //! Returns the counts of the check at a stage, or nullptr if the batch has none.
        const sign_error_counts* error_counts_of(std::uint64_t stage) const
        {
            return error_counts && stage > first && stage <= end && stage % every == 0
                       ? error_counts + (stage / every - first / every - 1)
                       : nullptr;
        }
    };

    //! Requests sign error counts for the batches of a stream that a GPU decodes.
    virtual void watch() {}
    //! Returns the oldest batch, or nothing if it is not decoded yet. Call
    //! release_oldest() before the next batch.
    virtual std::optional<decoded_batch> oldest() { return {}; }
    //! Releases the slot of the oldest batch.
    virtual void release_oldest() {}

    //! Sets the phase rotation to apply to the input. Must be called before the first
    //! push.
    virtual void set_rotation(const phase_rotation&) {}

    //! Copies received values as int8, from index `first` of the stream on, without phase
    //! rotation. Only values of batches in flight and of the open batch are available;
    //! all others become 0.
    virtual void read_values(std::uint64_t /*first*/, std::size_t, std::int8_t*) const {}
    //! Pushes int8 values in place of the declared format, which must not be packed4.
    //! Returns the number of accepted values.
    virtual std::size_t push_quantised(const std::int8_t*, std::size_t) { return 0; }
    //! Returns the number of items in the open batch. If borrowing begins within a
    //! stream, the borrowed items must begin with the items of the open batch.
    virtual std::size_t open_items() const { return 0; }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H */
