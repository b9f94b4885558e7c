// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Random numbers by index, so that each thread can begin anywhere in a sequence. */

#ifndef INCLUDED_GPUFEC_CHANNEL_COUNTER_RANDOM_H
#define INCLUDED_GPUFEC_CHANNEL_COUNTER_RANDOM_H

#include "common/host_device.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec {

/*!
 * \brief SplitMix64 with random access by index.
 *
 * G. L. Steele, D. Lea, C. H. Flood: "Fast splittable pseudorandom number generators",
 * OOPSLA 2014. The authors tested SplitMix64 with the suites DieHarder and TestU01.
 */
class counter_random
{
public:
    explicit counter_random(std::uint64_t seed) : d_start(mix(seed + golden)) {}

    //! Returns number \p index of the sequence, uniform over 64 bits.
    GPUFEC_HOST_DEVICE std::uint64_t operator()(std::uint64_t index) const
    {
        return mix(d_start + (index + 1) * golden);
    }

    //! Returns bit \p index of the sequence of bits that the 64-bit numbers form, the
    //! least significant bit of each number first.
    std::uint8_t bit(std::uint64_t index) const
    {
        return (*this)(index / 64) >> (index % 64) & 1u;
    }

    //! Writes bits \p first to \p first + \p count − 1, one per byte.
    void bits(std::uint64_t first, std::size_t count, std::uint8_t* out) const
    {
        for (std::size_t i = 0; i < count;) {
            const auto index = first + i;
            auto word = (*this)(index / 64) >> (index % 64);
            for (auto left = 64 - index % 64; left > 0 && i < count; --left, word >>= 1) {
                out[i++] = word & 1u;
            }
        }
    }

private:
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

    GPUFEC_HOST_DEVICE static std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    std::uint64_t d_start;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CHANNEL_COUNTER_RANDOM_H */
