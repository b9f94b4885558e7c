// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The assignment of a trellis's butterflies to the warps of the pbvd kernels, after the
 * classification of states in Peng, Liu, Hou and Zhao (2016), III-B. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>

namespace gr::gpufec::viterbi {
namespace device {

//! Butterflies of one group that a warp computes together.
struct pbvd_chunk {
    std::uint8_t word[4]; //!< α, β, γ, θ: outputs of 2j→j, 2j→j+N/2, 2j+1→j, 2j+1→j+N/2
    std::uint16_t first; //!< first butterfly of the chunk in the list of butterflies
    std::uint16_t count; //!< number of butterflies, a multiple of those per survivor word
};

struct pbvd_layout {
    static constexpr unsigned max_chunks = 64;
    static constexpr unsigned max_listed = 512;

    std::uint32_t states;
    std::uint32_t memory; //!< K−1
    std::uint32_t warps;
    //! Butterflies per warp if each warp has one chunk and all chunks have the same size,
    //! otherwise 0.
    std::uint32_t even_chunk;
    std::uint32_t chunks;
    std::uint32_t words;  //!< survivor words per strip and pair of blocks
    std::uint32_t spread; //!< S: the largest difference of two settled path metrics
    pbvd_chunk chunk[max_chunks];
    std::uint8_t butterfly[max_listed];
    std::uint16_t position[256]; //!< position of a state's decisions in the survivors
};

//! Groups butterflies as the paper does, and assigns the groups to warps. \p history is
//! the number of decisions that a path metric carries, 4 or 2.
pbvd_layout make_pbvd_layout(const conv_code& code, unsigned history);

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H */
