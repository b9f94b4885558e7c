// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The choice of an int8 kernel for a DVB-S2 code. Kernels with and without LLR output are
 * compiled from different files. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH

#include "dvb_int8x2.cuh"

namespace gr::gpufec::ldpc {
namespace device {

// A kernel, the form of its table, and the size of its scratch memory.
struct dvb_int8x2_variant {
    void (*kernel)(chain_table, int8x2_arguments) = nullptr;
    chain_layers::form form;
    std::size_t (*state_words)(const chain_table& table) = nullptr;
    std::size_t (*shared_bytes)(unsigned q, unsigned shared_groups, bool wrap) = nullptr;
    unsigned threads = 0;
};

//! Returns the variant for a code's layers. \p small is set for frames of up to 16,200
//! bits. The kernel is null if no variant supports the layers.
dvb_int8x2_variant choose_dvb_int8x2(const chain_layers& layers, bool small);
//! Returns the variant with LLR output; see choose_dvb_int8x2().
dvb_int8x2_variant choose_soft_dvb_int8x2(const chain_layers& layers, bool small);
//! Returns the variant with two checks per word. Its kernels write decisions and LLRs.
dvb_int8x2_variant choose_two_checks_per_word(const chain_layers& layers);
//! Returns the variant for codes whose posteriors do not fit in shared memory. If
//! \p soft is set, the variant writes LLRs.
dvb_int8x2_variant choose_external(const chain_layers& layers, bool soft);

namespace {

template <
    bool Soft,
    unsigned MessageEdges,
    bool SharedParity,
    bool SharedTable,
    bool Irregular = false,
    unsigned External = 0,
    unsigned Blocks =
        Irregular || MessageEdges <= 4 || MessageEdges == 8 || MessageEdges == 9 ? 2 : 1,
    unsigned Chains = 1,
    bool TwoChecksPerWord = false>
dvb_int8x2_variant variant()
{
    using shape = dvb_int8x2::kernel_shape<MessageEdges,
                                           SharedParity,
                                           SharedTable,
                                           Irregular,
                                           External,
                                           Soft,
                                           Blocks,
                                           Chains,
                                           TwoChecksPerWord>;
    using d = dvb_int8x2::layered_int8x2_kernel<shape>;
    return { dvb_int8x2::decode_dvb_int8x2<shape>,
             { MessageEdges,
               d::max_shared,
               d::max_deferred,
               ~0u,
               External,
               d::max_early,
               (External > 1),
               TwoChecksPerWord },
             d::state_words,
             d::shared_bytes,
             d::threads };
}

template <bool Soft, unsigned MessageEdges, bool Irregular = false>
dvb_int8x2_variant two_chains()
{
    return variant<Soft, MessageEdges, true, true, Irregular, 0, 1, 2>();
}

#ifdef GPUFEC_FEW_KERNELS
template <bool Soft>
dvb_int8x2_variant choose(const chain_layers& layers, bool)
{
    return layers.largest() > 5   ? dvb_int8x2_variant{}
           : layers.chains() == 2 ? two_chains<Soft, 5, true>()
                                  : variant<Soft, 5, true, true, true>();
}
#else

// Returns a variant for layers of up to \p edges edges. The variant is also used for
// regular layers that have no special variant.
template <bool Soft>
dvb_int8x2_variant choose_irregular(unsigned edges)
{
    return edges <= 2    ? variant<Soft, 2, true, true, true>()
           : edges <= 5  ? variant<Soft, 5, true, true, true>()
           : edges <= 8  ? variant<Soft, 8, true, true, true>()
           : edges <= 12 ? variant<Soft, 12, false, true, true, 0, 1>()
           : edges <= 15 ? variant<Soft, 15, false, true, true, 0, 1>()
           : edges <= 18 ? variant<Soft, 18, false, true, true, 0, 1>()
           : edges <= 28 ? variant<Soft, 28, false, false, true, 0, 1>()
                         : dvb_int8x2_variant{};
}

template <bool Soft>
dvb_int8x2_variant choose_two_chains(unsigned edges, bool irregular)
{
    if (irregular) {
        return edges <= 5 ? two_chains<Soft, 5, true>() : dvb_int8x2_variant{};
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
dvb_int8x2_variant choose(const chain_layers& layers, bool small)
{
    const auto edges = layers.largest();
    if (layers.chains() == 2) {
        return choose_two_chains<Soft>(edges, layers.irregular());
    }
    // Beside the posteriors of a large code, shared memory has no space for parity bits
    // and the table.
    const bool large = layers.message_bits() > 32400;
    if (layers.irregular()) {
        // Two blocks of short frames fit on a multiprocessor.
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
                     : variant<Soft, 8, true, true, false, 0, 1>();
    case 9:
        return small ? variant<Soft, 9, true, true>()
                     : variant<Soft, 9, true, true, false, 0, 1>();
    case 12:
        return variant<Soft, 12, false, true>();
    case 16:
        return variant<Soft, 16, false, true>();
    case 20:
        return variant<Soft, 20, false, true>();
    case 25:
        return large ? variant<Soft, 25, false, false>()
                     : variant<Soft, 25, true, true>();
    case 28: // one group of the largest code does not fit in 227 KB
        return variant<Soft, 28, false, false, false, 1>();
    default:
        return choose_irregular<Soft>(edges);
    }
}
#endif

} // namespace
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH */
