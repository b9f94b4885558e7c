// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The constellations of DVB-S2 and S2X and how bits are interleaved: EN 302 307-1 and
 * EN 302 307-2, 5.3.3, 5.4. */

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

//! A constellation of a standard at a rate.
struct modcod {
    std::string standard; //!< "dvbs2", or "dvbs2x": what this has besides
    std::string name;     //!< "qpsk", "8psk", "8apsk", "16apsk" …
    std::string rate;     //!< as LDPC codes call them; those of the two standards differ
    std::string frame_size; //!< "normal" or "short"
};

//! All there are, but for VL-SNR frames.
const std::vector<modcod>& modcods();
//! Whether a standard has it: S2X has all that S2 has.
bool is_of(const modcod& m, const std::string& standard);

//! Says that there is no such MODCOD. \throws std::invalid_argument
[[noreturn]] void refuse_constellation(const std::string& name,
                                       const std::string& rate,
                                       const std::string& frame_size);

/*!
 * \brief The constellation of a rate.
 * \throws std::invalid_argument if the standard does not have the two together
 */
constellation make_constellation(const std::string& name,
                                 const std::string& rate,
                                 const std::string& frame_size = "normal",
                                 const std::string& standard = "dvbs2x");

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H */
