// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The host's side of the emulated CUDA runtime: streams that run at once, or hang, and
 * calls that fail when cuda/faults.h tells them to. */

#include "cuda/emulation/runtime.h"
#include "cuda/faults.h"
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

struct emulated_stream {
};
struct emulated_event {
    std::shared_ptr<bool> pending = std::make_shared<bool>(false);
};

namespace gr::gpufec::cuda::faults {
void stop_hanging();
void forget_errors();
} // namespace gr::gpufec::cuda::faults

namespace {

using gr::gpufec::cuda::faults::hanging;

struct {
    std::mutex mutex;
    std::deque<std::function<void()>> waiting; // of all streams that hang
    std::map<void*, std::size_t> allocated;
    std::set<void*> registered;
    std::size_t memory = std::size_t(1) << 30;
    std::size_t used = 0, refused = 0;
    int devices = 1;
} emulated;

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t noted(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) {
        last_error = error;
    }
    return error;
}

cudaError_t call(const char* name) { return noted(gr::gpufec::cuda::faults::next(name)); }

// The interface is C's: nothing is thrown through it.
template <class Action>
cudaError_t within_memory(Action&& action)
{
    try {
        action();
        return cudaSuccess;
    } catch (const std::bad_alloc&) {
        return noted(cudaErrorMemoryAllocation);
    }
}

// On a stream: at once, or once nothing hangs any more.
template <class Work>
cudaError_t enqueue(Work work)
{
    return within_memory([&] {
        if (!hanging()) {
            work();
            return;
        }
        std::lock_guard<std::mutex> lock(emulated.mutex);
        emulated.waiting.push_back(std::move(work));
    });
}

} // namespace

namespace gr::gpufec::cuda {

void faults::forget_errors() { last_error = cudaSuccess; }

void faults::release()
{
    stop_hanging();
    for (;;) {
        std::function<void()> work;
        {
            std::lock_guard<std::mutex> lock(emulated.mutex);
            if (emulated.waiting.empty()) {
                return;
            }
            work = std::move(emulated.waiting.front());
            emulated.waiting.pop_front();
        }
        work();
    }
}

namespace emulation {

void set_devices(int count) { emulated.devices = count; }
void set_memory(std::size_t bytes) { emulated.memory = bytes; }
std::size_t used_memory()
{
    std::lock_guard<std::mutex> lock(emulated.mutex);
    return emulated.used;
}
std::size_t refused_allocations()
{
    std::lock_guard<std::mutex> lock(emulated.mutex);
    return emulated.refused;
}
std::size_t registered_ranges()
{
    std::lock_guard<std::mutex> lock(emulated.mutex);
    return emulated.registered.size();
}

} // namespace emulation
} // namespace gr::gpufec::cuda

// A call that cannot do other than return an error where it is told to.
#define FAILS_IF_TOLD(name)            \
    do {                               \
        const auto error = call(name); \
        if (error != cudaSuccess) {    \
            return error;              \
        }                              \
    } while (false)

const char* cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorDevicesUnavailable:
        return "CUDA-capable device(s) is/are busy or unavailable";
    default:
        return "emulated error";
    }
}

cudaError_t cudaGetLastError()
{
    FAILS_IF_TOLD("cudaGetLastError");
    return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count)
{
    FAILS_IF_TOLD("cudaGetDeviceCount");
    *count = emulated.devices;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return call("cudaSetDevice"); }

cudaError_t cudaGetDevice(int* device)
{
    FAILS_IF_TOLD("cudaGetDevice");
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int)
{
    FAILS_IF_TOLD("cudaGetDeviceProperties");
    *to = {};
    std::strcpy(to->name, "emulated");
    to->multiProcessorCount = 2;
    to->sharedMemPerBlockOptin = to->sharedMemPerMultiprocessor = 227 << 10;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int)
{
    FAILS_IF_TOLD("cudaDeviceGetAttribute");
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 227 << 10;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void*)
{
    FAILS_IF_TOLD("cudaFuncGetAttributes");
    to->sharedSizeBytes = 0;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, int, int)
{
    return call("cudaFuncSetAttribute");
}

cudaError_t emulated_occupancy(int* blocks)
{
    FAILS_IF_TOLD("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 1;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    FAILS_IF_TOLD("cudaMemGetInfo");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    *total = emulated.memory;
    *free = emulated.memory - std::min(emulated.memory, emulated.used);
    return cudaSuccess;
}

cudaError_t emulated_malloc(void** to, std::size_t bytes)
{
    FAILS_IF_TOLD("cudaMalloc");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    if (bytes > emulated.memory - std::min(emulated.memory, emulated.used)) {
        ++emulated.refused;
        return noted(cudaErrorMemoryAllocation);
    }
    return within_memory([&] {
        void* const memory = std::malloc(bytes + 1);
        try {
            emulated.allocated[memory] = bytes;
        } catch (...) {
            std::free(memory);
            throw;
        }
        std::memset(memory, 0xff, bytes);
        emulated.used += bytes;
        *to = memory;
    });
}

// What frees does so even where it says that it failed: sanitizers look for what is lost.
cudaError_t cudaFree(void* memory)
{
    const auto error = call("cudaFree");
    if (memory && !hanging(true)) {
        std::lock_guard<std::mutex> lock(emulated.mutex);
        const auto found = emulated.allocated.find(memory);
        if (found == emulated.allocated.end()) {
            return noted(cudaErrorInvalidValue);
        }
        emulated.used -= found->second;
        emulated.allocated.erase(found);
        std::free(memory);
    }
    return error;
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes)
{
    FAILS_IF_TOLD("cudaMemset");
    std::memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t)
{
    FAILS_IF_TOLD("cudaMemsetAsync");
    return enqueue([=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind)
{
    FAILS_IF_TOLD("cudaMemcpy");
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    FAILS_IF_TOLD("cudaMemcpyAsync");
    return enqueue([=] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned)
{
    FAILS_IF_TOLD("cudaStreamCreateWithFlags");
    return within_memory([&] { *stream = new emulated_stream; });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return call("cudaStreamDestroy");
}

cudaError_t cudaStreamQuery(cudaStream_t)
{
    FAILS_IF_TOLD("cudaStreamQuery");
    return hanging() ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    FAILS_IF_TOLD("cudaStreamSynchronize");
    hanging(stream != nullptr);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return call("cudaStreamWaitEvent");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
    FAILS_IF_TOLD("cudaEventCreateWithFlags");
    return within_memory([&] { *event = new emulated_event; });
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return call("cudaEventDestroy");
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    FAILS_IF_TOLD("cudaEventRecord");
    *event->pending = true;
    return enqueue([pending = event->pending] { *pending = false; });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    FAILS_IF_TOLD("cudaEventQuery");
    return *event->pending ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    FAILS_IF_TOLD("cudaEventSynchronize");
    hanging(*event->pending);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t)
{
    FAILS_IF_TOLD("cudaEventElapsedTime");
    *ms = 0;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* memory, std::size_t, unsigned)
{
    FAILS_IF_TOLD("cudaHostRegister");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    bool fresh = true;
    const auto error =
        within_memory([&] { fresh = emulated.registered.insert(memory).second; });
    return fresh ? error : noted(cudaErrorInvalidValue);
}

cudaError_t cudaHostUnregister(void* memory)
{
    const auto error = call("cudaHostUnregister");
    hanging(true);
    std::lock_guard<std::mutex> lock(emulated.mutex);
    return emulated.registered.erase(memory) ? error : noted(cudaErrorInvalidValue);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void*), void* argument)
{
    FAILS_IF_TOLD("cudaLaunchHostFunc");
    return enqueue([=] { function(argument); });
}

void emulated_launch(cudaStream_t, std::function<void()> kernel)
{
    if (call("launch") == cudaSuccess) {
        enqueue(std::move(kernel));
    }
}
