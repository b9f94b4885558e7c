// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC encoding and decoding of Wi-Fi PPDUs, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_WIFI_H
#define INCLUDED_GPUFEC_WIFI_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/ldpc.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief The LDPC codewords of a PPDU (IEEE 802.11-2020, 19.3.11.7.5).
 *
 * The payload of a PPDU is the SERVICE field and the PSDU, after scrambling. Its bits are
 * distributed to codewords of one code, which are shortened, and then punctured or
 * repeated so that they fill a whole number of OFDM symbols. The codewords of a PPDU
 * differ by at most one bit in their numbers of shortened, punctured and repeated bits.
 * This is a value type; every object is valid.
 */
class GPUFEC_API wifi_ppdu
{
public:
    static constexpr unsigned max_psdu_bytes = 65535; //!< the longest PSDU of HT PPDUs
    static constexpr unsigned max_symbol_bits = 65535;
    static constexpr unsigned service_bits = 16; //!< number of bits of the SERVICE field

    /*!
     * \param psdu_bytes length of the PSDU in bytes, 1 to max_psdu_bytes
     * \param symbol_bits number of coded bits per OFDM symbol (N_CBPS), 1 to
     *        max_symbol_bits
     * \param rate "1/2", "2/3", "3/4" or "5/6"
     * \param stbc whether space-time block coding is used, so that the number of symbols
     *        is even (m_STBC is 2)
     * \throws std::invalid_argument if a parameter is not allowed
     */
    wifi_ppdu(unsigned psdu_bytes,
              unsigned symbol_bits,
              const std::string& rate,
              bool stbc = false);

    //! Returns the number of bits of SERVICE field and PSDU (N_pld).
    unsigned payload_bits() const { return d_payload_bits; }
    //! Returns the number of bits that are sent (N_avbits).
    unsigned coded_bits() const { return d_coded_bits; }
    //! Returns the number of OFDM symbols (N_SYM).
    unsigned symbols() const { return d_coded_bits / d_symbol_bits; }
    //! Returns the number of codewords (N_CW).
    unsigned codewords() const { return unsigned(d_code_of.size()); }
    //! Returns the codeword length before shortening and puncturing (L_LDPC).
    unsigned codeword_bits() const { return d_codes[0].n(); }
    unsigned shortened() const { return d_shortened; } //!< total number of bits (N_shrt)
    unsigned punctured() const { return d_punctured; } //!< total number of bits (N_punc)
    unsigned repeated() const { return d_repeated; }   //!< total number of bits (N_rep)

    /*!
     * \brief Returns the different codes of the codewords, at most three.
     *
     * In sent_positions() of a code with repetitions, the position of a repeated bit
     * occurs more than once. ldpc_array_decoder refuses such a code.
     */
    const std::vector<ldpc_code>& codes() const { return d_codes; }
    //! Returns the index in codes() of the code of codeword \p codeword, from 0.
    //! \throws std::out_of_range if there is no such codeword
    unsigned code_of(unsigned codeword) const { return d_code_of.at(codeword); }

    //! Encodes payload_bits() bits to coded_bits() bits, one per byte.
    void encode(const std::uint8_t* payload, std::uint8_t* coded) const;

    //! Returns the index of the payload bit that is sent as bit \p coded, or of the
    //! nearest payload bit before it.
    unsigned payload_bit(unsigned coded) const;
    //! Returns the index of the first coded bit that carries bit \p payload.
    unsigned coded_bit(unsigned payload) const;

private:
    unsigned d_payload_bits, d_symbol_bits, d_coded_bits;
    unsigned d_shortened, d_punctured, d_repeated;
    std::vector<ldpc_code> d_codes;
    std::vector<unsigned> d_code_of; // index of each codeword's code
    // Index of the first payload bit and the first coded bit of each codeword; then the
    // number of all bits.
    std::vector<unsigned> d_first_payload, d_first_coded;
};

/*!
 * \brief Makes a decoder of PPDUs.
 *
 * A frame of this decoder is a PPDU, whose input is coded_bits() channel values and whose
 * output is payload_bits() bits. The status of a PPDU has the largest number of
 * iterations of its codewords and the sum of their violated checks. select() accepts only
 * code 0; code(0) is the code of the first codeword.
 * \param ppdu the format of all PPDUs
 * \param options parameters of the decoder; \c codes is ignored. The output is messages,
 *        so codeword, keep_codeword, soft and keep_soft must have their defaults, and so
 *        must symbols. The batch size is counted in codewords.
 * \param hooks callbacks
 * \throws std::invalid_argument if an option is not allowed
 * \throws std::runtime_error if CUDA is required and cannot be used
 */
GPUFEC_API ldpc_decoder::sptr make_wifi_ppdu_decoder(const wifi_ppdu& ppdu,
                                                     const ldpc_options& options,
                                                     decoder_hooks hooks = {});

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_WIFI_H */
