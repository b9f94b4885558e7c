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
    const std::byte* metrics; //!< α and β of boundary 0, α and β of boundary outputs
    std::int64_t origin;      //!< received item of boundary 0 at drift 0
};

//! Returns s such that drift number m of the next frame is number m + s of this one.
int boundary_match_shift(const setup& setup, std::int64_t origin, std::int64_t next);

//! Compares the metrics at the boundary between two frames.
boundary_match
compare(const setup& setup, const frame_ends& frame, const frame_ends& next);

//! Compares the outputs of two consecutive searching frames of a batch and writes the
//! result into the header of \p next.
void compare_found(const setup& setup, const std::byte* before, std::byte* next);

//! Returns the largest difference at which a boundary match still proves a frame.
double boundary_match_tolerance(const setup& setup);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_BOUNDARY_MATCHES_H */
