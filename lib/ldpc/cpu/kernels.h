// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the layered CPU decoder with one codeword per SIMD lane. Its source is
 * compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CPU_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace lanes {

constexpr unsigned max_lanes = 32;
constexpr unsigned max_degree = 4096;

/*! \brief An edge of a check in its layer.
 *
 * The array of posteriors has more than n entries. Copies and differences follow the n
 * posteriors. Copies of the posteriors of shared bits, which occur in the layer more than
 * once, are made before the layer. Differences of deferred edges are added after the
 * layer. */
struct edge {
    std::uint32_t from; //!< index of the posterior or its copy
    std::uint32_t to;   //!< index for the new posterior or difference
};

struct layer {
    std::uint32_t first, last;             //!< range of checks; last is exclusive
    std::uint32_t first_copy, last_copy;   //!< range in code_view::copies, last exclusive
    std::uint32_t first_added, last_added; //!< range in code_view::added, last exclusive
};

//! Indices of a posterior and its copy, or of a difference and the posterior to which it
//! is added.
struct transfer {
    std::uint32_t from, to;
};

struct check {
    std::uint32_t first_edge;
    std::uint32_t degree;
    std::uint32_t deferred; //!< bit e is set if edge e is deferred; e is below 32
};

struct code_view {
    std::uint32_t n;
    std::uint32_t places; //!< number of entries: posteriors, copies and differences
    std::uint32_t edges;
    const layer* layers;
    std::uint32_t layer_count;
    const check* checks; //!< checks in the order of decoding
    std::uint32_t check_count;
    const std::uint32_t* bits; //!< index of each edge's bit
    const edge* edge_list; //!< edges that replace \c bits in layers that add differences
    const transfer* copies;
    const transfer* added;
};

struct arithmetic { // copies of the members of message_rule with the same names
    float offset;
    struct declining {
        static constexpr std::uint32_t most = 8; //!< from this degree on, the offset is
                                                 //!< constant
        float base, per_edge;
    } offset_x2_others, offset_x2_min;
    std::uint32_t kept_bits;
    float decline;
    float message_limit;
    float channel_limit;
    float normalization;
    int sixteenths;
};

struct frames {
    unsigned count;                     //!< number of codewords, 1 to kernel::lanes
    const void* channel[max_lanes];     //!< n quantised values of each codeword: int8,
                                        //!< int16 or float
    std::uint8_t* decisions[max_lanes]; //!< decisions of each codeword: out_bits bits,
                                        //!< the first bit most significant
    std::uint32_t out_bits;
    unsigned max_iterations;
    bool early_stop;
    std::int8_t* soft[max_lanes]; //!< n LLRs of each codeword; soft[0] is null if LLRs
                                  //!< are not requested
    float soft_factor[max_lanes];
    bool extrinsic; //!< whether the channel value is subtracted from LLRs
    std::uint16_t iterations[max_lanes];  //!< result: number of iterations
    std::uint32_t unsatisfied[max_lanes]; //!< result: number of violated checks; must be
                                          //!< 0 before decoding
};

struct kernel {
    unsigned lanes;
    //! Returns the size of the scratch memory in bytes. The memory must be aligned to 64
    //! bytes.
    std::size_t (*scratch_bytes)(const code_view&);
    void (*decode)(const code_view&, const arithmetic&, frames&, void* scratch);
};

struct kernels {
    kernel int8, int16, float32;
};

namespace baseline {
extern const kernels all;
}
namespace avx2 {
extern const kernels all;
}
namespace avx512 {
extern const kernels all;
}

} // namespace lanes
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_KERNELS_H */
