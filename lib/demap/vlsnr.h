// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols of VL-SNR frames (EN 302 307-2, 5.5.2.6): π/2-BPSK, in which the points of odd
 * symbols are rotated by 90 degrees, with or without spreading, and QPSK. */

#ifndef INCLUDED_GPUFEC_DEMAP_VLSNR_H
#define INCLUDED_GPUFEC_DEMAP_VLSNR_H

#include "demapper.h"
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::demap {

/*!
 * \brief Demapper for the symbols of VL-SNR frames.
 *
 * The demapper rotates the symbols of π/2-BPSK back, adds the symbols that carry one bit,
 * and combines each pair of bits into a QPSK symbol. The Es/N0 of the QPSK symbols is
 * higher by a factor of 2 · spreading. The demapper for QPSK then computes the LLRs.
 *
 * At the low Es/N0 of VL-SNR frames, moments of magnitudes yield a poor estimate of
 * Es/N0. For BPSK-S 1/5 at its threshold of −9.9 dB, the calculated standard deviation of
 * this estimate is 0.6 dB. π/2-BPSK has no signal on the axis across its points, so that
 * the powers on the two axes yield an estimate with a calculated standard deviation of
 * 0.2 dB.
 */
class vlsnr_demapper
{
public:
    //! \param c the constellation "pi/2-bpsk" or "qpsk"
    //! \param how method of computing LLRs
    //! \param format format of the symbols
    vlsnr_demapper(const constellation& c, method how, symbol_format format);

    /*!
     * \brief Demaps a frame, and returns the Es/N0 of its symbols in dB, as given or
     * estimated. The Es/N0 of the QPSK symbols is rounded to 1/4 dB.
     *
     * \param symbols the constellation::frame_symbols() symbols of the frame
     * \param frame_bits number of sent bits of the frame
     * \param esn0_db Es/N0 of the symbols in dB; NaN if it is to be estimated from the
     *        frame
     * \param llr result: \p frame_bits LLRs with steps_per_nat steps per nat
     */
    double demap(const void* symbols,
                 std::uint32_t frame_bits,
                 double esn0_db,
                 std::int8_t* llr);

private:
    void erase_outliers();
    int make_pairs(std::uint32_t frame_bits);

    const constellation d_constellation;
    const symbol_format d_format;
    cell_tables d_tables; // for QPSK
    demapper d_demapper;  // for QPSK
    std::vector<std::complex<float>> d_symbols, d_pairs;
    std::vector<double> d_energies, d_sorted;
};

//! Returns the symbols, of magnitude 1, of a frame of π/2-BPSK.
//! \param bits the sent bits, one per byte
std::vector<std::complex<float>> map_pi2_bpsk(const constellation& c,
                                              const std::vector<std::uint8_t>& bits);

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_VLSNR_H */
