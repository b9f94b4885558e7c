// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Appends soft values, converted to int8, to the buffer, and manages its memory. */

#include "search_buffer.h"
#include "viterbi/model/soft_input.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

void search_buffer::limit(const std::int8_t* from, std::int8_t* to, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        to[i] = std::max<std::int8_t>(from[i], -127);
    }
}

void search_buffer::append(const void* items, std::size_t count, float scale)
{
    auto* const to = extend(count * values_per_item());
    switch (d_format) {
    case soft_format::float32:
        convert(static_cast<const float*>(items),
                scale,
                reinterpret_cast<std::byte*>(to),
                count);
        limit(to, to, count);
        break;
    case soft_format::packed4:
        unpack4(static_cast<const std::byte*>(items), 0, 2 * count, to);
        break;
    case soft_format::uint8:
        from_offset_binary(static_cast<const std::byte*>(items), count, to);
        limit(to, to, count);
        break;
    case soft_format::int8:
        limit(static_cast<const std::int8_t*>(items), to, count);
        break;
    }
}

void search_buffer::skip_to(std::uint64_t value)
{
    d_head = d_tail = 0;
    d_first = value;
}

void search_buffer::clear() { skip_to(0); }

void search_buffer::drop_before(std::uint64_t value)
{
    const auto n = std::min(std::max(value, first()), end()) - first();
    d_first += n;
    d_head += n;
}

// Adds space for n values to the buffer and returns its address.
std::int8_t* search_buffer::extend(std::size_t n)
{
    if (d_tail + n > d_values.size()) {
        const auto count = d_tail - d_head;
        if (count > 0) {
            std::memmove(d_values.data(), d_values.data() + d_head, count);
        }
        d_head = 0;
        d_tail = count;
        // Much more memory than needed is allocated, so that the values are rarely moved.
        const auto spare = std::min<std::size_t>(8 * (count + n), 1u << 24);
        if (count + n + spare / 2 > d_values.size()) {
            d_values.resize(count + n + spare);
        }
    }
    d_tail += n;
    return d_values.data() + d_tail - n;
}

} // namespace gr::gpufec::viterbi
