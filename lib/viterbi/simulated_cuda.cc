// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* For flowgraph tests without a GPU: CUDA devices 0 to 3 that are the CPU backend, and
 * fail when told to. */

#include "job.h"
#include "pipeline/simulated_device.h"

namespace gr::gpufec::viterbi {

namespace {

constexpr int simulated_devices = 4;
constexpr std::size_t chosen_batch = 8;

} // namespace

std::unique_ptr<batch_decoder<job>> make_cuda(const setup& setup,
                                              std::size_t blocks,
                                              unsigned /*slots*/,
                                              int device,
                                              const std::string& /*kernel*/)
{
    if (device >= simulated_devices) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed are 0 to 3, the simulated devices");
    }
    const std::size_t unit = setup.plan.blocks_per_frame;
    return std::make_unique<simulated_device<job>>(
        make_cpu(setup, blocks ? blocks : chosen_batch * unit, 1), device);
}

std::vector<cuda_times> measure_cuda(const setup&,
                                     const job&,
                                     const batch_memory&,
                                     const std::vector<int>&,
                                     const std::string&,
                                     unsigned)
{
    throw std::runtime_error("simulated devices are not measured");
}

} // namespace gr::gpufec::viterbi
