// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Queues that hold the tags of a block between its input and its output. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_TAG_QUEUE_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_TAG_QUEUE_H

#include <gnuradio/tags.h>
#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! A tag that can be moved. GNU Radio's tag_t can only be copied, and a copy changes
//! reference counts, which would be the largest cost of a block that passes one tag per
//! frame.
struct held_tag {
    held_tag(const tag_t& tag)
        : offset(tag.offset), key(tag.key), value(tag.value), srcid(tag.srcid)
    {
    }
    explicit held_tag(tag_t&& tag)
        : offset(tag.offset),
          key(std::move(tag.key)),
          value(std::move(tag.value)),
          srcid(std::move(tag.srcid))
    {
    }

    std::uint64_t offset;
    pmt::pmt_t key, value, srcid;
};

//! Queue of tags in the order of their items, counted from the stream's beginning.
class tag_queue
{
public:
    //! Sorts tags by item, because get_tags_in_range() does not sort them.
    static void sort(std::vector<tag_t>& tags)
    {
        std::stable_sort(tags.begin(), tags.end(), tag_t::offset_compare);
    }

    //! Inserts a tag after the tags of the same item and of earlier items.
    void hold(held_tag tag)
    {
        auto place = d_tags.end();
        while (place != d_tags.begin() && std::prev(place)->offset > tag.offset) {
            --place;
        }
        d_tags.insert(place, std::move(tag));
    }

    bool empty() const { return d_tags.empty(); }
    std::size_t size() const { return d_tags.size(); }
    const held_tag& operator[](std::size_t i) const { return d_tags[i]; }
    const held_tag& front() const { return d_tags.front(); }
    void pop() { d_tags.pop_front(); }

    //! Removes the tags of items before \p end and passes them to \p add.
    template <class Add>
    void release(std::uint64_t end, Add&& add)
    {
        while (!d_tags.empty() && d_tags.front().offset < end) {
            auto tag = std::move(d_tags.front());
            d_tags.pop_front();
            add(std::move(tag));
        }
    }

    //! Removes the tags of items before \p end and passes them to \p add as tag_t, with
    //! \p more added to their offsets.
    template <class Add>
    void give(std::uint64_t end, std::uint64_t more, Add&& add)
    {
        release(end, [&](held_tag tag) {
            d_leaving.offset = tag.offset + more;
            d_leaving.key = std::move(tag.key);
            d_leaving.value = std::move(tag.value);
            d_leaving.srcid = std::move(tag.srcid);
            add(d_leaving);
        });
    }

    void clear() { d_tags.clear(); }

private:
    // The tag that is being passed on. The tag is a member, because constructing a tag_t
    // changes reference counts.
    tag_t d_leaving;
    std::deque<held_tag> d_tags;
};

//! Queue of the tags of a block's input 0.
class input_tags : public tag_queue
{
public:
    /*!
     * \brief Reads the tags of the available items, except those read before.
     *
     * \param first index in the stream of the first available item
     * \param count number of available items
     * \param fetch(tags, n) reads the tags of the available items except the first n,
     *        with offsets counted from the first item whose tags are read
     * \param see is called with each tag; returns true if the queue must not store the
     *        tag
     */
    template <class Fetch, class See>
    void read(std::uint64_t first, std::size_t count, Fetch&& fetch, See&& see)
    {
        const auto from = std::max(d_read, first), end = first + count;
        if (from < end) {
            fetch(d_fetched, from - first);
            if (!std::is_sorted(
                    d_fetched.begin(), d_fetched.end(), tag_t::offset_compare)) {
                sort(d_fetched);
            }
            for (auto& tag : d_fetched) {
                tag.offset += from;
                if (!see(tag)) {
                    hold(held_tag(std::move(tag)));
                }
            }
            d_fetched.clear();
            d_read = end;
        }
    }

    void clear()
    {
        tag_queue::clear();
        d_read = 0;
    }

private:
    std::uint64_t d_read = 0; // number of items whose tags have been read
    // Tags that are being read. The list is a member, so that its memory is reused.
    std::vector<tag_t> d_fetched;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_TAG_QUEUE_H */
