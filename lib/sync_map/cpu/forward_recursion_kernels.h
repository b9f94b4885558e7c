// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The forward recursion of a single frame, compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CARRY_KERNELS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CARRY_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::sync_map {

//! A frame whose α is carried to its end. "real" is float or double.
struct carried_frame {
    //! Channel symbols of the words, lane by lane: frame_symbols × groups × n × lanes.
    const std::uint8_t* words;
    unsigned n, q, alphabet, frame_symbols;
    unsigned index;             //!< of the first symbol
    unsigned symbols;           //!< to carry over; indices of the code repeat
    unsigned window;            //!< drifts considered
    double insertion, deletion; //!< weights, in units of the largest transmission weight
    //! Transmission weights of reals, (n·symbols + window) × alphabet: the item received
    //! at the window's first drift of boundary 0 comes first.
    const void* transmission;
    //! Whether there are two symbols, of which each item weighs 1 for one and 0 for the
    //! other.
    bool clean;
    //! window reals, and room for a vector of lanes more; result: those of the last
    //! boundary, of sum 1 or all 0. Aligned to a vector.
    void* alpha;
    void* scratch; //!< carry_scratch() vectors
    //! Result: natural logarithm of what the sum has become, -inf if it is 0.
    double* log_sum;
};

//! Vectors of \p lanes reals in a frame's scratch memory.
constexpr std::size_t carry_scratch(unsigned window, unsigned lanes)
{
    return 2 * std::size_t(window) + lanes;
}

struct carry_kernel {
    unsigned lanes;
    unsigned real_bytes;
    void (*carry)(const carried_frame&);
};

struct carry_kernels {
    carry_kernel float32, float64;
};

namespace baseline {
extern const carry_kernels carriers;
}
namespace avx2 {
extern const carry_kernels carriers;
}
namespace avx512 {
extern const carry_kernels carriers;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CARRY_KERNELS_H */
