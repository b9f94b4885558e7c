// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Draws the soft values of BPSK in noise. Quantised values are drawn from an alias table,
 * floats by the Box-Muller transform. */

#include "awgn.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::gpufec {

namespace {

// Returns the probability that a Gaussian variable with mean 1 and standard deviation
// sigma is below the limit.
double below(double limit, double sigma)
{
    return 0.5 * std::erfc((1 - limit) / (sigma * std::sqrt(2.0)));
}

// Returns the distribution of the soft values of bit 0, which are two's complement bytes:
// amplitude · (1 + noise of deviation sigma), rounded and clamped to ±peak.
discrete_distribution quantised(double amplitude, double sigma, int peak)
{
    std::array<double, 256> probability{};
    if (sigma == 0) {
        const auto value = std::min<long>(std::lround(amplitude), peak);
        probability[std::uint8_t(value)] = 1;
        return discrete_distribution(probability);
    }
    double up_to = 0;
    for (int value = -peak; value <= peak; ++value) {
        const double next = value < peak ? below((value + 0.5) / amplitude, sigma) : 1;
        probability[std::uint8_t(value)] = next - up_to;
        up_to = next;
    }
    return discrete_distribution(probability);
}

// Returns the standard deviation of the noise for an amplitude of 1. Throws
// std::invalid_argument if a parameter is outside its range.
double sigma_of(double ebn0_db, double rate)
{
    if (!(rate > 0 && rate <= 1)) {
        throw std::invalid_argument("rate is " + std::to_string(rate) +
                                    ": allowed values are above 0 and up to 1");
    }
    if (std::isnan(ebn0_db) || ebn0_db < -100) {
        throw std::invalid_argument("ebn0_db is " + std::to_string(ebn0_db) +
                                    ": allowed values are -100 or more");
    }
    return std::sqrt(1 / (2 * rate * std::pow(10, ebn0_db / 10)));
}

} // namespace

discrete_distribution::discrete_distribution(
    const std::array<double, values>& probabilities)
{
    std::array<double, values> share;
    std::vector<unsigned> poor, rich;
    for (unsigned i = 0; i < values; ++i) {
        share[i] = probabilities[i] * 256;
        (share[i] < 1 ? poor : rich).push_back(i);
    }
    for (unsigned i = 0; i < values; ++i) {
        d_entries[i] = i; // threshold 0 and alias i: always draws i
    }
    // A value whose share (256 times its probability) is 1 or more becomes the alias of a
    // value whose share is below 1.
    while (!poor.empty() && !rich.empty()) {
        const auto low = poor.back();
        const auto high = rich.back();
        poor.pop_back();
        d_entries[low] = std::uint64_t(std::ldexp(share[low], 56)) << 8 | high;
        share[high] -= 1 - share[low];
        if (share[high] < 1) {
            rich.pop_back();
            poor.push_back(high);
        }
    }
}

awgn_channel::awgn_channel(double ebn0_db,
                           double rate,
                           std::uint64_t seed,
                           double amplitude)
    : d_sigma(sigma_of(ebn0_db, rate)), d_random(seed)
{
    if (!(amplitude > 0 && amplitude <= 127)) {
        throw std::invalid_argument("amplitude is " + std::to_string(amplitude) +
                                    ": allowed values are above 0 and up to 127");
    }
    d_int8 = quantised(amplitude, d_sigma, 127);
    d_int4 = quantised(amplitude * (packed4_amplitude / int8_amplitude), d_sigma, 7);
}

void awgn_channel::int8(std::uint64_t first,
                        const std::uint8_t* bits,
                        std::size_t count,
                        std::int8_t* out) const
{
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = std::int8_t(d_int8(d_random(first + i)));
        const int sign = -int(bits[i] & 1u); // for bit 1, −1, which negates the value
        out[i] = (value ^ sign) - sign;
    }
}

void awgn_channel::packed4(std::uint64_t first,
                           const std::uint8_t* bits,
                           std::size_t count,
                           std::uint8_t* out) const
{
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = std::int8_t(d_int4(d_random(first + i)));
        const int sign = -int(bits[i] & 1u);
        const unsigned nibble = ((value ^ sign) - sign) & 15;
        if (i % 2 == 0) {
            out[i / 2] = nibble << 4;
        } else {
            out[i / 2] |= nibble;
        }
    }
}

void awgn_channel::float32(std::uint64_t first,
                           const std::uint8_t* bits,
                           std::size_t count,
                           float* out) const
{
    // The Box-Muller transform derives the noise of two coded bits from one random
    // number.
    constexpr float turn = 6.283185307f;
    const auto sigma = float(d_sigma);
    for (std::size_t i = 0; i < count;) {
        const auto index = first + i;
        const auto random = d_random(index / 2);
        const float u = (float(random >> 32) + 0.5f) * 0x1p-32f;
        const float angle = turn * 0x1p-32f * float(std::uint32_t(random));
        const float radius = sigma * std::sqrt(-2 * std::log(std::min(u, 1.0f)));
        const float noise[2] = { radius * std::cos(angle), radius * std::sin(angle) };
        for (auto half = index % 2; half < 2 && i < count; ++half, ++i) {
            out[i] = (bits[i] & 1u ? -1.0f : 1.0f) + noise[half];
        }
    }
}

} // namespace gr::gpufec
