// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the search for a marker, which divides the bits into words and evaluates the
 * kernel's hits. */

#include "common/cpu_variant.h"
#include "common/packed_bits.h"
#include "marker_search.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::framing {

const bit_kernels& bit_kernels_of(const std::string& variant)
{
    static const compiled_variants<bit_kernels> variants = GPUFEC_VARIANTS(all);
    return variants.of(variant);
}

marker_search::marker_search(const sync_marker& marker,
                             unsigned errors,
                             const std::string& variant)
    : d_marker(marker),
      d_errors(errors),
      d_kernels(bit_kernels_of(variant)),
      d_masks(marker.bits)
{
    for (unsigned i = 0; i < marker.bits; ++i) {
        d_masks[i] = marker.word >> (marker.bits - 1 - i) & 1 ? ~std::uint64_t(0) : 0;
    }
}

std::size_t marker_search::find_chunk(const std::uint8_t* bytes,
                                      std::size_t start,
                                      std::size_t end,
                                      std::uint64_t* hits) const
{
    std::uint64_t text[chunk_words + 1];
    // Number of bytes that contain the markers of all positions before `end`.
    const auto have = (end + d_marker.bits - 1 + 7) / 8;
    const auto n = std::min(have - start, sizeof text);
    std::memcpy(text, bytes + start, n);
    std::memset(reinterpret_cast<char*>(text) + n, 0, sizeof text - n);
    for (auto& word : text) {
        word = __builtin_bswap64(word);
    }
    const auto positions = std::min(end - 8 * start, 64 * chunk_words);
    constexpr auto unit = 64 * bit_kernels::granularity;
    const auto words = (positions + unit - 1) / unit * bit_kernels::granularity;
    d_kernels.find(text, words, d_masks.data(), d_marker.bits, d_errors, hits);
    return words;
}

std::uint64_t bits_at(const std::uint8_t* bytes, std::size_t first, unsigned bits)
{
    return packed_word(bytes, first + bits, first) >> (64 - bits);
}

} // namespace gr::gpufec::framing
