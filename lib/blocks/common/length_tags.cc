// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Aligns frames to length tags, and converts the tags. */

#include "length_tags.h"
#include "pmt_text.h"
#include <algorithm>
#include <limits>
#include <utility>

namespace gr::gpufec {

length_tags::length_tags(const std::string& key,
                         std::function<void(const std::string&)> warn)
    : d_key(key.empty() ? pmt::pmt_t() : pmt::mp(key)), d_warn(std::move(warn))
{
}

void length_tags::on_tag(const tag_t& tag)
{
    if (is_length(tag.key)) {
        constexpr long longest = std::numeric_limits<int>::max();
        const long n = pmt::is_integer(tag.value) ? pmt::to_long(tag.value) : 0;
        const bool possible = n > 0 && n <= longest;
        d_tags.push_back({ tag.offset, std::uint64_t(possible ? n : 0), tag.value });
    }
}

bool length_tags::cuts_frame(std::uint64_t item)
{
    const bool cuts = begins_at(d_begun, item) || (d_seen && item >= d_end);
    if (cuts) {
        warn_once(d_warned_of_overlap,
                  "a length tag or the end of a packet is inside a frame, which is "
                  "dropped");
        end_packet(item);
    }
    return cuts;
}

// Begins the packet whose tag is on item `item`. Returns whether the packet's length is a
// positive multiple of the frame length.
bool length_tags::begin_packet(std::uint64_t item, std::size_t frame)
{
    while (begins_at(d_begun + 1, item)) {
        if (d_tags[d_begun].length != d_tags[d_begun + 1].length) {
            warn_once(d_warned_of_two,
                      "one item has several length tags; the last tag is used");
        }
        ++d_begun;
    }
    const auto& tag = d_tags[d_begun++];
    const auto length = whole_frames(tag, frame);
    d_seen = true;
    d_refused = length == 0;
    d_end = item + length;
    if (d_refused) {
        warn_once(d_warned_of_length,
                  "a length tag " + pmt_text(d_key) + " of " + pmt_text(tag.value) +
                      " is not a multiple of the " + std::to_string(frame) +
                      " items of a frame: input is dropped up to the next length tag");
    }
    return !d_refused;
}

length_tags::run
length_tags::next(std::uint64_t item, std::size_t count, std::size_t frame)
{
    run r{ count, true, 0 };
    if (count == 0 || (!d_seen && d_tags.size() == d_begun)) {
        return r;
    }
    if (begins_at(d_begun, item)) {
        if (d_seen && item < d_end) {
            warn_once(d_warned_of_overlap,
                      "a length tag is inside a packet; the packet ends at the tag");
            ++r.lost;
        }
        r.lost += !begin_packet(item, frame);
    }
    r.of_frames = !d_seen || item < d_end;
    d_dropping = !r.of_frames;
    if (d_dropping && !d_refused) {
        warn_once(d_warned_of_loose, "items outside packets are dropped");
    }
    // Consecutive packets without a gap form one run, so that the caller can process many
    // short packets together.
    constexpr std::size_t max_packets = 256;
    auto end = d_seen && r.of_frames ? d_end : item + count;
    auto tag = d_begun;
    for (; d_seen && r.of_frames && begins_at(tag, end) && !begins_at(tag + 1, end) &&
           tag < d_begun + max_packets;
         ++tag) {
        end += whole_frames(d_tags[tag], frame);
    }
    if (tag < d_tags.size()) {
        end = std::min(end, d_tags[tag].item);
    }
    r.items = std::min<std::uint64_t>(count, end - item);
    return r;
}

void length_tags::end_packet(std::uint64_t end)
{
    forget(end);
    d_end = std::min(d_end, end);
}

// Returns the length in the oldest tag of an item; 0 if the length is invalid. If a later
// tag of the same item supersedes the oldest one, removes the oldest one and returns 0.
std::uint64_t length_tags::length_of(std::uint64_t item)
{
    forget(item);
    const auto length = begins_at(0, item) ? d_tags.front().length : 0;
    d_superseded = begins_at(1, item);
    if (d_superseded) {
        pop();
        return 0;
    }
    return length;
}

void length_tags::forget(std::uint64_t end)
{
    while (!d_tags.empty() && d_tags.front().item < end) {
        pop();
    }
}

void length_tags::warn_of_none(const pmt::pmt_t& value)
{
    if (!d_superseded) {
        warn_once(d_warned_of_length,
                  "length tags " + pmt_text(d_key) +
                      " are dropped if their value is not a length of at least one "
                      "output item; the first such value is " +
                      pmt_text(value));
    }
}

void length_tags::pop()
{
    d_tags.pop_front();
    d_begun -= d_begun > 0;
}

void length_tags::restart()
{
    d_tags.clear();
    d_begun = 0;
    d_end = 0;
    d_seen = d_refused = d_dropping = false;
}

void length_tags::warn_once(bool& warned, const std::string& text) const
{
    if (!std::exchange(warned, true)) {
        d_warn(text);
    }
}

} // namespace gr::gpufec
