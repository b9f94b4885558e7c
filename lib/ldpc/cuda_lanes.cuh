// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of the folded kernels for DVB-S2 codes in int8: checks j and j + 180 in
 * the halves of a half2, which holds these integers exactly, in units of 2^-7: so that
 * "has the least", a difference of one step or none, is a single bit. Messages are kept
 * compressed; of a parity bit its channel value plus the message of the next check. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_LANES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_LANES_CUH

#include "cuda_dvbs2.h"
#include "cuda_soft.cuh"
#include <cuda_fp16.h>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {
namespace {

constexpr unsigned group = 360; // of bits, and of the checks of a layer

struct half_lanes {
    using value = half2;
    using parity = std::uint16_t; // as kept: two bytes, 128 added
    static constexpr unsigned lanes = 2;
    static constexpr unsigned threads = group / lanes;
    static constexpr std::uint32_t signs = 0x80008000u;
    static constexpr float unit = 1 / 128.0f; // a step
    static constexpr float missing =
        1500 * unit; // magnitude of an edge that is not there
    static constexpr float beyond = 2000 * unit;

    static __device__ std::uint32_t bits(half2 x)
    {
        return *reinterpret_cast<std::uint32_t*>(&x);
    }
    static __device__ half2 value_of(std::uint32_t x)
    {
        return *reinterpret_cast<half2*>(&x);
    }
    static __device__ half2 all(float x) { return __float2half2_rn(x); }
    static __device__ half2 add(half2 a, half2 b) { return __hadd2(a, b); }
    static __device__ half2 subtract(half2 a, half2 b) { return __hsub2(a, b); }
    static __device__ half2 magnitude(half2 a) { return __habs2(a); }
    static __device__ half2 smaller(half2 a, half2 b) { return __hmin2(a, b); }
    static __device__ half2 larger(half2 a, half2 b) { return __hmax2(a, b); }

    // What leaves with a least magnitude, plus 8, which rounds it to a step: halves up,
    // as they are made a little more.
    static __device__ half2 outgoing(half2 least, const dvbs2_arguments& a)
    {
        half2 x = __hmax2(__hsub2(least, all(a.offset)), all(0));
        x = __hmin2(x, all(a.limit));
        return __hadd2(__hfma2(x, all(a.factor), all(unit / 32)), all(8));
    }

    // Two bytes as halves: 0x4800 | b is the half 8 + b steps.
    static constexpr std::uint32_t eights = 0x48484848u;
    static __device__ half2 unpack_low(std::uint32_t x)
    {
        return value_of(__byte_perm(x, eights, 0x4140));
    }
    static __device__ half2 unpack_high(std::uint32_t x)
    {
        return value_of(__byte_perm(x, eights, 0x4342));
    }
    static __device__ half2 unpack(parity x) { return __hsub2(unpack_low(x), all(9)); }
    static __device__ parity pack(half2 b)
    {
        return parity(__byte_perm(bits(__hadd2(b, all(9))), 0, 0x4420));
    }
    static __device__ half2 swap(half2 x) { return __lowhigh2highlow(x); }
    static __device__ half2 turn(half2 x, std::uint32_t by)
    {
        return value_of(__funnelshift_l(bits(x), bits(x), by));
    }

    // The messages of the edges of a thread's checks.
    template <unsigned Edges>
    struct messages {
        static constexpr unsigned parts = (Edges + 7) / 8;
        static constexpr unsigned words = parts + 1; // of a thread
        std::uint32_t part[parts];
        std::uint32_t least; // bytes: least of both checks, second of both

        static constexpr std::uint32_t marks = 0x20002000u; // "has the least": 2^-7
        // Where the sign of edge e is in its word; its mark is two places below.
        static __device__ constexpr unsigned place(unsigned e)
        {
            return 4 * (e % 8 / 2) + e % 2;
        }

        __device__ void clear()
        {
#pragma unroll
            for (unsigned w = 0; w < parts; ++w) {
                part[w] = 0;
            }
            least = 0;
        }
        __device__ void load(const std::uint32_t* from)
        {
            if constexpr (parts == 1) {
                const auto v = __ldcg(reinterpret_cast<const uint2*>(from) + threadIdx.x);
                part[0] = v.x;
                least = v.y;
            } else {
#pragma unroll
                for (unsigned w = 0; w < parts; ++w) {
                    part[w] = __ldcg(from + w * threads + threadIdx.x);
                }
                least = __ldcg(from + parts * threads + threadIdx.x);
            }
        }
        __device__ void store(std::uint32_t* to) const
        {
            if constexpr (parts == 1) {
                __stcg(reinterpret_cast<uint2*>(to) + threadIdx.x,
                       make_uint2(part[0], least));
            } else {
#pragma unroll
                for (unsigned w = 0; w < parts; ++w) {
                    __stcg(to + w * threads + threadIdx.x, part[w]);
                }
                __stcg(to + parts * threads + threadIdx.x, least);
            }
        }
        // What at() computes with.
        struct magnitudes {
            half2 least, step;
        };
        __device__ magnitudes open() const
        {
            const half2 first = unpack_low(least), second = unpack_high(least);
            return { __hsub2(first, all(8)),
                     __hmul2(__hsub2(second, first), all(1 / unit)) };
        }
        __device__ half2 at(unsigned e, const magnitudes& m) const
        {
            const std::uint32_t x = part[e / 8] << place(e);
            return value_of(bits(__hfma2(value_of(x & marks), m.step, m.least)) ^
                            (x & signs));
        }
    };

    // Makes the new messages of a check.
    template <unsigned Edges>
    class renewal
    {
    public:
        __device__ renewal(half2 least, half2 first, half2 second, std::uint32_t product)
            : d_signed_least(value_of(bits(__hsub2(first, all(8))) ^ product)),
              d_signed_step(value_of(
                  bits(__hmul2(__hsub2(second, first), all(1 / unit))) ^ product)),
              d_above(__hadd2(least, all(unit)))
        {
            fresh.clear();
            fresh.least = __byte_perm(bits(first), bits(second), 0x6420);
        }
        // The message of edge e, which said t.
        __device__ half2 message(unsigned e, half2 t)
        {
            // A step where |t| is the least, else 0.
            const half2 has_least = __hsub2_sat(d_above, __habs2(t));
            const std::uint32_t r =
                bits(__hfma2(has_least, d_signed_step, d_signed_least)) ^
                (bits(t) & signs);
            fresh.part[e / 8] |=
                ((r & signs) | bits(has_least)) >> messages<Edges>::place(e);
            return value_of(r);
        }
        messages<Edges> fresh;

    private:
        const half2 d_signed_least, d_signed_step, d_above;
    };
};

// Keeps the least and the second of magnitudes.
struct two_least {
    using Lanes = half_lanes;
    using value = Lanes::value;
    value least, second;
    __device__ void take(value t)
    {
        const value m = Lanes::magnitude(t);
        second = Lanes::smaller(second, Lanes::larger(least, m));
        least = Lanes::smaller(least, m);
    }
    __device__ void merge(const two_least& o)
    {
        second = Lanes::smaller(Lanes::smaller(second, o.second),
                                Lanes::larger(least, o.least));
        least = Lanes::smaller(least, o.least);
    }
};

} // namespace
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_LANES_CUH */
