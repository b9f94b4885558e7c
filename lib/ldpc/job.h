/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What the batch decoders of both backends are told: the codes and the arithmetic once,
 * and which codeword lies where in a batch each time. */

#ifndef INCLUDED_GPUFEC_LDPC_JOB_H
#define INCLUDED_GPUFEC_LDPC_JOB_H

#include "message_rule.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <memory>
#include <string>
#include <vector>

namespace gr {
namespace gpufec {

struct ldpc_setup {
    std::vector<ldpc_code> codes; //!< a job names them by their index
    ldpc_schedule schedule = ldpc_schedule::layered;
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_precision precision = ldpc_precision::int8;
    double offset = -1;        //!< nats; negative: the code's own
    double normalization = -1; //!< negative: the code's own
    unsigned max_iterations = 25;
    bool early_stop = true;
    bool message_only = true; //!< of a code whose message comes first, nothing more

    message_rule rule(const ldpc_code& code) const
    {
        return make_message_rule(code, algorithm, precision, offset, normalization);
    }
    //! Bytes of a channel value: int8, int16 or float, in steps of the code's rule.
    std::size_t value_bytes() const
    {
        return precision == ldpc_precision::int8    ? 1
               : precision == ldpc_precision::int16 ? 2
                                                    : 4;
    }
    //! Decided bits of a codeword that are given out, counted from its first.
    unsigned output_bits(const ldpc_code& code) const
    {
        return message_only && code.systematic_prefix() ? code.k() : code.n();
    }
    //! Bytes from one codeword to the next: whole vectors in, whole words out.
    std::size_t frame_input_bytes(const ldpc_code& code) const
    {
        return (code.n() * value_bytes() + 15) / 16 * 16;
    }
    std::size_t frame_output_bytes(const ldpc_code& code) const
    {
        return (output_bits(code) + 31) / 32 * 4;
    }

    //! Host memory for a batch of \p codewords of any of the codes.
    batch_limits limits(std::size_t codewords) const;
};

//! What a stream decoder of these options decodes. \throws std::invalid_argument
ldpc_setup make_ldpc_setup(const ldpc_options& options);

//! Where a codeword lies, in bytes from the beginning of input and output.
struct ldpc_frame {
    std::uint32_t input;
    std::uint32_t output;
    std::uint32_t status; //!< its index in the status
};

//! What became of a codeword.
struct ldpc_status {
    std::uint32_t iterations;
    std::uint32_t unsatisfied; //!< checks that the decisions violate
};

/*!
 * \brief One batch of codewords.
 *
 * The input begins with a table of ldpc_frame, codewords of one code next to each other,
 * and goes on with the channel values from values_offset() on. Decisions are packed,
 * first bit most significant.
 */
struct ldpc_job {
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
        return (codewords * sizeof(ldpc_frame) + 255) / 256 * 256;
    }
};

using ldpc_batch_decoder = batch_decoder<ldpc_job>;

//! What the CPU backend can use here, best first: "avx512", "avx2", "baseline".
std::vector<std::string> cpu_ldpc_instruction_sets();

//! Decodes batches of up to \p codewords on \p threads threads.
std::unique_ptr<ldpc_batch_decoder>
make_cpu_ldpc(const ldpc_setup& setup,
              std::size_t codewords,
              unsigned threads,
              const std::string& instruction_set = "");

//! Batch that keeps the CPU backend's lanes full.
std::size_t cpu_ldpc_batch(const ldpc_setup& setup, unsigned threads);

/*!
 * \brief Decodes batches of up to \p codewords on a CUDA device, \p slots in flight.
 *
 * \p codewords 0: chosen from the device.
 * \throws std::runtime_error that says what is missing
 */
std::unique_ptr<ldpc_batch_decoder> make_cuda_ldpc(const ldpc_setup& setup,
                                                   std::size_t codewords,
                                                   unsigned slots,
                                                   int device);

//! How long the steps of a batch take, alone on the device.
struct cuda_ldpc_times {
    double copy_in_ms;
    double kernels_ms;
    double copy_out_ms;
};

//! Medians of \p rounds batches. \throws std::runtime_error that says what is missing
cuda_ldpc_times measure_cuda_ldpc(const ldpc_setup& setup,
                                  const ldpc_job& job,
                                  const ldpc_batch_decoder::buffers& memory,
                                  int device,
                                  unsigned rounds);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_JOB_H */
