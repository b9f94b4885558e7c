// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reed-Solomon codes, encoder and decoder, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_H
#define INCLUDED_GPUFEC_REED_SOLOMON_H

#include <gnuradio/gpufec/api.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A Reed-Solomon code over GF(2^8), possibly shortened.
 *
 * A symbol is a byte. Symbol j of a codeword is the coefficient of x^(n−1−j). A codeword
 * consists of k message symbols and n−k parity symbols, and is a multiple of the
 * generator polynomial, whose roots are alpha^(root_step · (first_root + j)) for j from 0
 * to n−k−1. Alpha is a root of the field's primitive polynomial. A code with n below 255
 * is the code of 255 symbols whose first 255−n symbols, the virtual fill, are 0 and are
 * not sent. This is a value type; every object is valid, and copies share their tables.
 */
class GPUFEC_API reed_solomon_code
{
public:
    static constexpr unsigned max_parity = 64;       //!< largest number of parity symbols
    static constexpr unsigned max_interleaving = 16; //!< largest interleaving depth

    /*!
     * \brief Returns the code of a standard.
     *
     * | name                   | n, k     | source                               |
     * |------------------------|----------|--------------------------------------|
     * | ccsds-223              | 255, 223 | CCSDS 131.0-B, section 4, dual basis |
     * | ccsds-239              | 255, 239 | CCSDS 131.0-B, section 4, dual basis |
     * | ccsds-223-conventional | 255, 223 | the same code in powers of alpha     |
     * | ccsds-239-conventional | 255, 239 | the same code in powers of alpha     |
     * | dvb                    | 204, 188 | EN 300 421, 4.4.2                    |
     *
     * \throws std::invalid_argument that says which names are allowed
     */
    static reed_solomon_code standard(const std::string& name);
    //! Returns the names that standard() accepts.
    static std::vector<std::string> standards();

    /*!
     * \brief Constructs a code from the primitive polynomial of its field.
     * \param n symbols of a codeword, up to 255
     * \param k symbols of a message, 1 to n−1, and at least n − max_parity
     * \param field a primitive polynomial of degree 8; bit i is the coefficient of x^i
     * \param first_root the first root is alpha^(root_step · first_root); 0 to 254
     * \param root_step alpha^root_step is the ratio of two consecutive roots; 1 to 254,
     *        and without a common divisor with 255
     * \param dual_basis true: the bytes are in the dual basis of CCSDS 131.0-B, annex F,
     *        which exists in the field 0x187 only
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    reed_solomon_code(unsigned n,
                      unsigned k,
                      unsigned field,
                      unsigned first_root,
                      unsigned root_step,
                      bool dual_basis = false);

    /*!
     * \brief Returns the code whose n and k are smaller by \p virtual_fill.
     * \param virtual_fill number of message symbols that are not sent, below k
     * \throws std::invalid_argument if \p virtual_fill is k or more
     */
    reed_solomon_code shortened(unsigned virtual_fill) const;

    //! Returns the name, such as "ccsds-223", "ccsds-223 shortened by 20" or "rs N K".
    const std::string& name() const;
    unsigned n() const;      //!< number of symbols of a codeword
    unsigned k() const;      //!< number of symbols of a message
    unsigned parity() const; //!< number of parity symbols, n−k
    unsigned t() const;      //!< number of wrong symbols that are corrected, (n−k)/2
    //! Returns the primitive polynomial of the field; bit i is the coefficient of x^i.
    unsigned field() const;
    unsigned first_root() const; //!< see the constructor
    unsigned root_step() const;  //!< see the constructor
    bool dual_basis() const;     //!< whether the bytes are in the dual basis of CCSDS

private:
    struct parameters;
    std::shared_ptr<const parameters> d_parameters;
};

/*!
 * \brief Reed-Solomon encoder of interleaved frames. Several threads may use the same
 * object.
 *
 * A frame has I codewords, where I is the interleaving depth. Byte j·I + i of a frame is
 * symbol j of codeword i. The message has the same order. This is the interleaving of
 * CCSDS 131.0-B, section 4.
 */
class GPUFEC_API reed_solomon_encoder_kernel
{
public:
    //! \param code the code
    //! \param interleaving codewords per frame, 1 to reed_solomon_code::max_interleaving
    //! \throws std::invalid_argument if the interleaving depth is out of range
    explicit reed_solomon_encoder_kernel(const reed_solomon_code& code,
                                         unsigned interleaving = 1);

    //! Encodes a message of interleaving() · k bytes to a frame of interleaving() · n
    //! bytes. \p message and \p frame may be the same address.
    void encode(const std::uint8_t* message, std::uint8_t* frame) const;

    const reed_solomon_code& code() const { return d_code; }
    unsigned interleaving() const { return d_interleaving; }

private:
    reed_solomon_code d_code;
    unsigned d_interleaving;
    std::shared_ptr<const class reed_solomon_divider> d_divider;
};

/*!
 * \brief Reed-Solomon decoder of interleaved frames. Several threads may use the same
 * object.
 *
 * The order of the bytes is that of reed_solomon_encoder_kernel. Each codeword is decoded
 * on its own, up to half the minimum distance.
 */
class GPUFEC_API reed_solomon_decoder_kernel
{
public:
    /*!
     * \param code the code
     * \param interleaving codewords per frame, 1 to reed_solomon_code::max_interleaving
     * \param variant instruction set. On x86-64: "avx512", "avx2" or "baseline"; on
     *        64-bit Arm: "neon". "": the best that the processor supports. On processors
     *        without GFNI, "avx512" runs as "avx2"
     * \throws std::invalid_argument if the interleaving depth is out of range or the
     *         processor lacks the instruction set
     */
    explicit reed_solomon_decoder_kernel(const reed_solomon_code& code,
                                         unsigned interleaving = 1,
                                         const std::string& variant = "");

    //! Count of a codeword that has too many errors.
    static constexpr int failed = -1;

    /*!
     * \brief Corrects a frame in place.
     *
     * A codeword with e erased symbols is corrected if the number of other wrong symbols
     * is at most (n−k−e)/2. The values of erased symbols are ignored, unless the received
     * symbols already form a codeword, which is then accepted.
     * \param frame interleaving() · n bytes
     * \param corrected result for each of the interleaving() codewords: the number of
     *        symbols whose value was changed, or \c failed. A codeword that could not be
     *        corrected is unchanged
     * \param erasures nullptr, or interleaving() · n bytes in the order of \p frame; a
     *        value other than 0 marks an erased symbol
     */
    void decode(std::uint8_t* frame,
                int* corrected,
                const std::uint8_t* erasures = nullptr) const;

    const reed_solomon_code& code() const { return d_code; }
    unsigned interleaving() const { return d_interleaving; }

private:
    struct tables;
    int correct(const std::uint8_t* interleaved_syndromes,
                std::uint8_t* codeword,
                const std::uint8_t* erasures) const;

    reed_solomon_code d_code;
    unsigned d_interleaving;
    std::shared_ptr<const tables> d_tables;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_H */
