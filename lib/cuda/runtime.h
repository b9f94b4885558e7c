// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers for the CUDA runtime: errors as exceptions, selection of a device, RAII owners
 * of streams, events and device memory, and pinned host memory. */

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

//! Throws device_error unless \p error is cudaSuccess. \p what names the failed
//! operation.
inline void check(cudaError_t error, const char* what)
{
    if (error == cudaSuccess) {
        return;
    }
    cudaGetLastError(); // clears an error that is not sticky
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

//! Throws device_memory_error unless \p bytes bytes of device memory are free. Called
//! before cudaMalloc(), because the CUDA runtime would record a failed allocation as an
//! error.
inline void need_memory(std::size_t bytes)
{
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "query of device memory");
    if (bytes > free) {
        throw device_memory_error("CUDA: " + std::to_string(bytes >> 20) +
                                  " MiB of device memory are needed, but only " +
                                  std::to_string(free >> 20) + " MiB are free");
    }
}

//! Makes \p device the current one of the calling thread.
inline void use(int device) { check(cudaSetDevice(device), "cudaSetDevice"); }

//! Checks that \p device is usable and makes it the current one of the calling thread.
//! \throws std::runtime_error with the reason if the device is not usable
void select(int device);

class stream
{
public:
    stream()
    {
        check(cudaStreamCreateWithFlags(&d_stream, cudaStreamNonBlocking),
              "stream creation");
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
        check(cudaEventCreateWithFlags(&d_event, flags), "event creation");
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

//! Uninitialised device memory for \p count values of type T.
template <class T>
class buffer
{
public:
    explicit buffer(std::size_t count) : d_count(count)
    {
        const auto what = "allocation of " + std::to_string(bytes() >> 20) + " MiB";
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
    //! Sets the memory to 0. Needed if the host reads parts that no kernel writes.
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
 * \brief Copies \p values to device memory, ready for kernels on any stream.
 *
 * cudaMemcpy() from pageable memory may return before the data are in device memory,
 * and a kernel on a non-blocking stream does not wait for them (CUDA Runtime API, "API
 * synchronization behavior"). The copy runs on the default stream, so the function waits
 * for that stream.
 *
 * \p what names the copy in an error message.
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

inline int current_device()
{
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

inline int device_attribute(cudaDeviceAttr attribute, int device)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device), "query of a device");
    return value;
}

inline unsigned multiprocessors(int device = current_device())
{
    return device_attribute(cudaDevAttrMultiProcessorCount, device);
}

//! Returns the bytes of shared memory that a thread block can use.
inline std::size_t shared_per_block(int device = current_device())
{
    return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

/*!
 * \brief Allows \p kernel to use \p bytes of dynamic shared memory per block.
 *
 * The limit is set to the device's maximum, not to \p bytes, because all decoders share
 * the kernel's limit and a decoder of another code may need more.
 *
 * \throws std::runtime_error if the device has less. In the message, \p what names the
 * user of the memory.
 */
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes, const std::string& what)
{
    const auto* const function = reinterpret_cast<const void*>(kernel);
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, function), "query of a kernel");
    const auto capacity = shared_per_block() - attributes.sharedSizeBytes;
    if (bytes > capacity) {
        throw std::runtime_error(what + " needs " + std::to_string(bytes) +
                                 " bytes of shared memory per thread block; the CUDA "
                                 "device has " +
                                 std::to_string(capacity));
    }
    check(cudaFuncSetAttribute(
              function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(capacity)),
          "request of shared memory");
}

//! Returns how many blocks of \p kernel are resident per multiprocessor at a time.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel, unsigned threads, std::size_t shared_bytes)
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, kernel, int(threads), shared_bytes),
          "query of the occupancy");
    return unsigned(blocks);
}

//! Pins host memory for faster copies and returns whether pinning succeeded. If pinning
//! fails, copies still work but are slower.
inline bool page_lock(void* memory, std::size_t bytes)
{
    if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) != cudaSuccess) {
        cudaGetLastError(); // clears the error, which is not sticky
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
