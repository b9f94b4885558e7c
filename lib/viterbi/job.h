/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What the batch decoders of both backends are told: the code and its blocks once, and
 * where a batch lies in the input each time. */

#ifndef INCLUDED_GPUFEC_VITERBI_JOB_H
#define INCLUDED_GPUFEC_VITERBI_JOB_H

#include "block_plan.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <memory>

namespace gr {
namespace gpufec {

struct viterbi_setup {
    conv_code code;
    block_plan plan;
    value_map map;
    bool packed4; //!< two values a byte, else int8

    viterbi_setup(const conv_code& c, const block_plan& p, bool packed)
        : code(c), plan(p), map(make_value_map(c)), packed4(packed)
    {
    }

    //! Bytes of \p values soft values.
    std::size_t input_bytes(std::size_t values) const
    {
        return packed4 ? (values + 1) / 2 : values;
    }
    std::size_t frame_input_bytes() const { return input_bytes(plan.frame_values); }
    //! Bytes from the output of a frame to that of the next: whole words.
    std::size_t frame_output_bytes() const { return (plan.frame_bits + 31) / 32 * 4; }

    //! Host memory for a batch of \p blocks parallel blocks.
    batch_limits limits(std::size_t blocks) const;
};

/*!
 * \brief One batch of parallel blocks.
 *
 * Streaming: the input begins with soft value \p first_value of the stream (packed4: in
 * the high nibble) and holds \p values of them; what the blocks need beyond is erased.
 * Output: D/8 bytes a block. Frames: the input is whole frames, one after the other, the
 * output is frame_output_bytes() a frame.
 */
struct viterbi_job {
    std::uint64_t first_block = 0; //!< streaming: index in the stream
    std::uint32_t blocks = 0;      //!< frames: blocks_per_frame times the frames
    std::uint64_t first_value = 0;
    std::uint64_t values = 0;
};

using viterbi_batch_decoder = batch_decoder<viterbi_job>;

//! What the CPU backend can use here, best first: "avx512", "avx2", "baseline".
std::vector<std::string> cpu_instruction_sets();

//! Decodes batches of up to \p blocks on \p threads threads, by default with the best
//! instruction set.
std::unique_ptr<viterbi_batch_decoder>
make_cpu_viterbi(const viterbi_setup& setup,
                 std::size_t blocks,
                 unsigned threads,
                 const std::string& instruction_set = "");

//! Batch that keeps the CPU backend's lanes full without making a stream wait long.
std::size_t cpu_viterbi_batch(const viterbi_setup& setup, unsigned threads);

/*!
 * \brief Decodes batches of up to \p blocks on a CUDA device, \p slots in flight.
 *
 * \p blocks 0: chosen from the device. A batch that the device's memory does not hold is
 * halved until it does, see limits().
 * \throws std::runtime_error that says what is missing
 */
std::unique_ptr<viterbi_batch_decoder> make_cuda_viterbi(const viterbi_setup& setup,
                                                         std::size_t blocks,
                                                         unsigned slots,
                                                         int device,
                                                         const std::string& kernel);

//! Where the time of a batch goes on the device; medians, in ms.
struct cuda_viterbi_times {
    double copy_in_ms, prepare_ms, forward_ms, traceback_ms, copy_out_ms;

    double kernels_ms() const { return prepare_ms + forward_ms + traceback_ms; }
};

/*!
 * \brief Decodes one batch \p rounds times on each of the devices, all at the same time
 * and nothing else, for benchmarks.
 *
 * All write the same output to the same memory.
 * \return medians, for each device
 */
std::vector<cuda_viterbi_times>
measure_cuda_viterbi(const viterbi_setup& setup,
                     const viterbi_job& job,
                     const viterbi_batch_decoder::buffers& memory,
                     const std::vector<int>& devices,
                     const std::string& kernel,
                     unsigned rounds);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_VITERBI_JOB_H */
