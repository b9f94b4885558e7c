// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Which kernels for pairs of codewords there are. Those that give LLRs are compiled apart
 * from those that do not. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIR_VARIANTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIR_VARIANTS_CUH

#include "cuda_pairs.cuh"

namespace gr::gpufec::ldpc {
namespace device {

// A kernel, and what it wants to know of memory.
struct pair_variant {
    void (*kernel)(chain_table, pair_arguments) = nullptr;
    chain_layers::form form;
    std::size_t (*state_words)(unsigned q) = nullptr;
    std::size_t (*shared_bytes)(const chain_table& table, bool wrap) = nullptr;
    unsigned threads = 0;
};

//! The one for a code's layers; none has no kernel. \p small: short frames.
pair_variant choose_pairs(const chain_layers& layers, bool small);
//! The same, of those that give LLRs.
pair_variant choose_soft_pairs(const chain_layers& layers, bool small);
//! The same, folded; they give LLRs or do not.
pair_variant choose_folded(const chain_layers& layers);

namespace {

template <
    bool Soft,
    unsigned MessageEdges,
    bool SharedParity,
    bool SharedTable,
    bool Irregular = false,
    bool External = false,
    unsigned Blocks =
        Irregular || MessageEdges <= 4 || MessageEdges == 8 || MessageEdges == 9 ? 2 : 1,
    unsigned Chains = 1,
    bool Folded = false>
pair_variant variant()
{
    using d = pairs::decoder<MessageEdges,
                             SharedParity,
                             SharedTable,
                             Irregular,
                             External,
                             Soft,
                             Blocks,
                             Chains,
                             Folded>;
    return { pairs::decode_pairs<MessageEdges,
                                 SharedParity,
                                 SharedTable,
                                 Irregular,
                                 External,
                                 Soft,
                                 Blocks,
                                 Chains,
                                 Folded>,
             { MessageEdges, d::most_shared, d::most_deferred, External, false, Folded },
             d::state_words,
             d::shared_bytes,
             d::threads };
}

// For two chains of layers.
template <bool Soft, unsigned MessageEdges, bool Irregular = false>
pair_variant two_chains()
{
    return variant<Soft, MessageEdges, true, true, Irregular, false, 1, 2>();
}

#ifdef GPUFEC_FEW_KERNELS
template <bool Soft>
pair_variant choose(const chain_layers& layers, bool)
{
    return layers.largest() > 5   ? pair_variant{}
           : layers.chains() == 2 ? two_chains<Soft, 5, true>()
                                  : variant<Soft, 5, true, true, true>();
}
#else

// For checks of up to so many edges, whether layers have the same or not.
template <bool Soft>
pair_variant choose_irregular(unsigned edges)
{
    return edges <= 2    ? variant<Soft, 2, true, true, true>()
           : edges <= 5  ? variant<Soft, 5, true, true, true>()
           : edges <= 8  ? variant<Soft, 8, true, true, true>()
           : edges <= 12 ? variant<Soft, 12, false, true, true, false, 1>()
           : edges <= 15 ? variant<Soft, 15, false, true, true, false, 1>()
           : edges <= 18 ? variant<Soft, 18, false, true, true, false, 1>()
           : edges <= 28 ? variant<Soft, 28, false, false, true, false, 1>()
                         : pair_variant{};
}

template <bool Soft>
pair_variant choose_two_chains(unsigned edges, bool irregular)
{
    if (irregular) {
        return edges <= 5 ? two_chains<Soft, 5, true>() : pair_variant{};
    }
    switch (edges) {
    case 2:
        return two_chains<Soft, 2>();
    case 3:
        return two_chains<Soft, 3>();
    case 4:
        return two_chains<Soft, 4>();
    case 5:
        return two_chains<Soft, 5>();
    default:
        return {};
    }
}

template <bool Soft>
pair_variant choose(const chain_layers& layers, bool small)
{
    const auto edges = layers.largest();
    if (layers.chains() == 2) {
        return choose_two_chains<Soft>(edges, layers.irregular());
    }
    // Two blocks do not fit.
    const bool large = layers.message_bits() > 32400;
    if (layers.irregular()) {
        // Short frames, of which two blocks fit on a multiprocessor.
        return edges > 8 && edges <= 11 && small ? variant<Soft, 11, true, true, true>()
               : edges > 12 && edges <= 17 && small
                   ? variant<Soft, 17, true, true, true>()
                   : choose_irregular<Soft>(edges);
    }
    switch (edges) {
    case 2:
        return variant<Soft, 2, true, true>();
    case 3:
        return variant<Soft, 3, true, true>();
    case 4:
        return variant<Soft, 4, true, true>();
    case 5:
        return variant<Soft, 5, true, true>();
    case 8:
        return small ? variant<Soft, 8, true, true>()
                     : variant<Soft, 8, true, true, false, false, 1>();
    case 9:
        return small ? variant<Soft, 9, true, true>()
                     : variant<Soft, 9, true, true, false, false, 1>();
    case 12:
        return variant<Soft, 12, false, true>();
    case 16:
        return variant<Soft, 16, false, true>();
    case 20:
        return variant<Soft, 20, false, true>();
    case 25:
        return large ? variant<Soft, 25, false, false>()
                     : variant<Soft, 25, true, true>();
    case 28:
        return variant<Soft, 28, false, false, false, true>();
    default:
        return choose_irregular<Soft>(edges);
    }
}
#endif

} // namespace
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIR_VARIANTS_CUH */
