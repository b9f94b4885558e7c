// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parity checks and output of layered_float_kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DECISIONS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DECISIONS_CUH

#include "dvb_float.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_float {

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline std::uint32_t
layered_float_kernel<MessageEdges, Int16, Chains, External>::message_sum(unsigned i) const
{
    const auto edge = entry_of(i);
    const edge_places edges_at{ External ? edge.places().shared : 0, MessageEdges };
    std::uint32_t sum = 0;
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        sum ^= bits(get_posterior(edge.place(e, d_thread), e, edges_at));
    }
    return sum;
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
template <class Use>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::each_sum(
    unsigned first, unsigned end, float& parity_before, Use&& use) const
{
    constexpr unsigned together = MessageEdges <= 12 ? 4 : 2;
    const auto last = d_layers - 1;
    const float of_last = get_bit(d_after);
    each_loaded_ahead<check_record, together>(
        first,
        end,
        [&](unsigned i, check_record& next) { // i may be past the last layer
            load(min(i + 1, last), next);
        },
        [&](unsigned i, const check_record& next) {
            const float own_posterior = i < last ? next.posterior_before() : of_last;
            const auto sum = bits(parity_before) ^ bits(own_posterior) ^ message_sum(i);
            use(d_threads.has_check() ? sum & sign : 0);
            parity_before = own_posterior;
        });
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline unsigned
layered_float_kernel<MessageEdges, Int16, Chains, External>::satisfied() const
{
    float parity_before = get_bit(d_before);
    // The first round tests one layer, because a codeword with many errors nearly always
    // violates a check of that layer. Both chains take part in all rounds of the longer
    // chain, because each round ends with a barrier of the block.
    const auto most = max(d_table.begins[1], d_table.begins[2] - d_table.begins[1]);
    for (unsigned first = 0, end = 1; first < most; first = end, end += 12) {
        std::uint32_t sum = 0;
        each_sum(first, min(end, d_layers), parity_before, [&sum](std::uint32_t s) {
            sum |= s;
        });
        if (__syncthreads_or(sum)) {
            return 0;
        }
    }
    return 1;
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline std::uint32_t
layered_float_kernel<MessageEdges, Int16, Chains, External>::count_violated()
{
    if (d_threads.number == 0) {
        d_flags[1] = 0;
    }
    __syncthreads();
    float parity_before = get_bit(d_before);
    std::uint32_t count = 0;
    each_sum(0, d_layers, parity_before, [&](std::uint32_t s) { count += s >> 31; });
    atomicAdd(d_flags + 1, count);
    __syncthreads();
    return d_flags[1];
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::write_decisions(
    std::uint8_t* output) const
{
    auto* const out = reinterpret_cast<std::uint32_t*>(output);
    const auto K = d_table.message_bits;
    const auto all = (d_args.stop.out_bits + 31) / 32;
    if (d_j < warps * 32) {
        for (unsigned w = d_threads.chain * warps + d_j / 32; w < all;
             w += Chains * warps) {
            const unsigned bit = w * 32 + d_j % 32;
            const bool one = bit < K && bits(posterior_of(bit)) & sign;
            const auto word = __brev(__ballot_sync(~0u, one));
            if (d_j % 32 == 0) {
                out[w] = __byte_perm(word, 0, 0x0123);
            }
        }
    }
    if (d_args.stop.out_bits > K) {
        __threadfence_block();
        __syncthreads();
        const auto end = d_threads.has_check() ? d_layers : 0;
        for (unsigned i = 0; i < end; ++i) {
            if (bits(parity_posterior(i)) & sign) {
                const unsigned bit = K + d_j * d_table.q + d_first + i;
                atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
            }
        }
    }
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::write_llrs(
    const soft_writer& llrs) const
{
    for (unsigned i = 4 * d_threads.number; i < d_table.message_bits;
         i += 4 * block_threads::count) {
        const float x[] = {
            posterior_of(i), posterior_of(i + 1), posterior_of(i + 2), posterior_of(i + 3)
        };
        llrs.write_four<channel_value>(i, x);
    }
    if (!d_threads.has_check()) {
        return;
    }
    soft_writer::run<channel_value> run(llrs,
                                        d_table.message_bits + d_j * d_table.q + d_first);
    for (unsigned i = 0; i < d_layers; ++i) {
        run.add(parity_posterior(i));
    }
    run.end();
}

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DECISIONS_CUH */
