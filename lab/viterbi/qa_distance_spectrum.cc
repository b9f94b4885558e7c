// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests distance spectra against published tables and closed forms, the union bound, and
 * the refusal of catastrophic codes. */

#include "lab/viterbi/distance_spectrum.h"
#include <gtest/gtest.h>

namespace {

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

std::vector<double> bits_of(const distance_spectrum& spectrum)
{
    std::vector<double> bits;
    for (const auto& l : spectrum.lines()) {
        bits.push_back(l.bits);
    }
    return bits;
}

// Source: Proakis, "Digital Communications": T(D, N) = D^5·N / (1 − 2·D·N).
TEST(distance_spectrum, SmallestCode_MatchesClosedForm)
{
    const distance_spectrum spectrum(conv_code(3, { 07, 05 }), 6);
    EXPECT_EQ(spectrum.free_distance(), 5u);
    EXPECT_EQ(bits_of(spectrum), (std::vector<double>{ 1, 4, 12, 32, 80, 192 }));
}

// Source: Odenwalder, "Optimal Decoding of Convolutional Codes", 1970.
TEST(distance_spectrum, K7_MatchesPublishedSpectrum)
{
    const distance_spectrum spectrum(conv_code(7, { 0171, -0133 }), 11);
    EXPECT_EQ(spectrum.free_distance(), 10u);
    EXPECT_EQ(
        bits_of(spectrum),
        (std::vector<double>{ 36, 0, 211, 0, 1404, 0, 11633, 0, 77433, 0, 502690 }));
}

// Source: Yasuda, Kashiki, Hirata: "High-rate punctured convolutional codes for soft
// decision Viterbi decoding", IEEE Trans. Commun. 32(3), 1984.
TEST(distance_spectrum, Punctured34_MatchesPublishedSpectrum)
{
    const distance_spectrum spectrum(conv_code::preset("dvb_3_4"), 4);
    EXPECT_EQ(spectrum.free_distance(), 5u);
    EXPECT_EQ(bits_of(spectrum), (std::vector<double>{ 42, 201, 1492, 10469 }));
    EXPECT_EQ(spectrum.lines()[0].paths, 8);
}

TEST(distance_spectrum, OrderOfPuncturing_ChangesTheSpectrum)
{
    EXPECT_EQ(distance_spectrum(conv_code(7, { 0171, 0133 }, "110,101")).free_distance(),
              4u);
}

TEST(distance_spectrum, EveryPreset_HasBoundedFreeDistance)
{
    for (const auto& p : conv_presets()) {
        const distance_spectrum spectrum(
            conv_code(p.constraint_length, p.polynomials, p.puncturing));
        EXPECT_GE(spectrum.free_distance(), 3u) << p.name;
        EXPECT_LT(spectrum.bit_error_bound(9), 1e-5) << p.name;
    }
}

// The bound with the first four terms of the published spectrum is 4.40e-7: the sum of
// c_d·Q(√(d·Eb/N0)) for d = 10, 12, 14 and 16, with c_d = 36, 211, 1404 and 11633.
TEST(distance_spectrum, At5dB_BoundMatchesKnownFigure)
{
    const distance_spectrum spectrum(conv_code(7, { 0171, 0133 }));
    EXPECT_NEAR(spectrum.bit_error_bound(5.0), 4.43e-7, 0.01e-7);
}

TEST(distance_spectrum, CatastrophicCode_IsRefused)
{
    EXPECT_THROW(distance_spectrum(conv_code(3, { 06, 05 })), std::invalid_argument);
}

} // namespace
