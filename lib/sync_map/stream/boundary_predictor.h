// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Predicts where frames of a stream begin. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H

#include "stream.h"
#include "sync_map/cpu/frame_search.h"

namespace gr::gpufec::sync_map {

/*!
 * \brief Predictor of the beginnings of frames from the last anchor. It searches each
 * anchor around the predicted place.
 *
 * Anchors are the frames whose number is a multiple of search.anchors, so that a guess
 * does not depend on the progress of decoding.
 */
class boundary_predictor
{
public:
    explicit boundary_predictor(const setup& setup);

    //! Restarts the prediction at a frame with known origin.
    void begin(std::uint64_t frame, std::int64_t origin);
    //! Predicts a frame from the last anchor found.
    std::int64_t expected(std::uint64_t frame) const;
    //! Searches the anchors up to the frame as far as items have been received, then
    //! predicts the frame. Frames must be passed in order.
    std::int64_t guess(std::uint64_t frame, const stream_cutter& stream);
    //! Searches a frame in the same way as a decoder will.
    std::int64_t find(std::int64_t guess, const stream_cutter& stream);

    //! Returns how many items before boundary 0 of a guess a search may read.
    //! items_behind() returns how many items after this boundary a search may read.
    std::int64_t items_before() const;
    std::int64_t items_behind() const;

private:
    boundary_match_header
    look_soon(std::int64_t guess, const stream_cutter& stream, double accepted);
    boundary_match_header look(std::int64_t guess,
                               const stream_cutter& stream,
                               unsigned warmup,
                               double accepted);

    const setup d_setup;
    const double d_mean; // mean drift over a frame
    start_finder d_finder;
    std::uint64_t d_frame = 0;
    std::int64_t d_origin = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_BOUNDARY_PREDICTOR_H */
