// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Division of packed bits by a BCH code's generator, several bytes at a time. */

#ifndef INCLUDED_GPUFEC_BCH_DIVIDER_H
#define INCLUDED_GPUFEC_BCH_DIVIDER_H

#include "cpu_kernels.h"
#include <gnuradio/gpufec/bch.h>
#include <array>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Divider of polynomials by the generator polynomial g of a code.
 *
 * A remainder is the polynomial of the bits times x^d, modulo g, where d is the degree of
 * g. The upper d of 192 bits store the remainder, so that all codes use the same word
 * format. Equivalently, the 192 bits are the remainder of the bits times x^192 modulo g ·
 * x^(192 − d).
 */
class bch_divider
{
public:
    //! 192 bits, most significant word first.
    using remainder = std::array<std::uint64_t, 3>;

    //! \param variant one of cpu_variants(), or "" for the best variant
    explicit bch_divider(const bch_code& code, const std::string& variant = "");

    //! Returns the remainder of the first \p bits bits of \p bytes. The first bit is the
    //! highest coefficient. Unused bits of the last byte count as trailing zeros.
    remainder divide(const std::uint8_t* bytes, std::size_t bits) const;

private:
    struct alignas(32) row {
        std::uint64_t words[4]; // a remainder, padded with a zero word
    };

    void take_byte(remainder& r, std::uint8_t byte) const;
    void take_bytes(remainder& r, const std::uint8_t* bytes, std::size_t count) const;

    // Row 256·i + b holds the remainder of byte b followed by i zero bytes.
    std::vector<row> d_rows;
    bch::fold_constants d_constants;
    const bch::kernels* d_kernels;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_DIVIDER_H */
