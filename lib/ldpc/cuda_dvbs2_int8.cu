// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for DVB-S2 codes in int8: one for each degree of checks. */

#include "cuda_dvbs2.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

// On a multiprocessor, as far as its registers go.
constexpr unsigned blocks_at_once(unsigned edges)
{
    return edges <= 3 ? 4 : edges <= 11 ? 3 : 2;
}

template <unsigned MessageEdges, bool SharedParity, bool Irregular>
__global__ void __launch_bounds__(half_lanes::threads, blocks_at_once(MessageEdges))
    decode_int8(const __grid_constant__ layer_table table,
                const __grid_constant__ dvbs2_arguments arguments)
{
    decoder<MessageEdges, SharedParity, Irregular>(table, arguments).run();
}

template <unsigned MessageEdges, bool Irregular = false>
dvbs2_variant variant(const layer_table& table, std::size_t shared_sm)
{
    const auto all = decoder<MessageEdges, true, Irregular>::variant(
        decode_int8<MessageEdges, true, Irregular>, table);
    const auto posteriors = decoder<MessageEdges, false, Irregular>::variant(
        decode_int8<MessageEdges, false, Irregular>, table);
    // Two blocks on a multiprocessor are worth more than parity bits in shared memory.
    const auto blocks = [shared_sm](const dvbs2_variant& v) {
        constexpr std::size_t reserved = 1024; // of a block
        return std::min<std::size_t>(2, shared_sm / (v.shared_bytes + reserved));
    };
    return blocks(posteriors) > blocks(all) ? posteriors : all;
}

} // namespace

dvbs2_variant choose_int8_kernel(const dvbs2_layers& layers, std::size_t shared_sm)
{
    const auto& table = layers.table;
    const auto edges = layers.largest_degree;
#ifdef GPUFEC_FEW_KERNELS
    return edges <= 5 ? variant<5, true>(table, shared_sm) : dvbs2_variant{};
#else
    if (layers.irregular) {
        return edges <= 5    ? variant<5, true>(table, shared_sm)
               : edges <= 11 ? variant<11, true>(table, shared_sm)
               : edges <= 17 ? variant<17, true>(table, shared_sm)
                             : dvbs2_variant{};
    }
    switch (edges) {
    case 2:
        return variant<2>(table, shared_sm);
    case 3:
        return variant<3>(table, shared_sm);
    case 4:
        return variant<4>(table, shared_sm);
    case 5:
        return variant<5>(table, shared_sm);
    case 8:
        return variant<8>(table, shared_sm);
    case 9:
        return variant<9>(table, shared_sm);
    case 12:
        return variant<12>(table, shared_sm);
    case 16:
        return variant<16>(table, shared_sm);
    case 20:
        return variant<20>(table, shared_sm);
    case 25:
        return variant<25>(table, shared_sm);
    default:
        return variant<28>(table, shared_sm);
    }
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc
