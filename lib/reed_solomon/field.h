// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The field GF(2^8) with branch-free multiplication, and the two bases in which the bytes
 * of a codeword can be written. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_FIELD_H
#define INCLUDED_GPUFEC_REED_SOLOMON_FIELD_H

#include <gnuradio/gpufec/reed_solomon.h>
#include <array>
#include <cstdint>

namespace gr::gpufec::reed_solomon {

//! Arithmetic in GF(2^8) with logarithms to the base alpha, a root of the polynomial.
class field
{
public:
    using element = std::uint8_t;
    using log_type = std::uint16_t;
    static constexpr unsigned order = 255; //!< number of nonzero elements

    /*!
     * \param polynomial primitive polynomial of degree 8; bit i is the coefficient of x^i
     * \throws std::invalid_argument if \p polynomial is not such a polynomial
     */
    explicit field(unsigned polynomial);

    //! Returns alpha^e for any e.
    element power(std::int64_t e) const
    {
        return d_powers[(e % int(order) + order) % order];
    }
    //! Returns the logarithm, below 255, or no_log for 0.
    log_type log(element a) const { return d_logs[a]; }
    //! Returns the element whose logarithm is the sum of two logarithms, each of which
    //! is below 255 or no_log.
    element power_of_sum(log_type a, log_type b) const
    {
        return d_powers[unsigned(a) + b];
    }
    element multiply(element a, element b) const
    {
        return power_of_sum(d_logs[a], d_logs[b]);
    }
    //! Returns 1 / a. \p a is not 0.
    element inverse(element a) const { return d_powers[order - d_logs[a]]; }

    //! The logarithm of 0. Sums with this value are indices beyond the powers of alpha,
    //! where the table has zeros.
    static constexpr log_type no_log = 512;

private:
    std::array<element, 2 * no_log + 1> d_powers{};
    std::array<log_type, 256> d_logs{};
};

//! Conversion between the bytes of a codeword and field elements.
struct basis {
    explicit basis(const reed_solomon_code& code);

    std::array<field::element, 256> element; //!< field element of a byte
    std::array<std::uint8_t, 256> byte;      //!< byte of a field element
};

} // namespace gr::gpufec::reed_solomon

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_FIELD_H */
