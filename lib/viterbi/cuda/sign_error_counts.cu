// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels that re-encode decoded bits and count the received signs that disagree: for
 * the samples of a batch from which the channel is estimated, and for the checks of a
 * lock. One warp re-encodes a sample, or up to 512 steps before a check. locking.h
 * defines lock and check, and class reencoder defines a step. */

#include "kernels.h"
#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::viterbi {
namespace device {

namespace {

constexpr unsigned threads = 128;

// The decoded bits and soft values of a batch, at addresses that are multiples of 4. The
// first bit belongs to stage first_stage of the stream. The values are those from
// first_value to end_value − 1 of the stream.
struct count_arguments {
    check_plan plan;
    std::uint64_t first_stage, first_value, end_value;
    std::uint32_t checks;
    const std::uint8_t* bits;
    const std::byte* values; // int8, or packed4 with the first value in a high nibble
    bool packed4;
    sign_error_counts* to;
};

// Returns `count` bits from bit `first` on, the last one least significant; count is 1 to
// 32. Reads only words that contain at least one of these bits.
__device__ unsigned bits_at(const std::uint8_t* bits, std::uint64_t first, unsigned count)
{
    const auto* const words = reinterpret_cast<const unsigned*>(bits) + first / 32;
    const unsigned skipped = unsigned(first % 32);
    const auto in_order = [](unsigned word) { return __byte_perm(word, 0, 0x0123); };
    const unsigned high = in_order(words[0]);
    const unsigned low = skipped + count > 32 ? in_order(words[1]) : 0;
    return __funnelshift_l(low, high, skipped) >> (32 - count);
}

// Returns `count` bytes from byte `first` on, followed by zeros; count is 1 to 8. Reads
// only words that contain at least one of these bytes.
__device__ uint2 bytes_at(const std::byte* bytes, std::uint64_t first, unsigned count)
{
    const auto* const words = reinterpret_cast<const unsigned*>(bytes) + first / 4;
    const unsigned skipped = unsigned(first % 4), end = skipped + count;
    const unsigned a = words[0], b = end > 4 ? words[1] : 0, c = end > 8 ? words[2] : 0;
    const auto mask = [](unsigned n) { return n < 4 ? (1u << 8 * n) - 1 : ~0u; };
    return { __funnelshift_r(a, b, 8 * skipped) & mask(count),
             __funnelshift_r(b, c, 8 * skipped) & mask(count > 4 ? count - 4 : 0) };
}

// Returns `count` values of packed4 input from index `first` on, as bytes of 16 times the
// value, followed by zeros; count is 1 to 8.
__device__ uint2 packed_at(const std::byte* values, std::uint64_t first, unsigned count)
{
    const unsigned skipped = unsigned(first % 2);
    const auto from = bytes_at(values, first / 2, (skipped + count + 1) / 2);
    unsigned to[2] = { 0, 0 };
    for (unsigned i = 0; i < count; ++i) {
        const unsigned nibble = skipped + i;
        const unsigned byte = (nibble < 8 ? from.x : from.y) >> 8 * (nibble / 2 % 4);
        to[i / 4] |= (nibble % 2 ? byte << 4 & 0xf0u : byte & 0xf0u) << 8 * (i % 4);
    }
    return { to[0], to[1] };
}

// Counts the values of a word that are not erased. The lower half of the result is the
// number of these values. The upper half is the number of these values whose sign differs
// from the coded bit, which is in the same byte of `sent`.
__device__ unsigned word_counts(unsigned values, unsigned sent)
{
    const unsigned nonzero = ((values & 0x7f7f7f7fu) + 0x7f7f7f7fu) | values;
    const unsigned there = nonzero >> 7 & 0x01010101u;
    const unsigned wrong = (values >> 7 ^ sent) & there;
    return unsigned(__popc(wrong)) << 16 | unsigned(__popc(there));
}

// Re-encodes one step and returns the sum of word_counts() over the step's values, which
// begin at index `value` of the batch. Bit `bit` of the batch is the oldest bit in the
// shift register at the step's first stage.
__device__ unsigned
step_counts(const count_arguments& a, std::uint64_t bit, std::uint64_t value)
{
    const auto& plan = a.plan;
    const unsigned window = bits_at(a.bits, bit, plan.memory + plan.stages);
    unsigned sent[2] = { 0, 0 };
#pragma unroll
    for (unsigned i = 0; i < check_plan::max_values; ++i) {
        if (i < plan.values) {
            const auto& v = plan.value[i];
            const unsigned contents = window >> (plan.stages - 1 - v.stage);
            const unsigned coded = unsigned(__popc(contents & v.taps)) ^ v.inverted;
            sent[i / 4] |= (coded & 1u) << 8 * (i % 4);
        }
    }
    const auto values = a.packed4 ? packed_at(a.values, value, plan.values)
                                  : bytes_at(a.values, value, plan.values);
    return word_counts(values.x, sent[0]) + word_counts(values.y, sent[1]);
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
                               step * a.plan.values - a.first_value);
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

// Returns a soft value of a batch, like soft_value() on the CPU.
__device__ int value_at(const std::byte* values, std::uint64_t index, bool packed4)
{
    if (!packed4) {
        return std::int8_t(values[index]);
    }
    const auto pair = std::uint8_t(values[index / 2]);
    const int nibble = std::int8_t(index % 2 ? pair << 4 : pair & 0xf0) >> 4;
    return nibble < -7 ? -7 : nibble;
}

__global__ void make_channel_counts(batch_geometry g,
                                    sample_plan plan,
                                    const std::uint8_t* bits,
                                    const std::byte* values,
                                    channel_counts* to)
{
    const unsigned number = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    if (number >= plan.count(g.job)) {
        return;
    }
    const auto sample = plan.at(g.job, number);
    unsigned there = 0, wrong = 0, against = 0;
    // Several stages per step of the loop, so that their loads overlap.
#pragma unroll 4
    for (unsigned stage = lane; stage < sample.stages; stage += 32) {
        const unsigned contents =
            bits_at(bits, sample.bit + stage - plan.memory, plan.memory + 1);
        const unsigned period = stage / g.map.period;
        const unsigned in_period = stage - period * g.map.period;
        const auto first = sample.value + period * g.map.values_per_period;
        for (unsigned r = 0; r < g.map.outputs; ++r) {
            const int position = g.map.position[in_period * g.map.outputs + r];
            if (position < 0) {
                continue;
            }
            const int value = value_at(values, first + position, g.packed4);
            const bool one = (__popc(contents & plan.taps[r]) & 1) != plan.inverted[r];
            there += value != 0;
            if (value != 0 && one != (value < 0)) {
                ++wrong;
                against += unsigned(value < 0 ? -value : value);
            }
        }
    }
    there = sum_over_warp(there);
    wrong = sum_over_warp(wrong);
    against = sum_over_warp(against);
    if (lane == 0) {
        to[number] = { there, wrong, against };
    }
}

} // namespace

void launch_channel_counts(const batch_geometry& g,
                           const sample_plan& plan,
                           const device_buffers& memory,
                           channel_counts* to,
                           cudaStream_t stream)
{
    const unsigned blocks = (plan.count(g.job) + threads / 32 - 1) / (threads / 32);
    make_channel_counts<<<blocks, threads, 0, stream>>>(
        g, plan, reinterpret_cast<const std::uint8_t*>(memory.output), memory.input, to);
}

void launch_sign_error_counts(const check_plan& plan,
                              std::uint32_t decode_length,
                              const job& job,
                              bool packed4,
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
                             memory.input,
                             packed4,
                             to };
    const unsigned blocks = (a.checks + threads / 32 - 1) / (threads / 32);
    if (blocks > 0) {
        make_sign_error_counts<<<blocks, threads, 0, stream>>>(a);
    }
}

} // namespace device
} // namespace gr::gpufec::viterbi
