/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* For tests without a GPU: CUDA devices 0 to 3 that are the CPU backend, and fail when
 * told to. */

#include "cpu.h"
#include "cuda.h"
#include "pipeline/simulated_device.h"

namespace gr {
namespace gpufec {

std::unique_ptr<sync_batch_decoder> make_cuda_decoder(const sync_plan& plan,
                                                      std::size_t frames,
                                                      unsigned /*slots*/,
                                                      int device)
{
    if (device > 3) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed are 0 to 3, the simulated devices");
    }
    return std::make_unique<simulated_device<sync_job>>(
        make_cpu_decoder(plan, frames ? frames : 4, 1), device);
}

cuda_sync_times measure_cuda_sync(
    const sync_plan&, std::size_t, const sync_batch_decoder::buffers&, int, unsigned)
{
    throw std::runtime_error("simulated devices are not measured");
}

} // namespace gpufec
} // namespace gr
