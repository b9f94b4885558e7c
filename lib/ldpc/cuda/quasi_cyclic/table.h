// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of a quasi-cyclic code, and the kinds of units that it has.
 * quasi_cyclic.cuh defines leaf, team, unit and run. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_TABLE_H
#define INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_TABLE_H

#include "common/host_device.h"
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

struct quasi_cyclic_table {
    static constexpr unsigned max_runs = 48;
    // Largest number of units per run, so that run::barriers has a bit for the end.
    static constexpr unsigned max_units = 31;
    static constexpr unsigned max_words = 2048; // largest number of words for the edges
                                                // of all units
    //! Successive units of one kind.
    struct run {
        //! One flag per unit, the first in the lowest bit: set if a barrier precedes
        //! the unit. A set bit follows the last flag.
        std::uint32_t barriers;
        std::uint16_t checks; //!< number of checks per unit; at most \c team, because a
                              //!< thread updates one check of a unit
        std::uint8_t degree;
        std::uint8_t kind;
    };
    run runs[max_runs];
    std::uint32_t run_count;
    //! In device memory: two words for each edge of each unit, the arguments of
    //! place_of(). The words of a unit are padded to whole vectors, and its leaf is the
    //! last edge.
    const std::uint32_t* edges;
    std::uint32_t edge_words;
    std::uint32_t n;           //!< number of bits of a codeword
    std::uint32_t minus_z;     //!< bits of the float −4·Z · 2^-149; Z: lifting size
    std::uint32_t leaves_from; //!< lowest position of a leaf in the codeword
    std::uint32_t team;        //!< number of threads per team
    std::uint32_t teams;       //!< number of teams per block
    //! Number of words of shared memory for a team's posteriors.
    std::uint32_t team_words;
    std::uint32_t pitch;       //!< number of checks per unit for which message memory is
                               //!< reserved; larger than team
    std::uint32_t state_words; //!< words of device memory per team: zeros, then messages
};

namespace quasi_cyclic {

constexpr unsigned flag_words =
    36; // words for the block's slot, two for each of up to 16 teams, and padding
constexpr unsigned max_teams = 16;

// Returns the smallest degree that is at least \p degree and for which a kernel has
// unrolled code.
GPUFEC_HOST_DEVICE constexpr unsigned padded_degree(unsigned degree)
{
    return degree <= 3    ? 3
           : degree <= 11 ? degree
           : degree <= 13 ? 13
           : degree <= 15 ? degree
           : degree <= 17 ? 17
           : degree <= 22 ? degree
                          : 32;
}
// Largest degree of a check with special code for its leaf. In larger checks, a leaf is
// treated like other bits.
constexpr unsigned max_leaf_degree = 10;

// A kind of units that share code. The units have the same padded degree, and either all
// units or no units have a leaf.
template <unsigned Degree, bool Leaf>
struct kind {
    static constexpr unsigned degree = Degree;
    static constexpr bool leaf = Leaf;
    static constexpr unsigned number = Degree | Leaf << 6;
    // Number of edges whose posteriors are updated: all edges except the edge to a leaf.
    static constexpr unsigned edges = Degree - Leaf;
    // Number of words of a unit in the table.
    static constexpr unsigned words = (2 * Degree + 3) / 4 * 4;
};
GPUFEC_HOST_DEVICE constexpr unsigned kind_of(unsigned degree, bool leaf)
{
    return padded_degree(degree) | unsigned(leaf) << 6;
}
// These functions return properties of a kind of unit: the number of words of a check's
// messages, whether units have a leaf, and the number of words of a unit in the table.
GPUFEC_HOST_DEVICE constexpr unsigned message_words(unsigned kind)
{
    const unsigned degree = kind & 63;
    return degree <= 8 ? 2 : degree <= 24 ? 4 : 6;
}
constexpr unsigned max_message_words = 6;
GPUFEC_HOST_DEVICE constexpr bool has_leaf(unsigned kind) { return kind >> 6; }
GPUFEC_HOST_DEVICE constexpr unsigned table_words(unsigned kind)
{
    return (2 * (kind & 63) + 3) / 4 * 4;
}

} // namespace quasi_cyclic
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_QUASI_CYCLIC_TABLE_H */
