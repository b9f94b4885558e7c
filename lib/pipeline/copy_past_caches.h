// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies of what the processor does not read again soon. */

#ifndef INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H
#define INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    constexpr std::size_t line = 64, ahead = 1024, worth_it = 16 << 10;
    if (count >= worth_it) {
        const auto before = -reinterpret_cast<std::uintptr_t>(to) % line;
        std::memcpy(to, from, before);
        std::size_t at = before;
        for (; at + line <= count; at += line) {
            _mm_prefetch(
                reinterpret_cast<const char*>(from + std::min(at + ahead, count)),
                _MM_HINT_NTA);
            for (std::size_t k = at; k < at + line; k += sizeof(__m128i)) {
                _mm_stream_si128(
                    reinterpret_cast<__m128i*>(to + k),
                    _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
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
