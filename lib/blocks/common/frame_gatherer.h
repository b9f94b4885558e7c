// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Divides a stream into frames, whose lengths are constant or given by length tags. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_GATHERER_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_GATHERER_H

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
 * \brief Buffer that gathers the items of frames with length tags or of constant length.
 *
 * A tag inside a frame ends that frame. Items outside of tagged frames are dropped. Tags
 * whose value is not a length of at least 1 are ignored. In each of these cases, and if
 * the input ends within a frame, a warning is logged once.
 */
class frame_gatherer
{
public:
    //! \param key key of the length tags; null if there are none
    //! \param item_size size of an item in bytes
    //! \param warn logs a warning
    frame_gatherer(const pmt::pmt_t& key,
                   std::size_t item_size,
                   std::function<void(const std::string&)> warn);

    //! Sets a constant frame length that replaces tags; with 0, tags set the lengths.
    void set_length(std::size_t items) { d_every = items; }

    //! Sets the number of items that gather() stores per frame, initially 0. Further
    //! items of the frame are only counted.
    void keep(std::size_t max_items) { d_max_items = max_items; }

    /*!
     * \brief Takes items of one frame, or drops items between frames. The current frame
     * must not be complete().
     *
     * \param items the items; their tags have been passed to on_tag()
     * \param first index in the stream of the first item
     * \param count number of items
     * \returns the number of items taken; 0 if a tag has ended the frame
     */
    std::size_t gather(const std::byte* items, std::uint64_t first, std::size_t count);

    //! Returns how many of \p count items belong to the current frame, for callers that
    //! store the items themselves. The first of these items has index \p first in the
    //! stream, and the frame may begin with it. Returns 0 if a tag has ended the frame.
    //! If open() returns false afterwards, no frame begins at \p first, and the result is
    //! the number of items before the next frame, at most \p count.
    std::size_t next(std::uint64_t first, std::size_t count);
    //! Records that the caller took \p count of the items that next() counted.
    void took(std::size_t count);

    //! Returns the length of the tagged frame that begins with item \p first of the
    //! stream. Returns 0 if no frame begins there, if the frame has more than \p count
    //! items, if another length tag lies inside the frame, or if an earlier frame is
    //! open.
    std::size_t whole(std::uint64_t first, std::size_t count);
    //! Records that the caller took the frame that whole() found.
    void pass() { d_lengths.pop_front(); }

    bool is_length(const pmt::pmt_t& key) const;
    //! Stores a length tag and returns true; returns false for other tags. Called with
    //! the tags in the order of items, before their items are gathered.
    bool on_tag(const tag_t& tag);
    //! Returns the number of length tags that were ignored, because their value is not a
    //! length of at least 1.
    std::uint64_t ignored() const { return d_ignored; }

    //! Ends the stream. An incomplete frame becomes complete(), with a warning.
    void end();
    //! Warns that the input ends within a frame.
    void warn_of_end() { warn_once(d_warned_of_end, "the input ends within a frame"); }

    bool open() const { return d_open; }
    bool complete() const { return d_complete; }
    //! Returns the number of items of the frame so far.
    std::size_t count() const { return d_count; }
    //! Returns the number of stored items of the frame.
    std::size_t kept() const { return d_items.size() / d_item_size; }
    const std::byte* items() const { return d_items.data(); }
    //! Discards the current frame.
    void clear();
    //! Prepares for another stream.
    void restart();

private:
    void warn_once(bool& warned, const std::string& text) const;

    const pmt::pmt_t d_key;
    const std::size_t d_item_size;
    const std::function<void(const std::string&)> d_warn;
    struct length {
        std::uint64_t item, items;
    };
    std::deque<length> d_lengths; // length tags of items not gathered yet
    std::size_t d_every = 0, d_max_items = 0;
    std::vector<std::byte> d_items;
    std::uint64_t d_count = 0, d_missing = 0, d_ignored = 0;
    bool d_open = false, d_complete = false;
    bool d_warned_of_length = false, d_warned_of_overlap = false;
    bool d_warned_of_loose = false, d_warned_of_end = false;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_FRAME_GATHERER_H */
