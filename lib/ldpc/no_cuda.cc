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

std::unique_ptr<ldpc_batch_decoder>
make_cuda_ldpc(const ldpc_setup&, std::size_t, unsigned, int)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

cuda_ldpc_times measure_cuda_ldpc(
    const ldpc_setup&, const ldpc_job&, const ldpc_batch_decoder::buffers&, int, unsigned)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace gpufec
} // namespace gr
