// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes the distance spectrum of a convolutional code, and the union bound on its
 * error rate. */

#ifndef INCLUDED_GPUFEC_VITERBI_DISTANCE_SPECTRUM_H
#define INCLUDED_GPUFEC_VITERBI_DISTANCE_SPECTRUM_H

#include <gnuradio/gpufec/viterbi.h>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief The distance spectrum of a (punctured) code.
 *
 * The spectrum counts the paths that leave the all-zero path once, at any stage of one
 * puncturing period, and return to the all-zero path.
 */
class distance_spectrum
{
public:
    //! One Hamming distance of the spectrum.
    struct line {
        unsigned distance;
        double paths; //!< number of paths with this distance
        double bits;  //!< number of information bits that are 1 on these paths
    };

    /*!
     * \param terms number of consecutive distances, beginning with the free distance
     * \throws std::invalid_argument if the code is catastrophic
     */
    explicit distance_spectrum(const conv_code& code, unsigned terms = 12);

    const std::vector<line>& lines() const { return d_lines; }
    unsigned free_distance() const { return d_lines.front().distance; }

    /*!
     * \brief Returns the union bound on the bit error rate of soft maximum-likelihood
     * decoding.
     *
     * The bound is for unquantised BPSK over AWGN, and includes only the computed terms
     * of the spectrum. At low Eb/N0 the bound is far above the true rate. For K=7 it is
     * tight from about 5 dB (A. J. Viterbi, "Convolutional codes and their performance in
     * communication systems", IEEE Transactions on Communication Technology, 1971).
     * \param ebn0_db Eb/N0 in dB
     */
    double bit_error_bound(double ebn0_db) const;

private:
    double d_rate;
    unsigned d_period;
    std::vector<line> d_lines;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_DISTANCE_SPECTRUM_H */
