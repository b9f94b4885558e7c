// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Assigns the butterflies of a trellis to the warps of the kernels in cuda/pbvd.cuh
 * (parallel block-based Viterbi decoder). The assignment follows the classification of
 * states in Peng, Liu, Hou and Zhao (2016), III-B. Butterfly j leads from states 2j and
 * 2j+1 to states j and j+N/2 of N. A survivor word has 16 bits of decisions for each of
 * two parallel blocks. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>

namespace gr::gpufec::viterbi {
namespace device {

//! Up to 16 butterflies of a group, which a warp computes together. The butterflies of a
//! group have the same four output words, so they share the branch metrics.
struct pbvd_chunk {
    std::uint8_t word[4]; //!< α, β, γ, θ: outputs of 2j→j, 2j→j+N/2, 2j+1→j, 2j+1→j+N/2
    std::uint16_t first; //!< index of the first butterfly in pbvd_layout::butterfly
    std::uint16_t count; //!< number of butterflies, which fill whole survivor words
};

//! The layout of a code: its chunks, and the positions of the states' decisions.
struct pbvd_layout {
    static constexpr unsigned max_chunks = 64;
    static constexpr unsigned max_listed = 512;

    std::uint32_t states;
    std::uint32_t memory; //!< K−1
    std::uint32_t warps;
    //! Number of butterflies per warp if each warp has one chunk and all chunks have the
    //! same size, otherwise 0.
    std::uint32_t even_chunk;
    std::uint32_t chunks;
    std::uint32_t words;  //!< survivor words per strip (metric_rule.h) and pair of blocks
    std::uint32_t spread; //!< largest difference of two path metrics from stage K−1 on
    pbvd_chunk chunk[max_chunks];
    std::uint8_t butterfly[max_listed]; //!< numbers j of the butterflies, chunk by chunk
    //! Index of a state's group of `history` decision bits in the survivor words of a
    //! strip.
    std::uint16_t position[256];
};

//! Groups the butterflies of a code, divides the groups into chunks, and chooses the
//! number of warps. \p history is metric_history() of the code.
pbvd_layout make_pbvd_layout(const conv_code& code, unsigned history);

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_PBVD_LAYOUT_H */
