// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernels that compute syndromes and search for errors. The source
 * of the kernels is compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_CPU_KERNELS_H
#define INCLUDED_GPUFEC_REED_SOLOMON_CPU_KERNELS_H

#include <cstdint>

namespace gr::gpufec::reed_solomon {

//! Distance in bytes between the syndromes of successive roots. Byte i of a root is the
//! syndrome of codeword i.
inline constexpr unsigned syndrome_stride = 16;

/*!
 * \brief Constants for kernels::syndromes().
 *
 * A vector holds \c positions consecutive symbols of each codeword in its last lanes. For
 * each lane and root beta, the kernel computes v ← v · beta^positions + symbol. At the
 * end it multiplies the lanes by powers of beta and adds the lanes of each codeword.
 */
struct syndrome_constants {
    unsigned interleaving;
    unsigned symbols;   //!< number of symbols per codeword (n)
    unsigned positions; //!< number of symbols of a codeword per vector
    unsigned roots;     //!< number of roots, a multiple of kernels::roots_per_pass
    //! Without GFNI, for each root: products with beta^positions of 16 low and 16 high
    //! nibbles. With GFNI, for each root: the product as a matrix of 8 bytes.
    const std::uint8_t* steps;
    //! Without GFNI, for each root: 8 vectors, the products of bits 7 to 0 of a symbol
    //! with the power of beta of each lane. With GFNI, for each root: one vector of these
    //! powers, in the field of GFNI. Lanes before the first position have zeros.
    const std::uint8_t* lanes;
    //! With GFNI: matrix that converts bytes of the code to elements of the field of
    //! GFNI.
    std::uint64_t conversion;
};

//! Constants for kernels::zeros().
struct search_constants {
    //! For each power i of x, 256 bytes: byte e is x^i at position e, which is
    //! alpha^(−root_step · e · i); with GFNI, as an element of the field of GFNI
    const std::uint8_t* powers;
    //! Multipliers of the 256 field elements. Without GFNI: products with 16 low and 16
    //! high nibbles. With GFNI: the element in the field of GFNI, one byte.
    const std::uint8_t* multipliers;
};

struct kernels {
    unsigned width;          //!< number of bytes per vector; 0 if there are no kernels
    unsigned roots_per_pass; //!< number of roots that are computed together
    bool gfni; //!< whether constants and syndromes are elements of the field of GFNI
    /*!
     * \brief Computes the syndromes of interleaving · symbols bytes.
     * \param sums syndrome_stride bytes for each root; byte i is that of codeword i
     */
    void (*syndromes)(const syndrome_constants& constants,
                      const std::uint8_t* frame,
                      std::uint8_t* sums);
    /*!
     * \brief Finds the zeros of a polynomial of \p degree.
     * \param coefficients field elements, that of x^0 first
     * \param found bit e % 64 of word e / 64 is set if the value at position e is 0
     */
    void (*zeros)(const search_constants& constants,
                  const std::uint8_t* coefficients,
                  unsigned degree,
                  std::uint64_t found[4]);
};

namespace gfni {
extern const kernels all;
}
namespace avx2 {
extern const kernels all;
}
namespace baseline {
extern const kernels all;
}

} // namespace gr::gpufec::reed_solomon

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_CPU_KERNELS_H */
