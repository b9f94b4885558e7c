// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory that kernels can access without a copy: device memory, and host memory if the
 * device and the host share one memory. */

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

    unified_memory(int number, const cudaDeviceProp& device)
        : d_device(number),
          d_pinned(device.integrated && device.canMapHostMemory),
          d_pageable(d_pinned && device.pageableMemoryAccessUsesHostPageTables)
    {
    }

    //! Returns the device's address of the host memory at \p host. Returns nullptr if the
    //! device has separate memory, cannot access \p host, or \p host is not aligned.
    template <class T>
    T* address(T* host) const noexcept
    {
        if (!d_pinned || reinterpret_cast<std::uintptr_t>(host) % alignment != 0) {
            return nullptr;
        }
        const auto memory = attributes(host);
        if (memory.type == cudaMemoryTypeHost) {
            return static_cast<T*>(memory.devicePointer);
        }
        return d_pageable && memory.type == cudaMemoryTypeUnregistered ? host : nullptr;
    }

    //! Returns whether \p memory is memory of the device itself.
    bool on_device(const void* memory) const noexcept
    {
        const auto m = attributes(memory);
        return m.type == cudaMemoryTypeDevice && m.device == d_device;
    }

    //! Returns the address at which kernels can read the input \p from, or nullptr; see
    //! address().
    const void* readable(const void* from) const noexcept
    {
        const bool aligned = reinterpret_cast<std::uintptr_t>(from) % alignment == 0;
        return aligned && on_device(from) ? from : address(from);
    }

private:
    static cudaPointerAttributes attributes(const void* memory) noexcept
    {
        cudaPointerAttributes a{};
        if (cudaPointerGetAttributes(&a, memory) != cudaSuccess) {
            cudaGetLastError(); // clears the error, which is not sticky
            a.type = cudaMemoryTypeUnregistered;
        }
        return a;
    }

    const int d_device;
    const bool d_pinned;   // whether kernels can access pinned host memory
    const bool d_pageable; // whether kernels can access all host memory
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_UNIFIED_MEMORY_H */
