// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A BPSK channel with additive white Gaussian noise (AWGN), and the discrete distribution
 * from which its quantised outputs are drawn. */

#ifndef INCLUDED_GPUFEC_CHANNEL_AWGN_H
#define INCLUDED_GPUFEC_CHANNEL_AWGN_H

#include "counter_random.h"
#include <gnuradio/gpufec/api.h>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::gpufec {

/*!
 * \brief Discrete distribution over 256 values with given probabilities.
 *
 * The alias method (A. J. Walker: "New fast method for generating discrete random numbers
 * with arbitrary frequency distributions", Electronics Letters 10, 1974, p. 127) needs
 * one random number and one table entry per draw for any distribution. The probabilities
 * of the draws are exact to 1e-16.
 */
class discrete_distribution
{
public:
    static constexpr unsigned values = 256;

    discrete_distribution() = default;
    explicit discrete_distribution(const std::array<double, values>& probabilities);

    //! Returns the value for the uniform 64-bit number \p random.
    std::uint8_t operator()(std::uint64_t random) const
    {
        return choose(d_entries.data(), random);
    }

    //! Returns the table, so that it can be copied to device memory.
    const std::array<std::uint64_t, values>& entries() const { return d_entries; }
    //! Returns the same value as operator(), from a copy of the table.
    GPUFEC_HOST_DEVICE static std::uint8_t choose(const std::uint64_t* entries,
                                                  std::uint64_t random)
    {
        const auto entry = entries[random & 255u];
        return (random >> 8) < (entry >> 8) ? random & 255u : entry & 255u;
    }

private:
    // In entry i, the lowest byte is the alias of value i, and the upper 56 bits are a
    // threshold. If the upper 56 bits of a random number are at least the threshold, the
    // alias is drawn, otherwise i.
    std::array<std::uint64_t, values> d_entries{};
};

/*!
 * \brief A reproducible AWGN channel for BPSK.
 *
 * Bit 0 is sent as +1 and bit 1 as −1; positive soft values mean bit 0. With the same
 * parameters, the noise of coded bit n depends on the seed and n alone. Quantised outputs
 * are drawn from the exact distribution of the quantised sum, with one random number and
 * one table look-up per value. A draw needs no logarithm or root, unlike a rounded
 * Gaussian sample. Float and quantised outputs of one seed have different noise.
 */
class GPUFEC_API awgn_channel
{
public:
    static constexpr double int8_amplitude = 32;
    //! Amplitude of packed4 values (±7) if int8 values have int8_amplitude: a compromise
    //! between coarse steps (lower amplitudes) and clipping (higher amplitudes).
    static constexpr double packed4_amplitude = 4.4;

    /*!
     * \param ebn0_db Eb/N0 in dB, -100 or more; infinity for no noise
     * \param rate ratio of information bits to coded bits sent, including those of tails;
     *        above 0 and up to 1
     * \param seed seed of the noise
     * \param amplitude quantisation steps of a noiseless int8 value, above 0 and up to
     *        127; the amplitude of packed4 is proportional to it
     * \throws std::invalid_argument naming the parameter and what is allowed
     */
    awgn_channel(double ebn0_db,
                 double rate,
                 std::uint64_t seed,
                 double amplitude = int8_amplitude);

    //! Returns the standard deviation of the noise for an amplitude of 1.
    double sigma() const { return d_sigma; }

    // The next three functions let a device generate the same quantised values. The soft
    // value of coded bit n is drawn from the distribution with random number n, and
    // negated if the bit is 1. packed4_values() has the values before packing.
    const counter_random& random() const { return d_random; }
    const discrete_distribution& int8_values() const { return d_int8; }
    const discrete_distribution& packed4_values() const { return d_int4; }

    //! Sends coded bits \p first to \p first + \p count − 1, one per byte, as int8
    //! values rounded to nearest and within ±127.
    void int8(std::uint64_t first,
              const std::uint8_t* bits,
              std::size_t count,
              std::int8_t* out) const;

    //! Sends coded bits like int8(), but as 4-bit two's complement values within ±7, two
    //! per byte, the first in the high nibble. If \p count is odd, the last nibble is 0.
    void packed4(std::uint64_t first,
                 const std::uint8_t* bits,
                 std::size_t count,
                 std::uint8_t* out) const;

    //! Sends coded bits like int8(), but as floats of unit amplitude.
    void float32(std::uint64_t first,
                 const std::uint8_t* bits,
                 std::size_t count,
                 float* out) const;

private:
    double d_sigma;
    counter_random d_random;
    discrete_distribution d_int8;
    discrete_distribution d_int4;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CHANNEL_AWGN_H */
