// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The field GF(2^m), with multiplication by tables of logarithms to the base alpha, a
 * root of the field's primitive polynomial. */

#ifndef INCLUDED_GPUFEC_BCH_FIELD_H
#define INCLUDED_GPUFEC_BCH_FIELD_H

#include <cstdint>
#include <vector>

namespace gr::gpufec::bch {

class field
{
public:
    using element = std::uint16_t;

    /*!
     * \param polynomial the primitive polynomial; bit i is the coefficient of x^i
     * \throws std::invalid_argument unless \p polynomial is primitive and of degree 3 to
     * 16
     */
    explicit field(std::uint32_t polynomial);

    unsigned degree() const { return d_degree; }
    //! Returns the number of nonzero elements.
    unsigned order() const { return d_order; }

    //! Returns alpha^e, for e below twice the order.
    element power(unsigned e) const { return d_powers[e]; }
    //! Returns the exponent e, below the order, for which alpha^e = a. \p a is nonzero.
    unsigned log(element a) const { return d_logs[a]; }

    element multiply(element a, element b) const
    {
        return a && b ? d_powers[unsigned(d_logs[a]) + d_logs[b]] : 0;
    }
    //! Returns a / b. \p b is nonzero.
    element divide(element a, element b) const
    {
        return a ? d_powers[d_logs[a] + d_order - d_logs[b]] : 0;
    }
    element square(element a) const { return a ? d_powers[2u * d_logs[a]] : 0; }

private:
    unsigned d_degree = 0, d_order = 0;
    // alpha^e for e below twice the order, so that sums of two logarithms need no modulo
    std::vector<element> d_powers;
    std::vector<element> d_logs;
};

} // namespace gr::gpufec::bch

#endif /* INCLUDED_GPUFEC_BCH_FIELD_H */
