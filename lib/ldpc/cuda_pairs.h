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
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H */
