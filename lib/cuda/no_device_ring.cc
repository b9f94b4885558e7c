// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces device_ring.cc in a build without CUDA. */

#include "device_ring.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec {

std::unique_ptr<device_ring> device_ring::make(int, std::size_t, std::size_t)
{
    throw device_error("this build of gr-gpufec has no CUDA");
}

std::unique_ptr<device_copies> device_copies::make(int)
{
    throw device_error("this build of gr-gpufec has no CUDA");
}

} // namespace gr::gpufec
