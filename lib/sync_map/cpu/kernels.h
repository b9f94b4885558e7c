// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form with one frame a SIMD lane: its interface to the variants of one
 * source that are compiled for different instruction sets. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_KERNELS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_KERNELS_H

#include "carry_kernels.h"
#include "tries.h"
#include <cstddef>

namespace gr::gpufec::sync_map {

/*!
 * \brief As many frames as there are lanes, all of the same code and size.
 *
 * Every array holds one value per lane innermost. "row" is of the lattice's type,
 * "metric" of that of the boundary metrics; they differ in mixed precision alone.
 */
struct lane_frames {
    const word_tries* tries;
    unsigned symbols;           //!< decoded through; indices of the code repeat
    unsigned outputs;           //!< of which the first so many have posteriors
    unsigned window;            //!< drifts considered
    double insertion, deletion; //!< weights, in units of the largest transmission weight
    //! Transmission weights of row type, (n·symbols + window) × alphabet: the item
    //! received at the window's first drift of boundary 0 comes first.
    const void* transmission;
    const void* priors; //!< symbols × q of row type, or nullptr: all alike
    const void* start;  //!< window metrics at boundary 0
    const void* end;    //!< window metrics at the last boundary
    void* alpha;        //!< (symbols + 1) × window metrics: room for, and result of, α
    void* rows;         //!< row_vectors() × window rows of scratch
    void* posteriors;   //!< result: outputs × q metrics
    void* first_drifts; //!< result: window metrics of λ at boundary 0
    void* last_drifts;  //!< result: window metrics of λ at boundary outputs
    void* first_beta;   //!< result, unless nullptr: window rows of β at boundary 0
    void* last_beta;    //!< and at boundary outputs
    //! Result: natural logarithm of the weight of all paths; -inf if there are none.
    double* log_weight;
};

struct lane_kernel {
    unsigned lanes;
    unsigned row_bytes;    //!< of one value of a row
    unsigned metric_bytes; //!< of one metric
    void (*decode)(const lane_frames&);
};

struct lane_kernels {
    lane_kernel float32, float64, mixed;
    const carry_kernels* carriers;
};

//! Rows of scratch memory that a kernel needs.
unsigned row_vectors(const word_tries& tries);

namespace baseline {
extern const lane_kernels kernels;
}
namespace avx2 {
extern const lane_kernels kernels;
}
namespace avx512 {
extern const lane_kernels kernels;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_KERNELS_H */
