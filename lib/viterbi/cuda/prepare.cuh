// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel that unpacks, depunctures and transposes soft values, so that the loads of a
 * warp in the forward kernels are coalesced. A thread block prepares a tile of 64
 * parallel blocks and 64 stages in shared memory. A row of the tile belongs to one
 * parallel block. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH

#include "common.cuh"

namespace gr::gpufec::viterbi {
namespace device {

constexpr unsigned prepare_threads = 256;
constexpr unsigned prepare_blocks = 64; // parallel blocks per tile
constexpr unsigned prepare_stages = 64; // stages per tile

/*
 * Returns the size in bytes of a row of the tile. A row holds the soft values of one
 * parallel block as they were sent. The row begins with the puncturing period of its
 * first stage, or up to seven values earlier, because input is copied in whole words. The
 * last byte is an erasure, which is read for punctured outputs. A row has an odd number
 * of words, so that a warp reads a column without bank conflicts.
 */
__host__ __device__ inline unsigned prepare_row_bytes(const value_map& map)
{
    const unsigned periods = (map.period - 1 + prepare_stages - 1) / map.period + 1;
    const unsigned sent = periods * map.values_per_period;
    // Rows of tail-biting frames are depunctured when they are written.
    const unsigned all = prepare_stages * map.outputs;
    // The first word, which has up to eight values (packed4), may begin before the first
    // value, and the last word may end after the last value.
    const unsigned values = ((sent > all ? sent : all) + 7 + 7) / 8 * 8;
    return values + 4;
}

inline unsigned prepare_shared_bytes(const value_map& map)
{
    return prepare_blocks * prepare_row_bytes(map);
}

//! The source of a row of the tile.
struct prepare_row {
    const std::uint32_t* words; //!< input words; the first word holds the first value
    //! Range of the values that are in the input, counted from the first word's
    //! beginning.
    int begin, end;
    //! Index of the row's first value, counted from the first word's beginning.
    std::uint8_t skew;
    std::uint8_t phase; //!< position of the tile's first stage in its puncturing period
};

//! Returns the source of the row for parallel block \p block of the batch. The tile
//! begins with stage \p first_stage of the block's window.
__device__ inline prepare_row make_prepare_row(const batch_geometry& g,
                                               const std::byte* input,
                                               std::uint32_t block,
                                               unsigned first_stage)
{
    if (block >= g.job.blocks) {
        return {};
    }
    std::uint32_t frame;
    const std::int64_t begin = g.window(block, frame).start + first_stage;
    const auto period = std::int32_t(g.map.period);
    std::int64_t whole = begin;
    if (period > 1) {
        whole = begin / period;
        whole -= whole * period > begin; // begin may be negative
    }
    const std::int64_t count =
        g.plan.streaming() ? std::int64_t(g.job.values) : g.plan.frame_values;
    const std::int64_t origin =
        whole * g.map.values_per_period -
        (g.plan.streaming() ? std::int64_t(g.job.first_value) : 0);
    const unsigned per_byte = g.packed4 ? 2 : 1;
    const auto address = reinterpret_cast<std::intptr_t>(input) +
                         std::int64_t(frame) * g.frame_input_bytes +
                         (g.packed4 ? origin >> 1 : origin);
    const auto skew =
        unsigned(address & 3) * per_byte + unsigned(origin & (per_byte - 1));
    const std::int64_t first = origin - skew; // may be negative
    const auto clamped = [](std::int64_t x) {
        return int(x < 0 ? 0 : x > 1 << 20 ? 1 << 20 : x);
    };
    return { reinterpret_cast<const std::uint32_t*>(address & ~std::intptr_t(3)),
             clamped(-first),
             clamped(count - first),
             std::uint8_t(skew),
             std::uint8_t(begin - whole * period) };
}

//! Unpacks eight values of 4 bits, the first in the high nibble of the first byte.
__device__ inline uint2 unpacked(std::uint32_t word)
{
    // Extends the values in the high nibbles of four bytes to int8; −8 becomes −7.
    const auto value = [](std::uint32_t nibbles) {
        const auto v = nibbles >> 4;
        // `sign` has 0xf0 in the bytes of negative values, and 0 in all other bytes.
        const auto sign = (v & 0x08080808u) * 0x1e;
        return __vmaxs4(v | sign, 0xf9f9f9f9u);
    };
    const std::uint32_t high = word & 0xf0f0f0f0u, low = word << 4 & 0xf0f0f0f0u;
    return { value(__byte_perm(high, low, 0x5140)),
             value(__byte_perm(high, low, 0x7362)) };
}

// Fills the tile with values as they were sent, word by word. A warp loads several rows
// at a time to hide memory latency.
__device__ inline void prepare_sent_values(const batch_geometry& g,
                                           const prepare_row* from,
                                           std::uint8_t* rows,
                                           unsigned row_bytes)
{
    constexpr unsigned warps = prepare_threads / 32;
    constexpr unsigned together = prepare_blocks / warps;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int per_word = g.packed4 ? 8 : 4;
    const unsigned words = (row_bytes - 4) / per_word;
    for (unsigned i = lane; i < words; i += 32) {
        const int first = int(i) * per_word;
        std::uint32_t word[together];
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            const auto& r = from[warp + k * warps];
            word[k] = 0;
            if (first >= r.begin && first + per_word <= r.end) {
                word[k] = r.words[i];
            } else {
                // At the edges of the input, only the values that exist are copied, one
                // byte or nibble at a time.
                for (int v = 0; v < per_word; ++v) {
                    if (first + v >= r.begin && first + v < r.end) {
                        const auto* const bytes =
                            reinterpret_cast<const std::uint8_t*>(r.words + i);
                        const unsigned shift = g.packed4 ? v / 2 * 8 : v * 8;
                        const unsigned mask = !g.packed4 ? 0xffu : v % 2 ? 0x0fu : 0xf0u;
                        word[k] |= (bytes[shift / 8] & mask) << shift;
                    }
                }
            }
        }
#pragma unroll
        for (unsigned k = 0; k < together; ++k) {
            auto* const to = reinterpret_cast<std::uint32_t*>(
                rows + (warp + k * warps) * row_bytes + first);
            if (g.packed4) {
                const auto two = unpacked(word[k]);
                to[0] = two.x;
                to[1] = two.y;
            } else {
                to[0] = __vmaxs4(word[k], 0x81818181u);
            }
        }
    }
}

//! Returns soft value \p index of a frame. −128 becomes −127; with packed4, −8 becomes
//! −7.
__device__ inline int soft_at(const std::byte* base, unsigned index, bool packed4)
{
    if (!packed4) {
        const int v = static_cast<signed char>(base[index]);
        return v < -127 ? -127 : v;
    }
    const unsigned pair = static_cast<unsigned char>(base[index / 2]);
    const int v = static_cast<signed char>(index % 2 ? pair << 4 : pair & 0xf0u) >> 4;
    return v < -7 ? -7 : v;
}

//! Fills the tile for tail-biting frames with depunctured values. The stages continue at
//! the frame's beginning after its end.
__device__ inline void prepare_circular_values(const batch_geometry& g,
                                               const std::byte* input,
                                               unsigned first_stage,
                                               std::uint8_t* rows,
                                               unsigned row_bytes)
{
    const unsigned R = g.map.outputs;
    const unsigned lane = threadIdx.x % 32;
    for (unsigned r = threadIdx.x / 32; r < prepare_blocks; r += prepare_threads / 32) {
        auto* const row = rows + r * row_bytes;
        const unsigned block = blockIdx.x * prepare_blocks + r % 32 * 2 + r / 32;
        if (block >= g.job.blocks) {
            for (unsigned i = lane; i < prepare_stages * R; i += 32) {
                row[i] = 0;
            }
            continue;
        }
        std::uint32_t frame;
        const int circle = g.plan.frame_stages;
        const auto begin = int((g.window(block, frame).start + first_stage) % circle);
        const auto* const base = input + std::size_t(frame) * g.frame_input_bytes;
        for (unsigned s = lane; s < prepare_stages; s += 32) {
            const unsigned stage = unsigned(begin + circle + int(s)) % unsigned(circle);
            const unsigned period = stage / g.map.period;
            for (unsigned k = 0; k < R; ++k) {
                const int at = g.map.position[(stage - period * g.map.period) * R + k];
                row[s * R + k] =
                    at < 0
                        ? 0
                        : soft_at(base, period * g.map.values_per_period + at, g.packed4);
            }
        }
    }
}

/*
 * Prepares the soft values of a batch and writes them as soft_words() describes. Missing
 * values become erasures. Outputs is the number of the code's outputs, or 0 to read the
 * number from g. Grid: (pairs / 32, tiles per window). Dynamic shared memory:
 * prepare_shared_bytes().
 */
template <unsigned Outputs>
__global__ void __launch_bounds__(prepare_threads)
    prepare(const __grid_constant__ batch_geometry g,
            const std::byte* __restrict__ input,
            std::uint32_t* __restrict__ soft)
{
    extern __shared__ std::uint32_t tile[];
    // For each stage of the puncturing period and each output, in the kernel's order: the
    // index of its value among those of the period, or -1 if it is punctured. Rows of
    // tail-biting frames are already depunctured, so their period is one stage.
    __shared__ std::int16_t position[conv_code::max_period * conv_code::max_outputs];
    __shared__ prepare_row from[prepare_blocks];

    const unsigned R = Outputs ? Outputs : g.map.outputs;
    const bool circular = g.plan.termination == termination::tailbiting;
    const unsigned period = circular ? 1 : g.map.period;
    const unsigned per_period = circular ? R : g.map.values_per_period;
    const unsigned row_bytes = prepare_row_bytes(g.map);
    const unsigned erased = row_bytes - 1;
    const unsigned first_stage = blockIdx.y * prepare_stages;
    for (unsigned i = threadIdx.x; i < period * R; i += prepare_threads) {
        const unsigned source = g.order.source[i % R];
        position[i] = circular ? source : g.map.position[i / R * R + source];
    }

    // The first 32 rows are the first blocks of the pairs, and the last 32 rows are the
    // second blocks.
    auto* const rows = reinterpret_cast<std::uint8_t*>(tile);
    if (threadIdx.x < prepare_blocks) {
        const unsigned r = threadIdx.x;
        const unsigned block = blockIdx.x * prepare_blocks + r % 32 * 2 + r / 32;
        from[r] =
            circular ? prepare_row{} : make_prepare_row(g, input, block, first_stage);
        rows[r * row_bytes + erased] = 0;
    }
    __syncthreads();
    if (circular) {
        prepare_circular_values(g, input, first_stage, rows, row_bytes);
    } else {
        prepare_sent_values(g, from, rows, row_bytes);
    }
    __syncthreads();

    // Each warp writes eight stages of the 32 pairs, one pair per lane.
    constexpr unsigned stages = prepare_stages / (prepare_threads / 32);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    struct {
        const std::uint8_t* row;
        unsigned stage; // stage within the puncturing period
        unsigned base;  // index in the row of the first value of the puncturing period
    } at[2];
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned r = k * 32 + lane;
        const unsigned stage = from[r].phase + warp * stages;
        const unsigned periods = period == 1 ? stage : stage / period;
        at[k] = { rows + r * row_bytes,
                  stage - periods * period,
                  from[r].skew + periods * per_period };
    }
    const unsigned words = soft_words(R);
    const unsigned first = first_stage + warp * stages;
    auto* to = soft + std::size_t(first) * words * g.pairs + blockIdx.x * 32 + lane;
    for (unsigned s = 0; s < stages && first + s < g.plan.window; ++s) {
#pragma unroll
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

using prepare_kernel = void (*)(batch_geometry, const std::byte*, std::uint32_t*);

inline prepare_kernel choose_prepare(unsigned outputs)
{
    return outputs == 2 ? prepare<2> : outputs == 3 ? prepare<3> : prepare<0>;
}

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_PREPARE_CUH */
