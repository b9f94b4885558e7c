// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel that counts sign errors for the checks of a lock. One warp per check
 * re-encodes up to 512 steps before the check. locking.h defines lock and check, and
 * class reencoder defines a step. */

#include "kernels.h"
#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::viterbi {
namespace device {

namespace {

constexpr unsigned threads = 128;

// The decoded bits and soft values of a batch. The first bit belongs to stage first_stage
// of the stream. The values are those from first_value to end_value − 1 of the stream.
struct count_arguments {
    check_plan plan;
    std::uint64_t first_stage, first_value, end_value;
    std::uint32_t checks;
    const std::uint8_t* bits;
    const std::int8_t* values;
    sign_error_counts* to;
};

// Re-encodes one step and compares signs. Bit `bit` of the batch is the oldest bit in the
// shift register at the step's first stage. The lower half of the result is the number of
// values that are not erased, and the upper half the number of wrong signs.
__device__ unsigned
step_counts(const count_arguments& a, std::uint64_t bit, const std::int8_t* values)
{
    const unsigned wide = a.plan.memory + a.plan.stages;
    const unsigned skipped = unsigned(bit % 8), bytes = (skipped + wide + 7) / 8;
    unsigned window = 0;
    for (unsigned i = 0; i < bytes; ++i) {
        window = window << 8 | a.bits[bit / 8 + i];
    }
    window >>= 8 * bytes - skipped - wide;
    unsigned counts = 0;
    for (unsigned i = 0; i < a.plan.values; ++i) {
        const auto& v = a.plan.value[i];
        const unsigned contents = window >> (a.plan.stages - 1 - v.stage);
        const unsigned sent = (unsigned(__popc(contents & v.taps)) ^ v.inverted) & 1u;
        const int value = values[i];
        counts += value == 0 ? 0u : (unsigned(value < 0) ^ sent) << 16 | 1u;
    }
    return counts;
}

__device__ unsigned sum_over_warp(unsigned x)
{
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(~0u, x, distance);
    }
    return x;
}

__global__ void make_sign_error_counts(count_arguments a)
{
    const unsigned check = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    if (check >= a.checks) {
        return;
    }
    const auto number = a.first_stage / a.plan.every + 1 + check;
    const auto last = number * a.plan.every / a.plan.stages; // end of the steps to count
    auto& to = a.to[check];
    unsigned sum = 0, from = 0;
    for (unsigned i = 0; i < sign_error_counts::sizes; ++i) {
        const unsigned steps = sign_error_counts::min_steps << i;
        const auto begin = last - steps;
        const bool there =
            last >= steps && begin * a.plan.stages >= a.first_stage + a.plan.memory &&
            begin * a.plan.values >= a.first_value && last * a.plan.values <= a.end_value;
        for (unsigned back = from + lane; there && back < steps; back += 32) {
            const auto step = last - 1 - back;
            sum += step_counts(a,
                               step * a.plan.stages - a.plan.memory - a.first_stage,
                               a.values + (step * a.plan.values - a.first_value));
        }
        from = steps;
        const unsigned all = sum_over_warp(sum);
        if (lane == 0) {
            to.values[i] =
                there ? std::uint16_t(all & 0xffffu) : sign_error_counts::missing;
            to.wrong[i] = there ? std::uint16_t(all >> 16) : std::uint16_t(0);
        }
    }
}

} // namespace

void launch_sign_error_counts(const check_plan& plan,
                              std::uint32_t decode_length,
                              const job& job,
                              const device_buffers& memory,
                              sign_error_counts* to,
                              cudaStream_t stream)
{
    const count_arguments a{ plan,
                             job.first_block * decode_length,
                             job.first_value,
                             job.first_value + job.values,
                             std::uint32_t(job.checks(plan, decode_length)),
                             reinterpret_cast<const std::uint8_t*>(memory.output),
                             reinterpret_cast<const std::int8_t*>(memory.input),
                             to };
    const unsigned blocks = (a.checks + threads / 32 - 1) / (threads / 32);
    if (blocks > 0) {
        make_sign_error_counts<<<blocks, threads, 0, stream>>>(a);
    }
}

} // namespace device
} // namespace gr::gpufec::viterbi
