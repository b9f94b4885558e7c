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
        std::uint64_t value;      //!< end of its input in the stream
        bool full;                //!< not cut short, as by latency
        //! Counts of the checks behind its first stage; nullptr if a CPU decoded it.
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
    //! Returns the oldest batch once it is decoded; to be called once per batch.
    virtual std::optional<decoded_batch> oldest() { return {}; }
    //! Releases the slot of the oldest batch.
    virtual void release_oldest() {}

    //! Sets the rotation of the received pairs; before anything is pushed.
    virtual void set_rotation(const phase_rotation&) {}

    //! Copies received values of the stream as int8, from batches in flight and from the
    //! open one. Others become 0.
    virtual void read_values(std::uint64_t /*first*/, std::size_t, std::int8_t*) const {}
    //! Pushes values of int8, whatever the format.
    virtual std::size_t push_quantised(const std::int8_t*, std::size_t) { return 0; }
    //! Returns the items of the open batch. If borrowing begins in mid-stream, the
    //! borrowed items begin with these.
    virtual std::size_t open_items() const { return 0; }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_WATCHED_DECODER_H */
