// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arguments of the kernels that decode two codewords, or two checks of one codeword, in
 * the halves of words. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_H
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_H

#include "ldpc/cuda/persistent_grid.h"
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

struct int8x2_arguments : block_arguments {
    // The message rule, with the same 16-bit float in both halves: the magnitude for a
    // minimum m is span · sat(m · slope + floor), rounded to a step, where sat() clamps
    // to 0 … 1.
    std::uint32_t slope, floor, span;
    std::uint32_t codewords_per_word; // one or two
    bool wrap_shared; // whether bits that pass between threads are in shared memory
    const std::uint32_t* entries; // table of edges, from chain_table::entries()
    // Constants that are passed as arguments, so that the compiler holds them in
    // registers and does not encode them in instructions. All except \c halves have the
    // same 16-bit float in both halves.
    std::uint32_t halves = 0x38383838u;     // high byte of floats from 0.5 to 0.625
    std::uint32_t ones = 0x3c003c00u;       // 1
    std::uint32_t per_unit = 0x68006800u;   // 2048
    std::uint32_t four_edges = 0xd400d400u; // −64
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_H */
