// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Kernel that unpacks decoded bits to one bit per byte, for output in borrowed memory. */

#include "devices.h"
#include "unpack_bits.h"
#include <algorithm>

namespace gr::gpufec::cuda {

namespace {

// Each thread unpacks one byte of a row per iteration; the blocks along x share a row.
__global__ void unpack(const std::uint8_t* from, output_rows rows, std::uint8_t* to)
{
    const auto step = std::size_t(blockDim.x) * gridDim.x;
    const auto first = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (std::size_t row = blockIdx.y; row < rows.rows; row += gridDim.y) {
        const auto* const in = from + row * rows.pitch;
        auto* const out = to + row * rows.bits;
        for (auto i = first; i < (rows.bits + 7) / 8; i += step) {
            // Uses the method of unpack_bits() in packed_bits.h with words of four bytes.
            constexpr std::uint32_t each = 0x01010101;
            const auto copies = in[i] * each;
            const uint2 bits{ (((copies & 0x10204080u) + 0x7f * each) >> 7) & each,
                              (((copies & 0x01020408u) + 0x7f * each) >> 7) & each };
            if (rows.bits % 8 == 0) {
                reinterpret_cast<uint2*>(out)[i] = bits;
            } else {
                const std::uint64_t all = std::uint64_t(bits.y) << 32 | bits.x;
                for (std::size_t k = 0; k < 8 && 8 * i + k < rows.bits; ++k) {
                    out[8 * i + k] = std::uint8_t(all >> (8 * k));
                }
            }
        }
    }
}

} // namespace

void launch_unpack(const void* output,
                   const output_rows& rows,
                   std::uint8_t* to,
                   cudaStream_t stream)
{
    constexpr unsigned threads = 256, most = 4096;
    const auto blocks = [](std::size_t wanted) {
        return unsigned(std::clamp<std::size_t>(wanted, 1, most));
    };
    const dim3 grid(blocks((rows.bits / 8 + threads - 1) / threads), blocks(rows.rows));
    const auto* const from = static_cast<const std::uint8_t*>(output) + rows.first;
    unpack<<<grid, threads, 0, stream>>>(from, rows, to);
    check(cudaGetLastError(), "kernel launch");
}

// Tests only the kernel of this file, because all kernels are compiled for the same
// architectures.
bool has_kernels()
{
    cudaFuncAttributes attributes;
    const auto error =
        cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(unpack));
    if (error == cudaErrorNoKernelImageForDevice) {
        cudaGetLastError(); // clears the error
        return false;
    }
    check(error, "query of a kernel");
    return true;
}

} // namespace gr::gpufec::cuda
