// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Codebooks packed as the CUDA kernels read them. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace gr::gpufec::sync_map {

constexpr unsigned nibble_segment = 8; // symbols of a segment in the general kernel

// Words as bits, the first being bit \p first: frame_symbols × q.
inline std::vector<std::uint32_t> pack_bits(const sync_code& code, unsigned first = 0)
{
    std::vector<std::uint32_t> packed;
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        for (unsigned D = 0; D < code.q(); ++D) {
            std::uint32_t word = 0;
            for (unsigned t = 0; t < code.n(); ++t) {
                word |= std::uint32_t(code.word(i, D)[t]) << (first + t);
            }
            packed.push_back(word);
        }
    }
    return packed;
}

// Symbols begin … begin + count − 1 of a word, four bits each.
inline std::uint32_t nibbles(const std::uint8_t* word, int begin, int count)
{
    std::uint32_t packed = 0;
    for (int t = 0; t < count; ++t) {
        packed |= std::uint32_t(word[begin + t]) << 4 * t;
    }
    return packed;
}

// frame_symbols × segments × q; the first segment is the one that may be short.
inline std::vector<std::uint32_t>
pack_segments(const sync_code& code, unsigned segments, unsigned first_segment)
{
    std::vector<std::uint32_t> packed;
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        for (unsigned k = 0; k < segments; ++k) {
            const int begin = k ? first_segment + (k - 1) * nibble_segment : 0;
            const int count = k ? nibble_segment : first_segment;
            for (unsigned D = 0; D < code.q(); ++D) {
                packed.push_back(nibbles(code.word(i, D), begin, count));
            }
        }
    }
    return packed;
}

// frame_symbols × q × words of eight symbols each.
inline std::vector<std::uint32_t> pack_nibbles(const sync_code& code)
{
    std::vector<std::uint32_t> packed;
    const int n = code.n();
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        for (unsigned D = 0; D < code.q(); ++D) {
            for (int t = 0; t < n; t += 8) {
                packed.push_back(nibbles(code.word(i, D), t, std::min(8, n - t)));
            }
        }
    }
    return packed;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H */
