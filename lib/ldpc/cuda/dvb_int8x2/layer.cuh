// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* One iteration of layered_int8x2_kernel, layer after layer. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LAYER_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LAYER_CUH

#include "dvb_int8x2.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

template <class Shape>
template <bool First>
__device__ inline void layered_int8x2_kernel<Shape>::iterate()
{
    const auto q = d_layers;
    // The bit before the first chain is the neighbouring thread's bit of the last layer.
    // The bit before the second chain is the thread's own bit of the first chain's last
    // layer. No thread uses the values that are stored for the bit before check 0 and for
    // threads without a check.
    auto* const at = d_first > 0 ? parity_at(d_first - 1, d_j)
                     : d_j == 0 || !d_threads.has_check()
                         ? parity_at(d_table.q, d_j)
                         : parity_at(d_table.q - 1, d_j - 1);
    const half2 before = value_of(posterior_before());
    const std::uint32_t kept_before =
        follows_last() ? *of_last_check() << 8 : get_parity(at);
    chain c{ { layer_state(d_first), d_j },
             before,
             __hsub2(before, biased_parity(kept_before)),
             at,
             parity_at(d_first, d_j),
             d_first };
    fetched f[depth];
    prepared p[2];
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
        fetch<First>(c, k, f[k]);
    }
    if constexpr (Ahead) {
        prepare(d_first, f[0], p[0]);
        fetch<First>(c, depth, f[0]);
    }
    const auto layers = [&](unsigned count) {
#pragma unroll
        for (unsigned k = 0; k < depth; ++k) {
            if (k < count) {
                do_layer<First>(p[k % 2], p[(k + 1) % 2], f[(k + Ahead) % depth], c);
            }
        }
    };
    for (unsigned n = q / depth; n > 0; --n) {
        layers(depth);
        if (TwoChecksPerWord && n == q / depth && follows_last()) {
            // Only the upper half has a preceding bit; none precedes check 0.
            *of_last_check() = std::uint8_t(*parity_at(d_table.q, 0) >> 8);
        }
    }
    layers(q % depth);
    *d_after = bits(c.posterior);
    __syncthreads();
}

template <class Shape>
template <bool First>
__device__ inline void layered_int8x2_kernel<Shape>::do_layer(prepared& now,
                                                              prepared& next,
                                                              fetched& f,
                                                              chain& c)
{
    if constexpr (!Ahead) {
        prepare(c.layer, f, now);
    }
    const auto head = now.head;
    const auto flags = Chains > 1 && !TwoChecksPerWord ? layer_flags::of_halves(head)
                                                       : layer_flags(head);
    const auto& at = now.at;
    const unsigned degree = Irregular ? head & 0xffu : MessageEdges;
    const edge_places& edges_at = now.edges_at;

    half2 t[MessageEdges];
    const half2 t_before = now.m.variable_to_check(c.posterior, 0, now.first, now.second);
    d_threads.wait_before(flags);
    const std::uint32_t own_byte = SharedParity ? get_parity(c.own) : now.own;
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        t[e] = all(missing);
        if (!Irregular || e < degree) {
            if constexpr (External > 0) { // get_posterior() would take more registers
                t[e] =
                    value_of(e + External >= MessageEdges
                                 ? placed().get(at[e].address, e, edges_at, now.early[e])
                                 : get_posterior(at[e]));
            } else {
                t[e] = value_of(get_posterior(at[e]));
            }
        }
    }
    if constexpr (Ahead) {
        prepare(c.layer + 1, f, next);
    }
    fetch<First>(c, distance, f);
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        if (!Irregular || e < degree) {
            t[e] = now.m.variable_to_check(t[e], e + 1, now.first, now.second);
        }
    }
    const half2 own_biased = biased_parity(own_byte);
    const half2 t_own = __hsub2(own_biased, all(bias));

    half2 all_edges[MessageEdges + 2] = { t_before, t_own };
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        all_edges[e + 2] = t[e];
    }
    const auto minima = min1_of(all_edges);
    check_node_update<edges, check_messages> updated(
        minima.min1, minima.min2, d_rule, d_constants);

    const half2 before = updated.posterior(0, t_before);
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        t[e] = updated.posterior(e + 1, t[e]);
    }
#pragma unroll
    for (unsigned e = 0; e < MessageEdges; ++e) {
        if ((!Irregular || e < degree) && (e >= max_shared || !flags.shares)) {
            set_posterior(at[e], e, edges_at, t[e]);
        }
    }
    set_parity(c.at, __byte_perm(bits(__hsub2(before, c.message)), 0, 0x4420));
    if constexpr (Soft) {
        c.posterior = updated.posterior(own_edge, t_own);
    }
    updated.finish(before);
    updated.fresh.store(c.state);
    if constexpr (Soft) {
        c.message = __hsub2(c.posterior, own_biased);
    } else {
        const auto own = updated.message(t_own);
        c.message = __hfma2(own.sign, own.magnitude, all(-bias));
        c.posterior = __hadd2(own_biased, c.message);
    }
    c.at = c.own;
    c.own += pitch;
    c.state.next();
    ++c.layer;
    if (flags.shares) {
        write_shared_bits(head, degree, edges_at, at, t);
    }
    d_threads.written(flags, External);
}

template <class Shape>
__device__ inline void
layered_int8x2_kernel<Shape>::write_shared_bits(std::uint32_t head,
                                                unsigned degree,
                                                const edge_places& edges_at,
                                                const place (&at)[MessageEdges],
                                                half2 (&t)[MessageEdges])
{
    const unsigned deferred =
        max_deferred == 1 ? 1 : head >> chain_table::deferred_at & 0xfu;
#pragma unroll
    for (unsigned e = 0; e < max_deferred; ++e) {
        if (e < deferred) { // t becomes the change by this edge
            t[e] = __hsub2(t[e], value_of(get_posterior(at[e])));
        }
    }
    d_threads.wait_for_chain(); // until all threads have read their posteriors
#pragma unroll
    for (unsigned e = 0; e < max_shared; ++e) {
        if ((e >= max_deferred || e >= deferred) && (!Irregular || e < degree)) {
            set_posterior(at[e], e, edges_at, t[e]);
        }
    }
    d_threads.wait_for_chain();
    add_deferred<half2, max_deferred>(
        head,
        deferred,
        [&] { d_threads.wait_for_chain(); },
        [&](unsigned e) { return __hadd2(value_of(get_posterior(at[e])), t[e]); },
        [&](unsigned e, half2 x) { set_posterior(at[e], x); });
}

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LAYER_CUH */
