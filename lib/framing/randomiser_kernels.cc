// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel that aligns and derandomises the bits of a frame. The compiler vectorises
 * the loop over words. This file is compiled once for each instruction set. */

#include "randomiser_kernels.h"
#include <cstring>

namespace gr::gpufec::framing {
namespace GPUFEC_ISA {

namespace {

std::uint64_t word_at(const std::uint8_t* bytes)
{
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

void copy(const std::uint8_t* from,
          unsigned shift,
          std::size_t count,
          const std::uint8_t* sequence,
          std::uint8_t mask,
          std::uint8_t* to)
{
    // The shifts move bits between the bytes of a word, and the masks remove these bits.
    constexpr auto every_byte = ~std::uint64_t(0) / 0xff;
    const auto here = every_byte * (0xffu << shift & 0xff);
    const auto next = every_byte * (0xffu >> (8 - shift));
    const auto whole = count / 8;
    for (std::size_t i = 0; i < whole; ++i) {
        const auto word = ((word_at(from + 8 * i) << shift & here) |
                           (word_at(from + 8 * i + 1) >> (8 - shift) & next)) ^
                          word_at(sequence + 8 * i) ^ every_byte * mask;
        std::memcpy(to + 8 * i, &word, 8);
    }
    for (std::size_t i = 8 * whole; i < count; ++i) {
        const auto byte = from[i] << shift | from[i + 1] >> (8 - shift);
        to[i] = std::uint8_t(byte ^ sequence[i] ^ mask);
    }
}

} // namespace

extern const randomiser_kernels randomiser;
const randomiser_kernels randomiser = { copy };

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::framing
