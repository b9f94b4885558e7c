// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Queries of the state of a block's input port. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H

#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <cstddef>

namespace gr::gpufec {

//! Returns whether the input ends with the available items.
inline bool ended_after(const gr::block& block, std::size_t available)
{
    // Reads done() before items_available(), so that the last items are not missed.
    const auto reader = block.detail()->input(0);
    gr::thread::scoped_lock guard(*reader->mutex());
    return reader->done() && std::size_t(reader->items_available()) <= available;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H */
