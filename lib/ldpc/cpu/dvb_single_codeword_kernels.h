// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The layered int8 decoder of the CPU for codes of DVB-S2's kind, one codeword at a time:
 * its interface to the variants of one source. */

#ifndef INCLUDED_GPUFEC_LDPC_CIRCULANT_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CIRCULANT_KERNELS_H

#include "cpu_kernels.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace circulants {

constexpr unsigned size = 360;      // of a group of bits, and of a layer
constexpr unsigned most_edges = 32; // of a check

//! Check j of a layer takes bit j + shift of a group.
struct edge {
    std::uint16_t group;
    std::uint16_t shift;
};

struct layer {
    std::uint32_t first_edge;
    std::uint32_t degree; //!< the two edges of the parity chain are the last ones
    std::uint32_t
        added; //!< edges, the first ones, whose group is that of a later one too
};

//! Groups are those of the message, then q of parity bits: bit j of parity group i is
//! number q·j + i. A layer has parity groups i and i − 1; that of group 0 has the last
//! one, turned by one place, but for its first check. Layers are in the order of
//! decoding.
struct code_view {
    std::uint32_t message_groups;
    std::uint32_t q; //!< layers; at least 2
    std::uint32_t edges;
    std::uint32_t with_first; //!< the layer of the code's first check
    const layer* layers;
    const edge* edge_list;
};

struct kernel {
    //! Bytes of scratch memory, aligned to 64.
    std::size_t (*scratch_bytes)(const code_view&);
    //! One codeword, the first of \p frames, without soft output, where a message and the
    //! offset fit in a byte together.
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

} // namespace circulants
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CIRCULANT_KERNELS_H */
