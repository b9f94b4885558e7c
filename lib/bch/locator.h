// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Location of the errors of a BCH codeword from its remainder. */

#ifndef INCLUDED_GPUFEC_BCH_LOCATOR_H
#define INCLUDED_GPUFEC_BCH_LOCATOR_H

#include "divider.h"
#include "field.h"

namespace gr::gpufec {

/*!
 * \brief Locator of up to t errors in a codeword.
 *
 * The Berlekamp-Massey algorithm computes the error-locator polynomial from the
 * syndromes. Traces separate the roots of that polynomial (Berlekamp, "Factoring
 * polynomials over large finite fields", 1970).
 */
class bch_locator
{
public:
    explicit bch_locator(const bch_code& code);

    /*!
     * \param r remainder of the codeword, from bch_divider::divide(); not 0
     * \param filled number of unused bits in the codeword's last byte
     * \param errors result: positions of the errors, counted from the codeword's last
     *        bit, which has position 0
     * \return the number of errors, or bch_decoder_kernel::failed
     */
    int locate(const bch_divider::remainder& r,
               unsigned filled,
               unsigned errors[bch_code::max_errors]) const;

private:
    using element = bch::field::element;
    static constexpr unsigned most = bch_code::max_errors;

    //! A polynomial; at[i] is the coefficient of x^i.
    struct polynomial {
        unsigned degree;
        element at[2 * most + 2];
    };

    void syndromes(const bch_divider::remainder& r, element* s) const;
    bool recursion(const element* s, polynomial& reciprocal) const;
    bool roots(const polynomial& p, element* found) const;
    void reduce(polynomial& a, const polynomial& by) const;
    polynomial common_divisor(polynomial a, polynomial b) const;
    polynomial quotient(polynomial a, const polynomial& by) const;

    const bch::field d_field;
    const unsigned d_n, d_t;
    // Entry 128·(j − 1) + b is the value at alpha^j, for odd j, of the polynomial of byte
    // b.
    std::vector<element> d_bytes;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_LOCATOR_H */
