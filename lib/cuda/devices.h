// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Properties and bandwidth of the CUDA devices, for sources that do not include CUDA
 * headers. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICES_H
#define INCLUDED_GPUFEC_CUDA_DEVICES_H

#include <gnuradio/gpufec/api.h>
#include <cstddef>
#include <string>
#include <vector>

namespace gr::gpufec {

struct cuda_device {
    int index;
    std::string name;
    int major, minor; //!< compute capability
    int multiprocessors;
    std::size_t memory_bytes, free_bytes;
    std::size_t shared_bytes_per_block; //!< maximum that a kernel can opt in to
    std::size_t l2_bytes;
};

struct cuda_devices {
    std::vector<cuda_device> devices;
    std::string missing; //!< reason why no device exists or one is unusable, or ""
};

//! Returns the usable devices; none if there is no driver.
GPUFEC_API cuda_devices find_cuda_devices();

namespace cuda {

//! Returns whether this build has kernels for the device of the calling thread: machine
//! code for its compute capability, or PTX that the driver can compile.
bool has_kernels();

} // namespace cuda

//! Measured rate of large copies of pinned memory, in bytes per second.
struct cuda_bandwidth {
    double to_device, to_host;
};

//! Measures the bandwidth between host and device.
//! \throws std::runtime_error if the device cannot be used
cuda_bandwidth measure_cuda_bandwidth(int device);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICES_H */
