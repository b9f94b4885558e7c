// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tags on their way through a block, each looked at once. */

#ifndef INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H
#define INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H

#include <gnuradio/tags.h>
#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! A tag that can be moved, which GNU Radio's cannot: their copies cost a block that
//! passes a tag per frame more than anything else.
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

//! Tags by item, counted from the stream's beginning.
class tag_queue
{
public:
    //! Puts tags in the order of their items; get_tags_in_range() gives them as it likes.
    static void sort(std::vector<tag_t>& tags)
    {
        std::stable_sort(tags.begin(), tags.end(), tag_t::offset_compare);
    }

    //! Keeps a tag; offsets must not decrease.
    void hold(held_tag tag) { d_tags.push_back(std::move(tag)); }

    bool empty() const { return d_tags.empty(); }
    std::size_t size() const { return d_tags.size(); }
    const held_tag& operator[](std::size_t i) const { return d_tags[i]; }
    const held_tag& front() const { return d_tags.front(); }
    void pop() { d_tags.pop_front(); }

    //! Hands the tags of items before \p end to \p add.
    template <class Add>
    void release(std::uint64_t end, Add&& add)
    {
        while (!d_tags.empty() && d_tags.front().offset < end) {
            auto tag = std::move(d_tags.front());
            d_tags.pop_front();
            add(std::move(tag));
        }
    }

    //! Hands the tags of items before \p end to \p add as GNU Radio's, for an output
    //! whose items have numbers that are \p more.
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
    tag_t d_leaving; // made once: its parts begin as counted references too
    std::deque<held_tag> d_tags;
};

//! The tags of a block's input 0 that are not released yet.
class input_tags : public tag_queue
{
public:
    /*!
     * \brief Reads the tags of items that were not read before.
     *
     * \p first of the stream is the first of \p count items at hand; \p fetch(tags, n)
     * gets those of the items at hand from number n on, their offsets counted from there.
     * \p see is shown each, and says whether it has taken it.
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
    std::uint64_t d_read = 0;     // items whose tags have been read
    std::vector<tag_t> d_fetched; // whose memory is used again: tags are dear to copy
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H */
