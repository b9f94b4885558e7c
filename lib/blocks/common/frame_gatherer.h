// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Cuts a stream into the frames that its length tags mark. */

#ifndef INCLUDED_GPUFEC_BLOCKS_FRAME_GATHERER_H
#define INCLUDED_GPUFEC_BLOCKS_FRAME_GATHERER_H

#include <gnuradio/tags.h>
#include <pmt/pmt.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Gathers the items of one frame after the other.
 *
 * A frame is the items under a length tag; a tag inside a frame ends it there. Items
 * under no tag are dropped, and so are tags without a length of at least 1. Each of these
 * is warned of once.
 */
class frame_gatherer
{
public:
    //! \param key of length tags; null: there are none
    frame_gatherer(const pmt::pmt_t& key,
                   std::size_t item_size,
                   std::function<void(const std::string&)> warn);

    //! Every frame has so many items, whatever tags say; 0: as tags say.
    void set_length(std::size_t items) { d_every = items; }

    //! Items beyond so many of a frame are counted, and not kept.
    void keep(std::size_t most_items) { d_most_items = most_items; }

    /*!
     * \brief Takes items of one frame, or of none; not while complete().
     *
     * \param items from item \p first of the stream on, \p count of them, whose tags
     *        were noted
     * \returns how many were taken; 0 if a tag has ended the frame
     */
    std::size_t gather(const std::byte* items, std::uint64_t first, std::size_t count);

    //! Items, of \p count from item \p first of the stream on, that belong to one frame,
    //! which is open then, or to none; for who keeps them by himself, not while
    //! complete(). 0 if a tag has ended the frame.
    std::size_t next(std::uint64_t first, std::size_t count);
    //! So many of them were taken.
    void took(std::size_t count);

    //! The length of the frame that begins with item \p first of the stream, if all of it
    //! is among \p count items and no frame is open; else 0.
    std::size_t whole(std::uint64_t first, std::size_t count);
    //! That frame was taken, by someone else.
    void pass()
    {
        if (!d_every) {
            d_lengths.pop_front();
        }
    }

    bool is_length(const tag_t& tag) const;
    //! Sees a tag of the stream, in their order, before its item is gathered. Whether it
    //! is of a length.
    bool note(const tag_t& tag);

    //! The stream has ended, and with it the frame that is open.
    void end();

    bool open() const { return d_open; }
    bool complete() const { return d_complete; }
    //! Items of the frame so far, and those that were kept.
    std::size_t count() const { return d_count; }
    std::size_t kept() const { return d_items.size() / d_item_size; }
    const std::byte* items() const { return d_items.data(); }
    //! Makes room for the next frame.
    void clear();
    //! Another stream begins.
    void restart();

private:
    void warn_once(bool& warned, const std::string& text) const;

    const pmt::pmt_t d_key;
    const std::size_t d_item_size;
    const std::function<void(const std::string&)> d_warn;
    struct length {
        std::uint64_t item, items;
    };
    std::deque<length> d_lengths; // of items that are not gathered yet
    std::size_t d_every = 0, d_most_items = 0;
    std::vector<std::byte> d_items;
    std::uint64_t d_count = 0, d_missing = 0;
    bool d_open = false, d_complete = false;
    bool d_warned_of_length = false, d_warned_of_overlap = false;
    bool d_warned_of_loose = false, d_warned_of_end = false;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_FRAME_GATHERER_H */
