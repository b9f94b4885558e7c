// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A batch of frames, and the decoders that take it. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_JOB_H
#define INCLUDED_GPUFEC_SYNC_MAP_JOB_H

#include "frame.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec::sync_map {

struct job {
    std::size_t frames = 0;
    // Of a stream whose frames search.
    std::size_t whole = 0; //!< frames that are given whole
    std::size_t items = 0; //!< of the others, or of placed frames
    unsigned warmup = 0;   //!< symbols, search.warmup to search.most_warmup
    bool placed = false;   //!< there is a placed_frame of each
    bool lent = false; //!< items lie where their caller has them, the rest in the slot
};

//! Where the two parts of a batch's input lie.
struct batch_input {
    //! \p items_at: where items lie in a slot.
    batch_input(const job& j, const batch_memory& memory, std::size_t items_at)
        : table(j.lent ? memory.table : memory.input),
          items(j.lent ? memory.input : memory.input + items_at)
    {
    }
    const std::byte *table, *items;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_JOB_H */
