// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernels that decode pairs of codewords are told, and which there are. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H

#include "cuda_block_plan.h"
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

struct pair_arguments : block_arguments {
    // Pairs of halves: what leaves with a least magnitude m is span · (0 … 1 of
    // m · slope + floor), rounded to a unit.
    std::uint32_t slope, floor, span;
    std::uint32_t at_once; // codewords a block takes: one or two
    bool wrap_shared;
    const std::uint32_t* entries; // of a chain_table
    // Constants that the compiler is not to know, so that it keeps them in registers:
    // the high bytes of halves from 0.5 on; halves, twice each.
    std::uint32_t halves = 0x38383838u;
    std::uint32_t ones = 0x3c003c00u;
    std::uint32_t per_unit = 0x68006800u;   // 2048
    std::uint32_t four_edges = 0xd400d400u; // −64
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H */
