// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of a job's input to int8 soft values; floats are converted by VOLK if the
 * build includes it. */

#include "soft_input.h"
#ifdef GPUFEC_VOLK
#include <volk/volk.h>
#endif
#include <cstring>

namespace gr::gpufec::viterbi {

void convert(const float* from, float scale, std::byte* to, std::size_t n)
{
    constexpr std::size_t chunk = 1024;
    alignas(64) float clean[chunk];
    for (std::size_t i = 0; i < n; i += chunk) {
        const auto m = std::min(chunk, n - i);
        for (std::size_t k = 0; k < m; ++k) {
            const float x = from[i + k];
            clean[k] = x == x ? x : 0.0f; // VOLK's result for a NaN is undefined.
        }
        auto* const steps = reinterpret_cast<std::int8_t*>(to) + i;
#ifdef GPUFEC_VOLK
        volk_32f_s32f_convert_8i(steps, clean, scale, m);
#else
        for (std::size_t k = 0; k < m; ++k) {
            const float x = clean[k] * scale;
            const float above = x > -128.0f ? x : -128.0f;
            steps[k] = std::int8_t(std::lrint(above < 127.0f ? above : 127.0f));
        }
#endif
    }
}

void convert(const job& job,
             const float* floats,
             std::size_t first,
             std::size_t n,
             std::int8_t* to)
{
    const auto before =
        std::clamp<std::size_t>(job.scaled_before, first, first + n) - first;
    auto* const bytes = reinterpret_cast<std::byte*>(to);
    convert(floats + first, job.scale[0], bytes, before);
    convert(floats + first + before, job.scale[1], bytes + before, n - before);
}

bool read_received(const job& job,
                   const std::byte* input,
                   std::uint64_t first,
                   std::size_t count,
                   std::int8_t* to)
{
    const auto begin = std::max(first, job.first_value);
    const auto end = std::min(first + count, job.first_value + job.values);
    if (begin >= end) {
        return false;
    }
    auto received = job;
    received.phase_rotation = {};
    read_steps(received,
               false,
               input,
               begin - job.first_value,
               end - begin,
               to + (begin - first));
    return end - begin == count;
}

void read_steps(const job& job,
                bool packed4,
                const std::byte* input,
                std::size_t first,
                std::size_t count,
                std::int8_t* to)
{
    if (job.phase_rotation.any()) {
        auto received = job;
        received.phase_rotation = {};
        const auto even = first / 2 * 2, pairs = (first + count - even + 1) / 2;
        const auto there = std::min<std::size_t>(2 * pairs, job.values - even);
        to[2 * pairs - 1] = 0;
        read_steps(received, packed4, input, even, there, to);
        rotate_pairs(job.phase_rotation, to, pairs, to);
        std::copy_n(to + (first - even), count, to);
    } else if (job.floats) {
        convert(job, reinterpret_cast<const float*>(input), first, count, to);
    } else if (packed4) {
        unpack4(input, first, count, to);
    } else if (job.offset_binary) {
        from_offset_binary(input + first, count, to);
    } else {
        std::memcpy(to, input + first, count);
    }
}

} // namespace gr::gpufec::viterbi
