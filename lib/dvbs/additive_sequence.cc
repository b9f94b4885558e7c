// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Adds periodic bit sequences to packed bits. */

#include "additive_sequence.h"
#include <algorithm>

namespace gr::gpufec::dvbs {

namespace {

constexpr unsigned period = 5; // in bits; also the period of the packed bytes, in bytes
constexpr unsigned reflection[period] = { 0, 0, 1, 0, 1 };

std::uint8_t reflection_byte(std::uint64_t first)
{
    unsigned byte = 0;
    for (unsigned i = 0; i < 8; ++i) {
        byte = byte << 1 | reflection[(first + i) % period];
    }
    return byte;
}

} // namespace

void additive_sequence::add(std::uint64_t first,
                            std::size_t count,
                            std::uint8_t* bytes) const
{
    if (d_kind == 0) {
        std::transform(bytes, bytes + count, bytes, [this](std::uint8_t byte) {
            return byte ^ d_complement;
        });
        return;
    }
    const auto phase = first % period + d_kind - 1;
    std::uint8_t repeated[period];
    for (unsigned b = 0; b < period; ++b) {
        repeated[b] = reflection_byte(phase + 8 * b) ^ d_complement;
    }
    std::size_t b = 0;
    for (; b + period <= count; b += period) {
        for (unsigned i = 0; i < period; ++i) {
            bytes[b + i] ^= repeated[i];
        }
    }
    for (unsigned i = 0; b < count; ++b, ++i) {
        bytes[b] ^= repeated[i];
    }
}

} // namespace gr::gpufec::dvbs
