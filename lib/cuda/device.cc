// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Lists and selects CUDA devices, and measures their bandwidth. */

#include "devices.h"
#include "runtime.h"
#include <memory>
#include <stdexcept>

namespace gr::gpufec {

namespace {

// Returns the reason why cudaGetDeviceCount() failed and, if one is known, the remedy.
std::string reason_of(cudaError_t error)
{
    int version = 0; // highest version of CUDA that the driver supports; 0: no driver
    if (error != cudaErrorInsufficientDriver ||
        cudaDriverGetVersion(&version) != cudaSuccess) {
        return cudaGetErrorString(error);
    }
    if (version == 0) {
        return "no NVIDIA driver";
    }
    const auto text = [](int v) {
        return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
    };
    return "the driver supports CUDA " + text(version) + ", but this build needs CUDA " +
           text(CUDART_VERSION / 1000 * 1000) +
           ": update the driver, or build with an older CUDA toolkit";
}

int count_devices(std::string& missing)
{
    int count = 0;
    const auto error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        cudaGetLastError();
        missing = "no usable CUDA device (" + reason_of(error) + ")";
        return 0;
    }
    if (count == 0) {
        missing = "no CUDA device";
    }
    return count;
}

} // namespace

namespace cuda {

void select(int device)
{
    std::string missing;
    const int count = count_devices(missing);
    if (count == 0) {
        throw std::runtime_error("backend cuda: " + missing);
    }
    if (device < 0 || device >= count) {
        throw std::runtime_error(
            "device is " + std::to_string(device) + ": allowed values are 0 to " +
            std::to_string(count - 1) + ", the CUDA devices of this machine");
    }
    use(device);
    // cudaFree(nullptr) creates the context, so an unusable device is detected here.
    check(cudaFree(nullptr), "context creation");
    if (!has_kernels()) {
        cudaDeviceProp p;
        check(cudaGetDeviceProperties(&p, device), "query of a device");
        throw std::runtime_error(
            "backend cuda: this build has no kernels for CUDA device " +
            std::to_string(device) + ", " + p.name + ", of compute capability " +
            std::to_string(p.major) + "." + std::to_string(p.minor) +
            "; CMAKE_CUDA_ARCHITECTURES selects the GPUs of a build, from 7.5 up");
    }
}

} // namespace cuda

cuda_devices find_cuda_devices()
{
    cuda_devices found;
    const int count = count_devices(found.missing);
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp p;
        std::size_t free = 0, total = 0;
        if (cudaGetDeviceProperties(&p, i) != cudaSuccess ||
            cudaSetDevice(i) != cudaSuccess ||
            cudaMemGetInfo(&free, &total) != cudaSuccess) {
            cudaGetLastError();
            found.missing = "CUDA device " + std::to_string(i) + " cannot be used";
            continue;
        }
        found.devices.push_back({ i,
                                  p.name,
                                  p.major,
                                  p.minor,
                                  p.multiProcessorCount,
                                  total,
                                  free,
                                  p.sharedMemPerBlockOptin,
                                  std::size_t(p.l2CacheSize) });
    }
    return found;
}

cuda_bandwidth measure_cuda_bandwidth(int device)
{
    constexpr std::size_t bytes = 64u << 20;
    constexpr int rounds = 5;
    cuda::select(device);
    cuda::stream stream;
    cuda::event begin(cudaEventDefault), end(cudaEventDefault);
    cuda::buffer<std::byte> on_device(bytes);
    std::unique_ptr<std::byte[]> on_host(new std::byte[bytes]());
    cuda::page_lock(on_host.get(), bytes);
    const auto rate = [&](void* to, const void* from, cudaMemcpyKind kind) {
        float best = 0;
        for (int i = 0; i < rounds; ++i) {
            cuda::check(cudaEventRecord(begin.get(), stream.get()), "event recording");
            cuda::check(cudaMemcpyAsync(to, from, bytes, kind, stream.get()), "copy");
            cuda::check(cudaEventRecord(end.get(), stream.get()), "event recording");
            cuda::check(cudaEventSynchronize(end.get()), "copy");
            float ms = 0;
            cuda::check(cudaEventElapsedTime(&ms, begin.get(), end.get()),
                        "event timing");
            best = i == 0 || ms < best ? ms : best;
        }
        return bytes / (best * 1e-3);
    };
    const cuda_bandwidth b{ rate(on_device.get(), on_host.get(), cudaMemcpyHostToDevice),
                            rate(
                                on_host.get(), on_device.get(), cudaMemcpyDeviceToHost) };
    cuda::page_unlock(on_host.get());
    return b;
}

} // namespace gr::gpufec
