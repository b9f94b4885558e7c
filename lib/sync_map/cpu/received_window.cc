// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stores received items in chunks of memory, or refers to them in the caller's memory. */

#include "received_window.h"
#include <sys/mman.h>
#include <algorithm>
#include <cstring>
#include <new>

namespace gr::gpufec::sync_map {

// Allocates a chunk. Requests huge pages and, where MADV_POPULATE_WRITE exists, populates
// them immediately, because the first access to a page is slow.
received_window::chunk received_window::make_chunk()
{
    chunk made(static_cast<std::byte*>(std::aligned_alloc(chunk_bytes, chunk_bytes)));
    if (!made) {
        throw std::bad_alloc();
    }
    madvise(made.get(), chunk_bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    madvise(made.get(), chunk_bytes, MADV_POPULATE_WRITE);
#endif
    return made;
}

void received_window::push(const std::byte* items, std::size_t count)
{
    for (std::size_t done = 0; done < count;) {
        const auto chunk = std::size_t(d_end / d_chunk_items - d_first / d_chunk_items);
        if (chunk == d_chunks.size()) {
            if (d_spare.empty()) {
                d_spare.push_back(make_chunk());
            }
            d_chunks.push_back(std::move(d_spare.back()));
            d_spare.pop_back();
        }
        const auto n =
            std::min<std::size_t>(count - done, d_chunk_items - d_end % d_chunk_items);
        std::memcpy(d_chunks[chunk].get() + d_end % d_chunk_items * d_item_bytes,
                    items + done * d_item_bytes,
                    n * d_item_bytes);
        done += n;
        d_end += n;
    }
}

void received_window::forget(std::int64_t item)
{
    const auto before = d_first / d_chunk_items;
    d_first = std::max(d_first, std::min(item, d_end));
    if (d_borrowed) {
        return;
    }
    for (auto n = d_first / d_chunk_items - before; n > 0 && !d_chunks.empty(); --n) {
        d_spare.push_back(std::move(d_chunks.front()));
        d_chunks.pop_front();
    }
}

void received_window::borrow(const std::byte* items, std::size_t count)
{
    d_borrowed = items;
    d_end = d_borrowed_from + std::int64_t(count);
}

std::size_t received_window::release_borrowed()
{
    if (!d_borrowed) {
        return 0;
    }
    const auto items = d_first - d_borrowed_from;
    d_borrowed = where(d_first);
    d_borrowed_from = d_first;
    return items;
}

void received_window::copy_borrowed()
{
    const auto count = std::size_t(d_end - d_first);
    const auto* const items = where(d_first);
    d_borrowed = nullptr;
    d_end = d_first;
    push(items, count);
}

void received_window::copy(std::int64_t from, std::int64_t to, std::byte* out) const
{
    if (d_borrowed) {
        if (from < to) {
            std::memcpy(out, where(from), (to - from) * d_item_bytes);
        }
        return;
    }
    while (from < to) {
        const auto n = std::min(to - from, d_chunk_items - from % d_chunk_items);
        std::memcpy(out, at(from), n * d_item_bytes);
        out += n * d_item_bytes;
        from += n;
    }
}

item_span received_window::span(std::int64_t from, std::int64_t to) const
{
    if (to <= from) {
        return { nullptr, 0 };
    }
    if (d_borrowed) {
        return { where(from), to - from };
    }
    if (from / d_chunk_items == (to - 1) / d_chunk_items) {
        return { at(from), to - from };
    }
    d_span.resize((to - from) * d_item_bytes);
    copy(from, to, d_span.data());
    return { d_span.data(), to - from };
}

} // namespace gr::gpufec::sync_map
