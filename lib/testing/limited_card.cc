// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Limits the shared memory and the compute capability of a real device to those of
 * another card. The linker's --wrap directs the calls of the CUDA runtime that concern
 * them to this file. */

#include "limited_card.h"
#include <cuda_runtime.h>
#include <algorithm>

namespace {

using gr::gpufec::cuda::limited_card;

} // namespace

extern "C" {

cudaError_t __real_cudaGetDeviceProperties(cudaDeviceProp* to, int device);
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* to, int device)
{
    const auto error = __real_cudaGetDeviceProperties(to, device);
    if (error != cudaSuccess) {
        return error;
    }
    const auto card = limited_card();
    if (card.limits_shared_memory()) {
        to->sharedMemPerBlockOptin = card.shared_per_block;
        to->sharedMemPerMultiprocessor = card.shared_per_multiprocessor;
    }
    if (card.has_capability()) {
        to->major = card.major;
        to->minor = card.minor;
        to->maxThreadsPerMultiProcessor = card.threads_per_multiprocessor();
    }
    return error;
}

cudaError_t
__real_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t
__wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
    const auto error = __real_cudaDeviceGetAttribute(value, attribute, device);
    const auto card = limited_card();
    if (card.limits_shared_memory() && error == cudaSuccess) {
        if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
            *value = int(card.shared_per_block);
        } else if (attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) {
            *value = int(card.shared_per_multiprocessor);
        }
    }
    return error;
}

// Returns \p shared, increased if necessary to the number of bytes per thread block at
// which no more than \p blocks blocks fit on a multiprocessor of the real device. The
// increase ends at the device's limit per block.
static std::size_t padded(std::size_t shared, std::size_t blocks)
{
    int of_processor = 0, reserved = 0, of_block = 0;
    __real_cudaDeviceGetAttribute(
        &of_processor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
    __real_cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0);
    __real_cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    const std::size_t per_block =
        std::size_t(of_processor) / (blocks + 1) + 128 - reserved;
    return std::max(shared, std::min<std::size_t>(per_block / 128 * 128, of_block));
}

cudaError_t __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int threads, std::size_t shared, unsigned flags);
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int threads, std::size_t shared, unsigned flags)
{
    const auto error = __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, kernel, threads, shared, flags);
    if (error == cudaSuccess) {
        const auto most = limited_card().blocks(shared, std::size_t(threads));
        *blocks = int(std::min<std::size_t>(*blocks, most));
    }
    return error;
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel,
                                      dim3 grid,
                                      dim3 block,
                                      void** arguments,
                                      std::size_t shared,
                                      cudaStream_t stream);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel,
                                      dim3 grid,
                                      dim3 block,
                                      void** arguments,
                                      std::size_t shared,
                                      cudaStream_t stream)
{
    if (const auto card = limited_card(); card.limits_shared_memory() && shared > 0) {
        shared = padded(shared, card.blocks(shared, block.x));
        const auto error =
            cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 int(shared));
        if (error != cudaSuccess) {
            return error;
        }
    }
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

} // extern "C"
