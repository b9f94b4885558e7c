/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The message edges of a DVB-S2 code's layers, as the CUDA kernels for these codes want
 * them: small enough to be a parameter of the kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H
#define INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>

namespace gr {
namespace gpufec {
namespace ldpc_cuda {

/*!
 * \brief Edges of a layer: those that write before those that add, see layer_plan.h.
 *
 * The bits of a group of 360 lie in W words, one after the other (W = 360), or, folded,
 * bit m and bit m + 180 in one (W = 180). Thread j < W of a circulant of shift s, with
 * s' = s mod W, wants word (j − s') mod W, and the other half first where j < s' or
 * s ≥ W, but not both.
 *
 * With 4·j added to an entry, its lower 12 bits are 4·(j − s') mod 4096, from where
 * subtracting 4096 − 4·W, if that is possible, leads to the word; bit 12 says whether to
 * swap.
 */
struct layer_table {
    std::uint32_t q;
    std::uint32_t message_bits;
    std::uint32_t layer[135]; //!< first entry | edges << 16 | deferred << 24
    std::uint32_t entry[648]; //!< byte offset of the group << 14 | turned << 12 | …
};

struct dvbs2_layers {
    layer_table table;
    unsigned largest_degree; //!< message edges of a check
    bool irregular;          //!< layers differ in their degree
};

dvbs2_layers make_dvbs2_layers(const ldpc_code& code, bool folded);

} // namespace ldpc_cuda
} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H */
