// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The message edges of a DVB-S2 code's layers, as the CUDA kernels for these codes want
 * them: small enough to be a parameter of the kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H
#define INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H

#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * \brief Edges of a layer: those that write before those that add, see layer_plan.h.
 *
 * The bits of a group of 360 lie in W = 180 words, bit m and bit m + 180 in one. Thread
 * j < W of a circulant of shift s, with s' = s mod W, wants word (j − s') mod W, with its
 * halves exchanged where either j < s' or s ≥ W.
 *
 * With z = 4·j + step and y = z, or z + 4·W where z is negative, the word is y + base
 * bytes from the first, and 15·z + y mod 32 is 16 where its halves are to be exchanged,
 * else 0: z carries s ≥ W in its lowest bit, and 4·180 is 16 mod 32.
 */
struct layer_table {
    struct edge {
        std::int32_t step; //!< −4·s' + (s ≥ W)
        std::int32_t base; //!< byte offset of the group − (s ≥ W)
    };
    std::uint32_t q;
    std::uint32_t message_bits;
    edge edges[648];
    std::uint32_t layer[135]; //!< first edge | edges << 16 | deferred << 24
    std::uint8_t order[135];  //!< of layers, see chain_order.h
    std::uint32_t second;     //!< the first layer of the second chain; q if there is none
};

struct dvbs2_layers {
    layer_table table;
    unsigned largest_degree; //!< message edges of a check
    bool irregular;          //!< layers differ in their degree
};

dvbs2_layers make_dvbs2_layers(const ldpc_code& code);

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_DVBS2_LAYERS_H */
