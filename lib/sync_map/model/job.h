// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A batch of frames, and where its input lies. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H

#include "frame.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec::sync_map {

struct job {
    std::size_t frames = 0;
    std::size_t whole = 0; //!< frames with an input of their own, which do not search
    std::size_t items = 0; //!< received items of searching or placed frames
    unsigned warmup = 0;   //!< of searching frames: symbols, up to search.max_warmup
    bool placed = false;   //!< the input has a placed_frame per frame
    bool borrowed = false; //!< items lie in the caller's memory, the rest in the slot
};

//! Where the two parts of a batch's input lie.
struct batch_input {
    //! \param items_at offset of the items in a slot
    batch_input(const job& j, const batch_memory& memory, std::size_t items_at)
        : table(j.borrowed ? memory.table : memory.input),
          items(j.borrowed ? memory.input : memory.input + items_at)
    {
    }
    const std::byte *table, *items;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H */
