// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A batch of frames, and the decoders that take it. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_JOB_H
#define INCLUDED_GPUFEC_SYNC_MAP_JOB_H

#include "frame.h"

namespace gr::gpufec::sync_map {

struct job {
    std::size_t frames = 0;
    // Of a stream whose frames search.
    std::size_t whole = 0; //!< frames that are given whole
    std::size_t items = 0; //!< of the others
    unsigned warmup = 0;   //!< symbols, search.warmup to search.most_warmup
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_JOB_H */
