// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Positions of the input and output of consecutive batches of a stream, in the memory of
 * slots or of the caller. */

#ifndef INCLUDED_GPUFEC_PIPELINE_WINDOWS_H
#define INCLUDED_GPUFEC_PIPELINE_WINDOWS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Positions in the stream and in memory of the open batch, which is being filled,
 * and of the batches in flight.
 *
 * Items are counted from the stream's beginning. Consecutive batches may overlap.
 */
class input_window
{
public:
    //! \p item_bytes is the size of an item in slots, \p caller_item_bytes its size in
    //! the caller's memory.
    input_window(std::size_t item_bytes, std::size_t caller_item_bytes)
        : d_item_bytes(item_bytes), d_caller_item_bytes(caller_item_bytes)
    {
    }

    //! Returns the size of an item in slots.
    std::size_t item_bytes() const { return d_item_bytes; }

    //! Returns the size of an item in the caller's memory.
    std::size_t caller_item_bytes() const { return d_caller_item_bytes; }

    //! Returns the number of the open batch's first item.
    std::uint64_t first() const { return d_first; }
    //! Returns the number of the first item that no batch has accepted yet.
    std::uint64_t end() const { return d_end; }
    bool borrowing() const { return d_borrowing; }

    //! Returns the address of the open batch's input. If input is copied to slots,
    //! first copies to \p slot the items that this batch shares with the previous one.
    const std::byte* open(std::byte* slot)
    {
        if (d_borrowing) {
            return borrowed_position();
        }
        if (!d_open) {
            if (bytes() > 0) { // otherwise d_carry may be null
                std::memmove(slot, d_carry, bytes());
            }
            d_open = true;
        }
        return slot;
    }

    //! Returns the address of the open batch's items. \p slot is the batch's slot, or
    //! nullptr.
    const std::byte* contents(const std::byte* slot) const
    {
        return d_borrowing ? borrowed_position() : d_open && slot ? slot : d_carry;
    }

    //! Returns the size of the open batch's items so far, in bytes.
    std::size_t bytes() const { return (d_end - d_first) * d_item_bytes; }

    //! Records that \p items further items belong to the open batch.
    void took(std::size_t items) { d_end += items; }

    //! Records that the open batch was submitted with input at \p input. The next batch
    //! begins with item \p next.
    void submitted(const std::byte* input, std::uint64_t next)
    {
        d_in_flight.push_back(d_first);
        d_carry = d_borrowing ? nullptr : input + (next - d_first) * d_item_bytes;
        d_first = next;
        d_open = false;
    }

    //! Records that the oldest batch in flight no longer needs its input.
    void released()
    {
        if (!d_in_flight.empty()) {
            d_in_flight.pop_front();
        }
    }

    //! Removes the last \p items items, which must not be borrowed, from the open batch.
    void forget(std::size_t items) { d_end -= items; }

    //! Discards the open batch's items so far.
    void skip() { d_first = d_end; }

    //! Borrows input from now on. In the first call, \p items is the address of item
    //! first(); in later calls, the address of the oldest borrowed item not yet released.
    void borrow(const std::byte* items)
    {
        if (!std::exchange(d_borrowing, true)) {
            d_borrowed_from = d_first;
        }
        d_borrowed = items;
    }

    //! Returns the address of the oldest item that is borrowed and not released.
    const std::byte* oldest_borrowed() const { return d_borrowed; }
    //! Returns the number of items that are borrowed and not released.
    std::size_t borrowed() const { return d_borrowing ? d_end - d_borrowed_from : 0; }

    //! Releases the borrowed items that no batch needs, or all of them if \p all is
    //! true. Returns the number of items released.
    std::size_t release_borrowed(bool all)
    {
        if (!d_borrowing) {
            return 0;
        }
        const auto needed = all                   ? d_end
                            : d_in_flight.empty() ? d_first
                                                  : d_in_flight.front();
        if (needed < d_borrowed_from) {
            return 0; // a batch submitted before the first borrow() is still in flight
        }
        const auto items = std::size_t(needed - d_borrowed_from);
        d_borrowed += items * d_caller_item_bytes;
        d_borrowed_from = needed;
        return items;
    }

    //! Ends borrowing: store(items, count, to) copies the open batch's borrowed items and
    //! converts them to the format of slots. No batch in flight may still read its input.
    template <class Store>
    void copy_borrowed(Store&& store)
    {
        d_carried_over.resize(bytes());
        store(borrowed_position(), std::size_t(d_end - d_first), d_carried_over.data());
        d_carry = d_carried_over.data();
        d_open = d_borrowing = false;
    }

    void reset() { *this = input_window(d_item_bytes, d_caller_item_bytes); }

    //! Returns the address at which the open batch's borrowed input begins.
    const std::byte* borrowed_position() const
    {
        return d_borrowed + (d_first - d_borrowed_from) * d_caller_item_bytes;
    }

private:
    std::size_t d_item_bytes, d_caller_item_bytes;
    std::uint64_t d_first = 0, d_end = 0;
    std::deque<std::uint64_t> d_in_flight; // first item of each batch, oldest batch first
    // Address of item d_first, if the item is not in the open batch's slot.
    const std::byte* d_carry = nullptr;
    bool d_open = true; // whether item d_first is in the open batch's slot

    // Members for borrowed input.
    bool d_borrowing = false;
    const std::byte* d_borrowed = nullptr; // address of the oldest item not released
    std::uint64_t d_borrowed_from = 0;     // number of the oldest item not released

    std::vector<std::byte> d_carried_over; // items of the open batch when borrowing ended
};

//! Assigns addresses in borrowed memory to the output of batches, in the order in which
//! the output is pulled.
class output_window
{
public:
    //! Borrows \p bytes bytes of memory at \p next. The next output that is pulled goes
    //! to this address.
    void borrow(std::byte* next, std::size_t bytes)
    {
        d_next = next;
        d_free = bytes;
    }

    //! Returns the address to which the next batch's output of \p bytes bytes will be
    //! pulled; nullptr if the borrowed memory is too small.
    std::byte* place(std::size_t bytes) const
    {
        return bytes > 0 && d_waiting + bytes <= d_free ? d_next + d_waiting : nullptr;
    }

    //! Returns whether all submitted output has been pulled.
    bool empty() const { return d_waiting == 0; }

    //! Records that a batch with \p bytes bytes of output was submitted.
    void submitted(std::size_t bytes) { d_waiting += bytes; }

    //! Records that \p bytes bytes were pulled.
    void pulled(std::size_t bytes)
    {
        d_waiting -= std::min(bytes, d_waiting);
        const auto borrowed = std::min(bytes, d_free);
        d_next += borrowed;
        d_free -= borrowed;
    }

private:
    std::byte* d_next = nullptr;
    std::size_t d_free = 0;
    std::size_t d_waiting = 0; // bytes submitted but not pulled, in place or in slots
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_WINDOWS_H */
