// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The host side of the emulated CUDA runtime. Either each call runs its work before it
 * returns, or a thread runs the work of all streams in any order that CUDA allows. With
 * testing/faults.h, a test can make calls fail and work hang. */

#include "runtime.h"
#include "testing/faults.h"
#include "testing/limited_card.h"
#include <condition_variable>
#include <cuda_runtime.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using flag = std::shared_ptr<std::atomic<bool>>;

struct work {
    std::function<void()> run;
    flag after; // The work begins once *after is false. If `after` is null, the work
                // begins immediately.
    bool held;  // whether the work hangs
};

} // namespace

struct emulated_stream {
    std::deque<work> waiting;
    bool busy = false;
    bool destroyed = false; // the stream is deleted once no work waits in it
};
struct emulated_event {
    flag pending; // true until the stream reaches the last cudaEventRecord()
};

namespace gr::gpufec::cuda::faults {
void stop_hanging();
void forget_errors();
} // namespace gr::gpufec::cuda::faults

namespace {

using gr::gpufec::cuda::faults::hanging;

struct runtime {
    ~runtime()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ended = true;
        }
        changed.notify_all();
        if (worker.joinable()) {
            worker.join();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::list<emulated_stream> streams;
    std::map<void*, std::size_t> allocated, page_locked, registered;
    std::size_t memory = std::size_t(1) << 30;
    std::size_t used = 0, refused = 0;
    int devices = 1;
    std::thread worker;
    bool asynchronous = false;
    bool stalled = false; // whether the worker has found no work that can begin
    bool ended = false;
    std::mt19937 random{ 1 };
    std::vector<std::function<void()>> staged; // copies that have not arrived
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

std::size_t shared_bytes()
{
    const auto card = gr::gpufec::cuda::limited_card();
    return card.limits_shared_memory() ? card.shared_per_block : 227 << 10;
}

// Converts std::bad_alloc to an error code, because CUDA's functions do not throw.
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

// Allocates memory and adds it to \p ranges. Throws std::bad_alloc.
void* allocate(std::size_t bytes, std::map<void*, std::size_t>& ranges)
{
    void* const memory = std::malloc(bytes + 1);
    if (!memory) {
        throw std::bad_alloc();
    }
    try {
        ranges[memory] = bytes;
    } catch (...) {
        std::free(memory);
        throw;
    }
    return memory;
}

// Completes the staged copies. Calls on the default stream and cudaFree() wait for them;
// other streams do not.
void arrive()
{
    std::lock_guard<std::mutex> lock(emulated.mutex);
    for (const auto& copy : emulated.staged) {
        copy();
    }
    emulated.staged.clear();
}

bool idle(const emulated_stream& s) { return s.waiting.empty() && !s.busy; }

bool all_idle()
{
    return std::all_of(emulated.streams.begin(), emulated.streams.end(), idle);
}

// Runs the next work of a random stream whose work can begin. Returns false if there is
// no such stream.
bool carry_out(std::unique_lock<std::mutex>& lock)
{
    std::vector<emulated_stream*> able;
    for (auto& s : emulated.streams) {
        if (!s.busy && !s.waiting.empty()) {
            const auto& next = s.waiting.front();
            if (!next.held && !(next.after && *next.after)) {
                able.push_back(&s);
            }
        }
    }
    if (able.empty()) {
        return false;
    }
    auto& s = *able[emulated.random() % able.size()];
    const auto next = std::move(s.waiting.front());
    s.waiting.pop_front();
    s.busy = true;
    const bool late = emulated.asynchronous && emulated.random() % 8 == 0;
    lock.unlock();
    if (late) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    next.run();
    lock.lock();
    s.busy = false;
    emulated.streams.remove_if(
        [](const emulated_stream& t) { return t.destroyed && idle(t); });
    return true;
}

void work_on()
{
    std::unique_lock<std::mutex> lock(emulated.mutex);
    while (!emulated.ended) {
        const bool ran = carry_out(lock);
        emulated.stalled = !ran;
        emulated.changed.notify_all();
        if (!ran) {
            emulated.changed.wait(lock);
        }
    }
}

// Enqueues work that begins once \p after is false. With synchronous streams, work that
// can begin and does not hang runs before this function returns.
cudaError_t enqueue(emulated_stream& s, std::function<void()> run, const flag& after = {})
{
    return within_memory([&] {
        std::unique_lock<std::mutex> lock(emulated.mutex);
        const bool held = hanging();
        if (emulated.asynchronous || held || !idle(s) || (after && *after)) {
            s.waiting.push_back({ std::move(run), after, held });
            emulated.stalled = false;
            emulated.changed.notify_all();
            return;
        }
        lock.unlock();
        run();
    });
}

// Waits until done() is true. If the wait would never end, calls faults::wait_for_ever()
// and returns false.
template <class Done>
bool wait_for(std::unique_lock<std::mutex>& lock, Done&& done)
{
    while (!done()) {
        if (!emulated.asynchronous || emulated.stalled) {
            gr::gpufec::cuda::faults::wait_for_ever();
            return false;
        }
        emulated.changed.wait(lock);
    }
    return true;
}

} // namespace

namespace gr::gpufec::cuda {

void faults::forget_errors() { last_error = cudaSuccess; }

void faults::release()
{
    stop_hanging();
    std::unique_lock<std::mutex> lock(emulated.mutex);
    for (auto& s : emulated.streams) {
        for (auto& w : s.waiting) {
            w.held = false;
        }
    }
    if (emulated.asynchronous) {
        emulated.stalled = false;
        emulated.changed.notify_all();
        emulated.changed.wait(lock, all_idle);
    } else {
        while (carry_out(lock)) {
        }
    }
}

namespace emulation {

void set_asynchronous(bool on)
{
    std::unique_lock<std::mutex> lock(emulated.mutex);
    if (on && !emulated.worker.joinable()) {
        emulated.worker = std::thread(work_on);
    }
    emulated.asynchronous = on;
}
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
    RETURN_IF_FAULT("cudaGetLastError");
    return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count)
{
    RETURN_IF_FAULT("cudaGetDeviceCount");
    *count = emulated.devices;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = 12040; // CUDA 12.4
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return call("cudaSetDevice"); }

cudaError_t cudaGetDevice(int* device)
{
    RETURN_IF_FAULT("cudaGetDevice");
    *device = 0;
    return cudaSuccess;
}

int emulated_capability()
{
    const auto card = gr::gpufec::cuda::limited_card();
    return card.has_capability() ? 10 * card.major + card.minor : 90;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int)
{
    RETURN_IF_FAULT("cudaGetDeviceProperties");
    *to = {};
    std::strcpy(to->name, "emulated");
    to->major = emulated_capability() / 10;
    to->minor = emulated_capability() % 10;
    to->multiProcessorCount = 2;
    to->sharedMemPerBlockOptin = to->sharedMemPerMultiprocessor = shared_bytes();
    to->integrated = !gr::gpufec::cuda::unified_card().empty();
    to->canMapHostMemory = true;
    to->pageableMemoryAccessUsesHostPageTables =
        gr::gpufec::cuda::unified_card() == "all";
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int)
{
    RETURN_IF_FAULT("cudaDeviceGetAttribute");
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : int(shared_bytes());
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void*)
{
    RETURN_IF_FAULT("cudaFuncGetAttributes");
    to->sharedSizeBytes = 0;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, int, int)
{
    return call("cudaFuncSetAttribute");
}

cudaError_t emulated_occupancy(int* blocks)
{
    RETURN_IF_FAULT("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 1;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    RETURN_IF_FAULT("cudaMemGetInfo");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    *total = emulated.memory;
    *free = emulated.memory - std::min(emulated.memory, emulated.used);
    return cudaSuccess;
}

cudaError_t emulated_malloc(void** to, std::size_t bytes)
{
    RETURN_IF_FAULT("cudaMalloc");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    if (bytes > emulated.memory - std::min(emulated.memory, emulated.used)) {
        ++emulated.refused;
        return noted(cudaErrorMemoryAllocation);
    }
    return within_memory([&] {
        *to = allocate(bytes, emulated.allocated);
        std::memset(*to, 0xff, bytes);
        emulated.used += bytes;
    });
}

// Waits for all streams first, like CUDA's function, and frees nothing if work hangs. A
// call that is made to fail frees the memory too, because sanitizers would otherwise
// report a leak.
cudaError_t cudaFree(void* memory)
{
    const auto error = call("cudaFree");
    arrive();
    std::unique_lock<std::mutex> lock(emulated.mutex);
    if (memory && wait_for(lock, all_idle)) {
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
    RETURN_IF_FAULT("cudaMemset");
    arrive();
    std::memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaMemsetAsync");
    return enqueue(*stream, [=] { std::memset(memory, value, bytes); });
}

// A copy of up to 64 KiB to the device is only staged when the call returns, as in CUDA:
// other streams may not see the copied data yet.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
{
    RETURN_IF_FAULT("cudaMemcpy");
    arrive();
    if (kind != cudaMemcpyHostToDevice || bytes > 64 << 10) {
        std::memcpy(to, from, bytes);
        return cudaSuccess;
    }
    return within_memory([=] {
        const auto* const first = static_cast<const std::byte*>(from);
        std::lock_guard<std::mutex> lock(emulated.mutex);
        emulated.staged.push_back([to, staged = std::vector(first, first + bytes)] {
            std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(to));
        });
    });
}

cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaMemcpyAsync");
    return enqueue(*stream, [=] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemcpy2DAsync(void* to,
                              std::size_t to_pitch,
                              const void* from,
                              std::size_t from_pitch,
                              std::size_t width,
                              std::size_t height,
                              cudaMemcpyKind,
                              cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaMemcpy2DAsync");
    return enqueue(*stream, [=] {
        for (std::size_t row = 0; row < height; ++row) {
            std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                        static_cast<const std::byte*>(from) + row * from_pitch,
                        width);
        }
    });
}

cudaError_t emulated_host_alloc(void** to, std::size_t bytes)
{
    RETURN_IF_FAULT("cudaHostAlloc");
    return within_memory([&] {
        std::lock_guard<std::mutex> lock(emulated.mutex);
        *to = allocate(bytes, emulated.page_locked);
    });
}

cudaError_t cudaFreeHost(void* memory)
{
    const auto error = call("cudaFreeHost");
    std::unique_lock<std::mutex> lock(emulated.mutex);
    if (memory && wait_for(lock, all_idle) && emulated.page_locked.erase(memory)) {
        std::free(memory);
    }
    return error;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* memory)
{
    RETURN_IF_FAULT("cudaPointerGetAttributes");
    const auto in = [memory](const std::map<void*, std::size_t>& ranges) {
        const auto next = ranges.upper_bound(const_cast<void*>(memory));
        return next != ranges.begin() &&
               static_cast<const std::byte*>(memory) <=
                   static_cast<std::byte*>(std::prev(next)->first) +
                       std::prev(next)->second;
    };
    std::lock_guard<std::mutex> lock(emulated.mutex);
    const bool pinned = in(emulated.page_locked) || in(emulated.registered);
    *to = { in(emulated.allocated) ? cudaMemoryTypeDevice
            : pinned               ? cudaMemoryTypeHost
                                   : cudaMemoryTypeUnregistered,
            0,
            const_cast<void*>(memory) };
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned)
{
    RETURN_IF_FAULT("cudaStreamCreateWithFlags");
    return within_memory([&] {
        std::lock_guard<std::mutex> lock(emulated.mutex);
        *stream = &emulated.streams.emplace_back();
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    {
        std::lock_guard<std::mutex> lock(emulated.mutex);
        stream->destroyed = true;
        emulated.streams.remove_if(
            [](const emulated_stream& s) { return s.destroyed && idle(s); });
    }
    return call("cudaStreamDestroy");
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaStreamQuery");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    return idle(*stream) ? cudaSuccess : cudaErrorNotReady;
}

// The default stream does not wait for other streams, unlike CUDA's. The code under test
// uses the default stream for copies only.
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaStreamSynchronize");
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        arrive();
        return cudaSuccess;
    }
    std::unique_lock<std::mutex> lock(emulated.mutex);
    wait_for(lock, [=] { return idle(*stream); });
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    RETURN_IF_FAULT("cudaStreamWaitEvent");
    return enqueue(
        *stream, [] {}, event->pending);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
    RETURN_IF_FAULT("cudaEventCreateWithFlags");
    return within_memory([&] { *event = new emulated_event; });
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return call("cudaEventDestroy");
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RETURN_IF_FAULT("cudaEventRecord");
    flag pending;
    const auto error =
        within_memory([&] { pending = std::make_shared<std::atomic<bool>>(true); });
    if (error != cudaSuccess) {
        return error;
    }
    event->pending = pending;
    return enqueue(*stream, [pending] { *pending = false; });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    RETURN_IF_FAULT("cudaEventQuery");
    return event->pending && *event->pending ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    RETURN_IF_FAULT("cudaEventSynchronize");
    std::unique_lock<std::mutex> lock(emulated.mutex);
    wait_for(lock, [pending = event->pending] { return !pending || !*pending; });
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t)
{
    RETURN_IF_FAULT("cudaEventElapsedTime");
    *ms = 0;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned)
{
    RETURN_IF_FAULT("cudaHostRegister");
    std::lock_guard<std::mutex> lock(emulated.mutex);
    bool fresh = true;
    const auto error = within_memory([&] {
        fresh = emulated.registered.insert({ memory, bytes }).second;
    });
    return fresh ? error : noted(cudaErrorInvalidValue);
}

cudaError_t cudaHostUnregister(void* memory)
{
    const auto error = call("cudaHostUnregister");
    std::unique_lock<std::mutex> lock(emulated.mutex);
    wait_for(lock, all_idle);
    return emulated.registered.erase(memory) ? error : noted(cudaErrorInvalidValue);
}

cudaError_t
cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument)
{
    RETURN_IF_FAULT("cudaLaunchHostFunc");
    return enqueue(*stream, [=] { function(argument); });
}

void emulated_launch(cudaStream_t stream, std::function<void()> kernel)
{
    if (call("launch") == cudaSuccess) {
        enqueue(*stream, std::move(kernel));
    }
}
