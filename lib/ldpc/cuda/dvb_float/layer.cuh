// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* One iteration of layered_float_kernel, layer after layer. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LAYER_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LAYER_CUH

#include "dvb_float.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_float {

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
template <bool First>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::iterate()
{
    const auto q = d_layers;
    float posterior_before = get_bit(d_before);
    check_record f[depth];
    places p[2];
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
        fetch<First>(k, d_own_state + k * check_record::layer_words, f[k]);
    }
    if constexpr (ahead) {
        find(0, p[0]);
    }
    auto* outside = d_own_state;
    for (unsigned i = 0; i < q;
         i += depth, outside += depth * check_record::layer_words) {
#pragma unroll
        for (unsigned k = 0; k < depth; ++k) {
            if (i + k < q) {
                do_layer<First>(i + k,
                                outside + k * check_record::layer_words,
                                p[k % 2],
                                p[(k + 1) % 2],
                                f[k],
                                f[(k + 1) % depth],
                                posterior_before);
            }
        }
    }
    set_bit(d_after, posterior_before);
    __syncthreads();
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
template <bool First>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::do_layer(
    unsigned i,
    std::uint32_t* outside,
    places& now,
    places& next,
    check_record& fetched,
    const check_record& fetched_next,
    float& posterior_before)
{
    if constexpr (!ahead) {
        find(i, now);
    }
    const auto head = now.head;
    const auto old = fetched.unpack();
    float t[edges];
    t[before] = __fsub_rn(posterior_before, old.message(before));
    d_threads.wait_before(head);
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        t[e + 1] = get_posterior(now.at[e], e, now.edges_at, now.early[e]);
    }
    if constexpr (ahead) {
        static_assert(shared_table); // the table in shared memory has an entry past the
                                     // last layer
        find(i + 1, next);
    }
    float deferred[max_deferred]; // old messages of deferred edges
#pragma unroll
    for (unsigned e = 1; e < own; ++e) {
        const float r = old.message(e);
        t[e] = __fsub_rn(t[e], r);
        if (e <= max_deferred) {
            deferred[e - 1] = r;
        }
    }
    // The first layer of the other chain (or of this chain if there is only one) has also
    // updated the last parity bit of this chain, and has stored the bit.
    const float own_posterior =
        i + 1 == d_layers ? get_bit(d_after) : fetched_next.posterior_before();
    t[own] = __fsub_rn(own_posterior, old.message(own));
    fetch<First>(i + depth, outside + depth * check_record::layer_words, fetched);
    if constexpr (!First && early > 0) {
        prefetch(i + early, outside + early * check_record::layer_words);
    }

    std::uint32_t product = bits(t[0]);
#pragma unroll
    for (unsigned e = 1; e < edges; ++e) {
        product ^= bits(t[e]);
    }
    check_node_update<edges, Int16, pitch> updated(min1_of(t), product, d_args);

    const float new_before = __fadd_rn(t[before], updated.message(before, t[before]));
    if (i == 0) {
        set_bit(d_before, new_before);
    }
    if (head & chain_table::shares) {
        write_shared_bits(head, now, deferred, t, updated);
    } else {
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            const float r = updated.message(e + 1, t[e + 1]);
            set_posterior(now.at[e], e, now.edges_at, __fadd_rn(t[e + 1], r));
        }
    }
    d_threads.written(head, External);
    posterior_before = __fadd_rn(t[own], updated.message(own, t[own]));
    check_record fresh;
    updated.keep(fresh, new_before);
    at_layer(i, outside, [&](auto* at, bool shared) { fresh.store(at, shared); });
}

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
__device__ inline void
layered_float_kernel<MessageEdges, Int16, Chains, External>::write_shared_bits(
    std::uint32_t head,
    const places& now,
    const float (&old)[max_deferred],
    float (&t)[edges],
    check_node_update<edges, Int16, pitch>& updated) const
{
    const unsigned deferred = head >> chain_table::deferred_at & 0xfu;
    d_threads.wait_for_chain(); // until all threads have read their posteriors
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        const float r = updated.message(e + 1, t[e + 1]);
        if (e < max_deferred && e < deferred) { // t becomes the change by this edge
            t[e + 1] = __fsub_rn(r, old[e]);
        } else {
            set_posterior(now.at[e], e, now.edges_at, __fadd_rn(t[e + 1], r));
        }
    }
    d_threads.wait_for_chain();
    add_deferred<float, max_deferred>(
        head,
        deferred,
        [&] { d_threads.wait_for_chain(); },
        [&](unsigned e) {
            return __fadd_rn(get_posterior(now.at[e], e, now.edges_at), t[e + 1]);
        },
        [&](unsigned e, float x) { set_posterior(now.at[e], e, now.edges_at, x); });
}

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_LAYER_CUH */
