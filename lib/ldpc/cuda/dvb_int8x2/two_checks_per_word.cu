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
    const auto edges = layers.largest();
#ifdef GPUFEC_FEW_KERNELS
    return edges > 5              ? dvb_int8x2_variant{}
           : layers.chains() == 2 ? two_checks_per_word<5, 2, true>()
                                  : two_checks_per_word<5, 1, true>();
#else
    if (layers.chains() == 2) {
        if (layers.irregular()) {
            return edges <= 5 ? two_checks_per_word<5, 2, true>() : dvb_int8x2_variant{};
        }
        switch (edges) {
        case 2:
            return two_checks_per_word<2, 2>();
        case 3:
            return two_checks_per_word<3, 2>();
        case 4:
            return two_checks_per_word<4, 2>();
        case 5:
            return two_checks_per_word<5, 2>();
        }
        return {};
    }
    if (!layers.irregular()) {
        switch (edges) {
        case 3:
            return two_checks_per_word<3>();
        case 4:
            return two_checks_per_word<4>();
        case 8:
            return two_checks_per_word<8>();
        case 9:
            return two_checks_per_word<9>();
        case 12:
            return two_checks_per_word<12>();
        case 16:
            return two_checks_per_word<16>();
        case 20:
            return two_checks_per_word<20>();
        case 25:
            return two_checks_per_word<25>();
        case 28:
            return two_checks_per_word<28>();
        }
    }
    // These kernels also support layers with fewer edges, and regular layers that have no
    // kernel above.
    return edges <= 2    ? two_checks_per_word<2, 1, true>()
           : edges <= 5  ? two_checks_per_word<5, 1, true>()
           : edges <= 8  ? two_checks_per_word<8, 1, true>()
           : edges <= 11 ? two_checks_per_word<11, 1, true>()
           : edges <= 17 ? two_checks_per_word<17, 1, true>()
                         : dvb_int8x2_variant{};
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc
