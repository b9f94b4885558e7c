// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels that decode a codeword alone, two of its checks in the halves of a word. */

#include "cuda_pair_variants.cuh"

namespace gr::gpufec::ldpc {
namespace device {

namespace {

template <unsigned MessageEdges, unsigned Chains = 1, bool Irregular = false>
pair_variant folded()
{
    constexpr unsigned blocks = 1;
    return variant<true,
                   MessageEdges,
                   true,
                   true,
                   Irregular,
                   false,
                   blocks,
                   Chains,
                   true>();
}

} // namespace

pair_variant choose_folded(const chain_layers& layers)
{
    const auto edges = layers.largest();
#ifdef GPUFEC_FEW_KERNELS
    return edges > 5              ? pair_variant{}
           : layers.chains() == 2 ? folded<5, 2, true>()
                                  : folded<5, 1, true>();
#else
    if (layers.chains() == 2) {
        if (layers.irregular()) {
            return edges <= 5 ? folded<5, 2, true>() : pair_variant{};
        }
        switch (edges) {
        case 2:
            return folded<2, 2>();
        case 3:
            return folded<3, 2>();
        case 4:
            return folded<4, 2>();
        case 5:
            return folded<5, 2>();
        }
        return {};
    }
    if (!layers.irregular()) {
        switch (edges) {
        case 3:
            return folded<3>();
        case 4:
            return folded<4>();
        case 8:
            return folded<8>();
        case 9:
            return folded<9>();
        case 12:
            return folded<12>();
        case 16:
            return folded<16>();
        case 20:
            return folded<20>();
        case 25:
            return folded<25>();
        case 28:
            return folded<28>();
        }
    }
    // For checks of up to so many edges, whether layers have the same or not.
    return edges <= 2    ? folded<2, 1, true>()
           : edges <= 5  ? folded<5, 1, true>()
           : edges <= 8  ? folded<8, 1, true>()
           : edges <= 11 ? folded<11, 1, true>()
           : edges <= 17 ? folded<17, 1, true>()
                         : pair_variant{};
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc
