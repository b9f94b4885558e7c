// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "copy_past_caches.h"
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace gr::gpufec {

namespace {

constexpr std::size_t line = 64, worth_it = 16 << 10;

#ifdef __SSE2__
// Both copy whole fours of lines, to the beginning of a line, and say how many bytes.

// A Xeon stores twice as many lines per second as one piece than as four.
__attribute__((target("avx512f"))) std::size_t
copy_whole_lines(std::byte* to, const std::byte* from, std::size_t count)
{
    std::size_t at = 0;
    for (; at + 4 * line <= count; at += 4 * line) {
        for (std::size_t k = at; k < at + 4 * line; k += line) {
            _mm512_stream_si512(reinterpret_cast<__m512i*>(to + k),
                                _mm512_loadu_si512(from + k));
        }
    }
    return at;
}

std::size_t copy_quarter_lines(std::byte* to, const std::byte* from, std::size_t count)
{
    std::size_t at = 0;
    for (; at + 4 * line <= count; at += 4 * line) {
        for (std::size_t k = at; k < at + 4 * line; k += sizeof(__m128i)) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + k),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
        }
    }
    return at;
}
#endif

} // namespace

void copy_past_caches(std::byte* to, const std::byte* from, std::size_t count)
{
#ifdef __SSE2__
    if (count >= worth_it) {
        auto done = -reinterpret_cast<std::uintptr_t>(to) % line;
        std::memcpy(to, from, done);
        done += (__builtin_cpu_supports("avx512f")
                     ? copy_whole_lines
                     : copy_quarter_lines)(to + done, from + done, count - done);
        _mm_sfence();
        to += done;
        from += done;
        count -= done;
    }
#endif
    std::memcpy(to, from, count);
}

} // namespace gr::gpufec
