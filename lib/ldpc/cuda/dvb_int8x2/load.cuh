// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Loading of channel values for layered_int8x2_kernel. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LOAD_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LOAD_CUH

#include "dvb_int8x2.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

template <class Shape>
__device__ inline void layered_int8x2_kernel<Shape>::load_messages(const std::uint8_t* a,
                                                                   const std::uint8_t* b)
{
    if constexpr (TwoChecksPerWord) {
        load_halves(a);
    } else {
        load_codewords(a, b);
    }
}

template <class Shape>
__device__ inline void layered_int8x2_kernel<Shape>::load_halves(const std::uint8_t* a)
{
    const auto* const from = reinterpret_cast<const std::uint32_t*>(a);
    constexpr unsigned fours = group_words / 4;
    constexpr unsigned together = 6; // number of loads in flight
    constexpr auto threads = block_threads::count;
    const auto all_fours = d_table.message_bits / 8;
    for (unsigned i = d_threads.number; i < all_fours; i += together * threads) {
        std::uint32_t x[together], y[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            const auto at = min(i + k * threads, all_fours - 1);
            x[k] = __ldcs(from + at + at / fours * fours);
            y[k] = __ldcs(from + at + at / fours * fours + fours);
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            if (i + k * threads < all_fours) {
                load_four(i + k * threads, x[k], y[k]);
            }
        }
    }
}

template <class Shape>
__device__ inline void layered_int8x2_kernel<Shape>::load_codewords(const std::uint8_t* a,
                                                                    const std::uint8_t* b)
{
    const auto* const from = reinterpret_cast<const uint4*>(a);
    const auto* const and_from = reinterpret_cast<const uint4*>(b);
    const auto eights = d_table.message_bits / 8;
    // If eights is odd, half of the last vector is unused.
    const auto vectors = (eights + 1) / 2;
    constexpr unsigned together = 6; // number of loads in flight
    constexpr auto threads = block_threads::count;
    for (unsigned i = d_threads.number; i < vectors; i += together * threads) {
        uint4 x[together], y[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            const auto at = min(i + k * threads, vectors - 1);
            x[k] = __ldcs(from + at);
            y[k] = __ldcs(and_from + at);
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            const auto at = i + k * threads;
            if (at < vectors) {
                load_four(at * 4, x[k].x, y[k].x);
                load_four(at * 4 + 1, x[k].y, y[k].y);
            }
            if (2 * at + 1 < eights) {
                load_four(at * 4 + 2, x[k].z, y[k].z);
                load_four(at * 4 + 3, x[k].w, y[k].w);
            }
        }
    }
}

template <class Shape>
__device__ inline void layered_int8x2_kernel<Shape>::load_parity(const std::uint8_t* a,
                                                                 const std::uint8_t* b)
{
    if (!d_threads.has_check()) {
        for (unsigned i = 0; i < d_layers; ++i) {
            set_parity(parity_at(d_first + i, d_j), 0);
        }
        *d_before = *d_after = 0;
        set_shared(__float_as_uint(d_thread.address), 0);
        return;
    }
    const auto q = d_layers;
    const unsigned first = d_table.message_bits + d_j * d_table.q + d_first;
    if constexpr (TwoChecksPerWord) {
        load_parity_halves(reinterpret_cast<const std::uint32_t*>(a) + first / 4,
                           first % 4);
        return;
    }
    const auto* const from = reinterpret_cast<const uint4*>(a) + first / 16;
    const auto* const and_from = reinterpret_cast<const uint4*>(b) + first / 16;
    const unsigned vectors = (first % 16 + q + 15) / 16;
    std::uint32_t last = 0;
    constexpr unsigned together = 4;
    for (unsigned v = 0; v < vectors; v += together) {
        uint4 x[together], y[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            x[k] = __ldg(from + min(v + k, vectors - 1));
            y[k] = __ldg(and_from + min(v + k, vectors - 1));
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            const int i = int(16 * (v + k)) - int(first % 16);
            if (v + k < vectors) {
                load_parities(i, x[k].x, y[k].x, last);
                load_parities(i + 4, x[k].y, y[k].y, last);
                load_parities(i + 8, x[k].z, y[k].z, last);
                load_parities(i + 12, x[k].w, y[k].w, last);
            }
        }
    }
    *d_after = bits(unpacked_parity(last));
    if (d_threads.number == 0) {
        d_wrap[0] = bits(all(missing));
    }
}

template <class Shape>
__device__ inline void
layered_int8x2_kernel<Shape>::load_parity_halves(const std::uint32_t* from, unsigned byte)
{
    const unsigned words = (byte + d_layers + 3) / 4;
    const unsigned apart = group_words * d_table.q / 4;
    std::uint32_t last = 0;
    constexpr unsigned together = 6;
    for (unsigned v = 0; v < words; v += together) {
        std::uint32_t x[together], y[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            x[k] = __ldg(from + min(v + k, words - 1));
            y[k] = __ldg(from + apart + min(v + k, words - 1));
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            load_parities(int(4 * (v + k)) - int(byte), x[k], y[k], last);
        }
    }
    *d_after = bits(unpacked_parity(last));
}

template <class Shape>
__device__ inline void layered_int8x2_kernel<Shape>::load_parities(int i,
                                                                   std::uint32_t x,
                                                                   std::uint32_t y,
                                                                   std::uint32_t& last)
{
    const auto low = __byte_perm(x, y, 0x5140) ^ 0x80808080u;
    const auto high = __byte_perm(x, y, 0x7362) ^ 0x80808080u;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (unsigned(i + k) < d_layers) {
            last = (k < 2 ? low : high) >> 16 * (k % 2);
            set_parity(parity_at(d_first + i + k, d_j), last);
        }
    }
}

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_LOAD_CUH */
