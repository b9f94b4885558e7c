// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Predicts where frames of a stream begin. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H

#include "stream.h"
#include "sync_map/cpu/frame_search.h"

namespace gr::gpufec::sync_map {

/*!
 * \brief Predictor of the beginnings of frames from the beginning of an earlier frame,
 * the anchor. Each anchor is itself found by a search around the place that the previous
 * anchor predicts.
 *
 * Anchors are the frames whose number is a multiple of search.anchors. Anchors are fixed,
 * so that a guess does not depend on the progress of decoding.
 */
class boundary_predictor
{
public:
    explicit boundary_predictor(const setup& setup);

    //! Restarts the prediction at a frame with known origin (received item at boundary 0
    //! and drift 0).
    void begin(std::uint64_t frame, std::int64_t origin);
    //! Predicts the origin of a frame from the last anchor that was found, or else from
    //! the frame of begin().
    std::int64_t expected(std::uint64_t frame) const;
    //! Searches for the anchors up to the frame, then returns expected(). Frames must be
    //! passed in ascending order.
    std::int64_t guess(std::uint64_t frame, const stream_cutter& stream);
    //! Searches for the beginning of a frame around \p guess with the parameters of a
    //! batch decoder and the default warm-up, and returns the frame's origin.
    std::int64_t find(std::int64_t guess, const stream_cutter& stream);

    //! Returns how many items before the guessed origin a search may read.
    std::int64_t items_before() const;
    //! Returns how many items after the guessed origin a search may read.
    std::int64_t items_after() const;

private:
    boundary_match_header look(std::int64_t guess,
                               const stream_cutter& stream,
                               unsigned warmup,
                               double accepted);

    const setup d_setup;
    const double d_mean; // mean drift over a frame, in items
    start_finder d_finder;
    std::uint64_t d_frame = 0;
    std::int64_t d_origin = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H */
