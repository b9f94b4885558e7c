// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What input_format does, for input that is lent: from its place to what is decoded. */

#include "cuda_kernels.h"
#include "cuda_steps.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

__device__ float value_of(float x) { return x == x ? x : 0; }
__device__ float value_of(std::int8_t x) { return float(x < -127 ? -127 : x); }

// A codeword's values, four per thread; blocks along x share it.
template <class From, class To>
__global__ void
steps(const raw_frame* frames, const std::uint8_t* raw, std::uint8_t* input)
{
    const raw_frame f = frames[blockIdx.y];
    const auto* const from = reinterpret_cast<const From*>(raw + f.from);
    auto* const to = reinterpret_cast<To*>(input + f.to);
    const bool whole = f.from % (4 * sizeof(From)) == 0;
    const auto stride = 4 * gridDim.x * blockDim.x;
    for (auto i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < f.values;
         i += stride) {
        struct alignas(4 * sizeof(From)) four_from {
            From x[4];
        };
        struct alignas(4 * sizeof(To)) four_to {
            To x[4];
        } out;
        if (whole && i + 4 <= f.values) {
            const auto in = *reinterpret_cast<const four_from*>(from + i);
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                out.x[k] = step_of<To>(value_of(in.x[k]), f.factor, f.limit);
            }
        } else {
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                out.x[k] = i + k < f.values
                               ? step_of<To>(value_of(from[i + k]), f.factor, f.limit)
                               : To(0);
            }
        }
        // Codewords begin at whole vectors, so there is room for four.
        *reinterpret_cast<four_to*>(to + i) = out;
    }
}

} // namespace

void launch_steps(const raw_frame* frames,
                  std::uint32_t count,
                  const std::uint8_t* raw,
                  const setup& setup,
                  std::uint8_t* input,
                  cudaStream_t stream)
{
    constexpr unsigned threads = 256, blocks_each = 8, most = 65535;
    const auto launch = [&](auto from, auto to) {
        using From = decltype(from);
        using To = decltype(to);
        for (std::uint32_t first = 0; first < count; first += most) {
            const auto n = std::min<std::uint32_t>(most, count - first);
            steps<From, To><<<dim3(blocks_each, n), threads, 0, stream>>>(
                frames + first, raw, input);
        }
    };
    const auto launch_from = [&](auto from) {
        switch (setup.precision) {
        case ldpc_precision::int8:
            return launch(from, std::int8_t());
        case ldpc_precision::int16:
            return launch(from, std::int16_t());
        default:
            return launch(from, float());
        }
    };
    setup.format == llr_format::int8 ? launch_from(std::int8_t()) : launch_from(float());
    cuda::check(cudaGetLastError(), "kernel launch");
}

} // namespace device
} // namespace gr::gpufec::ldpc
