// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The received items of a stream that are still asked for. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_ITEM_STORE_H
#define INCLUDED_GPUFEC_SYNC_MAP_ITEM_STORE_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

namespace gr::gpufec::sync_map {

//! Consecutive items of a stream.
struct item_span {
    const std::byte* items;
    std::int64_t count;
};

/*!
 * \brief Items by their number in the stream, in chunks that are used again.
 *
 * So nothing is moved to make room, and memory is touched for the first time only while
 * more is held than ever before. Or they stay where they are lent.
 */
class item_store
{
public:
    explicit item_store(std::size_t item_bytes)
        : d_item_bytes(item_bytes), d_chunk_items(chunk_bytes / item_bytes)
    {
    }

    void push(const std::byte* items, std::size_t count);
    //! Items before number \p item are not asked for any more.
    void forget(std::int64_t item);

    //! \p items, \p count of them, are those from the oldest on that was lent and not
    //! taken back; at first, all that there are.
    void lend(const std::byte* items, std::size_t count);
    bool lending() const { return d_lent; }
    std::size_t lent() const { return d_lent ? d_end - d_lent_from : 0; }
    //! Items lent that are not asked for any more.
    std::size_t take_back();
    //! Copies what is still asked for.
    void end_lending();
    //! Where an item that is lent lies.
    const std::byte* where(std::int64_t item) const
    {
        return d_lent + (item - d_lent_from) * std::int64_t(d_item_bytes);
    }

    std::int64_t first() const { return d_first; }
    std::int64_t end() const { return d_end; }

    //! Copies items \p from to \p to − 1, all of which are held.
    void copy(std::int64_t from, std::int64_t to, std::byte* out) const;
    //! The same side by side, until the next call.
    item_span span(std::int64_t from, std::int64_t to) const;

private:
    static constexpr std::size_t chunk_bytes = 1 << 21; // a large page

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
    std::deque<chunk> d_chunks; // the first has item d_first
    std::vector<chunk> d_spare;
    std::int64_t d_first = 0, d_end = 0;
    mutable std::vector<std::byte> d_span;
    const std::byte* d_lent = nullptr; // item d_lent_from, while items are lent
    std::int64_t d_lent_from = 0;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_ITEM_STORE_H */
