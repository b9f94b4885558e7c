// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The forward recursion of a single frame, compiled once per instruction set. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_FORWARD_RECURSION_KERNELS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_FORWARD_RECURSION_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::sync_map {

//! Input and result of the forward recursion over one frame. "Real" is float or double.
struct carried_frame {
    //! Channel symbols of the words, see words_by_lane(): frame_symbols × groups × n ×
    //! lanes. A group has one word per lane.
    const std::uint8_t* words;
    unsigned n, q, alphabet, frame_symbols;
    unsigned index; //!< symbol index at which the recursion begins
    //! Number of symbols to process; may exceed frame_symbols, because indices repeat.
    unsigned symbols;
    unsigned window;            //!< number of drifts considered
    double insertion, deletion; //!< weights of an insertion and a deletion (see setup)
    //! Transmission weights: (n·symbols + window) × alphabet reals. The first weights
    //! belong to the item at boundary 0 and the window's first drift.
    const void* transmission;
    //! Set if the alphabet is 2 and each item weighs 1 for one symbol and 0 for the
    //! other.
    bool clean;
    //! α, `window` reals followed by one vector of padding, aligned to a vector. On
    //! entry: α at boundary 0. On return: α at the last boundary, with sum 1 or all 0.
    void* alpha;
    void* scratch; //!< buffer of forward_recursion_scratch() vectors
    //! Result: natural logarithm of the unscaled sum of α; −inf if that sum is 0.
    double* log_sum;
};

//! Returns the number of vectors, of \p lanes reals each, in a frame's scratch memory.
constexpr std::size_t forward_recursion_scratch(unsigned window, unsigned lanes)
{
    return 2 * std::size_t(window) + lanes;
}

struct forward_recursion_kernel {
    unsigned lanes;
    unsigned real_bytes;
    void (*carry)(const carried_frame&);
};

struct forward_recursion_kernels {
    forward_recursion_kernel float32, float64;
};

namespace baseline {
extern const forward_recursion_kernels carriers;
}
namespace avx2 {
extern const forward_recursion_kernels carriers;
}
namespace avx512 {
extern const forward_recursion_kernels carriers;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_FORWARD_RECURSION_KERNELS_H */
