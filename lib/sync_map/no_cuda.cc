// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stands in for the CUDA decoder in a build without CUDA. */

#include "job.h"
#include <stdexcept>

namespace gr::gpufec::sync_map {

std::unique_ptr<batch_decoder<job>> make_cuda(const setup&, std::size_t, unsigned, int)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

cuda_times measure_cuda(const setup&, std::size_t, const batch_memory&, int, unsigned)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace gr::gpufec::sync_map
