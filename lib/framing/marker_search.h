// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The search for a marker in packed bits, at every bit position and in both polarities.
 * */

#ifndef INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H
#define INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H

#include "bit_kernels.h"
#include "sync_marker.h"
#include <string>
#include <vector>

namespace gr::gpufec::framing {

class marker_search
{
public:
    /*!
     * \param marker the marker
     * \param errors maximum number of wrong bits, less than half of the marker's bits
     * \param variant instruction set, as in cpu_variant()
     */
    marker_search(const sync_marker& marker,
                  unsigned errors,
                  const std::string& variant = "");

    const sync_marker& marker() const { return d_marker; }

    /*!
     * \brief Finds the positions at which the marker or its inverse begins.
     *
     * \param bytes packed bits
     * \param from first position to try, in bits
     * \param end position after the last one to try. The bytes must contain a whole
     *        marker at each position before \p end
     * \param take receives each position, in ascending order; returns whether to stop
     */
    template <class Take>
    void
    find(const std::uint8_t* bytes, std::size_t from, std::size_t end, Take&& take) const
    {
        std::uint64_t hits[chunk_words];
        for (auto start = from / 8; 8 * start < end; start += 8 * chunk_words) {
            const auto words = find_chunk(bytes, start, end, hits);
            if (8 * start < from) {
                hits[0] &= ~std::uint64_t(0) >> (from - 8 * start);
            }
            for (std::size_t i = 0; i < words; ++i) {
                for (auto word = hits[i]; word != 0;) {
                    const auto bit = unsigned(__builtin_clzll(word));
                    const auto at = 8 * start + 64 * i + bit;
                    if (at >= end || take(at)) {
                        return;
                    }
                    word &= ~(std::uint64_t(1) << (63 - bit));
                }
            }
        }
    }

private:
    static constexpr std::size_t chunk_words = 8 * bit_kernels::granularity;

    // Finds the markers that begin in up to chunk_words words from byte `start` on.
    // Returns the number of words of `hits`; see bit_kernels::find().
    std::size_t find_chunk(const std::uint8_t* bytes,
                           std::size_t start,
                           std::size_t end,
                           std::uint64_t* hits) const;

    const sync_marker d_marker;
    const unsigned d_errors;
    const bit_kernels& d_kernels;
    std::vector<std::uint64_t> d_masks; // one word per bit of the marker
};

//! Returns the \p bits (1 to 64) bits of \p bytes that begin at bit \p first.
std::uint64_t bits_at(const std::uint8_t* bytes, std::size_t first, unsigned bits);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H */
