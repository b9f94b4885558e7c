// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Constellations, bit interleaving, spreading and MODCODs of DVB-S2 and DVB-S2X: EN 302
 * 307-1 and EN 302 307-2, 5.3.3 and 5.4. */

#ifndef INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H
#define INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H

#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec::demap {

struct constellation {
    std::string name;
    unsigned bits; //!< number of bits per symbol
    //! Points in the order of their labels; mean energy 1. For π/2-BPSK, they are the
    //! points of the first symbol of a frame.
    std::vector<std::complex<double>> points;
    //! Interleaver column of each bit of a label, the first bit first. QPSK is not
    //! interleaved and does not use the columns.
    std::vector<unsigned> columns;
    //! Number of consecutive symbols that carry the same bits.
    unsigned spreading = 1;

    //! Returns the mean fourth power of the points' magnitudes.
    double kurtosis() const;
    //! Returns the number of symbols of a frame of \p frame_bits. With 128APSK the number
    //! includes the dummy symbols that fill the last slot of 90 symbols.
    std::size_t frame_symbols(std::size_t frame_bits) const
    {
        const auto count = (frame_bits + bits - 1) / bits;
        return bits == 7 ? (count + 89) / 90 * 90 : count * spreading;
    }
    double peak() const; //!< largest magnitude of a point
};

//! A combination of constellation, code rate and frame size that a standard defines.
struct modcod {
    std::string standard; //!< "dvbs2", or "dvbs2x" for a MODCOD that S2X adds
    std::string name; //!< name of the constellation: "qpsk", "8psk", "8apsk", "16apsk" …
    std::string rate;       //!< code rate as in the name of the LDPC code
    std::string frame_size; //!< "normal", "short", or a size of VL-SNR frames
};

//! Returns all MODCODs except those of VL-SNR frames.
const std::vector<modcod>& modcods();
//! Returns the constellation and the rate of a text such as "QPSK 1/2" or "8psk3/4", or
//! nothing if \p text has another form. The function does not check the rate.
std::optional<std::pair<std::string, std::string>> split_modcod(const std::string& text);
//! Returns the MODCODs of VL-SNR frames: EN 302 307-2, table 18a.
const std::vector<modcod>& vlsnr_modcods();
//! Returns whether a frame size belongs to VL-SNR frames.
bool is_vlsnr(const std::string& frame_size);
//! Returns the constellation name that equals \p text after folded() is applied to both,
//! or \p text if no name does.
std::string constellation_named(const std::string& text);
//! Returns whether a standard defines a MODCOD. DVB-S2X includes the MODCODs of DVB-S2.
bool is_of(const modcod& m, const std::string& standard);

//! Throws an error which says that no MODCOD of a standard has this constellation, rate
//! and frame size. The error lists the constellations that have this rate and frame size.
//! \throws std::invalid_argument always
[[noreturn]] void refuse_constellation(const std::string& name,
                                       const std::string& rate,
                                       const std::string& frame_size,
                                       const std::string& standard = "dvbs2x");

/*!
 * \brief Returns the constellation that a standard defines for a rate and frame size.
 * \throws std::invalid_argument if the standard lacks the combination
 */
constellation make_constellation(const std::string& name,
                                 const std::string& rate,
                                 const std::string& frame_size = "normal",
                                 const std::string& standard = "dvbs2x");

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_CONSTELLATION_H */
