// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the pseudo-randomisers of CCSDS as shift registers. */

#include "common/refuse.h"
#include "randomiser.h"

namespace gr::gpufec::framing {

namespace {

// A shift register whose lowest bit is the next bit of the sequence. The sum of the bits
// selected by `taps` enters as the highest bit.
struct shift_register {
    std::uint32_t state, taps;
    unsigned bits;

    unsigned next()
    {
        const unsigned out = state & 1;
        const auto sum = std::uint32_t(__builtin_parity(state & taps));
        state = state >> 1 | sum << (bits - 1);
        return out;
    }
};

} // namespace

std::vector<std::uint8_t> randomiser_sequence(const std::string& name, std::size_t bytes)
{
    // x^17 + x^14 + 1 means that bit n + 17 is the sum of the bits n + 14 and n. The
    // polynomial of telecommands is written in the same convention.
    auto generator = choose<shift_register>("randomiser",
                                            name,
                                            { { "none", { 0, 0, 1 } },
                                              { "short", { 0xff, 0xa9, 8 } },
                                              { "telecommand", { 0xff, 0x5f, 8 } },
                                              { "long", { 0x18e38, 0x4001, 17 } } });
    std::vector<std::uint8_t> sequence(bytes);
    for (auto& byte : sequence) {
        for (int bit = 7; bit >= 0; --bit) {
            byte = std::uint8_t(byte | generator.next() << bit);
        }
    }
    return sequence;
}

void randomise(std::uint8_t* bytes,
               const std::uint8_t* sequence,
               std::size_t count,
               std::uint8_t more)
{
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = std::uint8_t(bytes[i] ^ sequence[i] ^ more);
    }
}

} // namespace gr::gpufec::framing
