// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "lock_input.h"
#include "soft_input.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::gpufec::viterbi {

lock_input::lock_input(soft_format format, bool passes)
    : d_format(format),
      d_passes(passes && format != soft_format::packed4),
      d_held(format),
      d_fresh(1u << 14)
{
}

void lock_input::drop_before(std::uint64_t value)
{
    d_needed = std::max(d_needed, value);
    d_held.drop_before(value);
}

void lock_input::clear()
{
    d_held.clear();
    d_start = d_fed = d_needed = 0;
    d_reading = nullptr;
    d_passing = d_lends = false;
    d_lent = d_past = 0;
}

// ---- the segment ----

void lock_input::use(viterbi_decoder* decoder, watched_decoder* watched)
{
    if (decoder != d_decoder) {
        lock_ring(false);
        d_decoder = decoder;
        d_watched = watched;
    }
}

void lock_input::begin(const hypothesis& reading,
                       std::uint64_t start,
                       std::uint64_t skipped)
{
    d_reading = &reading;
    d_start = start;
    d_fed = skipped;
    d_cut = 0;
    if (d_passes) {
        d_watched->set_turn(can_pass() ? reading.as_turn() : turn());
    }
    lock_ring(can_pass());
}

bool lock_input::feed(std::uint64_t limit, bool finishing)
{
    if (d_passing) {
        return false;
    }
    const auto& h = *d_reading;
    const bool unread = can_pass() || h.as_received();
    const auto all = d_held.end() - std::min(d_held.end(), d_start);
    const auto ahead = finishing || unread ? 0 : std::min<std::uint64_t>(all, h.ahead);
    const auto there = std::min(limit, all - ahead);
    bool some = false;
    while (d_fed < there) {
        const auto n = std::min<std::uint64_t>(there - d_fed, d_fresh.size());
        const auto begin = std::int64_t(d_held.first()) - std::int64_t(d_start);
        const auto* values = d_held.span().values + (std::int64_t(d_fed) - begin);
        if (!unread) {
            h.read(d_held.span().values, begin, all, d_fed, n, d_fresh.data());
            values = d_fresh.data();
        }
        const auto taken = d_watched->push_steps(values, n);
        d_fed += taken;
        some |= taken > 0;
        if (taken < n) {
            break;
        }
    }
    return some;
}

void lock_input::pass()
{
    d_passing = d_passing || (can_pass() && d_start + d_fed == d_held.end());
}

void lock_input::hold()
{
    if (!std::exchange(d_passing, false)) {
        return;
    }
    if (d_held.end() < d_needed) {
        d_held.skip_to(d_needed);
    }
    const auto from = d_held.end() - d_start;
    d_held.append_steps(d_fed - from, [&](std::int8_t* to) {
        d_watched->read_values(from, d_fed - from, to);
    });
    d_held.drop_before(d_needed);
    if (d_lends) {
        d_lent = lent();
        d_past = 0;
        d_lends = false;
        d_decoder->end_lending();
    }
}

void lock_input::read(std::uint64_t first, std::size_t count, std::int8_t* to) const
{
    if (!d_passing) {
        d_reading->read(d_held.span().values,
                        std::int64_t(d_held.first()) - std::int64_t(d_start),
                        std::int64_t(d_held.end()) - std::int64_t(d_start),
                        first,
                        count,
                        to);
        return;
    }
    if (d_reading->as_received()) {
        receive(first, count, to);
        return;
    }
    const auto even = first / 2 * 2;
    const auto pairs = (first + count - even + 1) / 2;
    d_pairs.resize(std::max<std::size_t>(d_pairs.size(), 2 * pairs));
    receive(even, 2 * pairs, d_pairs.data());
    turn_pairs(d_reading->as_turn(), d_pairs.data(), pairs, d_pairs.data());
    std::memcpy(to, d_pairs.data() + (first - even), count);
}

// Values of the segment as they were received, while they are passed on.
void lock_input::receive(std::uint64_t first, std::size_t count, std::int8_t* to) const
{
    // Some may be from before the oldest batch.
    const auto value = d_start + first;
    std::size_t n = 0;
    if (value >= d_held.first() && value < d_held.end()) {
        n = std::min<std::uint64_t>(count, d_held.end() - value);
        std::memcpy(to, d_held.span().values + (value - d_held.first()), n);
    }
    if (n < count) {
        d_watched->read_values(first + n, count - n, to + n);
    }
}

void lock_input::release_batch(std::uint64_t batch_end)
{
    if (d_passing) {
        d_held.drop_before(d_needed);
        if (d_held.end() < d_needed) {
            d_held.skip_to(d_needed);
        }
        const auto end = std::max(d_start + batch_end, d_held.end());
        const auto from = d_held.end() - d_start;
        d_held.append_steps(end - d_held.end(), [&](std::int8_t* to) {
            d_watched->read_values(from, end - d_start - from, to);
        });
    }
    d_watched->release_oldest();
}

// ---- the caller's items ----

std::size_t lock_input::push(const std::byte* items, std::size_t count, float scale)
{
    if (d_passing) {
        const auto n = d_decoder->push(items, count);
        d_fed += n;
        return n;
    }
    d_held.append(items, count, scale);
    return count;
}

// The decoder takes over what the caller lends, if that has all of the open batch.
bool lock_input::begin_lending()
{
    if (d_lends || !may_lend()) {
        return d_lends;
    }
    d_cut = d_fed;
    d_decoder->flush(); // what is whole of the open batch need not be lent again
    const auto open = d_watched->open_items();
    if (open <= d_lent) {
        d_past = d_lent - open;
        d_lends = true;
    }
    return d_lends;
}

std::size_t
lock_input::lend(const std::byte* items, std::size_t count, float scale, std::size_t room)
{
    if (begin_lending()) {
        const auto n = d_decoder->lend(items + d_past * item_size(), count - d_past);
        d_fed += n;
        return n;
    }
    const auto n = std::min(count - d_lent, d_passing ? count : room);
    const auto taken = push(items + d_lent * item_size(), n, scale);
    d_lent += taken;
    return taken;
}

std::size_t lock_input::take_back()
{
    if (d_lends) {
        return std::exchange(d_past, 0) + d_decoder->take_back();
    }
    // Those that lending has to begin with are kept for it.
    const auto keep =
        may_lend() ? std::min(d_lent, d_watched->open_items()) : std::size_t(0);
    return std::exchange(d_lent, keep) - keep;
}

void lock_input::end_lending()
{
    if (d_lends) {
        hold(); // what is in flight may still have to be read
    }
    d_lent = d_past = 0;
}

bool lock_input::lock_lent(void* memory, std::size_t bytes)
{
    d_ring = memory;
    d_ring_bytes = bytes;
    lock_ring(true);
    if (!d_ring_locked) {
        d_ring = nullptr;
    } else if (d_reading && !can_pass()) {
        lock_ring(false);
    }
    return d_ring;
}

void lock_input::unlock_lent()
{
    lock_ring(false);
    d_ring = nullptr;
}

void lock_input::lock_ring(bool locked)
{
    if (!d_ring || locked == d_ring_locked) {
        return;
    }
    if (locked) {
        d_ring_locked = d_decoder->lock_lent(d_ring, d_ring_bytes);
    } else {
        d_decoder->unlock_lent(d_ring);
        d_ring_locked = false;
    }
}

} // namespace gr::gpufec::viterbi
