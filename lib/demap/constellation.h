// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The constellations of DVB-S2 and how bits are interleaved: EN 302 307-1, 5.3.3, 5.4. */

#ifndef INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H
#define INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H

#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec::demap {

struct constellation {
    std::string name;
    unsigned bits;                            //!< of a symbol
    std::vector<std::complex<double>> points; //!< by label; mean energy 1
    //! The column of the interleaver that bit i of a label is from, its first bit 0; QPSK
    //! is not interleaved.
    std::vector<unsigned> columns;

    //! Mean of the fourth power of magnitudes.
    double kurtosis() const;
    double peak() const; //!< largest magnitude
};

/*!
 * \brief The constellation "qpsk", "8psk", "16apsk" or "32apsk" for a rate.
 * \throws std::invalid_argument if the standard does not have the two together
 */
constellation make_constellation(const std::string& name, const std::string& rate);

//! What there is: names, each with its rates, ascending.
const std::vector<std::pair<std::string, std::vector<std::string>>>& constellations();

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H */
