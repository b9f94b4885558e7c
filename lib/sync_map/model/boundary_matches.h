// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares the end metrics of a frame of a stream with the start metrics of the next
 * frame. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCHES_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCHES_H

#include "setup.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::sync_map {

//! Metrics at both ends of a frame, and the position of the frame in the stream.
struct frame_ends {
    //! α and β at boundary 0, then α and β at boundary setup::outputs, setup::window
    //! metrics each.
    const std::byte* metrics;
    std::int64_t origin; //!< index in the stream of the item at boundary 0 and drift 0
};

//! Returns s such that drift number m of the next frame is drift number m + s of this
//! frame, limited to ±setup::window. \p origin is the origin of this frame, and \p next
//! is the origin of the next frame.
int boundary_match_shift(const setup& setup, std::int64_t origin, std::int64_t next);

//! Compares the metrics of \p frame and \p next at their common boundary, in float if the
//! setup's precision is float32 and in double otherwise.
boundary_match
compare(const setup& setup, const frame_ends& frame, const frame_ends& next);

//! Compares the metrics in the outputs \p before and \p next of two consecutive frames of
//! a batch. Writes the result to the boundary_match_header in \p next and marks that
//! frame as compared.
void compare_found(const setup& setup, const std::byte* before, std::byte* next);

//! Returns the largest boundary_match::difference that counts as a match. A match also
//! requires that boundary_match::start_bound is at most ten times this value.
double boundary_match_tolerance(const setup& setup);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCHES_H */
