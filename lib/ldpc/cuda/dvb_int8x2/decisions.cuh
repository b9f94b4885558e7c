// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parity checks and output of layered_int8x2_kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DECISIONS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DECISIONS_CUH

#include "dvb_int8x2.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

template <class Shape>
__device__ inline std::uint32_t
layered_int8x2_kernel<Shape>::message_sum(unsigned i) const
{
    const auto edge = entry_of(i);
    const auto head = edge.head();
    const unsigned degree = Irregular ? head & 0xffu : MessageEdges;
    const edge_places edges_at{ External ? edge.places().shared : 0, MessageEdges };
    std::uint32_t sum = 0;
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        if (!Irregular || e < degree) {
            sum ^= get_posterior(place_of(edge, e), e, edges_at);
        }
    }
    return sum;
}

template <class Shape>
template <class Use>
__device__ inline void layered_int8x2_kernel<Shape>::each_sum(unsigned first,
                                                              unsigned end,
                                                              std::uint32_t& before,
                                                              Use&& use) const
{
    constexpr unsigned together = MessageEdges <= 5 ? 6 : MessageEdges <= 12 ? 4 : 2;
    const auto last = d_first + d_layers - 1;
    const std::uint32_t of_last = *d_after;
    each_loaded_ahead<std::uint32_t, together>(
        d_first + first,
        d_first + end,
        [&](unsigned i, std::uint32_t& word) { // i may be past the last layer
            word = check_messages::load_decision(layer_state(min(i + 1, last)), d_j);
        },
        [&](unsigned i, std::uint32_t word) {
            const auto own = i < last ? check_messages::decision(word) : of_last;
            const auto sum = (before ^ own ^ message_sum(i)) & signs;
            use(d_threads.has_check() ? sum : 0);
            before = own;
        });
}

template <class Shape>
__device__ inline unsigned
layered_int8x2_kernel<Shape>::satisfied(unsigned candidates) const
{
    std::uint32_t before = decision_before();
    // The first round tests one layer, because a codeword with many errors nearly always
    // violates a check of that layer. Both chains take part in all rounds of the longer
    // chain, because each round ends with a barrier of the block.
    const auto most = max(d_table.begins[1], d_table.begins[2] - d_table.begins[1]);
    for (unsigned first = 0, end = 1; first < most; first = end, end += 12) {
        std::uint32_t sum = 0;
        each_sum(
            first, min(end, d_layers), before, [&sum](std::uint32_t s) { sum |= s; });
        if (__syncthreads_or(TwoChecksPerWord ? sum : sum & 0x8000u)) {
            candidates &= ~1u;
        }
        if (!TwoChecksPerWord && __syncthreads_or(sum >> 16)) {
            candidates &= ~2u;
        }
        if (candidates == 0) {
            break;
        }
    }
    return candidates;
}

template <class Shape>
__device__ inline std::uint32_t layered_int8x2_kernel<Shape>::count_violated()
{
    if (d_threads.number == 0) {
        d_flags[1] = 0;
    }
    __syncthreads();
    std::uint32_t before = decision_before();
    std::uint32_t count = 0;
    each_sum(0, d_layers, before, [&](std::uint32_t s) {
        count += TwoChecksPerWord ? unsigned(__popc(s)) : s >> 15;
    });
    atomicAdd(d_flags + 1, count);
    __syncthreads();
    return d_flags[1];
}

template <class Shape>
__device__ inline void
layered_int8x2_kernel<Shape>::write_decisions(unsigned w, std::uint8_t* output) const
{
    const auto K = d_table.message_bits;
    const auto end = (d_args.stop.out_bits + 31) / 32 * 4;
    for (unsigned i = d_threads.number; i < end; i += block_threads::count) {
        std::uint32_t byte = 0;
        if (i < K / 8) {
            byte = four_signs(four_of(2 * i, w)) << 4 | four_signs(four_of(2 * i + 1, w));
        }
        output[i] = std::uint8_t(byte);
    }
    if (d_args.stop.out_bits > K) {
        __threadfence_block();
        __syncthreads();
        auto* const out = reinterpret_cast<std::uint32_t*>(output);
        const auto end = d_threads.has_check() ? d_first + d_layers : d_first;
        for (unsigned i = d_first; i < end; ++i) {
            const auto decisions = parity_decision(i);
            for (unsigned h = first_half(w); h < end_half(w); ++h) {
                if (decisions >> (h ? 31 : 15) & 1) {
                    const unsigned bit = K + check_of(h) * d_table.q + i;
                    atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
                }
            }
        }
    }
}

template <class Shape>
__device__ inline void
layered_int8x2_kernel<Shape>::write_llrs(unsigned w, const soft_writer& llrs) const
{
    const auto K = d_table.message_bits;
    for (unsigned i = d_threads.number; i < K / 4; i += block_threads::count) {
        const auto [x, h] = four_of(i, w);
        const float four[] = { of_codeword(x.x, h),
                               of_codeword(x.y, h),
                               of_codeword(x.z, h),
                               of_codeword(x.w, h) };
        llrs.write_four<std::int8_t>(4 * i, four);
    }
    if (!d_threads.has_check()) {
        return;
    }
    // The posterior of a parity bit is its stored value plus the message from its own
    // check.
    for (unsigned h = first_half(w); h < end_half(w); ++h) {
        soft_writer::run<std::int8_t> run(llrs, K + check_of(h) * d_table.q + d_first);
        const typename check_messages::place state(layer_state(d_first), d_j);
        for (unsigned i = d_first; i < d_first + d_layers; ++i) {
            check_messages m;
            m.load(state, i - d_first);
            m.unpack();
            const half2 sum = unpacked_parity(get_parity(parity_at(i, d_j)));
            const half2 less = m.variable_to_check(
                sum, own_edge, m.first(d_constants), m.second(d_constants));
            run.add(of_codeword(bits(__hfma2(sum, all(2), __hneg2(less))), h));
        }
        run.end();
    }
}

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DECISIONS_CUH */
