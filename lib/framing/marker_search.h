// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The search for a marker in packed bits, at every bit and in both polarities. */

#ifndef INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H
#define INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H

#include "marker_kernels.h"
#include "sync_marker.h"
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec::framing {

class marker_search
{
public:
    /*!
     * \param marker the marker
     * \param errors largest number of wrong bits, below half of the marker's bits
     * \param variant instruction set, as in cpu_variant()
     */
    marker_search(const sync_marker& marker,
                  unsigned errors,
                  const std::string& variant = "");

    const sync_marker& marker() const { return d_marker; }

    /*!
     * \brief Returns the first position at which the marker or its inverse begins.
     *
     * \param bytes packed bits
     * \param from first position to try, in bits
     * \param end position after the last one to try. The bytes must hold a whole marker
     *        at each position before it
     */
    std::optional<std::size_t>
    next(const std::uint8_t* bytes, std::size_t from, std::size_t end) const;

private:
    const sync_marker d_marker;
    const unsigned d_errors;
    const marker_kernels& d_kernels;
    std::vector<std::uint64_t> d_masks; // one word per bit of the marker
};

//! Returns the \p bits (1 to 64) bits of \p bytes that begin at bit \p first.
std::uint64_t bits_at(const std::uint8_t* bytes, std::size_t first, unsigned bits);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_MARKER_SEARCH_H */
