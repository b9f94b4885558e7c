// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Kind, allocation and copies of the memory of arrays, and the kernel that converts
 * decoded bits to the caller's format. */

#include "device_arrays.cuh"
#include <new>

namespace gr::gpufec {

using namespace cuda;
using namespace cuda::arrays;

namespace {

class device_array_memory : public array_memory
{
public:
    device_array_memory(std::size_t bytes, int device)
        : array_memory(nullptr, bytes, { memory_kind::device, device })
    {
        select(device);
        const auto what = "allocation of " + std::to_string(bytes >> 20) + " MiB";
        check(cudaMalloc(&d_data, std::max<std::size_t>(bytes, 1)), what.c_str());
    }
    ~device_array_memory() override { cudaFree(d_data); }
};

class locked_array_memory : public array_memory
{
public:
    explicit locked_array_memory(std::size_t bytes)
        : array_memory(nullptr, bytes, { memory_kind::page_locked, 0 })
    {
        if (cudaHostAlloc(&d_data,
                          std::max<std::size_t>(bytes, 1),
                          cudaHostAllocPortable) != cudaSuccess) {
            cudaGetLastError();
            throw std::bad_alloc();
        }
    }
    ~locked_array_memory() override { cudaFreeHost(d_data); }
};

// The kernel of launch_give_bits(). Each thread computes one output byte at a time, with
// one bit or, if packed, with eight.
template <bool packed>
__global__ void give_bits(const std::uint8_t* from,
                          std::size_t row_bytes,
                          const std::uint32_t* positions,
                          std::size_t rows,
                          unsigned bits,
                          std::uint8_t* to)
{
    const unsigned items = packed ? (bits + 7) / 8 : bits;
    for (auto i = first_item(); i < rows * items; i += item_stride()) {
        const auto row = i / items;
        const auto item = unsigned(i - row * items);
        const auto* const there = from + row * row_bytes;
        const auto bit = [&](unsigned b) -> unsigned {
            const auto at = positions ? positions[b] : b;
            return there[at / 8] >> (7 - at % 8) & 1u;
        };
        if (!packed) {
            to[i] = bit(item);
            continue;
        }
        unsigned byte = 0;
        for (unsigned k = 0; k < 8; ++k) {
            const auto b = 8 * item + k;
            byte = byte << 1 | (b < bits ? bit(b) : 0);
        }
        to[i] = byte;
    }
}

} // namespace

void cuda::arrays::launch_give_bits(const bit_rows& rows,
                                    std::uint8_t* to,
                                    cudaStream_t stream)
{
    const auto bits_of = rows.packed ? give_bits<true> : give_bits<false>;
    bits_of<<<blocks_of(rows.copied_bytes()), threads, 0, stream>>>(
        rows.from, rows.row_bytes, rows.positions, rows.rows, rows.bits, to);
    check(cudaGetLastError(), "kernel launch");
}

memory_place place_of(const void* data)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
        cudaGetLastError(); // clears the error: without a device, all memory is pageable
        return {};
    }
    switch (attributes.type) {
    case cudaMemoryTypeHost:
        return { memory_kind::page_locked, attributes.device };
    case cudaMemoryTypeDevice:
    case cudaMemoryTypeManaged:
        return { memory_kind::device, attributes.device };
    default:
        return {};
    }
}

void wait_for_stream(int device, std::uintptr_t stream)
{
    use(device);
    check(cudaStreamSynchronize(stream == 2   ? cudaStreamPerThread
                                : stream <= 1 ? cudaStreamLegacy
                                              : reinterpret_cast<cudaStream_t>(stream)),
          "wait for a stream");
}

void copy_memory(void* to, const void* from, std::size_t bytes)
{
    // cudaMemcpy() from device to device may return before the copy has ended, so the
    // stream is synchronised too.
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy");
    check(cudaStreamSynchronize(cudaStreamLegacy), "copy");
}

std::shared_ptr<array_memory> array_memory::page_locked(std::size_t bytes)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        cudaGetLastError();
        return std::make_shared<ordinary_array_memory>(bytes);
    }
    return std::make_shared<locked_array_memory>(bytes);
}

std::shared_ptr<array_memory> array_memory::on_device(std::size_t bytes, int device)
{
    return std::make_shared<device_array_memory>(bytes, device);
}

} // namespace gr::gpufec
