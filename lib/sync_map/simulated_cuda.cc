// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* For tests without a GPU: CUDA devices 0 to 3 that are the CPU backend, and fail when
 * told to. */

#include "cpu.h"
#include "job.h"
#include "pipeline/simulated_device.h"

namespace gr::gpufec::sync_map {

std::unique_ptr<batch_decoder<job>>
make_cuda(const setup& setup, std::size_t frames, unsigned /*slots*/, int device)
{
    if (device > 3) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed are 0 to 3, the simulated devices");
    }
    return std::make_unique<simulated_device<job>>(
        make_cpu(setup, frames ? frames : 4, 1), device);
}

cuda_times measure_cuda(const setup&, std::size_t, const batch_memory&, int, unsigned)
{
    throw std::runtime_error("simulated devices are not measured");
}

} // namespace gr::gpufec::sync_map
