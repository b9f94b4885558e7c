// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* BCH codes, encoder and decoder, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_BCH_H
#define INCLUDED_GPUFEC_BCH_H

#include <gnuradio/gpufec/api.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A binary BCH code, possibly shortened, such as the outer codes of DVB-S2.
 *
 * The generator polynomial is the product of the distinct minimal polynomials of alpha,
 * alpha^3, … alpha^(2t−1), where alpha is a root of the field's primitive polynomial. The
 * first bit of a codeword is the coefficient of x^(n−1). A codeword consists of the k
 * message bits and n−k parity bits, which are the remainder of the message times x^(n−k)
 * divided by the generator polynomial. This is a value type; every object is valid, and
 * copies share their tables.
 */
class GPUFEC_API bch_code
{
public:
    static constexpr unsigned max_parity = 192; //!< largest number of parity bits
    static constexpr unsigned max_errors = 12;  //!< largest t of a code

    /*!
     * \brief Returns the outer BCH code that a standard combines with an LDPC code.
     *
     * | standard | frame_size                                     | rate            |
     * |----------|------------------------------------------------|-----------------|
     * | dvbs2    | normal, short                                  | 1/4 … 9/10      |
     * | dvbs2x   | normal, short                                  | 13/45, 90/180 … |
     * | dvbs2x   | vl-snr normal, vl-snr medium                   | 2/9; 1/5 …      |
     * | dvbs2x   | vl-snr short, vl-snr short sf2                 | 1/5 …           |
     * | dvbt2    | normal, short                                  | 1/2 … 5/6       |
     * | dvbt2    | short                                          | 1/4, 1/3, 2/5   |
     *
     * dvbs2x includes the rates of dvbs2. Sources: EN 302 307-1, 5.3.1 (dvbs2), EN 302
     * 307-2, 5.3.1 (dvbs2x), EN 302 755, 6.1.1 (dvbt2).
     * \param standard name of the standard
     * \param frame_size frame size of the LDPC code
     * \param rate rate of the LDPC code; rates() lists all
     * \throws std::invalid_argument that names the parameter and what is allowed
     */
    static bch_code standard(const std::string& standard,
                             const std::string& frame_size,
                             const std::string& rate);
    //! Returns the names of the standards.
    static std::vector<std::string> standards();
    //! Returns the frame sizes of a standard.
    //! \throws std::invalid_argument if \p standard is unknown
    static std::vector<std::string> frame_sizes(const std::string& standard);
    //! Returns the rates of the LDPC codes of a frame size.
    //! \throws std::invalid_argument if a parameter is unknown
    static std::vector<std::string> rates(const std::string& standard,
                                          const std::string& frame_size);

    /*!
     * \brief Constructs a code from the primitive polynomial of its field.
     * \param field a primitive polynomial of degree 3 to 16; bit i is the coefficient of
     *        x^i
     * \param n number of bits of a codeword, above the number of parity bits, up to
     *        2^degree − 1
     * \param t number of errors that are corrected, 1 to max_errors
     * \throws std::invalid_argument if a parameter is out of range, or if the code would
     *         have more than max_parity parity bits
     */
    bch_code(std::uint32_t field, unsigned n, unsigned t);

    const std::string& name() const; //!< name, such as "dvbs2 normal 1/2" or "bch N K"
    unsigned n() const;              //!< number of bits of a codeword
    unsigned k() const;              //!< number of bits of a message
    unsigned t() const;              //!< number of errors that are corrected
    //! Returns the primitive polynomial of the field; bit i is the coefficient of x^i.
    std::uint32_t field() const;
    //! Returns the coefficients (0 or 1) of x^0 to x^(n−k) of the generator polynomial.
    const std::vector<std::uint8_t>& generator() const;

private:
    struct tables;
    std::shared_ptr<const tables> d_tables;
};

//! BCH encoder of packed messages. Several threads may use the same object.
class GPUFEC_API bch_encoder_kernel
{
public:
    explicit bch_encoder_kernel(const bch_code& code);

    //! Encodes the k() bits of a message to the n() bits of a codeword. Both have eight
    //! bits per byte, the first most significant. The codeword is padded to a byte with
    //! zeros. \p message and \p codeword may be the same address.
    void encode(const std::uint8_t* message, std::uint8_t* codeword) const;

    const bch_code& code() const { return d_code; }

private:
    bch_code d_code;
    std::shared_ptr<const class bch_divider> d_divider;
};

//! BCH decoder of packed codewords. Several threads may use the same object.
class GPUFEC_API bch_decoder_kernel
{
public:
    //! \param code the code
    //! \param variant instruction set, "avx512", "avx2" or "baseline", on 64-bit Arm
    //!        "neon"; "": the best that the processor has
    explicit bch_decoder_kernel(const bch_code& code, const std::string& variant = "");

    //! Result of decode() if the codeword has too many errors.
    static constexpr int failed = -1;

    /*!
     * \brief Corrects up to t() errors in place.
     * \param codeword n() bits, eight per byte, the first most significant; padding bits
     *        in the last byte are ignored
     * \return the number of corrected bits, or \c failed. If decoding failed, the
     *         codeword is unchanged
     */
    int decode(std::uint8_t* codeword) const;

    const bch_code& code() const { return d_code; }

private:
    bch_code d_code;
    std::shared_ptr<const class bch_divider> d_divider;
    std::shared_ptr<const class bch_locator> d_locator;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_H */
