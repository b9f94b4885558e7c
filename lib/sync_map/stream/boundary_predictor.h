// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Guesses where frames of a stream begin. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_FRAME_GUIDE_H
#define INCLUDED_GPUFEC_SYNC_MAP_FRAME_GUIDE_H

#include "start_finder.h"
#include "stream.h"

namespace gr::gpufec::sync_map {

/*!
 * \brief Frames are guessed from the anchor before them, and anchors from one to the
 * next.
 *
 * Anchors are frames whose number is a multiple of search.anchors, so that a guess does
 * not depend on what was decoded when.
 */
class frame_guide
{
public:
    explicit frame_guide(const setup& setup);

    //! That frame, and those after it, are guessed from here on.
    void begin(std::uint64_t frame, std::int64_t origin);
    //! A guess from the anchors that were found.
    std::int64_t expected(std::uint64_t frame) const;
    //! Looks for anchors up to the frame among the items that are there. Frames come in
    //! order.
    std::int64_t guess(std::uint64_t frame, const stream_cutter& stream);
    //! Where the frame is, as a decoder will find it.
    std::int64_t find(std::int64_t guess, const stream_cutter& stream);

    //! Items that may be read before, and behind, boundary 0 of a guess.
    std::int64_t items_before() const;
    std::int64_t items_behind() const;

private:
    link_header
    look_soon(std::int64_t guess, const stream_cutter& stream, double accepted);
    link_header look(std::int64_t guess,
                     const stream_cutter& stream,
                     unsigned warmup,
                     double accepted);

    const setup d_setup;
    const double d_mean; // drift of a frame
    start_finder d_finder;
    std::uint64_t d_frame = 0;
    std::int64_t d_origin = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_FRAME_GUIDE_H */
