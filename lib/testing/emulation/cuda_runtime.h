// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the parts of CUDA's runtime header that kernels and host code use when they
 * are compiled for the CPU, for tests without a GPU.
 *
 * Between barriers, the threads of a block run one after the other in random order, so
 * that tests detect a missing barrier. All bits of uninitialised device and shared
 * memory are 1, which is a NaN in floating point. */

#ifndef INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_RUNTIME_H
#define INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_RUNTIME_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __shared__ // kernels declare shared memory extern; emulation.cc defines it
#define __launch_bounds__(...)
#define __grid_constant__
#define __noinline__
#define __builtin_assume(condition)
#define CUDART_VERSION 13000

struct int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return { x, y }; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return { x, y, z, w };
}

struct dim3 {
    constexpr dim3(unsigned a = 1, unsigned b = 1) : x(a), y(b) {}
    unsigned x, y;
};

// These variables are __thread and not thread_local: GCC 12's -fsanitize=null reports
// false null pointers for thread_local variables, because its check reads the flags of an
// addition that the linker may replace by leaq, which sets no flags.
extern __thread dim3 threadIdx, blockIdx, blockDim, gridDim;

struct emulated_stream;
struct emulated_event;
using cudaStream_t = emulated_stream*;
using cudaEvent_t = emulated_event*;

// Launches a kernel. CMake translates kernel<<<grid, block, shared, stream>>>(…) into a
// call of this function.
void emulate(dim3 grid,
             dim3 block,
             std::size_t shared_bytes,
             cudaStream_t stream,
             std::function<void()> kernel);

// Returns the compute capability of the emulated devices, such as 75 for 7.5.
int emulated_capability();

// ---- device functions ----

void __syncwarp();
void __syncthreads();
// These two functions emulate the PTX instructions bar.sync and bar.arrive, which use
// numbered barriers of a block.
void emulated_sync(unsigned number, unsigned threads);
void emulated_arrive(unsigned number, unsigned threads);
int __syncthreads_or(int predicate);

// Exchanges a value between the lanes of the calling warp. Returns an array with the
// argument \p mine of each of the 32 lanes.
const std::uint64_t* emulated_exchange(std::uint64_t mine);

// Returns the \p value of lane \p from.
template <class T>
T __shfl_sync(unsigned, T value, int from)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = emulated_exchange(bits)[from % 32];
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}
template <class T>
T __shfl_xor_sync(unsigned all, T value, int distance)
{
    return __shfl_sync(all, value, (threadIdx.x % 32) ^ distance);
}
// Returns the \p value of the lane \p distance below, or the caller's own \p value if
// there is no such lane.
template <class T>
T __shfl_up_sync(unsigned all, T value, unsigned distance)
{
    const unsigned lane = threadIdx.x % 32;
    return __shfl_sync(all, value, lane < distance ? lane : lane - distance);
}
template <class T>
T __shfl_down_sync(unsigned all, T value, unsigned distance)
{
    const unsigned lane = threadIdx.x % 32;
    return __shfl_sync(all, value, lane + distance < 32 ? lane + distance : lane);
}

inline int __any_sync(unsigned, int predicate)
{
    const auto* const all = emulated_exchange(predicate != 0);
    bool any = false;
    for (unsigned lane = 0; lane < 32; ++lane) {
        any |= all[lane] != 0;
    }
    return any;
}

inline unsigned __ballot_sync(unsigned, int predicate)
{
    const auto* const all = emulated_exchange(predicate != 0);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        bits |= unsigned(all[lane]) << lane;
    }
    return bits;
}
inline int __all_sync(unsigned all, int predicate)
{
    return !__any_sync(all, !predicate);
}

template <class To, class From>
To emulated_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}

inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
inline float __int_as_float(int x) { return emulated_bits<float>(x); }
inline int __float_as_int(float x) { return emulated_bits<int>(x); }
inline double __longlong_as_double(long long x) { return emulated_bits<double>(x); }
inline long long __double_as_longlong(double x) { return emulated_bits<long long>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)(high) << 32 | unsigned(low));
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((std::uint64_t(high) << 32 | low) >> (shift % 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((std::uint64_t(high) << 32 | low) << (shift % 32) >> 32);
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selected)
{
    const auto all = std::uint64_t(y) << 32 | x;
    unsigned bytes = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned from = selected >> 4 * k & 7;
        bytes |= unsigned(all >> 8 * from & 0xff) << 8 * k;
    }
    return bytes;
}
inline unsigned __dp2a_lo(unsigned x, unsigned y, unsigned more)
{
    return (x & 0xffff) * (y & 0xff) + (x >> 16) * (y >> 8 & 0xff) + more;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
// The atomic functions need no lock, because between barriers emulated threads run one
// after the other.
inline unsigned atomicAdd(unsigned* to, unsigned more)
{
    const auto before = *to;
    *to += more;
    return before;
}
inline unsigned __brev(unsigned x)
{
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        reversed |= (x >> bit & 1u) << (31 - bit);
    }
    return reversed;
}

