// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stands in for the links on CUDA devices where there is no CUDA. */

#include "lab/ldpc/simulation.h"
#include "lab/viterbi/simulation.h"

namespace gr::gpufec {

std::unique_ptr<viterbi::device_link> viterbi::make_device_link(const simulation_options&)
{
    return nullptr;
}

std::unique_ptr<ldpc::device_link> ldpc::make_device_link(const simulation_options&)
{
    return nullptr;
}

} // namespace gr::gpufec
