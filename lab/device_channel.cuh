// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the links of the rooms share on a device: noise by its index, as the host's
 * channel makes it. */

#ifndef INCLUDED_GPUFEC_LAB_DEVICE_LINK_CUH
#define INCLUDED_GPUFEC_LAB_DEVICE_LINK_CUH

#include "channel/awgn.h"
#include "cuda/slot_rounds.h"
#include <vector>

namespace gr::gpufec::on_device {

constexpr unsigned threads = 256;

// Tables are copied to shared memory by each block, so that there are not more of those
// than keep a device busy.
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

//! 64-bit words that begin with a distribution's table.
extern __shared__ std::uint64_t shared[];

//! All threads of a block: makes \p words words of \p from the block's own.
__device__ inline void take_tables(const std::uint64_t* from, unsigned words)
{
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
        shared[i] = from[i];
    }
    __syncthreads();
}

//! What is received of a coded bit, where the sum that \p random chooses is of bit 0.
__device__ inline int received(std::uint64_t random, unsigned bit)
{
    const int value = std::int8_t(discrete_distribution::choose(shared, random));
    return bit ? -value : value;
}

//! Positions in a batch fit 32 bits nearly always, and then divide in a quarter of the
//! time.
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

//! Values that a thread gathers in registers, and writes in whole vectors where it can.
template <class Value, unsigned Count>
class group
{
public:
    //! Once for each; \p i is known to the compiler. Bits of a value can come one after
    //! the other.
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

//! A table of the host's on the device.
template <class T>
std::unique_ptr<cuda::buffer<T>> copied(const std::vector<T>& table)
{
    return std::make_unique<cuda::buffer<T>>(cuda::uploaded(table, "copy of a table"));
}

//! Batches so much larger than those that the host fills, whose memory is page-locked;
//! or like them where the device has not the memory.
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

#endif /* INCLUDED_GPUFEC_LAB_DEVICE_LINK_CUH */
