// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Synchronisation markers of CCSDS, and the numbers of errors in them that a probability
 * of false alarm allows. */

#ifndef INCLUDED_GPUFEC_FRAMING_SYNC_MARKER_H
#define INCLUDED_GPUFEC_FRAMING_SYNC_MARKER_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::framing {

//! A bit pattern before each frame.
struct sync_marker {
    std::uint64_t word; //!< the marker in its low bits, the first bit most significant
    unsigned bits;      //!< length of the marker: 16, 32 or 64
};

//! Marker of CCSDS 131.0-B, 9.3, for all codes except turbo codes and AR4JA codes.
inline constexpr sync_marker ccsds_marker{ 0x1ACFFC1D, 32 };
//! Marker of CCSDS 131.0-B, 9.3, for AR4JA codes.
inline constexpr sync_marker ccsds_ar4ja_marker{ 0x034776C7272895B0, 64 };

//! Returns the probability that at most \p errors of \p bits random bits differ from a
//! marker: the sum of the binomial coefficients C(bits, i), i = 0 … errors, divided by
//! 2^bits.
double chance_of_marker(unsigned bits, unsigned errors);

//! Numbers of wrong bits that are tolerated in a marker.
struct marker_tolerance {
    unsigned search; //!< during the search, in each of two markers
    unsigned track;  //!< while locked, in the marker at the expected place
};

/*!
 * \brief Returns the largest numbers of errors that a probability of false alarm allows.
 *
 * Let P(e) be chance_of_marker(), L the distance of two markers in bits, and H the number
 * of hypotheses per position. A search in random bits finds a marker, and a second one L
 * bits later under the same hypothesis, with a probability of at most L·H·P(e)² per L
 * bits. \c search is the largest e for which this probability is at most \p false_alarm
 * and L·H·P(e) is at most 1. \c track is the largest e for which 2·P(e) is at most the
 * square root of \p false_alarm.
 * \param marker the marker
 * \param period L
 * \param hypotheses H, twice the number of orientations of the symbols
 * \param false_alarm probability, above 0 and below 1
 * \throws std::invalid_argument if even a marker without errors exceeds \p false_alarm
 */
marker_tolerance tolerance(const sync_marker& marker,
                           std::size_t period,
                           unsigned hypotheses,
                           double false_alarm);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_SYNC_MARKER_H */
