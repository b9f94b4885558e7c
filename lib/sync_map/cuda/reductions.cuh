// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Sums and maxima over the threads of a warp or of a block, and the scaling of rows. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_REDUCTIONS_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_REDUCTIONS_CUH

#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::sync_map {

constexpr unsigned full_warp = 0xffffffffu;

template <class T>
__device__ T warp_sum(T x)
{
    for (int d = 16; d > 0; d /= 2) {
        x += __shfl_xor_sync(full_warp, x, d);
    }
    return x;
}

// Four values that are read or written by one instruction.
template <class T>
struct alignas(16) four {
    T v[4];
};

template <class T>
__device__ four<T> read_four(const T* from)
{
    return *reinterpret_cast<const four<T>*>(from);
}

template <class T>
__device__ void write_four(T* to, const four<T>& values)
{
    *reinterpret_cast<four<T>*>(to) = values;
}

// Rows of one value per lane of a warp, kept in shared memory until each row is summed. A
// lane then sums a whole row or, if at most eight rows are left, a quarter of a row, 16
// bytes at a time.
template <class Row>
struct lane_sums {
    // With this stride, lanes access different banks when each lane reads its own row.
    static constexpr unsigned stride = 32 + 16 / sizeof(Row);

    Row *rows, *mine; // \p mine: this lane's value of the first row

    __device__ explicit lane_sums(Row* memory)
        : rows(memory), mine(memory + threadIdx.x % 32)
    {
    }

    __device__ void put(int row, Row value) const { mine[row * int(stride)] = value; }

    __device__ void add(int row, Row value, bool first) const
    {
        Row& to = mine[row * int(stride)];
        to = first ? value : to + value;
    }

    // Calls use(row, sum) with the sums of the first \p count rows over the lanes.
    template <class Use>
    __device__ void take(unsigned count, Use&& use) const
    {
        take(
            count,
            [](unsigned) {
                return four<Row>{ { 1, 1, 1, 1 } };
            },
            use);
    }

    // Calls use(row, sum) with weighted sums; weights(lane) returns the weights of lanes
    // `lane` to `lane` + 3.
    template <class Weights, class Use>
    __device__ void take(unsigned count, Weights&& weights, Use&& use) const
    {
        const unsigned lane = threadIdx.x % 32;
        __syncwarp();
#pragma unroll 1
        for (unsigned begin = 0; begin < count; begin += 32) {
            const unsigned rest = count - begin;
            if (rest > 8) {
                const unsigned row = begin + min(lane, rest - 1);
                const Row x = sum<32>(row, 0, weights);
                if (lane < rest) {
                    use(row, x);
                }
            } else {
                const unsigned row = begin + min(lane / 4, rest - 1);
                Row x = sum<8>(row, lane % 4 * 8, weights);
                x += __shfl_xor_sync(full_warp, x, 1);
                x += __shfl_xor_sync(full_warp, x, 2);
                if (lane < 4 * rest && lane % 4 == 0) {
                    use(row, x);
                }
            }
        }
        __syncwarp();
    }

private:
    template <unsigned Lanes, class Weights>
    __device__ Row sum(unsigned row, unsigned first, Weights&& weights) const
    {
        Row all[4];
#pragma unroll
        for (unsigned lane = 0; lane < Lanes; lane += 4) {
            const auto next = read_four(rows + row * stride + first + lane);
            const auto weight = weights(first + lane);
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                const Row x = next.v[k] * weight.v[k];
                all[k] = lane ? all[k] + x : x;
            }
        }
        return all[0] + all[1] + (all[2] + all[3]);
    }
};

// Waits for all threads of a block. A block of one warp needs no barrier.
inline __device__ void block_sync()
{
    if (blockDim.x == 32) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

// Stores the value \p x of the first thread of each warp w of a block in scratch[w].
template <class T>
__device__ void exchange_between_warps(T x, T* scratch)
{
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        scratch[threadIdx.x / 32] = x;
    }
    __syncthreads();
}

