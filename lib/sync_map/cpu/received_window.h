// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Holds the received items of a stream that are still needed. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_RECEIVED_WINDOW_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_RECEIVED_WINDOW_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

namespace gr::gpufec::sync_map {

//! Consecutive items of a stream in contiguous memory.
struct item_span {
    const std::byte* items;
    std::int64_t count;
};

/*!
 * \brief Received items, addressed by their number in the stream. Items are stored in
 * chunks of memory that are reused or, while borrowed, in the caller's memory.
 *
 * Items never move from chunk to chunk. Chunks are reused because the first access to a
 * memory page is slow.
 */
class received_window
{
public:
    explicit received_window(std::size_t item_bytes)
        : d_item_bytes(item_bytes), d_chunk_items(chunk_bytes / item_bytes)
    {
    }

    void push(const std::byte* items, std::size_t count);
    //! Drops items before number \p item.
    void forget(std::int64_t item);

    //! Borrows the \p count items at \p items. This array begins with the oldest borrowed
    //! item that has not been released. The first call must precede any push().
    void borrow(const std::byte* items, std::size_t count);
    bool borrowing() const { return d_borrowed; }
    std::size_t borrowed() const { return d_borrowed ? d_end - d_borrowed_from : 0; }
    //! Releases the borrowed items that forget() has dropped; returns their number.
    std::size_t release_borrowed();
    //! Copies the borrowed items that are still needed and stops borrowing.
    void copy_borrowed();
    //! Returns the address of a borrowed item in the caller's memory.
    const std::byte* where(std::int64_t item) const
    {
        return d_borrowed + (item - d_borrowed_from) * std::int64_t(d_item_bytes);
    }

    std::int64_t first() const { return d_first; }
    std::int64_t end() const { return d_end; }

    //! Copies items \p from to \p to − 1, all of which must be held.
    void copy(std::int64_t from, std::int64_t to, std::byte* out) const;
    //! Returns items \p from to \p to − 1 in contiguous memory, valid until the next call
    //! of span() or of a function that changes the held items.
    item_span span(std::int64_t from, std::int64_t to) const;

private:
    static constexpr std::size_t chunk_bytes = 1 << 21; // size of a huge page on x86

    struct deleter {
        void operator()(std::byte* p) const { std::free(p); }
    };
    using chunk = std::unique_ptr<std::byte, deleter>;
    static chunk make_chunk();

    const std::byte* at(std::int64_t item) const
    {
        return d_chunks[item / d_chunk_items - d_first / d_chunk_items].get() +
               item % d_chunk_items * d_item_bytes;
    }

    std::size_t d_item_bytes;
    std::int64_t d_chunk_items;
    std::deque<chunk> d_chunks; // the first chunk holds item d_first
    std::vector<chunk> d_spare;
    std::int64_t d_first = 0, d_end = 0;
    mutable std::vector<std::byte> d_span;
    // Address of item d_borrowed_from; nullptr if nothing is borrowed.
    const std::byte* d_borrowed = nullptr;
    std::int64_t d_borrowed_from = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_RECEIVED_WINDOW_H */
