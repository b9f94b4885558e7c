// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tags that wait until the output item they belong to is produced. */

#ifndef INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H
#define INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H

#include <gnuradio/tags.h>
#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace gr::gpufec {

class tag_queue
{
public:
    //! Puts tags in the order of their items; get_tags_in_range() gives them as it likes.
    static void sort(std::vector<tag_t>& tags)
    {
        std::stable_sort(tags.begin(), tags.end(), tag_t::offset_compare);
    }

    //! Keeps a tag whose offset is already an item of the output, counted from the
    //! stream's beginning; offsets must not decrease.
    void hold(const tag_t& tag) { d_tags.push_back(tag); }

    //! Hands the tags of items before \p end to \p add.
    template <class Add>
    void release(std::uint64_t end, Add&& add)
    {
        while (!d_tags.empty() && d_tags.front().offset < end) {
            add(d_tags.front());
            d_tags.pop_front();
        }
    }

    void clear() { d_tags.clear(); }

private:
    std::deque<tag_t> d_tags;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_TAG_QUEUE_H */
