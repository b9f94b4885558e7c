// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for DVB-S2 codes in int16 and float: one for several degrees of checks. */

#include "cuda_dvbs2.cuh"

namespace gr::gpufec::ldpc {
namespace device {

namespace {

template <unsigned MessageEdges>
__global__ void __launch_bounds__(float_lanes::threads)
    decode_float(const __grid_constant__ layer_table table,
                 const __grid_constant__ dvbs2_arguments arguments)
{
    decoder<float_lanes, MessageEdges, false, true>(table, arguments).run();
}

template <unsigned MessageEdges>
dvbs2_variant variant(const layer_table& table)
{
    return decoder<float_lanes, MessageEdges, false, true>::variant(
        decode_float<MessageEdges>, table);
}

} // namespace

dvbs2_variant choose_float_kernel(const dvbs2_layers& layers)
{
    const auto& table = layers.table;
    const auto edges = layers.largest_degree;
#ifdef GPUFEC_FEW_KERNELS
    return edges <= 5 ? variant<5>(table) : dvbs2_variant{};
#else
    return edges <= 3    ? variant<3>(table)
           : edges <= 5  ? variant<5>(table)
           : edges <= 9  ? variant<9>(table)
           : edges <= 12 ? variant<12>(table)
           : edges <= 17 ? variant<17>(table)
           : edges <= 20 ? variant<20>(table)
           : edges <= 25 ? variant<25>(table)
                         : dvbs2_variant{};
#endif
}

} // namespace device
} // namespace gr::gpufec::ldpc
