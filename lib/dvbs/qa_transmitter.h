// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A DVB-S transmitter up to the convolutional encoder, for tests. The transmitter follows
 * the figures of EN 300 421, byte by byte and bit by bit, and shares no code with the
 * library. */

#ifndef INCLUDED_GPUFEC_DVBS_QA_TRANSMITTER_H
#define INCLUDED_GPUFEC_DVBS_QA_TRANSMITTER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace gr::gpufec::dvbs::test {

using bytes = std::vector<std::uint8_t>;

inline bytes random_bytes(std::size_t count, std::mt19937& random)
{
    bytes made(count);
    for (auto& byte : made) {
        byte = random();
    }
    return made;
}

//! Returns packets of 188 bytes: the sync byte, then random bytes in which the transport
//! error indicator is cleared.
inline bytes random_packets(unsigned count, std::mt19937& random)
{
    auto packets = random_bytes(188 * count, random);
    for (unsigned p = 0; p < count; ++p) {
        packets[188 * p] = 0x47;
        packets[188 * p + 1] &= 0x7f;
    }
    return packets;
}

class transmitter
{
public:
    transmitter()
    {
        for (unsigned branch = 0; branch < 12; ++branch) {
            d_delays[branch].resize(17 * branch);
        }
        // The generator polynomial, the product of (x + alpha^i), highest power first.
        d_generator = { 1 };
        for (unsigned i = 0, root = 1; i < 16; ++i, root = times(root, 2)) {
            bytes next(d_generator.size() + 1);
            for (std::size_t c = 0; c < d_generator.size(); ++c) {
                next[c] ^= d_generator[c];
                next[c + 1] ^= times(d_generator[c], root);
            }
            d_generator = next;
        }
    }

    //! Returns the interleaved frames of whole packets.
    bytes send(const bytes& packets)
    {
        bytes sent;
        for (std::size_t at = 0; at < packets.size(); at += 188) {
            bytes word(packets.begin() + at, packets.begin() + at + 188);
            disperse(word);
            append_parity(word);
            for (std::size_t b = 0; b < word.size(); ++b) {
                auto& delay = d_delays[b % 12];
                delay.push_back(word[b]);
                sent.push_back(delay.front());
                delay.pop_front();
            }
        }
        return sent;
    }

private:
    static unsigned times(unsigned a, unsigned b)
    {
        unsigned product = 0;
        for (; b; b >>= 1) {
            product ^= b & 1 ? a : 0;
            a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
        }
        return product;
    }

    void disperse(bytes& packet)
    {
        for (std::size_t b = 0; b < packet.size(); ++b) {
            if (b == 0 && d_packet % 8 == 0) {
                d_stages = { 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
                packet[0] = 0xb8;
                continue;
            }
            for (int bit = 7; bit >= 0; --bit) {
                const bool sum = d_stages[13] != d_stages[14];
                d_stages.pop_back();
                d_stages.push_front(sum);
                if (b > 0) {
                    packet[b] ^= unsigned(sum) << bit;
                }
            }
        }
        ++d_packet;
    }

    void append_parity(bytes& word) const
    {
        auto rest = word;
        rest.resize(word.size() + 16);
        for (std::size_t b = 0; b < word.size(); ++b) {
            const auto factor = rest[b];
            for (std::size_t c = 0; c < d_generator.size(); ++c) {
                rest[b + c] ^= times(d_generator[c], factor);
            }
        }
        word.insert(word.end(), rest.end() - 16, rest.end());
    }

    std::array<std::deque<std::uint8_t>, 12> d_delays;
    bytes d_generator;
    std::deque<bool> d_stages;
    unsigned d_packet = 0;
};

//! Returns the bits of bytes, the first most significant.
inline std::vector<bool> bits_of(const bytes& packed)
{
    std::vector<bool> bits;
    for (const auto byte : packed) {
        for (int bit = 7; bit >= 0; --bit) {
            bits.push_back(byte >> bit & 1);
        }
    }
    return bits;
}

//! Packs bits, and drops the bits of an incomplete last byte.
inline bytes packed(const std::vector<bool>& bits)
{
    bytes made(bits.size() / 8);
    for (std::size_t i = 0; i < 8 * made.size(); ++i) {
        made[i / 8] |= unsigned(bits[i]) << (7 - i % 8);
    }
    return made;
}

} // namespace gr::gpufec::dvbs::test

#endif /* INCLUDED_GPUFEC_DVBS_QA_TRANSMITTER_H */
