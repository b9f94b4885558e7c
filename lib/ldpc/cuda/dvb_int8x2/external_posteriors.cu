// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for two codewords per word that keep some posteriors in device memory,
 * because shared memory is too small for all. */

#include "variants.cuh"

namespace gr::gpufec::ldpc {
namespace device {

namespace {

template <bool Soft, unsigned MessageEdges, unsigned Chains = 1>
dvb_int8x2_variant external()
{
    constexpr bool shared_parity = false, shared_table = true, irregular = false;
    constexpr unsigned blocks = 1;
    return variant<Soft,
                   MessageEdges,
                   shared_parity,
                   shared_table,
                   irregular,
                   MessageEdges,
                   blocks,
                   Chains>();
}

template <bool Soft>
dvb_int8x2_variant choice(const chain_layers& layers)
{
    using any = dvb_int8x2_variant;
    const auto one_chain = [](auto e) { return external<Soft, e>(); };
    const auto two_chains = [](auto e) { return external<Soft, e, 2>(); };
    const auto edges = layers.largest();
#ifdef GPUFEC_FEW_KERNELS
    return layers.chains() == 2 ? at_least<any, 5>(edges, two_chains)
                                : at_least<any, 5>(edges, one_chain);
#else
    return layers.chains() == 2
               ? at_least<any, 2, 3, 4, 5>(edges, two_chains)
               : at_least<any, 5, 8, 9, 12, 16, 20, 25, 28>(edges, one_chain);
#endif
}

} // namespace

dvb_int8x2_variant choose_external(const chain_layers& layers, bool soft)
{
    return (soft ? choice<true> : choice<false>)(layers);
}

} // namespace device
} // namespace gr::gpufec::ldpc
