/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Stands in for the CUDA backend in a build without CUDA. */

#include "job.h"
#include <stdexcept>

namespace gr {
namespace gpufec {

std::unique_ptr<viterbi_batch_decoder>
make_cuda_viterbi(const viterbi_setup&, std::size_t, unsigned, int, const std::string&)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

std::vector<cuda_viterbi_times>
measure_cuda_viterbi(const viterbi_setup&,
                     const viterbi_job&,
                     const viterbi_batch_decoder::buffers&,
                     const std::vector<int>&,
                     const std::string&,
                     unsigned)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace gpufec
} // namespace gr
