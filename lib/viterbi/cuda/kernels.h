// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch interface of the CUDA kernels. The decoding kernels work on pairs of
 * parallel blocks: a 32-bit word holds a 16-bit path metric of each block of a pair. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H
#define INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H

#include "cuda/device_decoder.h"
#include "viterbi/model/job.h"
#include "viterbi/model/setup.h"
#include <cstdint>
#include <memory>

namespace gr::gpufec::viterbi {
namespace device {

//! The order in which a kernel expects the outputs of a code, and which outputs are
//! inverted.
struct output_order {
    //! Index of the code's output that becomes the kernel's output r.
    std::uint8_t source[conv_code::max_outputs];
    //! Mask of inverted outputs. Bit R−1−r belongs to the kernel's output r of R.
    std::uint8_t inverted;
};

//! The parallel blocks of a batch and the layout of their input; passed to kernels by
//! value.
struct batch_geometry {
    block_layout plan;
    value_map map;
    viterbi::job job;
    output_order order;
    bool packed4;
    std::uint32_t frame_input_bytes;
    std::uint32_t frame_output_bytes;
    //! Number of pairs of parallel blocks, rounded up to a multiple of 32, the size of a
    //! warp.
    std::uint32_t pairs;

    //! Returns the window of parallel block \p block of the batch. \p frame receives the
    //! index of the block's frame in the batch, 0 for a stream.
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
 * Returns the number of words that hold the soft values of one stage of a pair of blocks
 * after prepare(). Word i of stage s is at soft[(s · words + i) · pairs + pair]. The
 * bytes of the word hold, from the lowest: output 2i of the first and of the second
 * block, then output 2i+1 of both. The outputs are in the kernel's order, and none is
 * inverted.
 */
__host__ __device__ inline std::uint32_t soft_words(std::uint32_t outputs)
{
    return (outputs + 1) / 2;
}

//! The device memory of one slot.
struct device_buffers {
    const std::byte* input;   //!< soft values, as int8 or packed4
    std::uint32_t* soft;      //!< prepared soft values, in the layout of soft_words()
    std::uint32_t* survivors; //!< survivor words, survivor_words() per pair of blocks
    std::byte* output;        //!< decoded bits, packed, most significant first
};

//! The kernels chosen for a setup, and their launch.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    //! Returns the order of outputs that the kernels expect.
    virtual output_order order() const = 0;
    //! Returns the number of 32-bit words of survivors per pair of blocks.
    virtual std::size_t survivor_words(const block_layout& plan) const = 0;
    //! Returns the number of parallel blocks in the smallest batch for which the kernels
    //! reach their highest rate; 0 if the number is unknown.
    virtual std::size_t large_batch() const { return 0; }
    //! Enqueues the kernels that decode a batch. Calls \p mark with "prepare", "forward"
    //! and "traceback" in this order, even if one kernel does several of these steps.
    virtual void launch(const batch_geometry& g,
                        const device_buffers& memory,
                        cudaStream_t stream,
                        const cuda::marker& mark) const = 0;
};

//! Converts \p count floats to int8 with the job's scales. This function and the
//! following launch functions only enqueue the work on \p stream.
void launch_quantise(const job& job,
                     const float* floats,
                     std::size_t count,
                     std::int8_t* values,
                     cudaStream_t stream);

//! Converts \p count bytes of offset binary to int8, in place.
void launch_offset_binary(std::byte* values, std::size_t count, cudaStream_t stream);

//! Applies a phase rotation to \p count values in place, pair by pair. An odd last value
//! is paired with an erasure.
void launch_rotation(const phase_rotation& t,
                     std::int8_t* values,
                     std::size_t count,
                     cudaStream_t stream);

//! Computes the counts of all samples of a batch from its decoded bits and its values,
//! int8 or packed4, to which the phase rotation has been applied.
void launch_channel_counts(const batch_geometry& g,
                           const sample_plan& plan,
                           const device_buffers& memory,
                           channel_counts* to,
                           cudaStream_t stream);

//! Computes a batch's sign error counts from its decoded bits and its values, int8 or
//! packed4, to which the phase rotation has been applied.
void launch_sign_error_counts(const check_plan& plan,
                              std::uint32_t decode_length,
                              const job& job,
                              bool packed4,
                              const device_buffers& memory,
                              sign_error_counts* to,
                              cudaStream_t stream);

//! Returns the first launch plan that supports a setup.
//! \throws std::runtime_error if no launch plan does
std::unique_ptr<launch_plan> make_launch_plan(const setup& setup);

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_KERNELS_H */
