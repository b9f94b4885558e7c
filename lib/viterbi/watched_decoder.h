// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a decoder of a stream lends to one that holds its bits against its input. */

#ifndef INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H
#define INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H

#include "job.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

class watched_decoder
{
public:
    virtual ~watched_decoder() = default;

    //! What the last pull gave a part of.
    struct pulled_batch {
        std::uint64_t end;   //!< stage of the stream behind it
        std::uint64_t value; //!< of the stream, behind its input
        bool full;           //!< it was not sent before its time
        bool done;           //!< all of it is pulled
    };

    //! From now on each batch stays in its slot until forget_pulled().
    virtual void keep_pulled() {}
    virtual pulled_batch pulled() const { return {}; }
    virtual void forget_pulled() {}

    //! What the receiver did to its pairs; to be set before anything is pushed.
    virtual void set_turn(const turn&) {}

    //! Copies values of the stream, as they were received, as steps: of batches in
    //! flight, those that are kept included, and of the open one. Others are 0.
    virtual void read_values(std::uint64_t /*first*/, std::size_t, std::int8_t*) const {}
    //! As push(), of steps, whatever the format.
    virtual std::size_t push_steps(const std::int8_t*, std::size_t) { return 0; }
    //! Items of the open batch: where lent items are not the first of the stream, they
    //! begin with these.
    virtual std::size_t open_items() const { return 0; }
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_WATCHED_DECODER_H */
