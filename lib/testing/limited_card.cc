// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Limits the shared memory of a real device to that of a smaller card. The linker's
 * --wrap directs the calls of the CUDA runtime that concern shared memory to this file.
 */

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
    if (const auto card = limited_card(); card.per_block && error == cudaSuccess) {
        to->sharedMemPerBlockOptin = card.per_block;
        to->sharedMemPerMultiprocessor = card.per_multiprocessor;
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
    if (card.per_block && error == cudaSuccess) {
        if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
            *value = int(card.per_block);
        } else if (attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) {
            *value = int(card.per_multiprocessor);
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
    const std::size_t least = std::size_t(of_processor) / (blocks + 1) + 128 - reserved;
    return std::max(shared, std::min<std::size_t>(least / 128 * 128, of_block));
}

cudaError_t __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int threads, std::size_t shared, unsigned flags);
cudaError_t __wrap_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int threads, std::size_t shared, unsigned flags)
{
    const auto error = __real_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, kernel, threads, shared, flags);
    if (const auto card = limited_card(); card.per_block && error == cudaSuccess) {
        *blocks = std::min(*blocks, int(card.blocks(shared)));
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
    if (const auto card = limited_card(); card.per_block && shared > 0) {
        shared = padded(shared, card.blocks(shared));
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
