// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the layered int8 CPU decoder for single codewords of DVB-S2 codes. Its
 * source is compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_DVB_SINGLE_CODEWORD_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CPU_DVB_SINGLE_CODEWORD_KERNELS_H

#include "kernels.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace dvb_single_codeword {

constexpr unsigned size = 360;     // bits per group, and checks per layer
constexpr unsigned max_edges = 32; // per check

//! An edge of a layer: check j has bit (j + shift) mod 360 of the group.
struct edge {
    std::uint16_t group;
    std::uint16_t shift;
};

struct layer {
    std::uint32_t first_edge;
    std::uint32_t degree; //!< the two edges of the parity chain are the last ones
    std::uint32_t added;  //!< number of leading edges whose groups later edges have too
};

//! A code. The groups of the message are followed by q groups of parity bits: bit j of
//! group i is parity bit q·j + i. The layer of checks q·j + i has parity groups i and
//! i − 1. In the layer of i = 0, the last group, shifted by one place, replaces group
//! i − 1. The code's first check has no bit in it. Layers are in the order of decoding.
struct code_view {
    std::uint32_t message_groups;
    std::uint32_t q; //!< layers; at least 2
    std::uint32_t edges;
    std::uint32_t with_first; //!< index of the layer with the code's first check
    const layer* layers;
    const edge* edge_list;
};

struct kernel {
    //! Returns the size of the scratch memory in bytes. It must be aligned to 64 bytes.
    std::size_t (*scratch_bytes)(const code_view&);
    //! Decodes the first codeword of \p frames, without soft output. can_follow() in
    //! ../model/circulant_code.h tells whether it supports an arithmetic.
    void (*decode)(const code_view&,
                   const lanes::arithmetic&,
                   lanes::frames&,
                   void* scratch);
};

namespace baseline {
extern const kernel int8;
}
namespace avx2 {
extern const kernel int8;
}
namespace avx512 {
extern const kernel int8;
}

} // namespace dvb_single_codeword
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_DVB_SINGLE_CODEWORD_KERNELS_H */
