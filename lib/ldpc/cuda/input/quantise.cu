// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantisation of channel values in the caller's format on the device, by the rule of
 * stream/input_format.h. */

#include "ldpc/cuda/kernels.h"
#include "ldpc/cuda/steps.cuh"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

__device__ float value_of(float x) { return x == x ? x : 0; }
__device__ float value_of(std::int8_t x) { return float(x < -127 ? -127 : x); }
__device__ float value_of(std::uint8_t x) { return x == 0 ? -127.0f : float(x) - 128; }

// Quantises the channel values of codeword blockIdx.y. The blocks along x share this
// codeword, and each thread quantises four values at a time.
template <class From, class To>
__global__ void quantise(const caller_frame* frames,
                         const std::uint8_t* caller_format,
                         std::uint8_t* input)
{
    const caller_frame f = frames[blockIdx.y];
    const auto* const from = reinterpret_cast<const From*>(caller_format + f.from);
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
        // Quantised codewords begin at multiples of 16 bytes, so there is memory for four
        // values.
        *reinterpret_cast<four_to*>(to + i) = out;
    }
}

} // namespace

void launch_quantise(const caller_frame* frames,
                     std::uint32_t count,
                     const std::uint8_t* caller_format,
                     const setup& setup,
                     std::uint8_t* input,
                     cudaStream_t stream)
{
    constexpr unsigned threads = 256, blocks_per_frame = 8, max_frames = 65535;
    const auto launch = [&](auto from, auto to) {
        using From = decltype(from);
        using To = decltype(to);
        for (std::uint32_t first = 0; first < count; first += max_frames) {
            const auto n = std::min<std::uint32_t>(max_frames, count - first);
            quantise<From, To><<<dim3(blocks_per_frame, n), threads, 0, stream>>>(
                frames + first, caller_format, input);
        }
    };
    with_llr(setup.format, [&](auto from) {
        with_channel_value(setup.precision, [&](auto to) { launch(from, to); });
    });
    cuda::check(cudaGetLastError(), "kernel launch");
}

} // namespace device
} // namespace gr::gpufec::ldpc
