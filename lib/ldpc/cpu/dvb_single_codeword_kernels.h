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

constexpr unsigned size = 360;     // number of bits per group and of checks per layer
constexpr unsigned max_edges = 32; // largest number of edges per check

//! An edge of a layer: check j has bit (j + shift) mod 360 of the group.
struct edge {
    std::uint16_t group;
    std::uint16_t shift;
};

struct layer {
    std::uint32_t first_edge;
    std::uint32_t degree; //!< number of edges per check; the last two edges are those of
                          //!< the parity chain
    std::uint32_t added;  //!< number of leading edges whose group a later edge of the
                          //!< layer also uses
};

//! A code as groups of 360 bits. The groups of message bits come first, then q groups of
//! parity bits. Bit j of parity group i is parity bit q·j + i. The layer of checks q·j +
//! i uses parity groups i and i − 1. Layer 0 uses the last parity group, shifted by one
//! bit, in place of group −1, except that the code's first check has no bit of this
//! group. Layers are in the order of decoding.
struct code_view {
    std::uint32_t message_groups;
    std::uint32_t q; //!< number of layers; at least 2, so that groups i and i − 1 differ
    std::uint32_t edges;
    std::uint32_t with_first; //!< index of the layer with the code's first check
    const layer* layers;
    const edge* edge_list;
};

struct kernel {
    //! Returns the size of the scratch memory in bytes. The memory must be aligned to 64
    //! bytes.
    std::size_t (*scratch_bytes)(const code_view&);
    //! Decodes the first codeword of \p frames, without soft output. can_follow() in
    //! ../model/circulant_code.h returns whether the kernel supports a rule. Both
    //! pointers are null in builds for other processors than x86-64 and 64-bit Arm.
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
