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
    const auto edges = layers.largest();
#ifdef GPUFEC_FEW_KERNELS
    return edges > 5              ? dvb_int8x2_variant{}
           : layers.chains() == 2 ? external<Soft, 5, 2>()
                                  : external<Soft, 5>();
#else
    if (layers.chains() == 2) {
        return edges <= 2   ? external<Soft, 2, 2>()
               : edges <= 3 ? external<Soft, 3, 2>()
               : edges <= 4 ? external<Soft, 4, 2>()
               : edges <= 5 ? external<Soft, 5, 2>()
                            : dvb_int8x2_variant{};
    }
    return edges <= 5    ? external<Soft, 5>()
           : edges <= 8  ? external<Soft, 8>()
           : edges <= 9  ? external<Soft, 9>()
           : edges <= 12 ? external<Soft, 12>()
           : edges <= 16 ? external<Soft, 16>()
           : edges <= 20 ? external<Soft, 20>()
           : edges <= 25 ? external<Soft, 25>()
           : edges <= 28 ? external<Soft, 28>()
                         : dvb_int8x2_variant{};
#endif
}

} // namespace

dvb_int8x2_variant choose_external(const chain_layers& layers, bool soft)
{
    return (soft ? choice<true> : choice<false>)(layers);
}

} // namespace device
} // namespace gr::gpufec::ldpc
