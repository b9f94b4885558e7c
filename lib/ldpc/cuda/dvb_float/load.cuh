// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Loading of channel values for layered_float_kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LOAD_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LOAD_CUH

#include "dvb_float.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_float {

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline void layered_float_kernel<MessageEdges, Int16, Chains, External>::load(
    const channel_value* channel)
{
    load_parity(channel + d_table.message_bits);
    load_values(channel, d_table.message_bits, [&](unsigned i) {
        return reinterpret_cast<uint4*>(&posterior_of(i));
    });
    if (!d_threads.has_check()) {
        set_shared(__float_as_uint(d_thread.address), 0);
        set_bit(d_before, 0);
    }
    if (d_threads.number == 0) {
        set_bit(d_before, missing);
    }
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::load_parity(
    const channel_value* channel)
{
    const auto q = d_table.q;
    auto* const own = reinterpret_cast<const float*>(shared_words()) + d_first;
    // Number of threads whose parity bits fit in shared memory at a time. The number is a
    // multiple of eight, so that the bits are whole vectors.
    const auto rows = min(group, d_table.shared_groups * group / q / 8 * 8);
    for (unsigned first = 0; first < group; first += rows) {
        const auto count = min(rows, group - first);
        load_values(channel + first * q, count * q, [](unsigned i) {
            return reinterpret_cast<uint4*>(shared_words() + i);
        });
        __syncthreads();
        if (d_j - first < count) {
            begin_layers([&](unsigned i) { return own[(d_j - first) * q + i]; });
        }
        __syncthreads();
    }
    if (!d_threads.has_check()) {
        begin_layers([](unsigned) { return 0.0f; });
    }
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
template <class Value>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::begin_layers(Value&& value)
{
    for (unsigned i = 1; i < d_layers; ++i) {
        check_record k;
        k.begin(value(i - 1));
        at_layer(i, [&](auto* at, bool shared) { k.store_first(at, shared); });
    }
    set_bit(d_after, value(d_layers - 1));
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
template <class Place>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::load_values(
    const channel_value* channel, unsigned count, Place&& place) const
{
    constexpr unsigned per_vector = 16 / sizeof(channel_value);
    const auto* const from = reinterpret_cast<const uint4*>(channel);
    const auto vectors = count / per_vector;
    constexpr unsigned together = 6; // number of loads in flight
    constexpr auto threads = block_threads::count;
    for (unsigned i = d_threads.number; i < vectors; i += together * threads) {
        uint4 x[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            x[k] = __ldcs(from + min(i + k * threads, vectors - 1));
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            if (i + k * threads < vectors) {
                uint4* const to = place((i + k * threads) * per_vector);
                if constexpr (Int16) {
                    to[0] = four_values(x[k].x, x[k].y);
                    to[1] = four_values(x[k].z, x[k].w);
                } else {
                    to[0] = { without_sign_of_0(x[k].x),
                              without_sign_of_0(x[k].y),
                              without_sign_of_0(x[k].z),
                              without_sign_of_0(x[k].w) };
                }
            }
        }
    }
}

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LOAD_CUH */
