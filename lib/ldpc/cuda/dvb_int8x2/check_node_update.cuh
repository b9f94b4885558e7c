// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes a check's new messages from its two minima (the check node update). min1
 * is the smallest variable-to-check magnitude. The is_min1 bit of an edge is set if its
 * variable-to-check message has this magnitude. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_CHECK_NODE_UPDATE_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_CHECK_NODE_UPDATE_CUH

#include "messages.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

// The update of one check node, in both halves of a word.
template <unsigned Edges, class Messages = messages<Edges>>
class check_node_update
{
    // Number of bytes per half of a word for the sign and is_min1 bits of all edges. Each
    // byte holds the bits of four edges.
    static constexpr unsigned octets = (Edges + 3) / 4;

public:
    Messages fresh; // complete after finish()

    // \p Rule is int8x2_arguments or rule_in_registers, which both have the message rule.
    template <class Rule>
    __device__
    check_node_update(half2 min1, half2 min2, const Rule& a, const constants& k)
        : d_constants(k)
    {
        const half2 slope = value_of(a.slope), floor = value_of(a.floor);
        const half2 span = value_of(a.span);
        const half2 first =
            __hfma2(__hfma2_sat(__habs2(min1), slope, floor), span, all(0.5f));
        const half2 other = __hfma2(__hfma2_sat(min2, slope, floor), span, all(0.5f));
        fresh.word[Messages::parts] = __byte_perm(bits(first), bits(other), 0x6420);
        d_first = __hsub2(first, all(0.5f));
        d_step = __hsub2(other, first);
        d_above = __hfma2(__habs2(min1), k.per_unit, all(1));
        d_product = (bits(min1) & signs) | k.ones;
#pragma unroll
        for (unsigned o = 0; o < octets; ++o) {
            // A byte is built as a sum that starts in the middle of its range. A positive
            // sign subtracts half the weight of its bit, a negative sign adds this half.
            const unsigned edges = Edges - 4 * o;
            d_octet[o] = all(1024 + (edges == 1   ? 64
                                     : edges == 2 ? 80
                                     : edges == 3 ? 84
                                                  : 85));
        }
    }
    struct signed_magnitude {
        half2 sign, magnitude;
    };
    // Returns the new message to the edge whose variable-to-check message is t.
    __device__ signed_magnitude message(half2 t) const
    {
        // 1 where |t| is min1, else 0
        const half2 is_min1 = __hfma2_sat(__habs2(t), all(-1 / unit), d_above);
        return { value_of((bits(t) & signs) ^ d_product),
                 __hfma2(is_min1, d_step, d_first) };
    }
    // Returns t plus the new message to edge e. Also records the sign and the is_min1 bit
    // of the edge.
    __device__ half2 posterior(unsigned e, half2 t)
    {
        const half2 is_min1 = __hfma2_sat(__habs2(t), all(-1 / unit), d_above);
        const half2 sign = value_of((bits(t) & signs) ^ d_product);
        const half2 magnitude = __hfma2(is_min1, d_step, d_first);
        const unsigned at = 6 - 2 * (e % 4); // index of the is_min1 bit; the sign is one
                                             // bit above
        auto& octet = d_octet[e / 4];
        octet =
            __hfma2(sign, e % 4 ? all(-float(1 << at)) : d_constants.four_edges, octet);
        octet = __hfma2(is_min1, all(1 << at), octet);
        return __hfma2(sign, magnitude, t);
    }
    __device__ void finish(half2 posterior_before)
    {
        constexpr unsigned parts = Messages::parts;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            const std::uint32_t high = 2 * w < octets ? bits(d_octet[2 * w]) : 0;
            const std::uint32_t low = 2 * w + 1 < octets ? bits(d_octet[2 * w + 1]) : 0;
            fresh.word[w] = __byte_perm(high, low, 0x2604);
        }
        if constexpr (Messages::few) {
            fresh.word[1] |= bits(posterior_before) >> 8 & 0x00800080u;
        } else {
            fresh.word[parts - 1] |= bits(posterior_before) >> 15 & 0x00010001u;
        }
    }

private:
    const constants& d_constants;
    half2 d_first, d_step, d_above;
    std::uint32_t d_product;
    half2 d_octet[octets];
};

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_CHECK_NODE_UPDATE_CUH */
