// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Divides a stream into frames by length tags. */

#include "frame_gatherer.h"
#include "pmt_text.h"
#include <algorithm>

namespace gr::gpufec {

frame_gatherer::frame_gatherer(const pmt::pmt_t& key,
                               std::size_t item_size,
                               std::function<void(const std::string&)> warn)
    : d_key(key), d_item_size(item_size), d_warn(std::move(warn))
{
}

bool frame_gatherer::is_length(const pmt::pmt_t& key) const
{
    return d_key && (key == d_key || pmt::eqv(key, d_key));
}

bool frame_gatherer::on_tag(const tag_t& tag)
{
    if (!is_length(tag.key)) {
        return false;
    }
    const long items = pmt::is_integer(tag.value) ? pmt::to_long(tag.value) : 0;
    if (items > 0) {
        d_lengths.push_back({ tag.offset, std::uint64_t(items) });
    } else {
        ++d_ignored;
        warn_once(d_warned_of_length,
                  "tags without a length of at least 1 are ignored; the first holds " +
                      pmt_text(tag.value));
    }
    return true;
}

std::size_t frame_gatherer::next(std::uint64_t first, std::size_t count)
{
    if (count == 0) {
        return 0;
    }
    if (d_every) {
        d_missing = d_open ? d_missing : d_every;
        d_open = true;
        return std::min<std::uint64_t>(count, d_missing);
    }
    while (!d_lengths.empty() && d_lengths.front().item < first) {
        d_lengths.pop_front();
    }
    if (!d_lengths.empty() && d_lengths.front().item == first) {
        if (d_open && d_count > 0) {
            warn_once(d_warned_of_overlap,
                      "a length tag is inside a frame; the frame ends at the tag");
            d_complete = true;
            return 0;
        }
        do { // if an item has several tags, the last one is used
            d_missing = d_lengths.front().items;
            d_lengths.pop_front();
        } while (!d_lengths.empty() && d_lengths.front().item == first);
        d_open = true;
    }
    if (!d_lengths.empty()) {
        count = std::min(count, std::size_t(d_lengths.front().item - first));
    }
    if (!d_open) {
        warn_once(d_warned_of_loose, "items outside frames are dropped");
        return count;
    }
    return std::min<std::uint64_t>(count, d_missing);
}

void frame_gatherer::took(std::size_t count)
{
    if (d_open) {
        d_count += count;
        d_missing -= count;
        d_complete = d_missing == 0;
    }
}

std::size_t
frame_gatherer::gather(const std::byte* items, std::uint64_t first, std::size_t count)
{
    const auto n = next(first, count);
    if (d_open) {
        const auto keep = std::min(n, d_max_items - std::min(d_max_items, kept()));
        d_items.insert(d_items.end(), items, items + keep * d_item_size);
    }
    if (n > 0) {
        took(n);
    }
    return n;
}

std::size_t frame_gatherer::whole(std::uint64_t first, std::size_t count)
{
    if (d_open || count == 0) {
        return 0;
    }
    if (d_lengths.empty() || d_lengths.front().item != first) {
        return 0;
    }
    const auto length = d_lengths.front().items;
    const bool alone = d_lengths.size() == 1 || d_lengths[1].item >= first + length;
    return length <= count && alone ? length : 0;
}

void frame_gatherer::end()
{
    if (d_open && !d_complete) {
        warn_of_end();
        d_complete = true;
    }
}

void frame_gatherer::clear()
{
    d_items.clear();
    d_count = d_missing = 0;
    d_open = d_complete = false;
}

void frame_gatherer::restart()
{
    clear();
    d_lengths.clear();
    d_ignored = 0;
}

void frame_gatherer::warn_once(bool& warned, const std::string& text) const
{
    if (!warned) {
        warned = true;
        d_warn(text);
    }
}

} // namespace gr::gpufec
