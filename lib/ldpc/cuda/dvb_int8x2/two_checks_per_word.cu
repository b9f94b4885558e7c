// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels that decode one codeword per block, with two of its checks in the halves of
 * a word. */

#include "variants.cuh"

namespace gr::gpufec::ldpc {
namespace device {

namespace {

template <unsigned MessageEdges, unsigned Chains = 1, bool Irregular = false>
dvb_int8x2_variant two_checks_per_word()
{
    constexpr unsigned blocks = 1;
    return variant<true, MessageEdges, true, true, Irregular, 0, blocks, Chains, true>();
}

} // namespace

dvb_int8x2_variant choose_two_checks_per_word(const chain_layers& layers)
{
    using any = dvb_int8x2_variant;
    const auto edges = layers.largest();
    // The irregular kernels also support layers with fewer edges, and regular layers that
    // have no kernel of their own.
    const auto irregular = [](auto e) { return two_checks_per_word<e, 1, true>(); };
    const auto irregular_chains = [](auto e) {
        return two_checks_per_word<e, 2, true>();
    };
#ifdef GPUFEC_FEW_KERNELS
    return layers.chains() == 2 ? at_least<any, 5>(edges, irregular_chains)
                                : at_least<any, 5>(edges, irregular);
#else
    if (layers.chains() == 2) {
        return layers.irregular() ? at_least<any, 5>(edges, irregular_chains)
                                  : equal_to<any, 2, 3, 4, 5>(edges, [](auto e) {
                                        return two_checks_per_word<e, 2>();
                                    });
    }
    any v;
    if (!layers.irregular()) {
        v = equal_to<any, 3, 4, 8, 9, 12, 16, 20, 25, 28>(
            edges, [](auto e) { return two_checks_per_word<e>(); });
    }
    return v.kernel ? v : at_least<any, 2, 5, 8, 11, 17>(edges, irregular);
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc
