// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Interception of the CUDA runtime. The linker's --wrap directs the decoders' calls of
 * the runtime to this file. Each function here makes its call fail or hang if
 * testing/faults.h requests that, and otherwise calls the real runtime. */

#include "faults.h"
#include "limited_card.h"
#include <atomic>
#include <chrono>
#include <thread>

namespace gr::gpufec::cuda::faults {
void stop_hanging();
}

namespace {

using namespace gr::gpufec::cuda;

thread_local cudaError_t pending_error =
    cudaSuccess; // error for the next cudaGetLastError()

thread_local bool own_launch = false; // true during launches of wait_for()

std::atomic<bool> something_hangs{ false }; // whether work hangs on any stream

// Returns whether \p state() returns another result than cudaErrorNotReady within two
// seconds. If not, the work is assumed to hang, and the endless wait is recorded.
template <class State>
bool finishes_in_time(State&& state)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (state() == cudaErrorNotReady) {
        if (std::chrono::steady_clock::now() >= end) {
            faults::wait_for_ever();
            return false;
        }
    }
    return true;
}

// Kernel that makes a stream hang until the host sets \p released.
__global__ void wait_for(const volatile int* released)
{
    while (!*released) {
        __nanosleep(1000);
    }
}

volatile int* released()
{
    static int* const flag = [] {
        int* memory = nullptr;
        cudaHostAlloc(
            reinterpret_cast<void**>(&memory), sizeof(int), cudaHostAllocMapped);
        return memory;
    }();
    return flag;
}

cudaError_t call(const char* name)
{
    const auto error = faults::next(name);
    if (error != cudaSuccess) {
        pending_error = error;
    }
    return error;
}

} // namespace

// Returns from the calling function with the error if the call must fail.
#define RETURN_IF_FAULT(name)          \
    do {                               \
        const auto error = call(name); \
        if (error != cudaSuccess) {    \
            return error;              \
        }                              \
    } while (false)

#define PASSES_ON(name, parameters, arguments) \
    cudaError_t __real_##name parameters;      \
    cudaError_t __wrap_##name parameters       \
    {                                          \
        RETURN_IF_FAULT(#name);                \
        return __real_##name arguments;        \
    }

// Defines a function that frees a resource even if it is made to return an error.
#define FREES(name, parameters, arguments)         \
    cudaError_t __real_##name parameters;          \
    cudaError_t __wrap_##name parameters           \
    {                                              \
        const auto done = __real_##name arguments; \
        RETURN_IF_FAULT(#name);                    \
        return done;                               \
    }

// Defines a function that frees memory, for which the runtime waits for all work on the
// device. If work hangs, the function records that it would wait for ever, and frees
// nothing.
#define FREES_AND_WAITS(name, parameters, arguments) \
    cudaError_t __real_##name parameters;            \
    cudaError_t __wrap_##name parameters             \
    {                                                \
        auto done = cudaSuccess;                     \
        if (memory && something_hangs) {             \
            faults::wait_for_ever();                 \
        } else {                                     \
            done = __real_##name arguments;          \
        }                                            \
        RETURN_IF_FAULT(#name);                      \
        return done;                                 \
    }

extern "C" {

PASSES_ON(cudaGetDeviceCount, (int* count), (count))
PASSES_ON(cudaSetDevice, (int device), (device))
PASSES_ON(cudaGetDevice, (int* device), (device))
cudaError_t __real_cudaGetDeviceProperties(cudaDeviceProp* to, int device);
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* to, int device)
{
    RETURN_IF_FAULT("cudaGetDeviceProperties");
    const auto error = __real_cudaGetDeviceProperties(to, device);
    if (error == cudaSuccess && !gr::gpufec::cuda::unified_card().empty()) {
        to->integrated = 1; // the device can access pinned host memory over the bus
    }
    return error;
}
PASSES_ON(cudaDeviceGetAttribute,
          (int* value, cudaDeviceAttr what, int device),
          (value, what, device))
PASSES_ON(cudaFuncGetAttributes, (cudaFuncAttributes * to, const void* f), (to, f))
PASSES_ON(cudaFuncSetAttribute,
          (const void* f, cudaFuncAttribute what, int value),
          (f, what, value))
PASSES_ON(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int* blocks, const void* f, int threads, size_t shared, unsigned flags),
          (blocks, f, threads, shared, flags))
PASSES_ON(cudaMemGetInfo, (size_t * free, size_t* total), (free, total))
PASSES_ON(cudaMalloc, (void** to, size_t bytes), (to, bytes))
PASSES_ON(cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))
PASSES_ON(cudaMemcpy,
          (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
          (to, from, bytes, kind))
PASSES_ON(cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags), (s, flags))
PASSES_ON(cudaStreamQuery, (cudaStream_t s), (s))
PASSES_ON(cudaStreamWaitEvent,
          (cudaStream_t s, cudaEvent_t e, unsigned flags),
          (s, e, flags))
PASSES_ON(cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned flags), (e, flags))
PASSES_ON(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s))
PASSES_ON(cudaEventQuery, (cudaEvent_t e), (e))
PASSES_ON(cudaHostRegister, (void* at, size_t bytes, unsigned flags), (at, bytes, flags))
FREES(cudaStreamDestroy, (cudaStream_t s), (s))
FREES(cudaEventDestroy, (cudaEvent_t e), (e))

FREES_AND_WAITS(cudaFree, (void* memory), (memory))
FREES_AND_WAITS(cudaHostUnregister, (void* memory), (memory))

cudaError_t __real_cudaStreamSynchronize(cudaStream_t s);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t s)
{
    RETURN_IF_FAULT("cudaStreamSynchronize");
    const bool ends = !s || !something_hangs ||
                      finishes_in_time([=] { return __real_cudaStreamQuery(s); });
    return ends ? __real_cudaStreamSynchronize(s) : cudaSuccess;
}

cudaError_t __real_cudaEventSynchronize(cudaEvent_t e);
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t e)
{
    RETURN_IF_FAULT("cudaEventSynchronize");
    const bool ends =
        !something_hangs || finishes_in_time([=] { return __real_cudaEventQuery(e); });
    return ends ? __real_cudaEventSynchronize(e) : cudaSuccess;
}

cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError()
{
    RETURN_IF_FAULT("cudaGetLastError");
    const auto before = pending_error;
    pending_error = cudaSuccess;
    const auto real = __real_cudaGetLastError();
    return before != cudaSuccess ? before : real;
}

cudaError_t __real_cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s);
cudaError_t __wrap_cudaMemcpyAsync(
    void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
    RETURN_IF_FAULT("cudaMemcpyAsync");
    if (faults::hanging()) {
        something_hangs = true;
        own_launch = true;
        wait_for<<<1, 1, 0, s>>>(released());
        own_launch = false;
    }
    return __real_cudaMemcpyAsync(to, from, bytes, kind, s);
}

cudaError_t
__real_cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaMemsetAsync");
    return __real_cudaMemsetAsync(to, value, bytes, stream);
}

// nvcc translates kernel<<<…>>>(…) into a call of this function.
cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel,
                                      dim3 grid,
                                      dim3 block,
                                      void** arguments,
                                      size_t shared,
                                      cudaStream_t s);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel,
                                      dim3 grid,
                                      dim3 block,
                                      void** arguments,
                                      size_t shared,
                                      cudaStream_t s)
{
    if (!own_launch) {
        RETURN_IF_FAULT("launch");
    }
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, s);
}

cudaError_t __real_cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* argument);
cudaError_t __wrap_cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* argument)
{
    RETURN_IF_FAULT("cudaLaunchHostFunc");
    return __real_cudaLaunchHostFunc(s, f, argument);
}

} // extern "C"

namespace gr::gpufec::cuda::faults {

void forget_errors()
{
    pending_error = cudaSuccess;
    if (released()) {
        *released() = 0;
    }
}

void release()
{
    stop_hanging();
    if (released()) { // released() is null without a device
        *released() = 1;
        cudaDeviceSynchronize();
        *released() = 0;
    }
    something_hangs = false;
}

} // namespace gr::gpufec::cuda::faults
