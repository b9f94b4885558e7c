// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

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

std::size_t
frame_gatherer::gather(const std::byte* items, std::uint64_t first, std::size_t count)
{
    if (count == 0) {
        return 0;
    }
    if (d_every) {
        d_missing = d_open ? d_missing : d_every;
        d_open = true;
        return take(items, std::min<std::uint64_t>(count, d_missing));
    }
    drop_bad_lengths(first);
    if (d_open && !d_lengths.empty() && d_lengths.front().offset == first) {
        warn_once(d_warned_of_overlap,
                  "a length tag lies inside a frame, which ends there");
        d_complete = true;
        return 0;
    }
    if (const auto length = length_at(first)) {
        d_open = true;
        d_missing = *length;
    }
    if (!d_lengths.empty()) {
        count = std::min(count, std::size_t(d_lengths.front().offset - first));
    }
    if (!d_open) {
        warn_once(d_warned_of_loose, "dropping items that are under no length tag");
        return count;
    }
    return take(items, std::min<std::uint64_t>(count, d_missing));
}

std::size_t frame_gatherer::whole(std::uint64_t first, std::size_t count)
{
    if (d_open || count == 0) {
        return 0;
    }
    if (d_every) {
        return d_every <= count ? d_every : 0;
    }
    drop_bad_lengths(first);
    if (d_lengths.empty() || d_lengths.front().offset != first) {
        return 0;
    }
    const auto length = std::size_t(length_of(d_lengths.front()));
    const auto* const next = d_lengths.second();
    return length <= count && (!next || next->offset >= first + length) ? length : 0;
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

void frame_gatherer::restart()
{
    clear();
    d_lengths.clear();
}

// The length that a tag holds; 0 if it is none.
long frame_gatherer::length_of(const tag_t& tag) const
{
    const bool number = is_length(tag) && pmt::is_integer(tag.value);
    return number ? std::max(0L, pmt::to_long(tag.value)) : 0;
}

// Those at the front, up to an item, that hold no length.
void frame_gatherer::drop_bad_lengths(std::uint64_t item)
{
    while (!d_lengths.empty() && d_lengths.front().offset <= item &&
           length_of(d_lengths.front()) == 0) {
        warn_once(d_warned_of_length,
                  "ignoring tags without a length of at least 1; the first holds " +
                      pmt_text(d_lengths.front().value));
        d_lengths.pop();
    }
}

// Of the last good tag there.
std::optional<long> frame_gatherer::length_at(std::uint64_t item)
{
    std::optional<long> length;
    d_lengths.release(item + 1, [&](const tag_t& tag) {
        if (const long l = length_of(tag)) {
            length = l;
        }
    });
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
