// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder of Peng, Liu, Hou and Zhao (2016) for any code: a forward kernel, in which
 * warps compute groups of butterflies, and a traceback kernel.
 *
 * The butterflies of a group have the same output words, so that four branch metrics per
 * stage suffice for a group (the paper's α, β, γ, θ). A warp computes chunks of up to 16
 * butterflies of a group (model/pbvd_layout.h). A thread block decodes 32 pairs of
 * parallel blocks, and lane i of each warp works on pair i. Path metrics are in shared
 * memory. Unlike in the paper, the H low bits of a path metric hold decisions, as on the
 * CPU; cpu/kernels.cc proves that the remaining range suffices. After each strip of H
 * stages, the decisions are moved to survivors[(strip · words + word) · pairs + pair].
 * The first block of the pair has the lower half of the word, the second block the upper
 * half.
 */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_PBVD_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_PBVD_CUH

#include "common.cuh"
#include "viterbi/model/pbvd_layout.h"

namespace gr::gpufec::viterbi {
namespace device {

//! Returns the number of bytes of shared memory per thread block of the forward kernel.
//! If \p separate is false, the smallest path metrics of the warps overwrite other path
//! metrics, which takes two more barriers per strip. A code of 256 states then fits in
//! 64 KB, the limit of compute capability 7.5.
inline std::size_t pbvd_shared_bytes(const pbvd_layout& l, bool separate)
{
    return (2 * l.states + (separate ? l.warps : 0)) * 32 * sizeof(std::uint32_t);
}

//! Soft values of H stages with R outputs, in words as soft_words() describes.
template <unsigned H, unsigned R>
using strip_soft = std::uint32_t[H][(R + 1) / 2];

//! Loads the soft values of the strip that begins at stage \p first. Values of stages
//! outside the window are left undefined, because these stages are not computed.
template <unsigned H, unsigned R>
__device__ inline void load_strip(strip_soft<H, R>& s,
                                  const std::uint32_t* soft,
                                  std::uint32_t pairs,
                                  int first,
                                  int window)
{
    constexpr unsigned words = (R + 1) / 2;
#pragma unroll
    for (unsigned t = 0; t < H; ++t) {
        const int stage = first + int(t);
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
            if (stage >= 0 && stage < window) {
                s[t][i] = soft[(std::size_t(stage) * words + i) * pairs];
            }
        }
    }
}

//! The branch metrics of one stage, shifted left by the H bits of the decisions.
template <unsigned H, unsigned R>
struct stage_costs {
    //! Soft value of each output: the branch metric of bit 1 minus the branch metric of
    //! bit 0.
    std::uint32_t value[R];
    std::uint32_t base; //!< branch metric of the all-zero word

    __device__ stage_costs(const std::uint32_t* words)
    {
        base = 0;
#pragma unroll
        for (unsigned r = 0; r < R; ++r) {
            const auto v = prepared_value(words[r / 2], r);
            base += __vmaxs2(__vsub2(0, v), 0) << H;
            // The mask clears the bits that the shift moves from the lower half into the
            // upper half.
            value[r] = (v << H) & ~(((1u << H) - 1) << 16);
        }
    }

    __device__ std::uint32_t of(unsigned word) const
    {
        std::uint32_t sum = base;
#pragma unroll
        for (unsigned r = 0; r < R; ++r) {
            sum = add2(sum, word >> (R - 1 - r) & 1u ? value[r] : 0);
        }
        return sum;
    }
};

/*
 * Forward kernel: computes path metrics and survivors of 32 pairs of blocks per thread
 * block. Grid: pairs / 32. Thread block: (32, warps). Dynamic shared memory:
 * pbvd_shared_bytes(l, separate). H: stages per strip. R: outputs. N and C: number of
 * states, and of butterflies per warp, if the kernel is compiled for a code; otherwise
 * both are 0.
 */
template <unsigned H, unsigned R, unsigned N, unsigned C>
__global__ void pbvd_forward(const __grid_constant__ batch_geometry g,
                             const __grid_constant__ pbvd_layout l,
                             const bool separate,
                             const std::uint32_t* __restrict__ soft,
                             std::uint32_t* __restrict__ survivors)
{
    extern __shared__ std::uint32_t shared[];
    constexpr unsigned per_word = 16 / H / 2;
    const unsigned lane = threadIdx.x, warp = threadIdx.y;
    const std::uint32_t pair = blockIdx.x * 32 + lane;
    const unsigned states = N ? N : l.states;
    const unsigned half = states / 2 * 32;
    // Stage t of a strip reads buffer t % 2. H is even, so the next strip also starts
    // with buffer 0.
    const auto metrics = [&](unsigned t) { return shared + lane + t % 2 * states * 32; };
    // The smallest path metrics that each warp finds at the end of a strip: one word per
    // warp and lane. If they are not separate, they overwrite buffer 1, which is unused
    // between strips.
    std::uint32_t* const warp_minima = shared + lane + (separate ? 2 : 1) * states * 32;
    soft += pair;
    survivors += pair;

    const int window = g.plan.window;
    const unsigned strips = (window + H - 1) / H;
    const int missing = int(strips * H) - window; // stages missing from the first strip
    std::uint32_t elsewhere = 0;
    for (unsigned k = 0; k < 2; ++k) {
        std::uint32_t frame;
        if (2 * pair + k < g.job.blocks && g.window(2 * pair + k, frame).from_zero) {
            elsewhere |= (l.spread + 1) << H << 16 * k;
        }
    }
    for (unsigned s = warp; s < states; s += l.warps) {
        metrics(missing)[s * 32] = s == 0 ? 0 : elsewhere;
    }
    __syncthreads();

    const bool frames =
        !g.plan.streaming() && g.plan.termination != termination::tailbiting;
    // Before stage K−1 of a frame, some states cannot be reached from state 0. Path
    // metrics are clamped after each strip until all states can be reached.
    const unsigned settled = frames ? (l.memory + H - 1) / H + 1 : 0;
    const auto most = both((l.spread + 1) << H);

    // If the kernel is compiled for a code, a warp has one chunk, and the offsets of its
    // butterflies stay in registers.
    std::uint32_t to_state[C ? C : 1];
#pragma unroll
    for (unsigned i = 0; i != C; ++i) {
        to_state[i] = l.butterfly[l.chunk[warp].first + i] * 32;
    }
    const auto own = l.chunk[C ? warp : 0];

    strip_soft<H, R> ahead;
    load_strip<H, R>(ahead, soft, g.pairs, -missing, window);
    std::uint32_t lowest = 0;
    for (unsigned strip = 0; strip < strips; ++strip) {
        strip_soft<H, R> values;
#pragma unroll
        for (unsigned t = 0; t < H; ++t) {
#pragma unroll
            for (unsigned i = 0; i < (R + 1) / 2; ++i) {
                values[t][i] = ahead[t][i];
            }
        }
        const int first = int(strip * H) - missing;
        load_strip<H, R>(ahead, soft, g.pairs, first + int(H), window);

        std::uint32_t low = 0xffffffffu;
        auto* const survived = survivors + std::size_t(strip) * l.words * g.pairs;
#pragma unroll
        for (unsigned t = 0; t < H; ++t) {
            if (first + int(t) < 0) {
                continue;
            }
            const auto* const now = metrics(t);
            auto* const next = metrics(t + 1);
            stage_costs<H, R> costs(values[t]);
            // Subtracts the smallest path metric of the previous strip from all path
            // metrics. One subtraction suffices, because every branch metric includes the
            // base.
            costs.base = __vsub2(costs.base, lowest);
            lowest = 0;
            const auto taken = both(1u << t);
            for (unsigned c = warp; c < l.chunks; c += l.warps) {
                const auto chunk = C ? own : l.chunk[c];
                const auto alpha = costs.of(chunk.word[0]);
                const auto beta = costs.of(chunk.word[1]);
                const auto gamma = costs.of(chunk.word[2]) + taken;
                const auto theta = costs.of(chunk.word[3]) + taken;
                const unsigned count = C ? C : chunk.count;
#pragma unroll(C ? C / per_word : 1)
                for (unsigned i = 0; i < count; i += per_word) {
                    std::uint32_t decisions = 0;
#pragma unroll
                    for (unsigned k = 0; k < per_word; ++k) {
                        const unsigned to = C ? to_state[C ? i + k : 0]
                                              : l.butterfly[chunk.first + i + k] * 32;
                        const auto even = now[2 * to];
                        const auto odd = now[2 * to + 32];
                        auto a = add_min2(even, alpha, add2(odd, gamma));
                        auto b = add_min2(even, beta, add2(odd, theta));
                        if (t == H - 1) {
                            constexpr std::uint32_t mask = 0x00010001u * ((1u << H) - 1);
                            decisions |= (a & mask) << (2 * k * H) |
                                         (b & mask) << ((2 * k + 1) * H);
                            a &= ~mask;
                            b &= ~mask;
                            low = min2(low, min2(a, b));
                        }
                        next[to] = a;
                        next[to + half] = b;
                    }
                    if (t == H - 1) {
                        survived[std::size_t((chunk.first + i) / per_word) * g.pairs] =
                            decisions;
                    }
                }
                if (C) {
                    break;
                }
            }
            if (t == H - 1 && separate) {
                warp_minima[warp * 32] = low;
            }
            __syncthreads();
        }
        if (!separate) {
            warp_minima[warp * 32] = low;
            __syncthreads();
        }
        lowest = warp_minima[0];
        for (unsigned w = 1; w < l.warps; ++w) {
            lowest = min2(lowest, warp_minima[w * 32]);
        }
        if (!separate) {
            __syncthreads();
        }
        if (strip < settled) {
            for (unsigned s = warp; s < states; s += l.warps) {
                metrics(0)[s * 32] = min2(metrics(0)[s * 32], add2(lowest, most));
            }
            __syncthreads();
        }
    }
}

// Traceback kernel: each thread traces back one parallel block from state 0 at the end of
// its window.
template <unsigned H>
__global__ void __launch_bounds__(256)
    pbvd_traceback(const __grid_constant__ batch_geometry g,
                   const __grid_constant__ pbvd_layout l,
                   const std::uint32_t* __restrict__ survivors,
                   std::byte* __restrict__ output)
{
    __shared__ std::uint16_t position[256];
    for (unsigned s = threadIdx.x; s < l.states; s += blockDim.x) {
        position[s] = l.position[s];
    }
    __syncthreads();
    const std::uint32_t block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= g.job.blocks) {
        return;
    }
    constexpr unsigned per_half = 16 / H;
    std::uint32_t frame;
    const auto w = g.window(block, frame);
    const std::uint32_t index =
        g.plan.streaming() ? block : block - frame * g.plan.blocks_per_frame;
    auto* const out = reinterpret_cast<std::uint32_t*>(
        output + std::size_t(frame) * g.frame_output_bytes +
        std::size_t(index) * (g.plan.decode_length / 8));
    const auto* const half = reinterpret_cast<const std::uint16_t*>(survivors) + block;
    const std::size_t row = std::size_t(2) * g.pairs;

    const int strips = (g.plan.window + H - 1) / H;
    const int missing = strips * int(H) - int(g.plan.window);
    bit_writer writer(out, w.count);
    unsigned state = 0;
    for (int strip = strips - 1; strip >= 0; --strip) {
        const int first = strip * int(H) - missing - int(w.lead);
        if (first + int(H) <= 0) {
            break;
        }
        const unsigned at = position[state];
        const unsigned word = half[(std::size_t(strip) * l.words + at / per_half) * row];
        const unsigned taken = word >> (at % per_half * H) & ((1u << H) - 1);
        const unsigned longer = state << H | taken;
        writer.put(first, longer >> l.memory);
        state = longer & (l.states - 1);
    }
    writer.finish();
}

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_PBVD_CUH */
