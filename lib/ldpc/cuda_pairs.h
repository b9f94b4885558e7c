// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the kernels that decode pairs of codewords are told, and which there are. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H

#include "cuda_kernels.h"
#include <cstdint>
#include <memory>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * \brief The message edges of a DVB-S2 code's layers.
 *
 * Thread j of a circulant of shift s wants bit (j − s) mod 360 of its group: with
 * x = 4·j + step, the lesser of x and x + 1440 as unsigned numbers is its byte offset in
 * the group.
 *
 * A layer begins with its deferred edges, in the order of their rounds (layer_plan.h),
 * and the edges that write the same bits follow.
 */
struct pair_table {
    struct edge {
        std::int32_t step;  //!< −4·s
        std::uint32_t base; //!< byte offset of the group
    };
    // Of a layer: degree in the lowest byte; deferred edges; what follows.
    static constexpr unsigned deferred_at = 8, round_at = 20;
    //! Bits of this layer were in use since the last barrier.
    static constexpr std::uint32_t barrier = 1u << 16;
    //! The last edge is to the group in device memory.
    static constexpr std::uint32_t external = 1u << 17;
    //! There are deferred edges.
    static constexpr std::uint32_t shares = 1u << 18;
    // From round_at on, a bit for each deferred edge: the first of a round.

    std::uint32_t q;
    std::uint32_t message_bits;
    std::uint32_t shared_groups; //!< posteriors of these are in shared memory
    edge edges[880];
    std::uint32_t layer[144];
};

struct pair_arguments {
    device_frames frames;
    stopping stop;
    std::uint32_t* state;     // of blocks at once
    std::uint32_t* taken;     // of its parts, one where a block has it
    std::uint32_t slots;      // parts
    std::uint32_t slots_each; // of a multiprocessor
    // Pairs of halves: what leaves with a least magnitude m is span · (0 … 1 of
    // m · slope + floor), rounded to a unit.
    std::uint32_t slope, floor, span;
    std::uint32_t at_once; // codewords a block takes: one or two
    bool wrap_shared;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_H */
