// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Location and values of the errors of a Reed-Solomon codeword. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_LOCATOR_H
#define INCLUDED_GPUFEC_REED_SOLOMON_LOCATOR_H

#include "cpu_kernels.h"
#include "field.h"
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Finds the errors of a codeword from its syndromes.
 *
 * The Berlekamp-Massey algorithm, started with the locator polynomial of the erasures,
 * computes the locator polynomial of all errors (Blahut, "Algebraic Codes for Data
 * Transmission", 7.4 and 9.1). The zeros of this polynomial are the positions of the
 * errors, and Forney's formula determines the values of the errors.
 */
class reed_solomon_locator
{
public:
    //! \param variant see cpu_variant()
    reed_solomon_locator(const reed_solomon_code& code, const std::string& variant);

    //! Positions of the wrong symbols, and the field elements to add to these symbols.
    //! Position 0 is the last symbol of the codeword.
    struct errors {
        unsigned count = 0;
        std::array<std::uint8_t, reed_solomon_code::max_parity> positions, values;
    };

    /*!
     * \param syndromes n−k field elements, not all 0
     * \param erased positions of erased symbols
     * \param erased_count number of erased symbols
     * \param found result; erased symbols that were correct have the value 0
     * \return whether the codeword can be corrected
     */
    bool locate(const std::uint8_t* syndromes,
                const std::uint8_t* erased,
                unsigned erased_count,
                errors& found) const;

private:
    using field = reed_solomon::field;
    using polynomial = std::array<field::element, reed_solomon_code::max_parity + 1>;

    bool recursion(const std::uint8_t* syndromes,
                   unsigned erased_count,
                   polynomial& locator,
                   unsigned& degree) const;
    bool zeros(const polynomial& locator, unsigned degree, errors& found) const;
    void values(const std::uint8_t* syndromes,
                const polynomial& locator,
                unsigned degree,
                errors& found) const;

    unsigned d_n, d_parity, d_first_root;
    field d_field;
    const reed_solomon::kernels& d_kernels;
    // search_constants describes both tables. Without a kernel, d_powers has logarithms
    // instead.
    std::vector<std::uint8_t> d_powers, d_multipliers;
    std::array<std::uint8_t, 256> d_inverses;  // alpha^(−root_step · e) for position e
    std::array<std::uint8_t, 256> d_positions; // position of an element's inverse
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_LOCATOR_H */
