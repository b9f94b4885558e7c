// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for two codewords per word with LLR output. */

#include "variants.cuh"

namespace gr::gpufec::ldpc {
namespace device {

dvb_int8x2_variant choose_soft_dvb_int8x2(const chain_layers& layers, bool small)
{
    return choose<true>(layers, small);
}

} // namespace device
} // namespace gr::gpufec::ldpc
