/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* From the input as it came to prepared soft values: unpacks, depunctures, transposes. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH

#include "cuda_common.cuh"

namespace gr {
namespace gpufec {
namespace cuda {

constexpr unsigned prepare_threads = 256;
constexpr unsigned prepare_blocks = 64; // a tile is of so many parallel blocks,
constexpr unsigned prepare_stages = 64; // and so many stages of each

/*
 * Bytes of a block's row in the tile: its soft values as they were sent, from the
 * beginning of a puncturing period and of a word of the input on, then one erasure. An
 * odd number of words, so that a warp reads a column without conflicts.
 */
__host__ __device__ inline unsigned prepare_row_bytes(const value_map& map)
{
    const unsigned periods = (map.period - 1 + prepare_stages - 1) / map.period + 1;
    const unsigned sent = periods * map.values_per_period;
    const unsigned all = prepare_stages * map.outputs; // rows of tail-biting frames
    // A word or eight nibbles may begin before what is wanted and end after it.
    const unsigned words = ((sent > all ? sent : all) + 16 + 3) / 4;
    return (words | 1) * 4;
}

inline unsigned prepare_shared_bytes(const value_map& map)
{
    return prepare_blocks * prepare_row_bytes(map);
}

//! Soft value \p index of a stream or frame; 0 where there is none.
__device__ inline int
soft_at(const std::byte* base, std::int64_t index, std::int64_t count, bool packed4)
{
    if (index < 0 || index >= count) {
        return 0;
    }
    if (!packed4) {
        const int v = static_cast<signed char>(base[index]);
        return v < -127 ? -127 : v;
    }
    const unsigned pair = static_cast<unsigned char>(base[index / 2]);
    const int v = static_cast<signed char>(index % 2 ? pair << 4 : pair & 0xf0u) >> 4;
    return v < -7 ? -7 : v;
}

//! What a warp copies into a row of the tile: values in the order they were sent.
__device__ inline void prepare_sent_values(const batch_geometry& g,
                                           const std::byte* base,
                                           std::int64_t origin, // first value of the row
                                           std::uint8_t* row,
                                           unsigned values,
                                           unsigned& skew)
{
    const std::int64_t count =
        g.plan.streaming() ? std::int64_t(g.job.values) : g.plan.frame_values;
    // Whole words of the input, from the one that holds the first value on.
    const unsigned per_word = g.packed4 ? 8 : 4;
    const auto address =
        reinterpret_cast<std::intptr_t>(base) + (g.packed4 ? origin >> 1 : origin);
    skew = unsigned(address & 3) * (g.packed4 ? 2 : 1) +
           (g.packed4 ? unsigned(origin & 1) : 0);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(address & ~3);
    for (unsigned i = threadIdx.x % 32; i * per_word < values + skew; i += 32) {
        const std::int64_t first = origin + std::int64_t(i * per_word) - skew;
        auto* const to = reinterpret_cast<std::uint32_t*>(row + i * per_word);
        if (first >= 0 && first + per_word <= count) {
            const std::uint32_t word = words[i];
            if (g.packed4) {
                // High nibble first, as the high nibbles of bytes, then brought down.
                const std::uint32_t high = word & 0xf0f0f0f0u,
                                    low = word << 4 & 0xf0f0f0f0u;
                const auto value = [](std::uint32_t nibbles) {
                    const auto v = nibbles >> 4;
                    const auto sign = (v & 0x08080808u) * 0x1e; // 0xf0 where negative
                    return __vmaxs4(v | sign, 0xf9f9f9f9u);
                };
                to[0] = value(__byte_perm(high, low, 0x5140));
                to[1] = value(__byte_perm(high, low, 0x7362));
            } else {
                to[0] = __vmaxs4(word, 0x81818181u);
            }
        } else {
            for (unsigned k = 0; k < per_word; ++k) {
                row[i * per_word + k] = soft_at(base, first + k, count, g.packed4);
            }
        }
    }
}

//! The same for a tail-biting frame, whose stages are a circle: depunctured at once.
__device__ inline void prepare_circular_values(const batch_geometry& g,
                                               const std::byte* base,
                                               std::int64_t begin, // first stage
                                               std::uint8_t* row)
{
    const unsigned R = g.map.outputs;
    const int circle = g.plan.frame_stages;
    const unsigned first = unsigned((begin % circle + circle) % circle);
    for (unsigned s = threadIdx.x % 32; s < prepare_stages; s += 32) {
        const unsigned stage = (first + s) % unsigned(circle);
        const unsigned period = stage / g.map.period;
        for (unsigned r = 0; r < R; ++r) {
            const int at = g.map.position[(stage - period * g.map.period) * R + r];
            row[s * R + r] = at < 0 ? 0
                                    : soft_at(base,
                                              period * g.map.values_per_period + at,
                                              g.plan.frame_values,
                                              g.packed4);
        }
    }
}

/*
 * Grid: (pairs / 32, tiles of stages); dynamic shared memory: prepare_shared_bytes().
 * What a block of the batch lacks is erased.
 */
__global__ void __launch_bounds__(prepare_threads)
    prepare(const __grid_constant__ batch_geometry g,
            const std::byte* __restrict__ input,
            std::uint32_t* __restrict__ soft)
{
    extern __shared__ std::uint32_t tile[];
    constexpr unsigned outputs = conv_code::max_outputs;
    // Where a row holds the value of (stage of a period, output), -1 if nowhere; outputs
    // in the kernel's order.
    __shared__ std::int16_t position[conv_code::max_period * outputs];
    __shared__ std::uint8_t skews[prepare_blocks], phases[prepare_blocks];

    const unsigned R = g.map.outputs;
    const bool circular = g.plan.ends == termination::tailbiting;
    const unsigned period = circular ? 1 : g.map.period;
    const unsigned per_period = circular ? R : g.map.values_per_period;
    const unsigned row_bytes = prepare_row_bytes(g.map);
    const unsigned erased = row_bytes - 1;
    const unsigned first_stage = blockIdx.y * prepare_stages;
    for (unsigned i = threadIdx.x; i < period * R; i += prepare_threads) {
        const unsigned source = g.order.source[i % R];
        position[i] = circular ? source : g.map.position[i / R * R + source];
    }

    // First blocks of pairs, then second blocks.
    auto* const rows = reinterpret_cast<std::uint8_t*>(tile);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned r = warp; r < prepare_blocks; r += prepare_threads / 32) {
        auto* const row = rows + r * row_bytes;
        const unsigned block = blockIdx.x * prepare_blocks + r % 32 * 2 + r / 32;
        unsigned skew = 0, phase = 0;
        if (block >= g.job.blocks) {
            for (unsigned i = lane; i < row_bytes / 4; i += 32) {
                reinterpret_cast<std::uint32_t*>(row)[i] = 0;
            }
        } else {
            std::uint32_t frame;
            const auto w = g.window(block, frame);
            const auto* const base = input + std::size_t(frame) * g.frame_input_bytes;
            const std::int64_t begin = w.start + first_stage;
            if (circular) {
                prepare_circular_values(g, base, begin, row);
            } else {
                std::int64_t whole = begin;
                if (period > 1) {
                    whole = begin / period;
                    whole -= whole * period > begin; // begin may be negative
                }
                phase = unsigned(begin - whole * period);
                const std::int64_t origin =
                    whole * per_period -
                    (g.plan.streaming() ? std::int64_t(g.job.first_value) : 0);
                const unsigned periods = (phase + prepare_stages - 1) / period + 1;
                prepare_sent_values(g, base, origin, row, periods * per_period, skew);
            }
            if (lane == 0) {
                row[erased] = 0;
            }
        }
        if (lane == 0) {
            skews[r] = skew;
            phases[r] = phase;
        }
    }
    __syncthreads();

