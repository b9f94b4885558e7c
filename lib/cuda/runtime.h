// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Owners of CUDA things, and errors as exceptions. */

#ifndef INCLUDED_GPUFEC_CUDA_RUNTIME_H
#define INCLUDED_GPUFEC_CUDA_RUNTIME_H

#include "pipeline/batch_decoder.h"
#include <cuda_runtime.h>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {
namespace cuda {

//! \throws device_error naming what failed
inline void check(cudaError_t error, const char* what)
{
    if (error == cudaSuccess) {
        return;
    }
    cudaGetLastError(); // what is not sticky is told once
    const auto text = std::string("CUDA: ") + what + ": " + cudaGetErrorString(error);
    switch (error) {
    case cudaErrorMemoryAllocation:
        throw device_memory_error(text);
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
        throw passing_device_error(text);
    default:
        throw device_error(text);
    }
}

//! Refuses to ask for memory that is not free, which the runtime counts as an error.
//! \throws device_memory_error
inline void need_memory(std::size_t bytes)
{
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "device memory");
    if (bytes > free) {
        throw device_memory_error("CUDA: " + std::to_string(bytes >> 20) +
                                  " MiB of device memory are needed, " +
                                  std::to_string(free >> 20) + " are free");
    }
}

//! Makes \p device the calling thread's.
inline void use(int device) { check(cudaSetDevice(device), "cudaSetDevice"); }

/*!
 * \brief Makes \p device the calling thread's, if there is such a usable device.
 * \throws std::runtime_error that says what is missing
 */
void select(int device);

class stream
{
public:
    stream()
    {
        check(cudaStreamCreateWithFlags(&d_stream, cudaStreamNonBlocking), "stream");
    }
    ~stream()
    {
        if (d_stream) {
            cudaStreamDestroy(d_stream);
        }
    }
    stream(stream&& o) noexcept : d_stream(std::exchange(o.d_stream, nullptr)) {}
    stream& operator=(stream&&) = delete;
    cudaStream_t get() const { return d_stream; }

private:
    cudaStream_t d_stream = nullptr;
};

class event
{
public:
    explicit event(unsigned flags = cudaEventDisableTiming)
    {
        check(cudaEventCreateWithFlags(&d_event, flags), "event");
    }
    ~event()
    {
        if (d_event) {
            cudaEventDestroy(d_event);
        }
    }
    event(event&& o) noexcept : d_event(std::exchange(o.d_event, nullptr)) {}
    event& operator=(event&&) = delete;
    cudaEvent_t get() const { return d_event; }

private:
    cudaEvent_t d_event = nullptr;
};

//! Device memory of \p count Ts, uninitialised.
template <class T>
class buffer
{
public:
    explicit buffer(std::size_t count) : d_count(count)
    {
        const auto what = std::to_string(bytes() >> 20) + " MiB of device memory";
        check(cudaMalloc(&d_data, bytes()), what.c_str());
    }
    ~buffer()
    {
        if (d_data) {
            cudaFree(d_data);
        }
    }
    buffer(buffer&& o) noexcept
        : d_data(std::exchange(o.d_data, nullptr)), d_count(o.d_count)
    {
    }
    buffer& operator=(buffer&&) = delete;
    T* get() const { return d_data; }
    std::size_t bytes() const { return d_count * sizeof(T); }
    //! Zeros, for memory that goes to the host with gaps that no kernel writes.
    void clear()
    {
        check(cudaMemset(d_data, 0, bytes()), "memset");
        check(cudaStreamSynchronize(nullptr), "memset");
    }

private:
    T* d_data = nullptr;
    std::size_t d_count;
};

/*!
 * \brief \p values in device memory, where kernels of all streams find them.
 *
 * cudaMemcpy() of pageable memory returns before a short copy has arrived, and streams
 * that do not block overtake it (CUDA Runtime API, "API synchronization behavior"): on a
 * card that others use as well that happened to one copy in fourteen.
 *
 * \p what says in an error what was copied.
 */
template <class T>
buffer<T> uploaded(const std::vector<T>& values, const char* what)
{
    buffer<T> there(values.size());
    check(cudaMemcpy(there.get(),
                     values.data(),
                     values.size() * sizeof(T),
                     cudaMemcpyHostToDevice),
          what);
    check(cudaStreamSynchronize(nullptr), what);
    return there;
}

/*!
 * \brief Lets \p kernel take \p bytes of dynamic shared memory a block.
 *
 * It may then take all that the current device has: the limit belongs to the kernel,
 * which decoders of other codes launch as well, with more or less.
 *
 * \throws std::runtime_error if there is not that much, which \p what would need
 */
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes, const std::string& what)
{
    const auto* const function = reinterpret_cast<const void*>(kernel);
    int device = 0, all = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "device attribute");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, function), "attributes of a kernel");
    const auto room = std::size_t(all) - attributes.sharedSizeBytes;
    if (bytes > room) {
        throw std::runtime_error(what + " needs " + std::to_string(bytes) +
                                 " bytes of shared memory a block, the CUDA device has " +
                                 std::to_string(room));
    }
    check(cudaFuncSetAttribute(
              function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(room)),
          "shared memory of a kernel");
}

//! Locks host pages for fast copies; where that fails copies are slower, no more.
inline bool page_lock(void* memory, std::size_t bytes)
{
    if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) != cudaSuccess) {
        cudaGetLastError(); // not sticky: forget it
        return false;
    }
    return true;
}

inline void page_unlock(void* memory) noexcept
{
    if (cudaHostUnregister(memory) != cudaSuccess) {
        cudaGetLastError();
    }
}

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_RUNTIME_H */
