// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces device.cc in a build without CUDA: there are no devices. */

#include "devices.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec {

cuda_devices find_cuda_devices()
{
    cuda_devices none;
    none.missing = "this build of gr-gpufec has no CUDA";
    return none;
}

cuda_bandwidth measure_cuda_bandwidth(int)
{
    throw device_error("this build of gr-gpufec has no CUDA");
}

} // namespace gr::gpufec
