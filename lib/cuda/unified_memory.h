// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Access of kernels to host memory, on devices that share the memory of the host. */

#ifndef INCLUDED_GPUFEC_CUDA_UNIFIED_MEMORY_H
#define INCLUDED_GPUFEC_CUDA_UNIFIED_MEMORY_H

#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec {
namespace cuda {

/*!
 * \brief Device addresses of host memory.
 *
 * On Jetson and GB10, the device and the host have one memory, so a copy of a batch's
 * input or output would only use bandwidth. Other devices copy, even those that can
 * access host memory, because an access over the bus has a longer latency than an access
 * to device memory.
 */
class unified_memory
{
public:
    //! Kernels access input in words of up to this number of bytes.
    static constexpr std::size_t alignment = 16;

    explicit unified_memory(const cudaDeviceProp& device)
        : d_pinned(device.integrated && device.canMapHostMemory),
          d_pageable(d_pinned && device.pageableMemoryAccessUsesHostPageTables)
    {
    }

    //! Returns the device's address of the host memory at \p host. Returns nullptr if the
    //! device has memory of its own, cannot access \p host, or \p host is not aligned.
    template <class T>
    T* address(T* host) const noexcept
    {
        if (!d_pinned || reinterpret_cast<std::uintptr_t>(host) % alignment != 0) {
            return nullptr;
        }
        cudaPointerAttributes memory;
        if (cudaPointerGetAttributes(&memory, host) != cudaSuccess) {
            cudaGetLastError(); // clears the error, which is not sticky
            return nullptr;
        }
        if (memory.type == cudaMemoryTypeHost) {
            return static_cast<T*>(memory.devicePointer);
        }
        return d_pageable && memory.type == cudaMemoryTypeUnregistered ? host : nullptr;
    }

private:
    const bool d_pinned;   // whether kernels can access pinned host memory
    const bool d_pageable; // whether kernels can access all host memory
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_UNIFIED_MEMORY_H */
