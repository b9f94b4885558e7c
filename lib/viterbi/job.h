// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the batch decoders of both backends are told: the code and its blocks once, and
 * where a batch lies in the input each time. */

#ifndef INCLUDED_GPUFEC_VITERBI_JOB_H
#define INCLUDED_GPUFEC_VITERBI_JOB_H

#include "setup.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <memory>

namespace gr::gpufec::viterbi {

/*!
 * \brief One batch of parallel blocks.
 *
 * Streaming: the input begins with soft value \p first_value of the stream (packed4: in
 * the high nibble) and holds \p values of them; what the blocks need beyond is erased.
 * Output: D/8 bytes a block. Frames: the input is whole frames, one after the other, the
 * output is frame_output_bytes() a frame.
 */
struct job {
    std::uint64_t first_block = 0; //!< streaming: index in the stream
    std::uint32_t blocks = 0;      //!< frames: blocks_per_frame times the frames
    std::uint64_t first_value = 0;
    std::uint64_t values = 0;
};

//! What the CPU backend can use here, best first: "avx512", "avx2", "baseline".
std::vector<std::string> cpu_instruction_sets();

//! Decodes batches of up to \p blocks on \p threads threads, by default with the best
//! instruction set.
std::unique_ptr<batch_decoder<job>> make_cpu(const setup& setup,
                                             std::size_t blocks,
                                             unsigned threads,
                                             const std::string& instruction_set = "");

//! Batch that keeps the CPU backend's lanes full without making a stream wait long.
std::size_t cpu_batch(const setup& setup, unsigned threads);

/*!
 * \brief Decodes batches of up to \p blocks on a CUDA device, \p slots in flight.
 *
 * \p blocks 0: chosen from the device. A batch that the device's memory does not hold is
 * halved until it does, see limits().
 * \throws std::runtime_error that says what is missing
 */
std::unique_ptr<batch_decoder<job>> make_cuda(const setup& setup,
                                              std::size_t blocks,
                                              unsigned slots,
                                              int device,
                                              const std::string& kernel);

//! Where the time of a batch goes on the device; medians, in ms.
struct cuda_times {
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
std::vector<cuda_times> measure_cuda(const setup& setup,
                                     const job& job,
                                     const batch_memory& memory,
                                     const std::vector<int>& devices,
                                     const std::string& kernel,
                                     unsigned rounds);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_JOB_H */
