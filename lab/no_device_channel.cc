// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the device_channel.cu files in builds without CUDA. The factories return
 * nullptr. */

#include "lab/ldpc/simulation.h"
#include "lab/viterbi/simulation.h"

namespace gr::gpufec {

std::unique_ptr<viterbi::device_channel>
viterbi::make_device_channel(const simulation_options&)
{
    return nullptr;
}

std::unique_ptr<ldpc::device_channel> ldpc::make_device_channel(const simulation_options&)
{
    return nullptr;
}

} // namespace gr::gpufec
