// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The table of the edges to message bits (message edges) of a DVB-S2 code, and the class
 * that makes the table. In layer i, thread j of a kernel updates check j·q + i. The table
 * is small enough to be a parameter of the kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_TABLE_H
#define INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_TABLE_H

#include "chain_order.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * \brief The message edges of a code's layers.
 *
 * In a circulant of shift s, thread j uses bit (j − s) mod 360 of a group of 360 message
 * bits. The byte offset of the bit's posterior is that of the group plus 4·(j − s), plus
 * 1440 if j is less than s. Kernels compute these sums in floats, because integer units
 * are busier. An offset n ≥ 0 is stored as the denormal float n · 2^-149, which has the
 * same bits as the integer n. Kernels must therefore not flush denormals to 0 (--ftz).
 * The host may flush denormals, so host code must not compute with such floats.
 *
 * With two checks per word, the bits m and m + 180 of a group share a word, and thread
 * j < 180 updates checks j and j + 180. With s' = s mod 180, the thread uses word
 * (j − s') mod 180, whose halves are exchanged if either j < s' or s ≥ 180.
 *
 * A layer begins with its deferred edges in the order of their rounds (layer_plan.h). The
 * edges that write the bits of deferred edges follow. Edges to groups in device memory
 * come last.
 */
struct chain_table {
    struct edge {
        float shift; //!< shift s of the circulant
        //! The bits of the float n · 2^-149, where n is the byte offset of the group
        //! minus 4·s. n may be negative.
        std::uint32_t start;
    };
    static constexpr unsigned group = 360; //!< bits per group, and also checks per
                                           //!< layer
    //! Size in bytes of a group's posteriors.
    static constexpr unsigned bytes = 4 * group;
    static constexpr unsigned max_layers = 144, max_groups = 180;
    // The head of a layer has the number of message edges in the lowest byte, the number
    // of deferred edges in four bits from bit deferred_at, and flags. Bit
    // round_at + e is set if deferred edge e begins round 2 or a later one. Kernels may
    // test flags by comparing the 16-bit halves of a head as floats (layer_flags in
    // ../cuda/chain_threads.cuh), so neither half may be ±0 or NaN.
    static constexpr unsigned deferred_at = 8, round_at = 16;
    //! The layer has deferred edges of round 2 or later.
    static constexpr std::uint32_t several_rounds = 1u << 12;
    //! The layer has deferred edges.
    static constexpr std::uint32_t shares = 1u << 14;
    //! The chain needs a barrier before the layer, because groups of the layer have been
    //! used since the last barrier, or because a single chain is about to load parity
    //! bits that its first layer has stored.
    static constexpr std::uint32_t barrier = 1u << 15;
    //! Set in every layer, so that no half of a head is 0.
    static constexpr std::uint32_t not_zero = 1u << 25;
    //! The last layer of a phase; not set in the last phase.
    static constexpr std::uint32_t last_of_phase = 1u << 30;
    //! The first layer of a phase, before which all chains need a barrier; not set in
    //! the first phase.
    static constexpr std::uint32_t phase = 1u << 31;
    //! With two checks per word, layer 0 updates the parity bits of the last layer. After
    //! at most this many layers, the new values have reached the threads that hold these
    //! bits.
    static constexpr unsigned passed_after = 4;

    //! Returns the chain_entry of each layer (../cuda/chain_entries.cuh) as words, and
    //! after them an empty entry.
    std::vector<std::uint32_t> entries(unsigned message_edges,
                                       bool two_checks_per_word = false) const;

    std::uint32_t q;
    //! First layers of the chains, then q; see chain_order.h.
    std::uint32_t begins[3];
    std::uint32_t message_bits;
    //! Number of groups whose posteriors are in shared memory.
    std::uint32_t shared_groups;
    edge edges[880];
    std::uint32_t layer[max_layers];
    //! For each layer: shared_edges is the number of edges to groups in shared memory,
    //! which come first. From index early_edges on, the posteriors of edges are in device
    //! memory and may be read before the preceding layer is complete, because they have
    //! not changed since the barrier before that layer.
    std::uint8_t shared_edges[max_layers], early_edges[max_layers];
    //! The position of each group in memory. Positions below shared_groups are in shared
    //! memory, the others in device memory.
    std::uint8_t place[max_groups];
};

//! Returns the number of words of an edge; with two checks per word, the third word is
//! a rotation.
constexpr unsigned chain_edge_words(bool two_checks_per_word)
{
    return two_checks_per_word ? 3 : 2;
}

//! Returns the number of words of a layer's entry: edges and head, padded to vectors of
//! four words.
constexpr unsigned chain_entry_words(unsigned message_edges,
                                     bool two_checks_per_word = false)
{
    return (chain_edge_words(two_checks_per_word) * message_edges + 1 + 3) / 4 * 4;
}

//! Returns the largest number of shared edges per layer that the kernels support. An edge
//! is shared if its bit occurs in the layer more than once. No code of a standard needs
//! more.
constexpr unsigned chain_max_shared(unsigned message_edges)
{
    return message_edges <= 5    ? 2
           : message_edges <= 8  ? 4
           : message_edges <= 9  ? 5
           : message_edges <= 12 ? 6
           : message_edges <= 16 ? 7
           : message_edges <= 20 ? 9
           : message_edges <= 25 ? 12
                                 : 8;
}

//! Returns the largest number of deferred edges per layer that the kernels support.
constexpr unsigned chain_max_deferred(unsigned message_edges)
{
    return message_edges <= 5    ? 1
           : message_edges <= 8  ? 2
           : message_edges <= 12 ? 3
           : message_edges <= 16 ? 4
           : message_edges <= 20 ? 5
           : message_edges <= 25 ? 6
                                 : 4;
}

//! The maker of a code's tables, which holds the edges of each layer.
class chain_layers
{
public:
    explicit chain_layers(const ldpc_code& code);

    //! The form of a table that a kernel supports.
    struct form {
        unsigned message_edges = 0;   //!< largest number of message edges per layer
        unsigned max_shared = 0;      //!< largest number of edges per layer to bits that
                                      //!< occur in it repeatedly
        unsigned max_deferred = 0;    //!< largest number of deferred edges per layer
        unsigned shared_groups = ~0u; //!< largest number of groups in shared memory
        unsigned max_external = 0;    //!< largest number of edges per layer to groups in
                                      //!< device memory
        unsigned max_early = 0;       //!< largest number of edges per layer that are read
                                      //!< early; see early_edges
        //! Layers with fewer edges are padded with edges to the group after those in
        //! shared memory.
        bool filled = false;
        bool two_checks_per_word = false;
    };
    //! Returns the table, or null if the code does not fit the form.
    std::unique_ptr<chain_table> table(const form& f) const;

    unsigned chains() const { return d_order.chains(); }
    //! Returns the number of message bits, including shortened bits.
    unsigned message_bits() const { return d_message_bits; }
    //! Returns the largest number of message edges of a layer. Returns 0 if no kernel
    //! supports the code, because it has no addresses or a layer has no message edges.
    unsigned largest() const { return d_largest; }
    //! Returns whether layers differ in their number of message edges.
    bool irregular() const { return d_irregular; }

private:
    struct edge {
        unsigned group, shift, round;
        bool shared;
    };
    class barriers;

    //! Sets the barrier and phase flags of the layers. Returns for each layer which
    //! groups have not changed since the barrier before the preceding layer.
    std::vector<std::vector<bool>> set_barriers(chain_table& table,
                                                bool two_checks_per_word) const;
    //! Places the groups in shared or device memory. Returns false if a group that a
    //! layer has twice would be in device memory, or if there are too many groups.
    bool place_groups(chain_table& table, unsigned shared_groups) const;

    // Edges of each layer: the deferred edges by round, then the edges that write the
    // same bits, then all others.
    std::vector<std::vector<edge>> d_layers;
    chain_order d_order;
    unsigned d_message_bits, d_largest = 0;
    bool d_irregular = false;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_CHAIN_TABLE_H */
