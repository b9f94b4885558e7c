// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The input of batches that follow one another in a stream: copied into slots, or left
 * where the caller lends it. */

#ifndef INCLUDED_GPUFEC_PIPELINE_INPUT_WINDOW_H
#define INCLUDED_GPUFEC_PIPELINE_INPUT_WINDOW_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Which items of a stream the open batch and those in flight begin with, and where
 * these items lie.
 *
 * Items are counted from the stream's beginning. A batch may begin with items that the
 * one before ended with.
 */
class input_window
{
public:
    //! Bytes of an item in slots, and of one as the caller has it.
    input_window(std::size_t item_bytes, std::size_t raw_bytes)
        : d_item_bytes(item_bytes), d_raw_bytes(raw_bytes)
    {
    }

    std::size_t item_bytes() const { return d_item_bytes; } //!< in slots

    //! The first item of the open batch.
    std::uint64_t first() const { return d_first; }
    //! The first item that was not taken yet.
    std::uint64_t end() const { return d_end; }
    bool lending() const { return d_lending; }

    //! Where the open batch's input begins. If it is to be copied there, \p slot begins
    //! with what the batch before left over.
    const std::byte* open(std::byte* slot)
    {
        if (d_lending) {
            return where_lent();
        }
        if (!d_open) {
            if (bytes() > 0) { // else there may be nothing to copy from
                std::memmove(slot, d_carry, bytes());
            }
            d_open = true;
        }
        return slot;
    }

    //! What the open batch has so far, where \p slot is its slot, if it has one.
    const std::byte* contents(const std::byte* slot) const
    {
        return d_lending ? where_lent() : d_open && slot ? slot : d_carry;
    }

    //! Bytes of the open batch so far.
    std::size_t bytes() const { return (d_end - d_first) * d_item_bytes; }

    //! The open batch has \p items more.
    void took(std::size_t items) { d_end += items; }

    //! The open batch, with its input at \p input, is in flight; the next one begins with
    //! item \p next.
    void submitted(const std::byte* input, std::uint64_t next)
    {
        d_in_flight.push_back(d_first);
        d_carry = d_lending ? nullptr : input + (next - d_first) * d_item_bytes;
        d_first = next;
        d_open = false;
    }

    //! The oldest batch in flight needs its input no more.
    void released()
    {
        if (!d_in_flight.empty()) {
            d_in_flight.pop_front();
        }
    }

    //! The open batch, of which nothing is needed so far, begins where it ends now.
    void skip() { d_first = d_end; }

    //! Items are lent from now on: \p items are those from the oldest on that was lent
    //! and not taken back; at first, those from first() on.
    void lend(const std::byte* items)
    {
        if (!std::exchange(d_lending, true)) {
            d_lent_from = d_first;
        }
        d_lent = items;
    }

    //! Items lent and not taken back.
    std::size_t lent() const { return d_lending ? d_end - d_lent_from : 0; }

    //! Takes back what no batch needs; where nothing more comes, all that is in none.
    std::size_t take_back(bool all)
    {
        if (!d_lending) {
            return 0;
        }
        const auto needed = all                   ? d_end
                            : d_in_flight.empty() ? d_first
                                                  : d_in_flight.front();
        if (needed < d_lent_from) {
            return 0; // batches from before are in flight
        }
        const auto items = std::size_t(needed - d_lent_from);
        d_lent += items * d_raw_bytes;
        d_lent_from = needed;
        return items;
    }

    //! What the open batch has been lent is stored by \p store(items, count, to), as in
    //! slots; nothing in flight is read any more.
    template <class Store>
    void end_lending(Store&& store)
    {
        d_kept.resize(bytes());
        store(where_lent(), std::size_t(d_end - d_first), d_kept.data());
        d_carry = d_kept.data();
        d_open = d_lending = false;
    }

    //! Another stream begins.
    void reset() { *this = input_window(d_item_bytes, d_raw_bytes); }

    //! Where the open batch's input begins while it is lent.
    const std::byte* where_lent() const
    {
        return d_lent + (d_first - d_lent_from) * d_raw_bytes;
    }

private:
    std::size_t d_item_bytes, d_raw_bytes;
    std::uint64_t d_first = 0, d_end = 0;
    std::deque<std::uint64_t> d_in_flight; // their first items, oldest first
    const std::byte* d_carry = nullptr;    // item d_first, unless it is in its slot
    bool d_open = true;                    // it is in its slot

    // While the caller lends its input:
    bool d_lending = false;
    const std::byte* d_lent = nullptr; // the oldest item that was not taken back
    std::uint64_t d_lent_from = 0;     // and its number
    std::vector<std::byte> d_kept;     // what was carried over when lending ended
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_INPUT_WINDOW_H */
