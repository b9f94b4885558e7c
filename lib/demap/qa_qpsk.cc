// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the quantiser of QPSK symbols. */

#include "common/cpu_variant.h"
#include "qpsk.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

using namespace gr::gpufec::demap;

namespace {

constexpr auto infinity = std::numeric_limits<float>::infinity();

std::vector<float> noisy_parts(std::size_t count, float amplitude, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> noise(0, 0.3f);
    std::vector<float> parts(2 * count);
    for (auto& part : parts) {
        part = amplitude * ((random() % 2 ? 1 : -1) + noise(random));
    }
    return parts;
}

template <class Part>
std::vector<std::int8_t> convert(symbol_format format, const std::vector<Part>& parts)
{
    std::vector<std::int8_t> values(parts.size());
    qpsk_quantiser(format).convert(parts.data(), parts.size() / 2, values.data());
    return values;
}

double mean_magnitude(const std::vector<std::int8_t>& values, std::size_t first)
{
    double sum = 0;
    for (auto i = first; i < values.size(); ++i) {
        sum += std::abs(values[i]);
    }
    return sum / (values.size() - first);
}

} // namespace

TEST(QpskQuantiser, ScaledSymbols_HaveSameValues)
{
    const auto parts = noisy_parts(20000, 1, 1);
    const auto values = convert(symbol_format::float32, parts);
    EXPECT_NEAR(mean_magnitude(values, 64), 32, 1);
    for (std::size_t i = 64; i < parts.size(); ++i) {
        if (std::abs(parts[i]) > 0.05f && std::abs(parts[i]) < 2) {
            EXPECT_EQ(values[i] > 0, parts[i] > 0);
            EXPECT_NEAR(values[i], 32 * parts[i], 10);
        }
    }
    // Scaling by a power of two does not change the rounding.
    for (const float amplitude : { 0x1p-30f, 0x1p-5f, 0x1p20f, 0x1p100f }) {
        auto scaled = parts;
        for (auto& part : scaled) {
            part *= amplitude;
        }
        EXPECT_EQ(convert(symbol_format::float32, scaled), values)
            << "amplitude " << amplitude;
    }
}

TEST(QpskQuantiser, Integers_AreConvertedLikeFloats)
{
    auto parts = noisy_parts(5000, 20, 2);
    std::vector<std::int8_t> small;
    std::vector<std::int16_t> large;
    for (auto& part : parts) {
        part = std::round(part);
        small.push_back(std::int8_t(part));
        large.push_back(std::int16_t(part));
    }
    const auto values = convert(symbol_format::float32, parts);
    EXPECT_EQ(convert(symbol_format::int8, small), values);
    EXPECT_EQ(convert(symbol_format::int16, large), values);
    const std::vector<std::int8_t> extremes(4000, -128);
    for (const auto value : convert(symbol_format::int8, extremes)) {
        EXPECT_TRUE(value == 0 || value == -32);
    }
}

TEST(QpskQuantiser, EveryInstructionSet_ProducesSameValues)
{
    auto parts = noisy_parts(5000, 3, 9);
    parts[5] = infinity;
    parts[4000] = -infinity;
    parts[4001] = std::numeric_limits<float>::quiet_NaN();
    const auto expected = convert(symbol_format::float32, parts);
    for (const auto& variant : gr::gpufec::cpu_variants()) {
        std::vector<std::int8_t> values(parts.size());
        qpsk_quantiser(symbol_format::float32, variant)
            .convert(parts.data(), parts.size() / 2, values.data());
        EXPECT_EQ(values, expected) << variant;
    }
}

TEST(QpskQuantiser, ChunksOfAnySize_ProduceSameValues)
{
    const auto parts = noisy_parts(9000, 7, 3);
    const auto whole = convert(symbol_format::float32, parts);
    std::mt19937 random(4);
    qpsk_quantiser quantiser(symbol_format::float32);
    for (unsigned test = 0; test < 5; ++test) {
        std::vector<std::int8_t> values(parts.size());
        for (std::size_t at = 0; at < parts.size() / 2;) {
            const auto n = std::min<std::size_t>(random() % 3000, parts.size() / 2 - at);
            quantiser.convert(&parts[2 * at], n, &values[2 * at]);
            at += n;
        }
        EXPECT_EQ(values, whole);
        quantiser.restart();
    }
}

TEST(QpskQuantiser, ChangedAmplitude_ChangesScale)
{
    for (const float second : { 1e-6f, 0.01f, 50.0f, 1e6f }) {
        auto parts = noisy_parts(4096, 1, 5);
        const auto later = noisy_parts(8 * 1024, second, 6);
        parts.insert(parts.end(), later.begin(), later.end());
        const auto values = convert(symbol_format::float32, parts);
        EXPECT_NEAR(mean_magnitude(values, parts.size() - 8192), 32, 1) << second;
    }
}

TEST(QpskQuantiser, OutliersAndZeros_HaveNoLastingEffect)
{
    auto parts = noisy_parts(8192, 1, 7);
    const auto right = convert(symbol_format::float32, parts);
    parts[2 * 2100] = infinity;
    parts[2 * 2101] = -infinity;
    parts[2 * 2102] = std::numeric_limits<float>::quiet_NaN();
    parts[2 * 2103] = 1e30f;
    const auto values = convert(symbol_format::float32, parts);
    EXPECT_EQ(values[2 * 2100], 127);
    EXPECT_EQ(values[2 * 2101], -127);
    EXPECT_EQ(values[2 * 2102], 0);
    EXPECT_EQ(values[2 * 2103], 127);
    for (std::size_t i = 2 * 2104; i < parts.size(); ++i) {
        // 3 of 512 magnitudes are 256 times too large, so the next scale is 0.4 times the
        // correct one.
        EXPECT_GE(std::abs(values[i]), int(0.35 * std::abs(right[i]) - 1));
    }
    EXPECT_NEAR(mean_magnitude(values, 2 * 6000), 32, 1);

    // Zeros, such as those of a squelch, do not change the scale.
    parts = noisy_parts(8192, 1, 7);
    std::fill(parts.begin() + 6000, parts.begin() + 12000, 0);
    EXPECT_NEAR(mean_magnitude(convert(symbol_format::float32, parts), 12000), 32, 1);
    const std::vector<float> zeros(5000);
    EXPECT_EQ(convert(symbol_format::float32, zeros), std::vector<std::int8_t>(5000));
    for (const float other : { infinity, std::numeric_limits<float>::quiet_NaN() }) {
        auto begun = noisy_parts(8192, 1, 8);
        std::fill(begun.begin(), begun.begin() + 3000, other);
        EXPECT_NEAR(mean_magnitude(convert(symbol_format::float32, begun), 12000), 32, 1);
    }
}
