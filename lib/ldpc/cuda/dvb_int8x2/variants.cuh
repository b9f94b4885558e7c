// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The choice of an int8 kernel for a DVB-S2 code. Kernels with and without LLR output are
 * compiled from different files. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH

#include "dvb_int8x2.cuh"
#include "ldpc/cuda/by_size.h"

namespace gr::gpufec::ldpc {
namespace device {

// A kernel and what its launch requires.
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
//! Returns a variant with two checks per word. Its kernel writes decisions and LLRs.
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

// Returns a variant for checks with up to \p edges edges to message bits. The variant is
// also used for regular layers that have no special variant.
template <bool Soft>
dvb_int8x2_variant choose_irregular(unsigned edges)
{
    return at_least<dvb_int8x2_variant, 2, 5, 8, 12, 15, 18, 28>(edges, [](auto e) {
        return variant<Soft, e, (e <= 8), (e <= 18), true, 0, (e <= 8 ? 2 : 1)>();
    });
}

// Returns the variant for checks with exactly \p edges edges to message bits, or an empty
// variant if there is none. \p large, used with 25 edges only, means that the posteriors
// of the message bits leave no shared memory for parity bits and the table.
template <bool Soft>
dvb_int8x2_variant choose_regular(unsigned edges, bool small, bool large)
{
    return equal_to<dvb_int8x2_variant, 2, 3, 4, 5, 8, 9, 12, 16, 20, 25, 28>(
        edges, [=](auto e) {
            if constexpr (e == 8 || e == 9) {
                return small ? variant<Soft, e, true, true>()
                             : variant<Soft, e, true, true, false, 0, 1>();
            } else if constexpr (e == 25) {
                return large ? variant<Soft, e, false, false>()
                             : variant<Soft, e, true, true>();
            } else if constexpr (e == 28) {
                // The posteriors of one group of 360 bits are in device memory.
                return variant<Soft, e, false, false, false, 1>();
            } else {
                return variant<Soft, e, (e < 12), true>();
            }
        });
}

template <bool Soft>
dvb_int8x2_variant choose(const chain_layers& layers, bool small)
{
    using any = dvb_int8x2_variant;
    const auto edges = layers.largest();
    if (layers.chains() == 2) {
        return layers.irregular()
                   ? at_least<any, 5>(edges,
                                      [](auto e) { return two_chains<Soft, e, true>(); })
                   : equal_to<any, 2, 3, 4, 5>(
                         edges, [](auto e) { return two_chains<Soft, e>(); });
    }
    any v;
    if (!layers.irregular()) {
        v = choose_regular<Soft>(edges, small, layers.message_bits() > 32400);
    } else if (small && edges > 8 && edges <= 11) {
        // Two blocks of short frames fit on a multiprocessor.
        v = variant<Soft, 11, true, true, true>();
    } else if (small && edges > 12 && edges <= 17) {
        v = variant<Soft, 17, true, true, true>();
    }
    return v.kernel ? v : choose_irregular<Soft>(edges);
}
#endif

} // namespace
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_VARIANTS_CUH */
