// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the batch decoders of both backends are told: the codes and the arithmetic once,
 * and which codeword lies where in a batch each time. */

#ifndef INCLUDED_GPUFEC_LDPC_JOB_H
#define INCLUDED_GPUFEC_LDPC_JOB_H

#include "setup.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec::ldpc {

//! Where a codeword lies, in bytes from the beginning of input and output.
struct frame_place {
    std::uint32_t input;
    std::uint32_t output;
    std::uint32_t status; //!< its index in the status
};

//! What became of a codeword.
struct frame_status {
    std::uint32_t iterations;
    std::uint32_t unsatisfied; //!< checks that the decisions violate
};

/*!
 * \brief One batch of codewords.
 *
 * The input begins with a table of frame_place, codewords of one code next to each other,
 * and goes on with the channel values from values_offset() on. Decisions are packed,
 * first bit most significant.
 */
struct job {
    struct run {
        std::uint32_t code;  //!< in the setup
        std::uint32_t first; //!< in the table
        std::uint32_t count;
    };
    std::vector<run> runs;
    std::size_t input_bytes = 0; //!< used, the table included
    std::size_t output_bytes = 0;
    std::uint32_t codewords = 0;

    //! Bytes of the table of a full batch of \p codewords.
    static std::size_t values_offset(std::size_t codewords)
    {
        return (codewords * sizeof(frame_place) + 255) / 256 * 256;
    }
};

//! What the CPU backend can use here, best first: "avx512", "avx2", "baseline".
std::vector<std::string> cpu_instruction_sets();

//! Decodes batches of up to \p codewords on \p threads threads.
std::unique_ptr<batch_decoder<job>> make_cpu(const setup& setup,
                                             std::size_t codewords,
                                             unsigned threads,
                                             const std::string& instruction_set = "");

//! Batch that keeps the CPU backend's lanes full.
std::size_t cpu_batch(const setup& setup, unsigned threads);

/*!
 * \brief Decodes batches of up to \p codewords on a CUDA device, \p slots in flight.
 *
 * \p codewords 0: chosen from the device.
 * \throws std::runtime_error that says what is missing
 */
std::unique_ptr<batch_decoder<job>>
make_cuda(const setup& setup, std::size_t codewords, unsigned slots, int device);

//! How long the steps of a batch take, alone on the device.
struct cuda_times {
    double copy_in_ms;
    double kernels_ms;
    double copy_out_ms;
};

//! Medians of \p rounds batches. \throws std::runtime_error that says what is missing
cuda_times measure_cuda(const setup& setup,
                        const job& job,
                        const batch_memory& memory,
                        int device,
                        unsigned rounds);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_JOB_H */
