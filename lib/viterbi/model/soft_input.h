// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of input from each format to int8 soft values, and the phase rotation of
 * int8 values. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_SOFT_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_SOFT_INPUT_H

#include "job.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

//! Returns soft value \p index of int8 or packed4 input. A byte of packed4 holds two
//! values, the first in the high nibble. A packed −8 becomes −7; an int8 of −128 stays
//! −128.
inline std::int8_t soft_value(const std::byte* input, std::size_t index, bool packed4)
{
    if (!packed4) {
        return std::int8_t(input[index]);
    }
    const auto pair = std::uint8_t(input[index / 2]);
    const int nibble = std::int8_t(index % 2 ? pair << 4 : pair & 0xf0) >> 4;
    return std::max(nibble, -7);
}

//! Converts a float to int8: multiplies by \p scale, rounds (ties to even) and clamps to
//! −128 … 127. NaN becomes 0.
inline std::int8_t soft_value(float x, float scale)
{
    const float scaled = x == x ? x * scale : 0;
    return std::int8_t(std::lrint(std::clamp(scaled, -128.0f, 127.0f)));
}

//! Returns soft value \p index of a job's input as int8, before the phase rotation. The
//! format must not be offset binary.
inline std::int8_t
soft_value(const job& job, const std::byte* input, std::size_t index, bool packed4)
{
    if (!job.floats) {
        return soft_value(input, index, packed4);
    }
    const auto* const floats = reinterpret_cast<const float*>(input);
    return soft_value(floats[index], job.scale_of(index));
}

//! Converts \p n bytes from offset binary to int8 by inverting the highest bit.
inline void from_offset_binary(const std::byte* from, std::size_t n, std::int8_t* to)
{
    for (std::size_t i = 0; i < n; ++i) {
        to[i] = std::int8_t(from[i] ^ std::byte(0x80));
    }
}

//! Applies a phase rotation to \p pairs pairs of int8 values at \p from, and writes the
//! results to \p to, which may equal \p from. −128 counts as −127, so that the sign of
//! every value can be changed.
inline void rotate_pairs(const phase_rotation& t,
                         const std::int8_t* from,
                         std::size_t pairs,
                         std::int8_t* to)
{
    const int sign[2] = { t.changed[0] ? -1 : 1, t.changed[1] ? -1 : 1 };
    const int other = t.exchanged;
    for (std::size_t i = 0; i < pairs; ++i) {
        const int first = std::max<int>(from[2 * i + other], -127);
        const int second = std::max<int>(from[2 * i + 1 - other], -127);
        to[2 * i] = std::int8_t(first * sign[0]);
        to[2 * i + 1] = std::int8_t(second * sign[1]);
    }
}

//! Unpacks \p n values of packed4 input to int8, from index \p first on. −8 becomes −7.
inline void
unpack4(const std::byte* input, std::size_t first, std::size_t n, std::int8_t* to)
{
    const auto one = [](unsigned nibble) {
        return std::max<std::int8_t>(std::int8_t(nibble ^ 8) - 8, -7);
    };
    std::size_t i = 0;
    if (n > 0 && first % 2) {
        to[i++] = soft_value(input, first, true);
    }
    const auto* const bytes = input + (first + i) / 2;
    const auto pairs = (n - i) / 2;
    for (std::size_t k = 0; k < pairs; ++k) {
        const auto byte = std::uint8_t(bytes[k]);
        to[i + 2 * k] = one(byte >> 4);
        to[i + 2 * k + 1] = one(byte & 15);
    }
    if (i + 2 * pairs < n) {
        to[n - 1] = soft_value(input, first + n - 1, true);
    }
}

//! Converts \p n floats to int8 like soft_value(), with VOLK if the build includes it.
void convert(const float* from, float scale, std::byte* to, std::size_t n);

//! Converts \p n of a job's \p floats to int8, from index \p first on, with the scales of
//! the job.
void convert(const job& job,
             const float* floats,
             std::size_t first,
             std::size_t n,
             std::int8_t* to);

//! Converts values \p first to \p first + \p count − 1 of the stream to int8, without
//! phase rotation, if they are in a job's input. Returns whether the input has all of
//! these values. The format must not be packed4.
bool read_received(const job& job,
                   const std::byte* input,
                   std::uint64_t first,
                   std::size_t count,
                   std::int8_t* to);

//! Converts \p count values of a job's input, in any format, to int8, from index \p first
//! on, and applies the phase rotation. For a rotation, \p to needs space for two more
//! values, because whole pairs are converted.
void read_steps(const job& job,
                bool packed4,
                const std::byte* input,
                std::size_t first,
                std::size_t count,
                std::int8_t* to);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_SOFT_INPUT_H */