template <class T>
T atomicAdd(T* at, T x)
{
    return std::exchange(*at, *at + x);
}
template <class T>
T atomicMax(T* at, T x)
{
    return std::exchange(*at, *at < x ? x : *at);
}
template <class T>
T atomicExch(T* at, T x)
{
    return std::exchange(*at, x);
}
template <class T>
T atomicOr(T* at, T x)
{
    return std::exchange(*at, *at | x);
}
inline void __threadfence_block() {}
template <class T>
T __ldcg(const T* from)
{
    return *from;
}
template <class T>
T __ldg(const T* from)
{
    return *from;
}
template <class T>
T __ldcs(const T* from)
{
    return *from;
}
template <class T>
void __stcg(T* to, T x)
{
    *to = x;
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
// Adds in double and rounds the sum down to float.
inline float __fadd_rd(float a, float b)
{
    const double sum = double(a) + b;
    const float x = float(sum);
    return x > sum ? std::nextafter(x, -INFINITY) : x;
}
inline float __saturatef(float x) { return x > 1 ? 1 : x > 0 ? x : 0; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline int __float2int_rn(float x) { return int(std::nearbyint(x)); }

template <class T>
T min(T a, T b)
{
    return a < b ? a : b;
}
template <class T>
T max(T a, T b)
{
    return a > b ? a : b;
}
using std::isinf;
using std::isnan;

// ---- host functions, which testing/faults.h can make fail or hang ----

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorSystemNotReady = 802,
    cudaErrorMpsServerNotReady = 807,
    cudaErrorMpsMaxClientsReached = 808,
    cudaErrorMpsMaxConnectionsReached = 809,
    cudaErrorUnknown = 999
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDefault };
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrL2CacheSize
};
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaEventDefault, cudaEventDisableTiming };
enum { cudaStreamNonBlocking };
enum { cudaHostRegisterPortable };
enum { cudaHostAllocPortable };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
};
const auto cudaStreamLegacy = reinterpret_cast<cudaStream_t>(1),
           cudaStreamPerThread = reinterpret_cast<cudaStream_t>(2);

struct cudaFuncAttributes {
    std::size_t sharedSizeBytes;
};
struct cudaDeviceProp {
    char name[32];
    int major, minor, multiProcessorCount, l2CacheSize;
    std::size_t sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int integrated, canMapHostMemory, pageableMemoryAccessUsesHostPageTables;
};

//! Enqueues \p kernel on the stream as a kernel launch. emulate() and the emulated launch
//! plans (testing/ldpc_kernels.cc, testing/viterbi_kernels.cc) call this function.
void emulated_launch(cudaStream_t stream, std::function<void()> kernel);

const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void* kernel);
cudaError_t cudaFuncSetAttribute(const void* kernel, int attribute, int value);
cudaError_t emulated_occupancy(int* blocks);
template <class Kernel>
cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t)
{
    return emulated_occupancy(blocks);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t emulated_malloc(void** to, std::size_t bytes);
template <class T>
cudaError_t cudaMalloc(T** to, std::size_t bytes)
{
    void* memory = nullptr;
    const auto error = emulated_malloc(&memory, bytes);
    *to = static_cast<T*>(memory);
    return error;
}
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t
cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t
cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to,
                            const void* from,
                            std::size_t bytes,
                            cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void* to,
                              std::size_t to_pitch,
                              const void* from,
                              std::size_t from_pitch,
                              std::size_t width,
                              std::size_t height,
                              cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t emulated_host_alloc(void** to, std::size_t bytes);
template <class T>
cudaError_t cudaHostAlloc(T** to, std::size_t bytes, unsigned)
{
    void* memory = nullptr;
    const auto error = emulated_host_alloc(&memory, bytes);
    *to = static_cast<T*>(memory);
    return error;
}
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* memory);
cudaError_t
cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument);

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_RUNTIME_H */
