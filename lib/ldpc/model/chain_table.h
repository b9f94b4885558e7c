// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The message edges of a DVB-S2 code's layers, for kernels in which thread j does check
 * j·q + i in layer i: small enough to be a parameter of the kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CHAIN_TABLE_H
#define INCLUDED_GPUFEC_LDPC_CHAIN_TABLE_H

#include "chain_order.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * Thread j of a circulant of shift s wants bit (j − s) mod 360 of its group. Its byte
 * offset is that of the group and 4·(j − s), and 1440 more where j is less than s. These
 * are sums of floats, since the pipe of integers is the fuller one: an offset n is n
 * times the least float there is, whose bits are n. So kernels must not take such floats
 * for 0 (--ftz), and the host, which may be told to, does not compute with them.
 *
 * Folded, bits m and m + 180 of a group share a word, and a thread j < 180 does checks j
 * and j + 180. With s' = s mod 180 it wants word (j − s') mod 180, which is found in the
 * same way, its halves exchanged where either j < s' or s ≥ 180.
 *
 * A layer begins with its deferred edges, in the order of their rounds (layer_plan.h),
 * and the edges that write the same bits follow.
 */
struct chain_table {
    struct edge {
        float shift; //!< s
        //! The offset of the group less 4·s, as bits of such a float.
        std::uint32_t start;
    };
    static constexpr unsigned group = 360;       //!< bits, and checks of a layer
    static constexpr unsigned bytes = 4 * group; //!< of a group's posteriors
    // Of a layer: degree in the lowest byte; deferred edges; what follows. Kernels may
    // compare the halves of this word as numbers (layer_flags), of which neither is 0 or
    // NaN.
    static constexpr unsigned deferred_at = 8, round_at = 16;
    //! Some deferred edges are of a group's third edge or a later one.
    static constexpr std::uint32_t several_rounds = 1u << 12;
    //! The last edge is to the group in device memory.
    static constexpr std::uint32_t external = 1u << 13;
    //! There are deferred edges.
    static constexpr std::uint32_t shares = 1u << 14;
    //! Bits of this layer were in use since the last barrier: a barrier of its chain.
    static constexpr std::uint32_t barrier = 1u << 15;
    // From round_at on, a bit for each deferred edge: the first of a round but the first.
    //! In every layer.
    static constexpr std::uint32_t not_zero = 1u << 25;
    //! The last layer of a phase but the last.
    static constexpr std::uint32_t last_of_phase = 1u << 30;
    //! The first layer of a phase but the first: a barrier of all chains.
    static constexpr std::uint32_t phase = 1u << 31;
    //! Folded, what the first layer leaves of the last one's bits is passed to the thread
    //! whose they are only after so many layers.
    static constexpr unsigned passed_after = 4;

    //! Layers as chain_entry has them.
    std::vector<std::uint32_t> entries(unsigned message_edges, bool folded = false) const;

    std::uint32_t q;
    std::uint32_t begins[3]; //!< of the chains, see chain_order.h
    std::uint32_t message_bits;
    std::uint32_t shared_groups; //!< posteriors of these are in shared memory
    edge edges[880];
    std::uint32_t layer[144];
};

//! Words of an edge: folded, a third says how it is turned.
constexpr unsigned chain_edge_words(bool folded) { return folded ? 3 : 2; }

//! Words of a layer's entry: edges, head, up to whole vectors of four.
constexpr unsigned chain_entry_words(unsigned message_edges, bool folded = false)
{
    return (chain_edge_words(folded) * message_edges + 1 + 3) / 4 * 4;
}

//! The most edges of a layer, of so many message edges, to bits that have several there,
//! for which kernels have code: what the standards' codes need.
constexpr unsigned chain_most_shared(unsigned message_edges)
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

//! How many of them are deferred.
constexpr unsigned chain_most_deferred(unsigned message_edges)
{
    return message_edges <= 5    ? 1
           : message_edges <= 8  ? 2
           : message_edges <= 12 ? 3
           : message_edges <= 16 ? 4
           : message_edges <= 20 ? 5
           : message_edges <= 25 ? 6
                                 : 4;
}

//! The layers of a code from which tables are made.
class chain_layers
{
public:
    explicit chain_layers(const ldpc_code& code);

    //! What a kernel has code for.
    struct form {
        unsigned message_edges = 0; //!< of a layer
        unsigned most_shared = 0;   //!< edges of a layer to bits that have several
        unsigned most_deferred = 0; //!< of those
        bool external = false;      //!< the last group is in device memory
        //! Edges that a layer lacks are to a group after those in shared memory.
        bool filled = false;
        bool folded = false; //!< two checks of a codeword in the halves of a word
    };
    //! None where the code does not suit the form.
    std::unique_ptr<chain_table> table(const form& f) const;

    unsigned chains() const { return d_order.chains(); }
    unsigned message_bits() const { return d_message_bits; } //!< shortened ones too
    unsigned largest() const { return d_largest; } //!< message edges of a layer; 0: none
    bool irregular() const { return d_irregular; } //!< layers differ in their degree

private:
    struct edge {
        unsigned group, shift, round;
        bool shared;
    };
    class barriers;

    void set_barriers(chain_table& table, bool folded) const;

    // Deferred edges by their rounds, those that write the same bits, the others.
    std::vector<std::vector<edge>> d_layers;
    chain_order d_order;
    unsigned d_message_bits, d_largest = 0;
    bool d_irregular = false;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CHAIN_TABLE_H */
