// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the input of a decoder with phase search, which fills the buffer, pushes
 * values to the inner decoder, and borrows the caller's items. locking.h defines stream
 * value, code value, lock and segment. */

#include "lock_input.h"
#include "viterbi/model/soft_input.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::gpufec::viterbi {

lock_input::lock_input(soft_format format, bool passes)
    : d_format(format),
      d_passes(passes && format != soft_format::packed4),
      d_buffer(format),
      d_fresh(1u << 14)
{
}

void lock_input::drop_before(std::uint64_t value)
{
    d_needed = std::max(d_needed, value);
    d_buffer.drop_before(value);
}

void lock_input::clear()
{
    d_buffer.clear();
    d_start = d_fed = d_needed = 0;
    d_reading = nullptr;
    d_passing = d_borrows = false;
    d_borrowed = d_past = 0;
}

// ---- the segment ----

void lock_input::use(viterbi_decoder_base* decoder)
{
    if (decoder != d_decoder) {
        pin_ring(false);
        d_decoder = decoder;
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
        d_decoder->set_rotation(can_pass() ? reading.as_rotation() : phase_rotation());
    }
    pin_ring(can_pass());
}

bool lock_input::feed(std::uint64_t limit, bool finishing)
{
    if (d_passing) {
        return false;
    }
    const auto& h = *d_reading;
    const bool unread = can_pass() || h.as_received();
    const auto all = d_buffer.end() - std::min(d_buffer.end(), d_start);
    const auto ahead = finishing || unread ? 0 : std::min<std::uint64_t>(all, h.ahead);
    const auto there = std::min(limit, all - ahead);
    bool some = false;
    while (d_fed < there) {
        const auto n = std::min<std::uint64_t>(there - d_fed, d_fresh.size());
        const auto begin = std::int64_t(d_buffer.first()) - std::int64_t(d_start);
        const auto* values = d_buffer.span().values + (std::int64_t(d_fed) - begin);
        if (!unread) {
            h.read(d_buffer.span().values, begin, all, d_fed, n, d_fresh.data());
            values = d_fresh.data();
        }
        const auto taken = d_decoder->push_quantised(values, n);
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
    d_passing = d_passing || (can_pass() && d_start + d_fed == d_buffer.end());
}

// Copies the values before code value \p end that are still needed from the inner decoder
// to the buffer, and drops all others from the buffer.
void lock_input::buffer_needed(std::uint64_t end)
{
    d_buffer.drop_before(d_needed);
    if (d_buffer.end() < d_needed) {
        d_buffer.skip_to(d_needed);
    }
    const auto from = d_buffer.end() - d_start;
    if (from < end) {
        d_buffer.append_quantised(end - from, [&](std::int8_t* to) {
            d_decoder->read_values(from, end - from, to);
        });
    }
}

void lock_input::rebuffer()
{
    if (!std::exchange(d_passing, false)) {
        return;
    }
    buffer_needed(d_fed);
    if (d_borrows) {
        d_borrowed = borrowed();
        d_past = 0;
        d_borrows = false;
        d_decoder->in_place()->copy_borrowed();
    }
}

void lock_input::read(std::uint64_t first, std::size_t count, std::int8_t* to) const
{
    if (!d_passing) {
        d_reading->read(d_buffer.span().values,
                        std::int64_t(d_buffer.first()) - std::int64_t(d_start),
                        std::int64_t(d_buffer.end()) - std::int64_t(d_start),
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
    rotate_pairs(d_reading->as_rotation(), d_pairs.data(), pairs, d_pairs.data());
    std::memcpy(to, d_pairs.data() + (first - even), count);
}

// Copies stream values, without phase rotation, while input passes through. The index
// `first` counts from the segment's beginning.
void lock_input::receive(std::uint64_t first, std::size_t count, std::int8_t* to) const
{
    // Values before those of the oldest batch are in the buffer.
    const auto value = d_start + first;
    std::size_t n = 0;
    if (value >= d_buffer.first() && value < d_buffer.end()) {
        n = std::min<std::uint64_t>(count, d_buffer.end() - value);
        std::memcpy(to, d_buffer.span().values + (value - d_buffer.first()), n);
    }
    if (n < count) {
        d_decoder->read_values(first + n, count - n, to + n);
    }
}

void lock_input::release_batch(std::uint64_t batch_end)
{
    if (d_passing) {
        buffer_needed(batch_end);
    }
    d_decoder->release_oldest();
}

// ---- the caller's items ----

std::size_t lock_input::push(const std::byte* items, std::size_t count, float scale)
{
    if (d_passing) {
        const auto n = d_decoder->push({ items, count });
        d_fed += n;
        return n;
    }
    d_buffer.append(items, count, scale);
    return count;
}

// Lets the inner decoder borrow the caller's items, if borrowing is allowed and the items
// include the decoder's whole open batch. Returns whether the decoder borrows.
bool lock_input::begin_borrowing()
{
    if (d_borrows || !may_borrow()) {
        return d_borrows;
    }
    d_cut = d_fed;
    // Submits the whole parallel blocks of the open batch, so that their items need not
    // be borrowed.
    d_decoder->flush();
    const auto open = d_decoder->open_items();
    if (open <= d_borrowed) {
        d_past = d_borrowed - open;
        d_borrows = true;
    }
    return d_borrows;
}

std::size_t lock_input::borrow(const std::byte* items,
                               std::size_t count,
                               float scale,
                               std::size_t capacity)
{
    if (begin_borrowing()) {
        const auto n = d_decoder->in_place()->borrow(
            items + d_past * item_bytes(d_format), count - d_past);
        d_fed += n;
        return n;
    }
    const auto n = std::min(count - d_borrowed, d_passing ? count : capacity);
    const auto taken = push(items + d_borrowed * item_bytes(d_format), n, scale);
    d_borrowed += taken;
    return taken;
}

std::size_t lock_input::release_borrowed()
{
    if (d_borrows) {
        return std::exchange(d_past, 0) + d_decoder->in_place()->release_borrowed();
    }
    // The items of the inner decoder's open batch are not released, because the decoder
    // must begin to borrow with them.
    const auto keep =
        may_borrow() ? std::min(d_borrowed, d_decoder->open_items()) : std::size_t(0);
    return std::exchange(d_borrowed, keep) - keep;
}

void lock_input::copy_borrowed()
{
    if (d_borrows) {
        rebuffer(); // The lock monitor may still read values of batches in flight.
    }
    d_borrowed = d_past = 0;
}

bool lock_input::pin_input(void* memory, std::size_t bytes)
{
    d_ring = memory;
    d_ring_bytes = bytes;
    pin_ring(true);
    if (!d_ring_pinned) {
        d_ring = nullptr;
    } else if (d_reading && !can_pass()) {
        pin_ring(false);
    }
    return d_ring;
}

void lock_input::unpin_input()
{
    pin_ring(false);
    d_ring = nullptr;
}

void lock_input::pin_ring(bool pinned)
{
    if (!d_ring || pinned == d_ring_pinned) {
        return;
    }
    if (pinned) {
        d_ring_pinned = d_decoder->in_place()->pin_input(d_ring, d_ring_bytes);
    } else {
        d_decoder->in_place()->unpin_input(d_ring);
        d_ring_pinned = false;
    }
}

} // namespace gr::gpufec::viterbi
