// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The description of a batch of frames, and the addresses of its input. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H

#include "frame.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec::sync_map {

struct job {
    std::size_t frames = 0;
    //! Number of whole frames in a batch of a stream whose frames search. A whole frame
    //! has a known beginning and a complete input of setup::input_bytes().
    std::size_t whole = 0;
    std::size_t items = 0; //!< number of received items of searching or placed frames
    //! Number of warm-up symbols of searching frames, at most search.max_warmup.
    unsigned warmup = 0;
    bool placed = false; //!< whether the input contains a placed_frame for each frame
    //! Whether the items are in the caller's memory and only the table is in the slot.
    bool borrowed = false;
};

//! Addresses of the two parts of a batch's input: a table that describes the frames, and
//! the received items.
struct batch_input {
    //! \param items_at offset of the items within a slot
    batch_input(const job& j, const batch_memory& memory, std::size_t items_at)
        : table(j.borrowed ? memory.table : memory.input),
          items(j.borrowed ? memory.input : memory.input + items_at)
    {
    }
    const std::byte *table, *items;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_JOB_H */
