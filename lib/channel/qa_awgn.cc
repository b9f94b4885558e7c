// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the AWGN channel and of the random bits: their distribution and correlation,
 * output in several calls, values without noise, and refused parameters. */

#include "awgn.h"
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

using namespace gr::gpufec;

constexpr std::size_t many = 4'000'000;

std::vector<std::uint8_t> some_bits(std::size_t count)
{
    std::vector<std::uint8_t> bits(count);
    counter_random(77).bits(0, count, bits.data());
    return bits;
}

double gaussian_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Returns the chi-square statistic of samples against the quantised Gaussian with mean
// `amplitude` and standard deviation sigma·amplitude. The samples of bit 1 must have been
// negated. Sets `degrees` to the degrees of freedom.
double chi_square(const std::vector<int>& samples,
                  double amplitude,
                  double sigma,
                  int peak,
                  int& degrees)
{
    std::vector<double> seen(2 * peak + 1);
    for (const int s : samples) {
        seen.at(s + peak) += 1;
    }
    double sum = 0, rest_seen = 0, rest_expected = 0;
    degrees = 0;
    for (int v = -peak; v <= peak; ++v) {
        const double high =
            v == peak ? 1 : gaussian_below((v + 0.5 - amplitude) / (sigma * amplitude));
        const double low =
            v == -peak ? 0 : gaussian_below((v - 0.5 - amplitude) / (sigma * amplitude));
        rest_expected += (high - low) * samples.size();
        rest_seen += seen[v + peak];
        if (rest_expected > 20) {
            sum +=
                (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
            rest_seen = rest_expected = 0;
            ++degrees;
        }
    }
    --degrees;
    return sum;
}

// Expects chi-square to be within five standard deviations of its mean. The seeds of all
// tests are fixed, so that every run has the same result.
void expect_plausible(double chi, int degrees)
{
    EXPECT_NEAR(chi, degrees, 5 * std::sqrt(2.0 * degrees));
}

TEST(counter_random, AnyChunkSizes_ProduceTheSameBits)
{
    const counter_random random(5);
    const auto at_once = [&] {
        std::vector<std::uint8_t> bits(1000);
        random.bits(13, bits.size(), bits.data());
        return bits;
    }();
    std::vector<std::uint8_t> pieces(1000);
    for (std::size_t i = 0, n = 1; i < pieces.size(); i += n, n = n * 2 + 1) {
        random.bits(13 + i, std::min(n, pieces.size() - i), &pieces[i]);
    }
    EXPECT_EQ(at_once, pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        ASSERT_EQ(random.bit(13 + i), pieces[i]);
    }
}

TEST(counter_random, Bits_AreBalancedAndUncorrelated)
{
    const auto bits = some_bits(many);
    double ones = 0, repeats = 0;
    for (std::size_t i = 1; i < many; ++i) {
        ones += bits[i];
        repeats += bits[i] == bits[i - 1];
    }
    const double deviation = std::sqrt(many / 4.0);
    EXPECT_NEAR(ones, many / 2.0, 4 * deviation);
    EXPECT_NEAR(repeats, many / 2.0, 4 * deviation);
}

TEST(awgn_channel, Sigma_FollowsEbN0AndRate)
{
    EXPECT_NEAR(awgn_channel(0, 0.5, 1).sigma(), 1.0, 1e-12);
    EXPECT_NEAR(
        awgn_channel(10 * std::log10(2.0), 0.5, 1).sigma(), std::sqrt(0.5), 1e-12);
    EXPECT_NEAR(awgn_channel(0, 0.25, 1).sigma(), std::sqrt(2.0), 1e-12);
}

TEST(awgn_channel, Int8_IsARoundedGaussian)
{
    for (const double amplitude : { 32.0, 100.0 }) {
        const awgn_channel channel(2, 0.5, 11, amplitude);
        const auto bits = some_bits(many);
        std::vector<std::int8_t> out(many);
        channel.int8(0, bits.data(), many, out.data());
        std::vector<int> samples(many);
        for (std::size_t i = 0; i < many; ++i) {
            samples[i] = bits[i] ? -out[i] : out[i];
        }
        int degrees;
        const double chi = chi_square(samples, amplitude, channel.sigma(), 127, degrees);
        EXPECT_GT(degrees, 150);
        expect_plausible(chi, degrees);
    }
}

TEST(awgn_channel, Packed4_IsARoundedGaussian)
{
    const awgn_channel channel(3, 0.5, 12);
    const auto bits = some_bits(many);
    std::vector<std::uint8_t> out(many / 2);
    channel.packed4(0, bits.data(), many, out.data());
    std::vector<int> samples(many);
    for (std::size_t i = 0; i < many; ++i) {
        const int nibble = out[i / 2] >> (i % 2 ? 0 : 4) & 15;
        const int value = nibble < 8 ? nibble : nibble - 16;
        samples[i] = bits[i] ? -value : value;
    }
    int degrees;
    const double chi =
        chi_square(samples, awgn_channel::packed4_amplitude, channel.sigma(), 7, degrees);
    EXPECT_GE(degrees, 10);
    expect_plausible(chi, degrees);
}

TEST(awgn_channel, Float_IsGaussian)
{
    const awgn_channel channel(2, 0.5, 13);
    const auto bits = some_bits(many);
    std::vector<float> out(many);
    channel.float32(0, bits.data(), many, out.data());
    std::vector<int> samples(many);
    for (std::size_t i = 0; i < many; ++i) {
        const double value = (bits[i] ? -out[i] : out[i]) * 32;
        samples[i] = std::lround(std::min(127.0, std::max(-127.0, value)));
    }
    int degrees;
    const double chi = chi_square(samples, 32, channel.sigma(), 127, degrees);
    EXPECT_GT(degrees, 150);
    expect_plausible(chi, degrees);
}

TEST(awgn_channel, NoiseAtDifferentLags_IsUncorrelated)
{
    const awgn_channel channel(0, 0.5, 14);
    const std::vector<std::uint8_t> zeros(many);
    std::vector<std::int8_t> quantised(many);
    std::vector<float> exact(many);
    channel.int8(0, zeros.data(), many, quantised.data());
    channel.float32(0, zeros.data(), many, exact.data());
    for (const std::size_t lag : { 1, 2, 64, 512 }) {
        double q = 0, f = 0;
        for (std::size_t i = lag; i < many; ++i) {
            q += (quantised[i] / 32.0 - 1) * (quantised[i - lag] / 32.0 - 1);
            f += (double(exact[i]) - 1) * (double(exact[i - lag]) - 1);
        }
        EXPECT_NEAR(q / std::sqrt(many), 0, 4) << "lag " << lag;
        EXPECT_NEAR(f / std::sqrt(many), 0, 4) << "lag " << lag;
    }
}

TEST(awgn_channel, AnyChunkSizes_ProduceTheSameValues)
{
    const awgn_channel channel(2, 0.5, 15);
    const auto bits = some_bits(1001);
    std::vector<std::int8_t> whole(1001), parts(1001);
    std::vector<float> fwhole(1001), fparts(1001);
    channel.int8(5, bits.data(), 1001, whole.data());
    channel.float32(5, bits.data(), 1001, fwhole.data());
    for (std::size_t i = 0; i < 1001; i += 7) {
        const auto n = std::min<std::size_t>(7, 1001 - i);
        channel.int8(5 + i, &bits[i], n, &parts[i]);
        channel.float32(5 + i, &bits[i], n, &fparts[i]);
    }
    EXPECT_EQ(whole, parts);
    EXPECT_EQ(fwhole, fparts);
}

TEST(awgn_channel, InfiniteEbN0_ProducesExactAmplitudes)
{
    const awgn_channel channel(std::numeric_limits<double>::infinity(), 0.5, 1);
    const std::vector<std::uint8_t> bits{ 0, 1, 1 };
    std::vector<std::int8_t> values(3);
    channel.int8(0, bits.data(), 3, values.data());
    EXPECT_EQ(values, (std::vector<std::int8_t>{ 32, -32, -32 }));
    std::vector<std::uint8_t> packed(2);
    channel.packed4(0, bits.data(), 3, packed.data());
    EXPECT_EQ(packed, (std::vector<std::uint8_t>{ 0x4c, 0xc0 }));
    std::vector<float> floats(3);
    channel.float32(0, bits.data(), 3, floats.data());
    EXPECT_EQ(floats, (std::vector<float>{ 1, -1, -1 }));
}

TEST(awgn_channel, ParametersOutOfRange_AreRefused)
{
    EXPECT_THROW(awgn_channel(2, 0, 1), std::invalid_argument);
    EXPECT_THROW(awgn_channel(2, 1.5, 1), std::invalid_argument);
    EXPECT_THROW(awgn_channel(std::nan(""), 0.5, 1), std::invalid_argument);
    EXPECT_THROW(awgn_channel(2, 0.5, 1, 0), std::invalid_argument);
    EXPECT_THROW(awgn_channel(2, 0.5, 1, 128), std::invalid_argument);
}

} // namespace
