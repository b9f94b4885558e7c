/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The message edges of a DVB-S2 code's layers, as the CUDA kernel for these codes wants
 * them: small enough to be a parameter of the kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H
#define INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>

namespace gr {
namespace gpufec {
namespace ldpc_cuda {

//! Edges of a layer: those that write before those that add, see layer_plan.h.
struct layer_table {
    std::uint32_t q;
    std::uint32_t message_bits;
    std::uint32_t layer[135]; //!< first entry | edges << 16 | deferred << 24
    std::uint32_t entry[648]; //!< byte offset of the group << 14 | 1440 − 4 · shift
};

struct dvbs2_layers {
    layer_table table;
    unsigned largest_degree; //!< message edges of a check
    bool irregular;          //!< layers differ in their degree
};

dvbs2_layers make_dvbs2_layers(const ldpc_code& code);

} // namespace ldpc_cuda
} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H */
