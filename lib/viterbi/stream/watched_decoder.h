// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder's interface for the lock monitor, which compares decoded bits with
 * the input they came from. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H

#include "viterbi/model/job.h"
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::gpufec::viterbi {

class watched_decoder
{
public:
    virtual ~watched_decoder() = default;

    //! A decoded batch of a stream, valid while it stays in its slot.
    struct decoded_batch {
        const std::uint8_t* bits; //!< most significant first
        std::uint64_t first, end; //!< stages
        std::uint64_t value;      //!< index of the end of its input in the stream
        bool full; //!< whether it was not cut short, for example to keep the latency low
        //! Counts of the checks after its first stage; nullptr if a CPU decoded the
        //! batch.
        const sign_error_counts* error_counts;
        std::uint32_t every; //!< stages between checks

        //! Returns the counts of the check at the end of a stage, or nullptr.
        const sign_error_counts* error_counts_of(std::uint64_t stage) const
        {
            return error_counts && stage > first && stage <= end && stage % every == 0
                       ? error_counts + (stage / every - first / every - 1)
                       : nullptr;
        }
    };

    //! Makes the decoder hand out whole batches instead of items.
    virtual void watch() {}
    //! Returns the oldest batch once it is decoded. May be called only once per batch.
    virtual std::optional<decoded_batch> oldest() { return {}; }
    //! Releases the slot of the oldest batch.
    virtual void release_oldest() {}

    //! Sets the rotation of the received pairs. Must be called before anything is pushed.
    virtual void set_rotation(const phase_rotation&) {}

    //! Copies received values of the stream as int8, from batches in flight and from the
    //! open one. Missing values are returned as 0.
    virtual void read_values(std::uint64_t /*first*/, std::size_t, std::int8_t*) const {}
    //! Pushes int8 values, regardless of the declared format.
    virtual std::size_t push_quantised(const std::int8_t*, std::size_t) { return 0; }
    //! Returns the number of items in the open batch. If borrowing begins in mid-stream,
    //! the borrowed items must begin with these.
    virtual std::size_t open_items() const { return 0; }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H */
