// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels with all path metrics in registers, for the codes of common standards: a
 * forward and a traceback kernel for many parallel blocks, and a fused kernel, which does
 * both, for few blocks. register_trellis.cuh defines lane, strip and round; LB is the
 * binary logarithm of the number of lanes per pair. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_KERNEL_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_KERNEL_CUH

#include "common.cuh"
#include "register_trellis.cuh"

namespace gr::gpufec::viterbi {
namespace device {

/*
 * Computes path metrics and survivors of the windows of a pair of blocks. If Frames is
 * set, windows may start in state 0, which requires a test at each stage.
 */
template <class Trellis, class Input, bool Frames, class Survivors>
__device__ inline void register_forward(const batch_geometry& g,
                                        Trellis& trellis,
                                        const Input& input,
                                        std::uint32_t pair,
                                        Survivors& survivors)
{
    std::uint32_t elsewhere = 0;
    if (Frames) {
        for (unsigned k = 0; k < 2; ++k) {
            std::uint32_t frame;
            if (2 * pair + k < g.job.blocks && g.window(2 * pair + k, frame).from_zero) {
                elsewhere |= (Trellis::spread + 1) << Trellis::H << 16 * k;
            }
        }
    }
    trellis.start(elsewhere);

    const unsigned rounds = (g.plan.window + Trellis::round - 1) / Trellis::round;
    int stage = int(g.plan.window) - int(rounds * Trellis::round);
    // If several lanes share a trellis, each loads values a whole round ahead to hide
    // memory latency.
    constexpr unsigned depth = Trellis::lanes > 1 ? Trellis::strips : 1;
    typename Input::strip ahead[depth];
    repeat<depth>([&](auto index) {
        constexpr unsigned i = decltype(index)::value;
        ahead[i] = input.load(stage + 4 * int(i));
    });
#pragma unroll 1 // a longer unrolled loop would not fit the instruction cache
    for (unsigned strip = 0; strip < rounds * Trellis::strips; strip += Trellis::period) {
        repeat<Trellis::period>([&](auto strip_of_period) {
            constexpr unsigned i = decltype(strip_of_period)::value;
            const auto values = ahead[i % depth];
            ahead[i % depth] = input.load(stage + 4 * int(depth));
            repeat<4>([&](auto stage_of_strip) {
                constexpr unsigned t = decltype(stage_of_strip)::value;
                if (Frames && stage + int(t) == 0) {
                    trellis.start(elsewhere);
                }
                std::uint32_t v[Trellis::R];
                input.template values<t>(values, v);
                trellis.template stage<4 * i + t>(v);
            });
            std::uint32_t words[Trellis::words];
            trellis.decisions(words);
            survivors.store(strip + i, words);
            trellis.bring_down(Frames && stage <= int(Trellis::memory));
            trellis.end_strip();
            stage += 4;
        });
    }
}

//! The traceback of one block, from state 0 at the end of its window.
template <class Trellis>
class traced_path
{
public:
    //! Prepares the traceback of block \p block of the batch. If \p block is
    //! beyond the end of the batch, no bits are written.
    __device__
    traced_path(const batch_geometry& g, std::uint32_t block, std::byte* output)
        : d_writer(nullptr, 0)
    {
        if (block >= g.job.blocks) {
            return;
        }
        std::uint32_t frame;
        const auto w = g.window(block, frame);
        const std::uint32_t index =
            g.plan.streaming() ? block : block - frame * g.plan.blocks_per_frame;
        auto* const out = reinterpret_cast<std::uint32_t*>(
            output + std::size_t(frame) * g.frame_output_bytes +
            std::size_t(index) * (g.plan.decode_length / 8));
        d_writer = bit_writer(out, w.count);
        d_first = int(g.plan.window) - int(w.lead) - 4;
    }

    //! Returns whether bits remain to be written.
    __device__ bool more() const { return d_first + 4 > 0; }

    //! Returns the state after the strip that is traced back next.
    __device__ unsigned state() const { return d_state; }

    //! Traces back a strip whose survivor has the decisions \p taken.
    __device__ void step(unsigned taken)
    {
        const unsigned longer = d_state << 4 | taken;
        d_writer.put(d_first, longer >> Trellis::memory);
        d_state = longer & ((1u << Trellis::memory) - 1);
        d_first -= 4;
    }

