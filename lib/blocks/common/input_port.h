// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Queries of the state of a block's input port. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H

#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <cstddef>
#include <cstdint>

namespace gr::gpufec {

//! Returns whether the input ends with the next \p available items. The caller holds the
//! mutex of \p reader.
inline bool ended_after(gr::buffer_reader& reader, std::size_t available)
{
    // If a buffer is not mapped twice, items_available() does not count the items that
    // continue at the beginning of the buffer. The result may therefore be less than the
    // number of unread items. The difference between the written and read counts may be
    // too small as well, because unlock() sets both to 0.
    const auto unread =
        std::int64_t(reader.buffer()->nitems_written() - reader.nitems_read());
    return reader.done() && reader.items_available() <= std::int64_t(available) &&
           unread <= std::int64_t(available);
}

inline bool ended_after(const gr::block& block, std::size_t available)
{
    const auto reader = block.detail()->input(0);
    gr::thread::scoped_lock guard(*reader->mutex());
    return ended_after(*reader, available);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_INPUT_PORT_H */
