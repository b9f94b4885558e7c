/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Stands in for the CUDA decoder in a build without CUDA. */

#include "cuda.h"
#include <stdexcept>

namespace gr {
namespace gpufec {

std::unique_ptr<sync_batch_decoder>
make_cuda_decoder(const sync_plan&, std::size_t, unsigned, int)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

cuda_sync_times measure_cuda_sync(
    const sync_plan&, std::size_t, const sync_batch_decoder::buffers&, int, unsigned)
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace gpufec
} // namespace gr
