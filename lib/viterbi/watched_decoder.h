// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a decoder of a stream lends to one that holds its bits against its input. */

#ifndef INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H
#define INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H

#include "job.h"
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::gpufec::viterbi {

class watched_decoder
{
public:
    virtual ~watched_decoder() = default;

    //! A batch of a stream, by its stages, while it stays in its slot.
    struct decoded_batch {
        const std::uint8_t* bits; //!< most significant first
        std::uint64_t first, end;
        std::uint64_t value; //!< of the stream, behind its input
        bool full;           //!< it was not sent before its time
        //! Of the checks behind its first stage, unless a CPU decoded it.
        const check_tallies* tallies;
        std::uint32_t every; //!< stages from one of these to the next

        //! Of a check that ends with a stage; nullptr if they were not made.
        const check_tallies* tallies_of(std::uint64_t stage) const
        {
            return tallies && stage > first && stage <= end && stage % every == 0
                       ? tallies + (stage / every - first / every - 1)
                       : nullptr;
        }
    };

    //! Batches are taken as they are from now on, in place of their items.
    virtual void watch() {}
    //! The oldest one, once it is decoded; to be asked once.
    virtual std::optional<decoded_batch> oldest() { return {}; }
    //! Its slot may be filled again.
    virtual void release_oldest() {}

    //! What the receiver did to its pairs; to be set before anything is pushed.
    virtual void set_turn(const turn&) {}

    //! Copies values of the stream, as they were received, as steps: of batches in
    //! flight and of the open one. Others are 0.
    virtual void read_values(std::uint64_t /*first*/, std::size_t, std::int8_t*) const {}
    //! As push(), of steps, whatever the format.
    virtual std::size_t push_steps(const std::int8_t*, std::size_t) { return 0; }
    //! Items of the open batch: where lent items are not the first of the stream, they
    //! begin with these.
    virtual std::size_t open_items() const { return 0; }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H */
