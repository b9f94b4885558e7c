// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input of the kernels in register_kernel.cuh. A thread loads the soft values of a pair
 * of parallel blocks, four stages (a strip) at a time, and unpacks them to words of two
 * 16-bit values. The first block of the pair has the lower half. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_INPUT_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_INPUT_CUH

#include "common.cuh"

namespace gr::gpufec::viterbi {
namespace device {

//! Soft values that prepare() has written, with outputs in the kernel's order and none
//! inverted.
template <unsigned R>
class prepared_input
{
public:
    //! Returns the mask of outputs that the trellis must invert.
    __device__ static unsigned inverted(const batch_geometry&) { return 0; }

    static constexpr unsigned words = (R + 1) / 2;
    struct strip {
        std::uint32_t word[4][words];
    };

    __device__
    prepared_input(const batch_geometry& g, const void* soft, std::uint32_t pair)
        : d_soft(static_cast<const std::uint32_t*>(soft) + pair),
          d_pairs(g.pairs),
          d_window(g.plan.window)
    {
    }

    //! Loads the values of the four stages from \p stage on. Stages outside the window
    //! have erasures.
    __device__ strip load(int stage) const
    {
        strip loaded;
#pragma unroll
        for (unsigned t = 0; t < 4; ++t) {
            const int s = stage + int(t);
#pragma unroll
            for (unsigned i = 0; i < words; ++i) {
                loaded.word[t][i] = s >= 0 && s < d_window
                                        ? d_soft[(std::size_t(s) * words + i) * d_pairs]
                                        : 0;
            }
        }
        return loaded;
    }

    //! Unpacks the values of stage t of a strip.
    template <unsigned t>
    __device__ void values(const strip& from, std::uint32_t (&v)[R]) const
    {
#pragma unroll
        for (unsigned r = 0; r < R; ++r) {
            v[r] = prepared_value(from.word[t][r / 2], r);
        }
    }

private:
    const std::uint32_t* d_soft;
    const std::uint32_t d_pairs;
    const int d_window;
};

//! Received int8 values of a stream, read directly instead of through prepare(). The code
//! is unpunctured and has two outputs, and the values of four stages are an aligned word
//! of 8 bytes. The functions are those of prepared_input.
class direct_input
{
public:
    __device__ static unsigned inverted(const batch_geometry& g)
    {
        return g.order.inverted;
    }

    struct strip {
        std::uint32_t word[2][2]; // [block][i]: values of stages 2i and 2i+1
    };

    __device__
    direct_input(const batch_geometry& g, const void* input, std::uint32_t pair)
        : d_window(g.plan.window)
    {
        // The selectors choose one byte per block and extend its sign, for either order
        // of the two outputs.
        d_select[0] = g.order.source[0] == 1 ? 0xd591 : 0xc480;
        d_select[1] = d_select[0] + 0x2222;
#pragma unroll
        for (unsigned k = 0; k < 2; ++k) {
            const auto block = 2 * pair + k;
            std::uint32_t frame = 0;
            const auto w = g.window(block < g.job.blocks ? block : 0, frame);
            const std::int64_t first = g.plan.streaming() ? g.job.first_value : 0;
            d_count[k] = (g.plan.streaming() ? std::int64_t(g.job.values)
                                             : std::int64_t(g.plan.frame_values)) -
                         (w.start * 2 - first);
            d_before[k] = int(w.start * 2 - first);
            d_row[k] = static_cast<const signed char*>(input) +
                       std::size_t(frame) * g.frame_input_bytes + (w.start * 2 - first);
            if (block >= g.job.blocks) {
                d_count[k] = 0;
            }
        }
    }

    __device__ strip load(int stage) const
    {
        strip loaded;
        const int first = 2 * stage;
#pragma unroll
        for (unsigned k = 0; k < 2; ++k) {
            if (stage >= 0 && first + d_before[k] >= 0 && first + 8 <= d_count[k]) {
                const auto two = *reinterpret_cast<const uint2*>(d_row[k] + first);
                loaded.word[k][0] = two.x;
                loaded.word[k][1] = two.y;
            } else {
                loaded.word[k][0] = edge(k, first);
                loaded.word[k][1] = edge(k, first + 4);
            }
        }
        return loaded;
    }

    template <unsigned t>
    __device__ void values(const strip& from, std::uint32_t (&v)[2]) const
    {
        const auto a = from.word[0][t / 2], b = from.word[1][t / 2];
        const auto lowest = both(std::uint16_t(-127));
        v[0] = __vmaxs2(permute(a, b, d_select[t % 2]), lowest);
        v[1] = __vmaxs2(permute(a, b, d_select[t % 2] ^ 0x1111), lowest);
    }

private:
    // Loads four values at an edge of the stream or the window. Missing values become
    // erasures.
    __device__ __noinline__ std::uint32_t edge(unsigned k, int first) const
    {
        std::uint32_t word = 0;
        for (int byte = 0; byte < 4; ++byte) {
            const int at = first + byte;
            if (at >= 0 && at + d_before[k] >= 0 && at < d_count[k] &&
                at < 2 * d_window) {
                word |= std::uint32_t(std::uint8_t(d_row[k][at])) << 8 * byte;
            }
        }
        return word;
    }

    const signed char* d_row[2]; // points to the window's first value
    // Number of values from the window's first value to the end of the input.
    std::int64_t d_count[2];
    // Number of input values before the window's first value. If negative, the window
    // begins before the input.
    int d_before[2];
    unsigned d_select[2]; // selectors for permute() of output 0, at even and odd stages
    const int d_window;
};

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_INPUT_CUH */
