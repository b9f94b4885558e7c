// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Packing of codebooks into the 32-bit words that the CUDA kernels read. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gr::gpufec::sync_map {

constexpr unsigned nibble_segment = 8; // number of symbols in one 32-bit segment

// Packs words as bits, with a word's first symbol at bit \p first. Result: frame_symbols
// × q.
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

// Packs symbols begin … begin + count − 1 of a word, four bits each.
inline std::uint32_t nibbles(const std::uint8_t* word, int begin, int count)
{
    std::uint32_t packed = 0;
    for (int t = 0; t < count; ++t) {
        packed |= std::uint32_t(word[begin + t]) << 4 * t;
    }
    return packed;
}

// Packs words in segments of nibble_segment symbols, four bits each; the first segment
// has \p first_segment symbols. Result: frame_symbols × segments × q.
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

// Packs words of \p rows symbols, four bits each, eight symbols per 32-bit element.
// Result: frame_symbols × q × (rows / 8, rounded up).
inline std::vector<std::uint32_t> pack_nibbles(const sync_code& code, unsigned rows)
{
    std::vector<std::uint32_t> packed;
    const int n = code.n();
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        for (unsigned D = 0; D < code.q(); ++D) {
            for (int t = 0; t < int(rows); t += 8) {
                packed.push_back(nibbles(code.word(i, D), t, std::min(8, n - t)));
            }
        }
    }
    return packed;
}

// Packs words of ten bits as trie_word (see trie_lattice/layout.cuh), in the order in
// which the second trie of each direction visits them. Result: 2 × frame_symbols × q.
inline std::vector<std::uint32_t> pack_trie_words(const sync_code& code)
{
    std::vector<std::uint32_t> packed;
    for (const bool back : { false, true }) {
        for (unsigned i = 0; i < code.frame_symbols(); ++i) {
            std::vector<std::pair<unsigned, std::uint32_t>> walk;
            for (unsigned D = 0; D < code.q(); ++D) {
                const auto bit = [&](unsigned t) -> unsigned {
                    return code.word(i, D)[back ? 9 - t : t];
                };
                const unsigned row = bit(0) << 3 | bit(1) << 2 | bit(2) << 1 | bit(3);
                const unsigned inner = bit(7) << 3 | bit(6) << 2 | bit(5) << 1 | bit(4);
                const unsigned outer = bit(9) << 1 | bit(8);
                walk.push_back(
                    { outer << 4 | inner, D << 18 | outer << 15 | row << 4 | inner });
            }
            std::sort(walk.begin(), walk.end());
            for (const auto& [ending, word] : walk) {
                packed.push_back(word);
            }
        }
    }
    return packed;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_WORDS_H */
