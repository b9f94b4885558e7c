// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "item_store.h"
#include <sys/mman.h>
#include <algorithm>
#include <cstring>
#include <new>

namespace gr::gpufec::sync_map {

// Its pages are there at once, and large ones where the system has them, for what a page
// costs when it is touched first is more than the items on it do.
item_store::chunk item_store::make_chunk()
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

void item_store::push(const std::byte* items, std::size_t count)
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

void item_store::forget(std::int64_t item)
{
    const auto before = d_first / d_chunk_items;
    d_first = std::max(d_first, std::min(item, d_end));
    if (d_lent) {
        return;
    }
    for (auto n = d_first / d_chunk_items - before; n > 0 && !d_chunks.empty(); --n) {
        d_spare.push_back(std::move(d_chunks.front()));
        d_chunks.pop_front();
    }
}

void item_store::lend(const std::byte* items, std::size_t count)
{
    d_lent = items;
    d_end = d_lent_from + std::int64_t(count);
}

std::size_t item_store::take_back()
{
    if (!d_lent) {
        return 0;
    }
    const auto items = d_first - d_lent_from;
    d_lent = where(d_first);
    d_lent_from = d_first;
    return items;
}

void item_store::end_lending()
{
    const auto count = std::size_t(d_end - d_first);
    const auto* const items = where(d_first);
    d_lent = nullptr;
    d_end = d_first;
    push(items, count);
}

void item_store::copy(std::int64_t from, std::int64_t to, std::byte* out) const
{
    if (d_lent) {
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

item_span item_store::span(std::int64_t from, std::int64_t to) const
{
    if (to <= from) {
        return { nullptr, 0 };
    }
    if (d_lent) {
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
