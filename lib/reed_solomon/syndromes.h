// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Syndromes of the codewords of an interleaved frame. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_SYNDROMES_H
#define INCLUDED_GPUFEC_REED_SOLOMON_SYNDROMES_H

#include "cpu_kernels.h"
#include "divider.h"
#include "field.h"
#include <array>

namespace gr::gpufec {

namespace reed_solomon {

//! Returns the kernels for an instruction set; see cpu_variant().
const kernels& kernels_of(const std::string& variant);

//! Returns, for each element of \p f, its image in the field of the processor's GFNI
//! instructions, x^8 + x^4 + x^3 + x + 1. The map is an isomorphism.
std::array<std::uint8_t, 256> gfni_elements(const field& f);

} // namespace reed_solomon

/*!
 * \brief Computes the values of codewords at the roots of the generator polynomial.
 *
 * A received word is a codeword if all its syndromes are 0.
 */
class reed_solomon_syndromes
{
public:
    //! \param variant see cpu_variant()
    reed_solomon_syndromes(const reed_solomon_code& code,
                           unsigned interleaving,
                           const std::string& variant);
    reed_solomon_syndromes(const reed_solomon_syndromes&) = delete;
    reed_solomon_syndromes& operator=(const reed_solomon_syndromes&) = delete;

    //! Field elements: entry 16 j + i is syndrome j of codeword i.
    using values =
        std::array<std::uint8_t,
                   reed_solomon_code::max_parity * reed_solomon::syndrome_stride>;

    //! Computes the syndromes of a frame of interleaved words. Returns a mask in which
    //! bit i is set if word i is not a codeword. If word i is a codeword, its entries in
    //! \p syndromes may be undefined.
    unsigned compute(const std::uint8_t* frame, values& syndromes) const;

private:
    void make_constants();
    unsigned compute_from_parity(const std::uint8_t* frame, values& syndromes) const;

    reed_solomon_code d_code;
    reed_solomon::field d_field;
    reed_solomon::basis d_basis;
    reed_solomon_divider d_divider;
    const reed_solomon::kernels& d_kernels;
    reed_solomon::syndrome_constants d_constants{};
    std::vector<std::uint8_t> d_steps, d_lanes; // d_constants points to them
    // Without a kernel: entry (n−k) j + i is the logarithm of parity symbol j's factor in
    // syndrome i.
    std::vector<std::uint8_t> d_exponents;
    // With GFNI: the element of d_field for each element of the field of GFNI
    std::array<std::uint8_t, 256> d_elements;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_SYNDROMES_H */
