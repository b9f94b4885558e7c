// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What one frame of a stream ends with and what the next one began with. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_LINKS_H
#define INCLUDED_GPUFEC_SYNC_MAP_LINKS_H

#include "setup.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::sync_map {

//! What is put out of a frame for its links, and where the frame lies.
struct frame_ends {
    const std::byte* metrics; //!< α and β of boundary 0, α and β of boundary outputs
    std::int64_t origin;      //!< received item of boundary 0 at drift 0
};

//! Drift number m of the next frame is number m + so much of this one.
int link_shift(const setup& setup, std::int64_t origin, std::int64_t next);

//! Compares the boundary between two frames.
link compare(const setup& setup, const frame_ends& frame, const frame_ends& next);

//! Compares the outputs of two frames of a batch, both found among its items, and writes
//! that into the next one's header.
void compare_found(const setup& setup, const std::byte* before, std::byte* next);

//! Links prove frames that differ by no more than this.
double link_tolerance(const setup& setup);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_LINKS_H */