    __device__ void finish() { d_writer.finish(); }

private:
    bit_writer d_writer;
    int d_first = -4; // first stage of the next strip, counted from the first decoded bit
    unsigned d_state = 0;
};

//! Traces back a block.
template <class Trellis, class Survivors>
__device__ void trace_back(const batch_geometry& g,
                           std::uint32_t block,
                           std::byte* output,
                           Survivors& survivors)
{
    traced_path<Trellis> path(g, block, output);
    unsigned round = (g.plan.window + Trellis::round - 1) / Trellis::round;
    while (path.more()) {
        --round;
        repeat<Trellis::strips>([&](auto index) {
            constexpr unsigned i = Trellis::strips - 1 - decltype(index)::value;
            path.step(survivors.template decisions<i>(round, path.state()));
        });
    }
    path.finish();
}

// Maximum number of threads per thread block of the fused kernel.
constexpr unsigned register_threads = 128;
// Maximum number of threads per thread block of forward_registers().
constexpr unsigned wide_threads = 512;

//! The trellis for many blocks: 64 states per thread. If one thread has all states (LB is
//! 0), the loop is unrolled over one strip only, and path metrics are moved back to the
//! registers of their states after each strip. This was faster than an unrolled round,
//! which misses the instruction cache (0.77 instead of 0.94 ms,
//! docs/decisions/2026-11-21-viterbi-metrics-in-registers.md).
template <class Code, unsigned LB, unsigned Inverted = 0>
using wide_trellis = register_trellis<Code, LB, LB == 0, Inverted>;

/*
 * Survivor words in the layout [strip][word][thread], of a thread or, for the traceback,
 * of a pair of blocks.
 */
template <class Trellis>
class word_survivors
{
public:
    //! \param first the first word of the thread, or of the pair's first thread
    //! \param row number of threads
    //! \param block index of the block that is traced back in its pair
    __device__ word_survivors(std::uint32_t* first, unsigned row, unsigned block = 0)
        : d_first(first), d_row(row), d_block(block)
    {
    }

    __device__ void store(unsigned strip, const std::uint32_t (&word)[Trellis::words])
    {
#pragma unroll
        for (unsigned w = 0; w < Trellis::words; ++w) {
            d_first[index(strip, w)] = word[w];
        }
    }

    //! Returns the decisions of strip i of a round for the state after the strip.
    template <unsigned i>
    __device__ unsigned decisions(unsigned round, unsigned state) const
    {
        const unsigned at = Trellis::rotated(state, 4 * (i + 1));
        const auto* const word =
            d_first + at / Trellis::registers +
            index(round * Trellis::strips + i, at % Trellis::registers / 4);
        return reinterpret_cast<const std::uint16_t*>(word)[d_block] >> (at % 4 * 4) &
               15u;
    }

private:
    __device__ unsigned index(unsigned strip, unsigned word) const
    {
        return (strip * Trellis::words + word) * d_row;
    }

    std::uint32_t* const d_first;
    const unsigned d_row, d_block;
};

/*
 * Survivors in the layout [round][group][block][thread of the warp] of a trellis with 64
 * states in each thread. Here, block is 0 or 1, the index in the pair. An element has the
 * decisions of a group of 16 states after each of the round's two strips. The two low
 * bits of the state after the round select the group. These bits are also the high bits
 * of the state after the first strip, so one element has both decisions of a path. The
 * traceback therefore reads half as many sectors of 32 bytes as with [strip][word].
 */
template <class Trellis>
class grouped_survivors
{
    static_assert(Trellis::registers == 64 && Trellis::strips == 2);

public:
    static constexpr unsigned groups = 4;

    //! \param first the first element of the pair's thread
    //! \param block index of the block that is traced back in its pair; 0 for the forward
    //!        kernel
    //! \param kept for the forward kernel: shared memory for `groups` elements of each of
    //!        wide_threads threads
    __device__
    grouped_survivors(std::uint32_t* first, unsigned block, uint4* kept = nullptr)
        : d_first(reinterpret_cast<uint4*>(first) + block * row),
          d_kept(kept + threadIdx.x)
    {
    }

    __device__ void store(unsigned strip, const std::uint32_t (&word)[Trellis::words])
    {
        constexpr unsigned low = 0x5410, high = 0x7632; // the halves of two words
        if (strip % 2 == 0) {
#pragma unroll
            for (unsigned group = 0; group < groups; ++group) {
                // Bits 2 and 3 of a register index are the high bits of its state.
                const auto* const w = word + group;
                d_kept[group * wide_threads] = { __byte_perm(w[0], w[4], low),
                                                 __byte_perm(w[8], w[12], low),
                                                 __byte_perm(w[0], w[4], high),
                                                 __byte_perm(w[8], w[12], high) };
            }
            return;
        }
#pragma unroll
        for (unsigned group = 0; group < groups; ++group) {
            const auto* const w = word + 4 * group;
            const auto kept = d_kept[group * wide_threads];
            auto* const to = d_first + index(strip / 2, group);
            to[0] = {
                kept.x, kept.y, __byte_perm(w[0], w[1], low), __byte_perm(w[2], w[3], low)
            };
            to[row] = { kept.z,
                        kept.w,
                        __byte_perm(w[0], w[1], high),
                        __byte_perm(w[2], w[3], high) };
        }
    }

    //! Returns the decisions of strip i of a round for the state after the strip. Strip 1
    //! must be read before strip 0.
    template <unsigned i>
    __device__ unsigned decisions(unsigned round, unsigned state)
    {
        const unsigned at = Trellis::rotated(state, 4);
        if (i == 1) {
            d_element = d_first[index(round, at / 16)];
            return nibble(d_element.z, d_element.w, at % 16);
        }
        return nibble(d_element.x, d_element.y, at / 16 * 4 + at % 4);
    }

private:
    static constexpr unsigned row = 32; // threads per warp

