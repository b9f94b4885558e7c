// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels of the CUDA backend, as their launcher sees them. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H
#define INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H

#include "cuda/device_decoder.h"
#include "job.h"
#include "setup.h"
#include <cstdint>
#include <memory>

namespace gr::gpufec::viterbi {
namespace device {

//! How a code's outputs are sent, from a kernel's point of view.
struct output_order {
    std::uint8_t
        source[conv_code::max_outputs]; //!< what is sent as the kernel's output r
    std::uint8_t inverted; //!< the kernel's outputs that are inverted, the first highest
};

//! The parallel blocks of a batch and where their input lies; passed to kernels by value.
struct batch_geometry {
    block_plan plan;
    value_map map;
    viterbi::job job;
    output_order order;
    bool packed4;
    std::uint32_t frame_input_bytes;
    std::uint32_t frame_output_bytes;
    std::uint32_t pairs; //!< of parallel blocks, rounded up to whole warps

    //! Block \p block of the batch: its window, and the index of its frame.
    __host__ __device__ block_window window(std::uint32_t block,
                                            std::uint32_t& frame) const
    {
        if (plan.streaming()) {
            frame = 0;
            return plan.at(job.first_block + block);
        }
        frame = block / plan.blocks_per_frame;
        return plan.at(block - frame * plan.blocks_per_frame);
    }
};

/*
 * Prepared soft values: at stage s of the window, word i of a pair of blocks holds the
 * values of outputs 2i and 2i+1, each of the first block and then of the second, in the
 * order of the kernel, none inverted: soft[(s · words + i) · pairs + pair].
 */
__host__ __device__ inline std::uint32_t soft_words(std::uint32_t outputs)
{
    return (outputs + 1) / 2;
}

//! Device memory of a slot.
struct device_buffers {
    const std::byte* input;
    std::uint32_t* soft;
    std::uint32_t* survivors;
    std::byte* output;
};

//! How kernels decode a code.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    virtual output_order order() const = 0;
    //! Words of survivors of a pair of blocks.
    virtual std::size_t survivor_words(const block_plan& plan) const = 0;
    virtual void launch(const batch_geometry& g,
                        const device_buffers& memory,
                        cudaStream_t stream,
                        const cuda::marker& mark) const = 0;
};

//! Floats become int8 as the job says, \p count of them.
void launch_steps(const job& job,
                  const float* floats,
                  std::size_t count,
                  std::int8_t* values,
                  cudaStream_t stream);

//! Turns \p count values, the first of a pair first, in place; of a last one that is
//! alone, the other is erased.
void launch_turn(const turn& t,
                 std::int8_t* values,
                 std::size_t count,
                 cudaStream_t stream);

//! Makes a batch's tallies of int8 values as the code has them, and of its bits.
void launch_tallies(const check_plan& plan,
                    std::uint32_t decode_length,
                    const job& job,
                    const device_buffers& memory,
                    check_tallies* to,
                    cudaStream_t stream);

//! The first of the room's that takes a setup. \throws std::runtime_error if none does
std::unique_ptr<launch_plan> make_launch_plan(const setup& setup);

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H */
