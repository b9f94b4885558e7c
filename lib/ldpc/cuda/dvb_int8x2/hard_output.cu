// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for pairs of codewords that give no LLRs. */

#include "cuda_pair_variants.cuh"

namespace gr::gpufec::ldpc {
namespace device {

pair_variant choose_pairs(const chain_layers& layers, bool small)
{
    return choose<false>(layers, small);
}

} // namespace device
} // namespace gr::gpufec::ldpc