// Returns to each thread of a block the sum of \p x over all threads of the block.
// \p scratch: 32 values. Blocks consist of whole warps.
template <class T>
__device__ T block_sum(T x, T* scratch)
{
    x = warp_sum(x);
    if (blockDim.x == 32) {
        return x;
    }
    exchange_between_warps(x, scratch);
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32]
                                                       : T(0));
}

// Returns to each thread of a block the maximum of \p x over all threads of the block.
// \p x must be >= 0. \p scratch: 32 values. Blocks consist of whole warps.
template <class T>
__device__ T block_max(T x, T* scratch)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == sizeof(float)) {
        // The bit patterns of floats >= 0 have the same order as the floats.
        x = __uint_as_float(__reduce_max_sync(full_warp, __float_as_uint(x)));
    } else
#endif
    {
        for (int d = 16; d > 0; d /= 2) {
            x = max(x, __shfl_xor_sync(full_warp, x, d));
        }
    }
    if (blockDim.x == 32) {
        return x;
    }
    exchange_between_warps(x, scratch);
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
        x = max(x, scratch[w]);
    }
    return x;
}

// Sets \p best to its maximum over a warp, and returns the smallest \p at of the lanes
// that have this maximum. Values are -1 or at least 0.
template <class T>
__device__ unsigned warp_argmax(T& best, unsigned at)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(T) == sizeof(float)) {
        // The bit patterns of floats >= 0 have the same order as the floats.
        const std::uint32_t bits = best < 0 ? 0 : __float_as_uint(best) + 1;
        const auto largest = __reduce_max_sync(full_warp, bits);
        best = largest ? __uint_as_float(largest - 1) : -1;
        at = __reduce_min_sync(full_warp, bits == largest ? at : 0xffffffffu);
    } else
#endif
    {
        for (int d = 16; d > 0; d /= 2) {
            const T other = __shfl_xor_sync(full_warp, best, d);
            const unsigned other_at = __shfl_xor_sync(full_warp, at, d);
            if (other > best || (other == best && other_at < at)) {
                best = other;
                at = other_at;
            }
        }
    }
    return at;
}

// Returns to each thread of a block the index of the first maximum of \p values.
// \p scratch: 64 values.
template <class T>
__device__ unsigned block_argmax(const T* values, unsigned count, double* scratch)
{
    T best = -1;
    unsigned at = 0;
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
        if (values[k] > best) {
            best = values[k];
            at = k;
        }
    }
    at = warp_argmax(best, at);
    if (blockDim.x == 32) {
        return at;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        scratch[threadIdx.x / 32] = best;
        scratch[32 + threadIdx.x / 32] = at;
    }
    __syncthreads();
    const bool there = threadIdx.x % 32 < blockDim.x / 32;
    best = there ? T(scratch[threadIdx.x % 32]) : T(-1);
    at = there ? unsigned(scratch[32 + threadIdx.x % 32]) : 0xffffffffu;
    return warp_argmax(best, at);
}

// Product of the divisors by which rows of metrics were scaled. The divisors are powers
// of two, so that scaling does not round.
struct row_scale {
    long long exponent = 0;
    bool alive = true; // whether no row was all zeros

    // Returns the factor that brings a row's sum or maximum to between 1 and 2.
    template <class T>
    __device__ T next(T size)
    {
        constexpr bool is_float = sizeof(T) == sizeof(float);
        const int e = is_float ? (__float_as_int(float(size)) >> 23) - 127
                               : (__double2hiint(double(size)) >> 20) - 1023;
        alive = alive && size > 0;
        exponent += e;
        return is_float ? T(__int_as_float((127 - e) << 23))
                        : T(__hiloint2double((1023 - e) << 20, 0));
    }
    __device__ double log() const { return exponent * 0.69314718055994530942; }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_REDUCTIONS_CUH */