    // A warp writes a few stages of all 32 pairs, a pair a lane.
    constexpr unsigned stages = prepare_stages / (prepare_threads / 32);
    struct {
        const std::uint8_t* row;
        unsigned stage; // of the period
        unsigned base;  // of the period, in the row
    } at[2];
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned r = k * 32 + lane;
        const unsigned stage = phases[r] + warp * stages;
        const unsigned periods = period == 1 ? stage : stage / period;
        at[k] = { rows + r * row_bytes,
                  stage - periods * period,
                  skews[r] + periods * per_period };
    }
    const unsigned words = soft_words(R);
    const unsigned first = first_stage + warp * stages;
    auto* to = soft + std::size_t(first) * words * g.pairs + blockIdx.x * 32 + lane;
    for (unsigned s = 0; s < stages && first + s < g.plan.window; ++s) {
        for (unsigned i = 0; i < words; ++i) {
            std::uint32_t word = 0;
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
                const unsigned r = 2 * i + half;
                if (r < R) {
                    const bool inverted = g.order.inverted >> (R - 1 - r) & 1u;
#pragma unroll
                    for (unsigned k = 0; k < 2; ++k) {
                        const int sent = position[at[k].stage * R + r];
                        const unsigned v =
                            at[k].row[sent < 0 ? erased : at[k].base + sent];
                        word |= ((inverted ? 0u - v : v) & 0xffu) << (16 * half + 8 * k);
                    }
                }
            }
            *to = word;
            to += g.pairs;
        }
#pragma unroll
        for (unsigned k = 0; k < 2; ++k) {
            if (++at[k].stage == period) {
                at[k].stage = 0;
                at[k].base += per_period;
            }
        }
    }
}

} // namespace cuda
} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH */
