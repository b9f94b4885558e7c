// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "frame_gatherer.h"
#include <algorithm>

namespace gr::gpufec {

frame_gatherer::frame_gatherer(const pmt::pmt_t& key,
                               std::size_t item_size,
                               std::function<void(const std::string&)> warn)
    : d_key(key), d_item_size(item_size), d_warn(std::move(warn))
{
}

std::size_t frame_gatherer::gather(const std::byte* items,
                                   std::uint64_t first,
                                   std::size_t count,
                                   const std::vector<tag_t>& tags)
{
    if (count == 0) {
        return 0;
    }
    if (const auto length = length_at(first, tags)) {
        if (d_open) {
            warn_once(d_warned_of_overlap,
                      "a length tag lies inside a frame, which ends there");
            d_complete = true;
            return 0;
        }
        d_open = true;
        d_missing = *length;
    }
    const auto next = std::find_if(tags.begin(), tags.end(), [&](const tag_t& tag) {
        return tag.offset > first && is_length(tag);
    });
    if (next != tags.end()) {
        count = std::min(count, std::size_t(next->offset - first));
    }
    if (!d_open) {
        warn_once(d_warned_of_loose, "dropping items that are under no length tag");
        return count;
    }
    return take(items, std::min<std::uint64_t>(count, d_missing));
}

std::size_t frame_gatherer::take(const std::byte* items, std::size_t count)
{
    const auto keep = std::min(count, d_most_items - std::min(d_most_items, kept()));
    d_items.insert(d_items.end(), items, items + keep * d_item_size);
    d_count += count;
    d_missing -= count;
    d_complete = d_missing == 0;
    return count;
}

void frame_gatherer::end()
{
    if (d_open && !d_complete) {
        warn_once(d_warned_of_end, "the input ends within a frame");
        d_complete = true;
    }
}

void frame_gatherer::clear()
{
    d_items.clear();
    d_count = d_missing = 0;
    d_open = d_complete = false;
}

// The length that a tag holds; 0 if it is none.
long frame_gatherer::length_of(const tag_t& tag) const
{
    const bool number = is_length(tag) && pmt::is_integer(tag.value);
    return number ? std::max(0L, pmt::to_long(tag.value)) : 0;
}

std::optional<long> frame_gatherer::length_at(std::uint64_t item,
                                              const std::vector<tag_t>& tags)
{
    std::optional<long> length;
    for (const auto& tag : tags) {
        if (tag.offset == item && is_length(tag)) {
            if (const long l = length_of(tag)) {
                length = l;
            } else {
                warn_once(
                    d_warned_of_length,
                    "ignoring tags without a length of at least 1; the first holds " +
                        pmt::write_string(tag.value));
            }
        }
    }
    return length;
}

void frame_gatherer::warn_once(bool& warned, const std::string& text) const
{
    if (!warned) {
        warned = true;
        d_warn(text);
    }
}

} // namespace gr::gpufec
