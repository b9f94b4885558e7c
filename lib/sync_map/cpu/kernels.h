// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form with one frame per SIMD lane: the interface of kernels.cc, which is
 * compiled once per instruction set. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_KERNELS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_KERNELS_H

#include "forward_recursion_kernels.h"
#include "sync_map/model/trie.h"
#include <cstddef>

namespace gr::gpufec::sync_map {

/*!
 * \brief Input and results of one frame per lane. All frames have the same code and size.
 *
 * The innermost dimension of every array is the lane. A "row" value has the type of
 * lattice rows, and a "metric" has the type of boundary metrics. The two types differ
 * only in mixed precision.
 */
struct lane_frames {
    const word_tries* tries;
    //! Number of symbols including the look-ahead. If this number exceeds the code's
    //! frame_symbols, the symbol indices repeat.
    unsigned symbols;
    unsigned outputs;           //!< number of symbols, from the first on, with posteriors
    unsigned window;            //!< number of drifts considered
    double insertion, deletion; //!< weights of an insertion and a deletion (see setup)
    //! Transmission weights of row type: (n·symbols + window) × alphabet values. The
    //! first weights belong to the item at boundary 0 and the window's first drift.
    const void* transmission;
    const void* priors; //!< symbols × q values of row type, or nullptr for uniform priors
    const void* start;  //!< `window` metrics at boundary 0
    const void* end;    //!< `window` metrics at the last boundary
    void* alpha;        //!< result: α at all boundaries, (symbols + 1) × window metrics
    void* rows;         //!< scratch memory for row_vectors() rows of `window` values
    void* posteriors;   //!< result: outputs × q metrics
    void* first_drifts; //!< result: drift posteriors λ at boundary 0, `window` metrics
    void* last_drifts;  //!< result: drift posteriors λ at boundary `outputs`
    //! Result, unless nullptr: β at boundary 0, `window` values of row type.
    void* first_beta;
    void* last_beta; //!< result, unless nullptr: β at boundary `outputs`
    //! Result: natural logarithm of the weight of all paths; -inf if there are none.
    double* log_weight;
};

struct lane_kernel {
    unsigned lanes;
    unsigned row_bytes;    //!< bytes of one value of a row
    unsigned metric_bytes; //!< bytes of one metric
    void (*decode)(const lane_frames&);
};

struct lane_kernels {
    lane_kernel float32, float64, mixed;
    const forward_recursion_kernels* carriers;
};

//! Returns the number of rows of scratch memory that a kernel needs.
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
