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
                                        const Survivors& survivors)
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
    for (unsigned round = 0; round < rounds; ++round) {
        repeat<Trellis::strips>([&](auto strip_of_round) {
            constexpr unsigned i = decltype(strip_of_round)::value;
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
            trellis.strip(survivors, round * Trellis::strips + i);
            trellis.bring_down(Frames && stage <= int(Trellis::memory));
            stage += 4;
        });
        trellis.end_round();
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

    //! Traces back a strip, which is strip \p i of its round. \p load(word, lane) returns
    //! a survivor word of the strip.
    template <class Load>
    __device__ void step(unsigned i, Load&& load)
    {
        const unsigned at = Trellis::rotated(d_state, 4 * (i + 1));
        const unsigned word = load(at % Trellis::registers / 4, at / Trellis::registers);
        const unsigned taken = word >> (at % 4 * 4) & 15u;
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

//! Traces back a block. \p load(strip, word, lane) returns a survivor word.
template <class Trellis, class Load>
__device__ void
trace_back(const batch_geometry& g, std::uint32_t block, std::byte* output, Load&& load)
{
    traced_path<Trellis> path(g, block, output);
    constexpr unsigned round = Trellis::round;
    unsigned strip = (g.plan.window + round - 1) / round * Trellis::strips;
    while (path.more()) {
#pragma unroll
        for (int i = int(Trellis::strips) - 1; i >= 0; --i) {
            --strip;
            path.step(
                i, [&](unsigned word, unsigned lane) { return load(strip, word, lane); });
        }
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

//! The survivors of a thread in device memory, [warp][strip][word][thread of the warp].
struct global_survivors {
    std::uint32_t* base; // first survivor word of the thread
    __device__ std::uint32_t& at(unsigned strip, unsigned words, unsigned i) const
    {
        return base[strip * words * 32 + i * 32];
    }

    //! Returns the index of the first survivor word of thread \p thread of the grid.
    template <class Trellis>
    __device__ static std::size_t offset(const batch_geometry& g, std::uint32_t thread)
    {
        const std::size_t rounds = (g.plan.window + Trellis::round - 1) / Trellis::round;
        return thread / 32 * (rounds * Trellis::strips * Trellis::words * 32) +
               thread % 32;
    }
};

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
    const global_survivors to{ survivors +
                               global_survivors::offset<trellis_type>(g, thread) };
    register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
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
                        const std::uint32_t* __restrict__ survivors,
                        std::byte* __restrict__ output)
{
    using trellis_type = wide_trellis<Code, LB>;
    const std::uint32_t block = blockIdx.x * traceback_threads + threadIdx.x;
    if (block >= g.job.blocks) {
        return;
    }
    const auto* const halves =
        reinterpret_cast<const std::uint16_t*>(
            survivors + global_survivors::offset<trellis_type>(g, block / 2 << LB)) +
        block % 2;
    trace_back<trellis_type>(
        g, block, output, [&](unsigned strip, unsigned word, unsigned lane) {
            return halves[((strip * trellis_type::words + word) * 32 + lane) * 2];
        });
}

//! The survivors of a thread in shared memory, [strip][word][thread of the thread block].
struct shared_survivors {
    std::uint32_t* base; // first survivor word of the thread
    unsigned row;        // threads per thread block
    __device__ std::uint32_t& at(unsigned strip, unsigned words, unsigned i) const
    {
        return base[(strip * words + i) * row];
    }
};

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
        const shared_survivors to{ kept + threadIdx.x, threads };
        register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
    }
    __syncwarp();
    const std::uint32_t block = 2 * pair + lane;
    if (lane >= 2 || block >= g.job.blocks) {
        return;
    }
    const auto* const halves =
        reinterpret_cast<const std::uint16_t*>(kept + threadIdx.x / lanes * lanes) + lane;
    trace_back<trellis_type>(
        g, block, output, [&](unsigned strip, unsigned word, unsigned from) {
            return halves[((strip * trellis_type::words + word) * threads + from) * 2];
        });
}

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_KERNEL_CUH */
