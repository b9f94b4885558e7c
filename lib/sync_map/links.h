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

struct link {
    //! Total variation between α that a frame ends with and α that the next began with.
    double difference = 0;
    //! No posterior of the next frame is off by more because of that.
    double start_bound = 0;
    //! No posterior of the frame is off by more because it looks ahead so far only.
    double end_bound = 0;
};

/*!
 * \brief Compares the boundary between two frames.
 *
 * With β of boundary 0, a posterior is A(D) / Σ α·β with A(D) at most Σ α·β; so, with
 * both α scaled to Σ α·β = 1, it changes by at most Σ |α − α'|·β. The same holds with α
 * and β exchanged.
 */
link compare(const setup& setup, const frame_ends& frame, const frame_ends& next);

//! Links prove frames that differ by no more than this.
double link_tolerance(const setup& setup);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_LINKS_H */
