// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Computes the CRC-8 and the scrambling sequence, and parses BBHEADERs. */

#include "header.h"

namespace gr::gpufec::bbframe {

crc8::crc8()
{
    for (unsigned b = 0; b < 256; ++b) {
        unsigned r = b;
        for (int i = 0; i < 8; ++i) {
            r = r << 1 ^ (r & 0x80 ? 0x1d5u : 0);
        }
        d_after[0][b] = r;
    }
    for (unsigned i = 1; i < 8; ++i) {
        for (unsigned b = 0; b < 256; ++b) {
            d_after[i][b] = d_after[0][d_after[i - 1][b]];
        }
    }
}

std::uint8_t crc8::operator()(const std::uint8_t* bytes, std::size_t count) const
{
    std::uint8_t r = 0;
    for (; count >= 8; count -= 8, bytes += 8) {
        r = d_after[7][r ^ bytes[0]] ^ d_after[6][bytes[1]] ^ d_after[5][bytes[2]] ^
            d_after[4][bytes[3]] ^ d_after[3][bytes[4]] ^ d_after[2][bytes[5]] ^
            d_after[1][bytes[6]] ^ d_after[0][bytes[7]];
    }
    for (; count > 0; --count) {
        r = d_after[0][r ^ *bytes++];
    }
    return r;
}

std::optional<header>
read_header(const std::uint8_t* bytes, const crc8& crc, bool may_be_efficient)
{
    const auto difference = crc(bytes, header_bytes - 1) ^ bytes[header_bytes - 1];
    const bool high_efficiency = may_be_efficient && difference == 1;
    if (difference != 0 && !high_efficiency) {
        return {};
    }
    const auto word = [&](unsigned at) {
        return std::uint16_t(bytes[at] << 8 | bytes[at + 1]);
    };
    header h;
    h.kind = header::stream(bytes[0] >> 6);
    h.single_input = bytes[0] >> 5 & 1;
    h.issy = bytes[0] >> 3 & 1;
    h.deleted = bytes[0] >> 2 & 1;
    h.high_efficiency = high_efficiency;
    h.isi = bytes[1];
    h.upl = word(2);
    h.dfl = word(4);
    h.syncd = word(7);
    return h;
}

std::vector<std::uint8_t> scrambling(std::size_t bytes)
{
    std::vector<std::uint8_t> sequence(bytes);
    // Initial state 100101010000000 of the standard, its first bit least significant.
    unsigned state = 0x00a9;
    for (auto& byte : sequence) {
        for (int i = 0; i < 8; ++i) {
            const auto bit = (state >> 13 ^ state >> 14) & 1u;
            state = (state << 1 | bit) & 0x7fff;
            byte = byte << 1 | bit;
        }
    }
    return sequence;
}

} // namespace gr::gpufec::bbframe
