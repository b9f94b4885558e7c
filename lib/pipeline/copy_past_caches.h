// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies of what the processor does not read again soon. */

#ifndef INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H
#define INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gr::gpufec {

/*! memcpy() that leaves the copy in memory alone, where a device fetches it. Lines that
 * are stored whole need not be read first, which is a third of a copy's traffic; the C
 * library does so too, but only for pieces as large as its caches. */
inline void copy_past_caches(std::byte* to, const std::byte* from, std::size_t count)
{
#ifdef __SSE2__
    // Loads before stores, and no prefetching: a Xeon's own does better without.
    constexpr std::size_t line = 64, at_once = 2 * line, worth_it = 16 << 10;
    if (count >= worth_it) {
        const auto before = -reinterpret_cast<std::uintptr_t>(to) % line;
        std::memcpy(to, from, before);
        std::size_t at = before;
        for (; at + at_once <= count; at += at_once) {
            __m128i value[at_once / sizeof(__m128i)];
            const auto* const there = reinterpret_cast<const __m128i*>(from + at);
            for (std::size_t k = 0; k < std::size(value); ++k) {
                value[k] = _mm_loadu_si128(there + k);
            }
            for (std::size_t k = 0; k < std::size(value); ++k) {
                _mm_stream_si128(reinterpret_cast<__m128i*>(to + at) + k, value[k]);
            }
        }
        _mm_sfence();
        to += at;
        from += at;
        count -= at;
    }
#endif
    std::memcpy(to, from, count);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H */
