// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Remainders of packed bits, many at a time. */

#ifndef INCLUDED_GPUFEC_BCH_DIVIDER_H
#define INCLUDED_GPUFEC_BCH_DIVIDER_H

#include "cpu_kernels.h"
#include <gnuradio/gpufec/bch.h>
#include <array>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Divides by the generator g of a code, of degree d.
 *
 * What is written here is the remainder of the bits times x^192 by g times x^(192 − d):
 * that of the bits times x^d by g, in the upper d of 192 bits. So all codes have words of
 * the same form.
 */
class bch_divider
{
public:
    //! 192 bits, most significant word first.
    using remainder = std::array<std::uint64_t, 3>;

    //! \param variant as cpu_variant() has them
    explicit bch_divider(const bch_code& code, const std::string& variant = "");

    //! Of the first \p bits of \p bytes; the first of them is the highest coefficient.
    //! Those that fill the last byte count as zeros that follow.
    remainder divide(const std::uint8_t* bytes, std::size_t bits) const;

private:
    struct alignas(32) row {
        std::uint64_t words[4]; // the last is 0
    };

    void take_byte(remainder& r, std::uint8_t byte) const;
    void take_bytes(remainder& r, const std::uint8_t* bytes, std::size_t count) const;

    std::vector<row> d_rows; // row 256 i + b: byte b times x^(192 + 8 i)
    bch::fold_constants d_constants;
    const bch::kernels* d_kernels;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_DIVIDER_H */
