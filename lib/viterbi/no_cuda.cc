// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stands in for the CUDA backend in a build without CUDA. */

#include "job.h"
#include <stdexcept>

namespace gr::gpufec::viterbi {

std::unique_ptr<batch_decoder<job>>
make_cuda(const setup&, std::size_t, unsigned, int, const std::string&)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

std::vector<cuda_times> measure_cuda(const setup&,
                                     const job&,
                                     const batch_memory&,
                                     const std::vector<int>&,
                                     const std::string&,
                                     unsigned)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace gr::gpufec::viterbi