    __device__ static unsigned index(unsigned round, unsigned group)
    {
        return (round * groups + group) * 2 * row;
    }

    __device__ static unsigned nibble(std::uint32_t low, std::uint32_t high, unsigned n)
    {
        return (n < 8 ? low : high) >> (n % 8 * 4) & 15u;
    }

    uint4* const d_first;
    uint4* const d_kept; // decisions of the first strip of a round
    uint4 d_element;     // the element that was read last
};

//! Returns the first survivor of thread \p thread of the grid. The survivors of each warp
//! are consecutive.
template <class Trellis>
__device__ std::uint32_t*
survivors_of(std::uint32_t* survivors, const batch_geometry& g, std::uint32_t thread)
{
    const std::size_t rounds = (g.plan.window + Trellis::round - 1) / Trellis::round;
    constexpr unsigned words_per_element = Trellis::lanes == 1 ? 4 : 1;
    return survivors + thread / 32 * (rounds * Trellis::strips * Trellis::words * 32) +
           thread % 32 * words_per_element;
}

//! Forward kernel for many blocks: writes survivors to device memory.
template <class Code, unsigned LB, class Input, bool Frames, unsigned Inverted = 0>
__global__ void __launch_bounds__(wide_threads)
    forward_registers(const __grid_constant__ batch_geometry g,
                      const void* __restrict__ input,
                      std::uint32_t* __restrict__ survivors)
{
    using trellis_type = wide_trellis<Code, LB, Inverted>;
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t pair = thread >> LB;
    if (pair >= g.pairs) {
        return; // Pairs are a multiple of 32, so whole warps return.
    }
    trellis_type trellis(thread % trellis_type::lanes, Input::inverted(g));
    const Input values(g, input, pair);
    auto* const first = survivors_of<trellis_type>(survivors, g, thread);
    if constexpr (LB == 0) {
        using survivors_type = grouped_survivors<trellis_type>;
        __shared__ uint4 kept[survivors_type::groups * wide_threads];
        survivors_type to(first, 0, kept);
        register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
    } else {
        word_survivors<trellis_type> to(first, 32);
        register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
    }
}

// Number of threads per thread block of traceback_registers().
constexpr unsigned traceback_threads = 128;

//! Traceback kernel for many blocks: each thread traces back a block, and reads only the
//! survivor words on its path. Prefetching all survivors takes longer (K=9: 1.16 instead
//! of 0.55 ms), especially while other batches run
//! (docs/decisions/2026-11-28-viterbi-traceback.md).
template <class Code, unsigned LB>
__global__ void __launch_bounds__(traceback_threads)
    traceback_registers(const __grid_constant__ batch_geometry g,
                        std::uint32_t* __restrict__ survivors,
                        std::byte* __restrict__ output)
{
    using trellis_type = wide_trellis<Code, LB>;
    const std::uint32_t block = blockIdx.x * traceback_threads + threadIdx.x;
    if (block >= g.job.blocks) {
        return;
    }
    auto* const first = survivors_of<trellis_type>(survivors, g, block / 2 << LB);
    if constexpr (LB == 0) {
        grouped_survivors<trellis_type> from(first, block % 2);
        trace_back<trellis_type>(g, block, output, from);
    } else {
        word_survivors<trellis_type> from(first, 32, block % 2);
        trace_back<trellis_type>(g, block, output, from);
    }
}

//! Returns the number of bytes of shared memory per thread block of the fused kernel.
template <class Code, unsigned LB>
std::size_t fused_shared_bytes(const block_layout& plan, unsigned threads)
{
    using trellis_type = register_trellis<Code, LB>;
    const std::size_t rounds =
        (plan.window + trellis_type::round - 1) / trellis_type::round;
    return rounds * trellis_type::strips * trellis_type::words * threads *
           sizeof(std::uint32_t);
}

//! Kernel for few blocks that performs the forward pass and the traceback. Survivors stay
//! in shared memory.
template <class Code, unsigned LB, class Input, bool Frames>
__global__ void __launch_bounds__(register_threads)
    fused_registers(const __grid_constant__ batch_geometry g,
                    const void* __restrict__ input,
                    std::byte* __restrict__ output)
{
    extern __shared__ std::uint32_t kept[];
    using trellis_type = register_trellis<Code, LB>;
    constexpr unsigned lanes = trellis_type::lanes;
    const unsigned threads = blockDim.x;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    const std::uint32_t pair = thread >> LB;
    const unsigned lane = thread % lanes;
    trellis_type trellis(lane, Input::inverted(g));
    {
        Input values(g, input, pair < g.pairs ? pair : 0);
        word_survivors<trellis_type> to(kept + threadIdx.x, threads);
        register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
    }
    __syncwarp();
    const std::uint32_t block = 2 * pair + lane;
    if (lane >= 2 || block >= g.job.blocks) {
        return;
    }
    word_survivors<trellis_type> from(kept + threadIdx.x / lanes * lanes, threads, lane);
    trace_back<trellis_type>(g, block, output, from);
}

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_KERNEL_CUH */
