// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers of the simulations on a device: grid sizes, tables in shared memory, received
 * values (equal to those of the host), 16-byte stores, and construction of channels. */

#ifndef INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_CUH
#define INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_CUH

#include "channel/awgn.h"
#include "cuda/slot_launches.h"
#include <vector>

namespace gr::gpufec::on_device {

constexpr unsigned threads = 256;

// Returns the number of thread blocks for \p items work items. At most 2048 blocks are
// started, because each block first copies tables to shared memory.
inline unsigned blocks_of(std::uint64_t items)
{
    return unsigned(std::min<std::uint64_t>((items + threads - 1) / threads, 2048));
}

__device__ inline std::uint64_t first_item()
{
    return std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t item_stride()
{
    return std::uint64_t(gridDim.x) * blockDim.x;
}

//! Dynamic shared memory, which begins with the table of a discrete_distribution.
extern __shared__ std::uint64_t shared[];

//! Copies \p words 64-bit words from \p from to shared memory. All threads of a block
//! must call this.
__device__ inline void take_tables(const std::uint64_t* from, unsigned words)
{
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
        shared[i] = from[i];
    }
    __syncthreads();
}

//! Returns the received value of a coded bit. \p random selects a value from the
//! distribution for bit 0; for bit 1 the sign is inverted.
__device__ inline int received(std::uint64_t random, unsigned bit)
{
    const int value = std::int8_t(discrete_distribution::choose(shared, random));
    return bit ? -value : value;
}

//! Returns x / by. Nearly all \p x fit into 32 bits, and 32-bit division is faster.
__device__ inline std::uint64_t quotient(std::uint64_t x, unsigned by)
{
    return x >> 32 ? x / by : unsigned(x) / by;
}

__device__ inline std::uint32_t bits_of(std::uint8_t x) { return x; }
__device__ inline std::uint32_t bits_of(std::int8_t x) { return std::uint8_t(x); }
__device__ inline std::uint32_t bits_of(std::int16_t x) { return std::uint16_t(x); }
__device__ inline std::uint32_t bits_of(float x)
{
    return std::uint32_t(__float_as_int(x));
}

//! Up to \p Count values that a thread collects in registers. store() writes them as
//! 16-byte vectors where possible.
template <class Value, unsigned Count>
class group
{
public:
    //! Combines \p value with value \p i of the group by bitwise or. \p i must be a
    //! constant after loop unrolling, so that the array stays in registers.
    __device__ void put(unsigned i, Value value)
    {
        d_words[i / per_word] |= bits_of(value) << (32 / per_word * (i % per_word));
    }

    __device__ void store(Value* to, unsigned count) const
    {
        if (count == Count && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
            if constexpr (words % 4 == 0) {
#pragma unroll
                for (unsigned i = 0; i < words / 4; ++i) {
                    const auto* const w = d_words + 4 * i;
                    reinterpret_cast<int4*>(to)[i] =
                        int4{ int(w[0]), int(w[1]), int(w[2]), int(w[3]) };
                }
                return;
            }
        }
        const auto bytes = count * unsigned(sizeof(Value));
#pragma unroll
        for (unsigned i = 0; i < 4 * words; ++i) {
            if (i < bytes) {
                reinterpret_cast<std::uint8_t*>(to)[i] =
                    std::uint8_t(d_words[i / 4] >> 8 * (i % 4));
            }
        }
    }

private:
    static constexpr unsigned per_word = 4 / sizeof(Value);
    static constexpr unsigned words = Count / per_word;
    std::uint32_t d_words[words] = {};
};

//! Returns a copy of a host table in device memory.
template <class T>
std::unique_ptr<cuda::buffer<T>> copied(const std::vector<T>& table)
{
    return std::make_unique<cuda::buffer<T>>(cuda::uploaded(table, "copy of a table"));
}

//! Makes a device channel of type \p Link. If the options set no batch size, batches are
//! eight times as large as for input from the host, because they need no pinned memory.
//! If the device lacks memory for batches of this size, the size for input from the host
//! is used.
template <class Link, class Options>
std::unique_ptr<Link> made(const Options& options)
{
    constexpr unsigned times = 8;
    try {
        return std::make_unique<Link>(options, times);
    } catch (const device_memory_error&) {
        return std::make_unique<Link>(options, 1);
    }
}

} // namespace gr::gpufec::on_device

#endif /* INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_CUH */
