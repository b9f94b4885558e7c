// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernel of the marker search, and the kernel that aligns and derandomises the bits
 * of a frame. This file is compiled once for each instruction set.
 *
 * In the marker search, bit k of a vector belongs to the marker that begins at bit k, so
 * that one vector operation processes 128 to 512 positions. Carry-save adders count the
 * bits that differ from the marker. The counts are stored as bit planes. */

#include "bit_kernels.h"
#include <cstring>

namespace gr::gpufec::framing {
namespace GPUFEC_ISA {

namespace {

typedef std::uint64_t vec __attribute__((vector_size(2 * GPUFEC_LANES)));
constexpr std::size_t words_per_vec = sizeof(vec) / sizeof(std::uint64_t);
static_assert(bit_kernels::granularity % words_per_vec == 0);

vec load(const std::uint64_t* from)
{
    vec v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

// Adds 2^Level differences, beginning with bit First of the marker, to the planes of the
// counters. Returns the carry, whose weight is 2^Level.
template <unsigned First, unsigned Level>
[[gnu::always_inline]] inline vec
add(const vec& here, const vec& next, const std::uint64_t* marker, vec* planes)
{
    if constexpr (Level == 0) {
        if constexpr (First == 0) {
            return here ^ marker[0];
        } else {
            return (here << First | next >> (64 - First)) ^ marker[First];
        }
    } else {
        constexpr auto half = 1u << (Level - 1);
        const auto a = add<First, Level - 1>(here, next, marker, planes);
        const auto b = add<First + half, Level - 1>(here, next, marker, planes);
        auto& sum = planes[Level - 1];
        const auto different = a ^ b;
        const auto carry = (a & b) | (different & sum);
        sum ^= different;
        return carry;
    }
}

// Returns the positions whose count is at most `limit`.
[[gnu::always_inline]] inline vec
at_most(const vec* planes, unsigned levels, unsigned limit)
{
    vec less{}, equal = ~vec{};
    for (unsigned k = levels + 1; k-- > 0;) {
        if (limit >> k & 1) {
            less |= equal & ~planes[k];
            equal &= planes[k];
        } else {
            equal &= ~planes[k];
        }
    }
    return less | equal;
}

template <unsigned Levels>
void find_of(const std::uint64_t* words,
             std::size_t count,
             const std::uint64_t* marker,
             unsigned errors,
             std::uint64_t* hits)
{
    for (std::size_t i = 0; i < count; i += words_per_vec) {
        vec planes[Levels + 1] = {};
        planes[Levels] =
            add<0, Levels>(load(words + i), load(words + i + 1), marker, planes);
        const auto hit = at_most(planes, Levels, errors) |
                         ~at_most(planes, Levels, (1u << Levels) - errors - 1);
        std::memcpy(hits + i, &hit, sizeof hit);
    }
}

void find(const std::uint64_t* words,
          std::size_t count,
          const std::uint64_t* marker,
          unsigned bits,
          unsigned errors,
          std::uint64_t* hits)
{
    (bits == 16   ? find_of<4>
     : bits == 32 ? find_of<5>
                  : find_of<6>)(words, count, marker, errors, hits);
}

std::uint64_t word_at(const std::uint8_t* bytes)
{
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

// The compiler vectorises the loop over words.
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

const bit_kernels all = { find, copy };

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::framing
