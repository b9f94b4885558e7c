// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the mapping and demapping of π/2-BPSK: points, LLRs against their formula,
 * estimates of Es/N0, outliers, and the lengths of VL-SNR frames. */

#include "vlsnr.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

using namespace gr::gpufec;
using namespace gr::gpufec::demap;

namespace {

using complexes = std::vector<std::complex<float>>;

const double estimate = std::nan("");

constellation bpsk(bool spread)
{
    return make_constellation(
        "pi/2-bpsk", "1/5", spread ? "vl-snr short sf2" : "vl-snr short");
}

std::vector<std::uint8_t> random_bits(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bits(count);
    std::generate(bits.begin(), bits.end(), [&] { return random() % 2; });
    return bits;
}

complexes with_noise(complexes symbols, double esn0_db, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> noise(0,
                                          float(std::pow(10, -esn0_db / 20) / M_SQRT2));
    for (auto& s : symbols) {
        s += std::complex<float>(noise(random), noise(random));
    }
    return symbols;
}

// Returns the LLRs in steps, computed from their definition. The LLR of a bit is 4 Es/N0
// times a sum over the symbols of the bit. Each term is the component of the symbol along
// the axis of its constellation points.
std::vector<double>
expected(const constellation& c, const complexes& symbols, double esn0_db)
{
    std::vector<double> llr(symbols.size() / c.spreading);
    for (std::size_t k = 0; k < symbols.size(); ++k) {
        const auto point = std::polar(1.0, M_PI / 4 + (k % 2) * M_PI / 2);
        llr[k / c.spreading] +=
            steps_per_nat * 4 * std::pow(10, esn0_db / 10) *
            (std::complex<double>(symbols[k]) * std::conj(point)).real();
    }
    return llr;
}

double mean_error(const std::vector<std::int8_t>& llr, const std::vector<double>& exact)
{
    double sum = 0;
    for (std::size_t i = 0; i < llr.size(); ++i) {
        sum += std::abs(llr[i] - std::clamp(exact[i], -60.0, 60.0));
    }
    return sum / double(llr.size());
}

} // namespace

// EN 302 307-2, 5.5.2.6 defines PLFRAMEs of 33282 symbols (set 1) and 16686 symbols (set
// 2). A PLFRAME includes a PLHEADER of 90 symbols, a VL-SNR header of 900 symbols, and
// pilots.
TEST(Vlsnr, EveryModcod_FillsItsPlframe)
{
    const std::map<std::string, std::size_t> sent = { { "vl-snr normal", 61560 },
                                                      { "vl-snr medium", 30780 },
                                                      { "vl-snr short sf2", 15390 },
                                                      { "vl-snr short", 14976 } };
    EXPECT_EQ(vlsnr_modcods().size(), 9u);
    for (const auto& m : vlsnr_modcods()) {
        const auto c = make_constellation(m.name, m.rate, m.frame_size);
        const auto code = ldpc_code::standard("dvbs2x", m.frame_size, m.rate);
        EXPECT_EQ(code.sent(), sent.at(m.frame_size)) << code.name();
        const auto symbols = c.frame_symbols(code.sent());
        // Number of pilot symbols per PLFRAME. A block of 36 symbols follows each 16
        // slots. Further blocks lie inside groups of 16 slots: in set 1, 18 blocks of 34
        // symbols and 3 of 36; in set 2, 9 blocks of 32 symbols and one of 36.
        const bool set2 = m.frame_size == "vl-snr short";
        const std::size_t extra = set2 ? 9 * 32 + 36 : 18 * 34 + 3 * 36;
        const std::size_t pilots = extra + (set2 ? 11 : 22) * 36;
        EXPECT_EQ(90 + 900 + symbols + pilots, set2 ? 16686u : 33282u) << code.name();
    }
    EXPECT_TRUE(is_vlsnr("vl-snr short sf2"));
    EXPECT_FALSE(is_vlsnr("short"));
}

TEST(Vlsnr, UndefinedModcods_AreRefused)
{
    for (const auto& [name, rate, size] :
         std::vector<std::array<std::string, 3>>{ { "qpsk", "1/5", "vl-snr short" },
                                                  { "qpsk", "1/5", "vl-snr short sf2" },
                                                  { "pi/2-bpsk", "2/9", "vl-snr normal" },
                                                  { "pi/2-bpsk", "4/15", "short" },
                                                  { "bpsk", "1/5", "vl-snr short" } }) {
        EXPECT_THROW(make_constellation(name, rate, size), std::invalid_argument) << name;
    }
    EXPECT_THROW(make_constellation("pi/2-bpsk", "1/5", "vl-snr short", "dvbs2"),
                 std::invalid_argument);
    const auto modcod = split_modcod("PI/2-BPSK 4/15");
    ASSERT_TRUE(modcod);
    EXPECT_EQ(modcod->first, "pi/2-bpsk");
    EXPECT_EQ(modcod->second, "4/15");
    EXPECT_EQ(constellation_named("Pi/2_bpsk"), "pi/2-bpsk");
    EXPECT_EQ(constellation_named("bpsk"), "bpsk");
}

// EN 302 307-2, 5.4: I = Q = ±1/√2 at even symbols (from 0), −I = Q at odd ones.
TEST(Vlsnr, MappedBits_ArePointsOfTheStandard)
{
    const float h = float(M_SQRT1_2);
    const auto near = [](const complexes& found, const complexes& wanted) {
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_LT(std::abs(found[i] - wanted[i]), 1e-6f) << i;
        }
    };
    near(map_pi2_bpsk(bpsk(false), { 0, 0, 1, 1 }),
         { { h, h }, { -h, h }, { -h, -h }, { h, -h } });
    near(map_pi2_bpsk(bpsk(true), { 0, 1 }),
         { { h, h }, { -h, h }, { -h, -h }, { h, -h } });
}

TEST(Vlsnr, GivenEsn0_LlrsAreNearTheirFormula)
{
    for (const bool spread : { false, true }) {
        const auto c = bpsk(spread);
        for (const double esn0_db : { -9.0, -6.0, -3.0, 0.0 }) {
            // The second frame has an odd number of bits.
            for (const unsigned bits : { 14976u, 2001u }) {
                const auto symbols =
                    with_noise(map_pi2_bpsk(c, random_bits(bits, bits)), esn0_db, 1);
                auto scaled = symbols;
                for (auto& s : scaled) {
                    s *= 0.03f;
                }
                vlsnr_demapper demapper(c, method::max_log, symbol_format::float32);
                std::vector<std::int8_t> llr(bits);
                // The demapper adds 3.01 or 6.02 dB to the Es/N0 and rounds the sum to
                // 1/4 dB.
                EXPECT_NEAR(demapper.demap(scaled.data(), bits, esn0_db, llr.data()),
                            esn0_db,
                            0.13);
                // LLRs are rounded to steps, and symbols above 5 times the quartile are
                // erased.
                EXPECT_LT(mean_error(llr, expected(c, symbols, esn0_db)), 0.9)
                    << esn0_db << " dB, " << bits << " bits";
            }
        }
    }
}

// Noise makes estimates scatter by up to 0.4 dB. QPSK is tested only above −3 dB, because
// its estimate is derived from moments, which are inaccurate at a lower Es/N0.
TEST(Vlsnr, UnknownEsn0_EstimateIsNearTrueEsn0)
{
    for (const auto& m : vlsnr_modcods()) {
        const auto c = make_constellation(m.name, m.rate, m.frame_size);
        const auto code = ldpc_code::standard("dvbs2x", m.frame_size, m.rate);
        for (const double esn0_db : { -8.0, -5.0, -2.5, 10.0 }) {
            if (c.bits == 2 && esn0_db < -3) {
                continue;
            }
            std::vector<std::int8_t> llr(code.sent());
            complexes symbols;
            const auto bits = random_bits(code.sent(), 5);
            if (c.bits == 1) {
                symbols = map_pi2_bpsk(c, bits);
            } else {
                for (std::size_t s = 0; s < bits.size() / 2; ++s) {
                    symbols.emplace_back(c.points[2 * bits[2 * s] + bits[2 * s + 1]]);
                }
            }
            symbols = with_noise(symbols, esn0_db, 2);
            vlsnr_demapper demapper(c, method::log_map, symbol_format::float32);
            EXPECT_NEAR(demapper.demap(symbols.data(), code.sent(), estimate, llr.data()),
                        esn0_db,
                        0.75)
                << code.name();
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < llr.size(); ++i) {
                wrong += llr[i] != 0 && (llr[i] < 0) != (bits[i] == 1);
            }
            // The error rate of hard decisions at 10 dB is below 1e-3.
            EXPECT_LT(double(wrong) / double(llr.size()), esn0_db > 0 ? 1e-3 : 0.4);
        }
    }
}

TEST(Vlsnr, EveryFormat_LlrsAreNearTheirFormula)
{
    const auto c = bpsk(true);
    const unsigned bits = 15390;
    const auto symbols = with_noise(map_pi2_bpsk(c, random_bits(bits, 3)), -6, 3);
    std::vector<std::int16_t> words;
    std::vector<std::int8_t> bytes, llr[3];
    for (const auto s : symbols) {
        for (const auto x : { s.real(), s.imag() }) {
            words.push_back(std::int16_t(std::lrint(1000 * x)));
            bytes.push_back(std::int8_t(std::clamp(std::lrint(20 * x), -128l, 127l)));
        }
    }
    const std::pair<symbol_format, const void*> inputs[] = {
        { symbol_format::float32, symbols.data() },
        { symbol_format::int16, words.data() },
        { symbol_format::int8, bytes.data() }
    };
    for (int i = 0; i < 3; ++i) {
        vlsnr_demapper demapper(c, method::max_log, inputs[i].first);
        llr[i].resize(bits);
        demapper.demap(inputs[i].second, bits, -6, llr[i].data());
        EXPECT_LT(mean_error(llr[i], expected(c, symbols, -6)), 1.0) << i;
    }
}

TEST(Vlsnr, OutliersAndNotFiniteValues_AreErased)
{
    const auto c = bpsk(false);
    const unsigned bits = 14976;
    auto symbols = with_noise(map_pi2_bpsk(c, random_bits(bits, 4)), -5, 4);
    const auto clean = symbols;
    for (unsigned i = 0; i < bits; i += 100) {
        symbols[i] = { 50, 50 };
    }
    symbols[7] = { std::nanf(""), 1 };
    symbols[9] = { 0, INFINITY };
    vlsnr_demapper demapper(c, method::max_log, symbol_format::float32);
    std::vector<std::int8_t> llr(bits), other(bits);
    const auto before = demapper.demap(clean.data(), bits, estimate, other.data());
    EXPECT_NEAR(demapper.demap(symbols.data(), bits, estimate, llr.data()), before, 0.3);
    for (unsigned i = 0; i < bits; i += 100) {
        EXPECT_EQ(llr[i], 0) << i;
    }
    EXPECT_LT(std::abs(llr[7]), 30);
    EXPECT_EQ(llr[9], 0);
    std::fill(symbols.begin(), symbols.end(), 0.0f);
    demapper.demap(symbols.data(), bits, estimate, llr.data());
    EXPECT_TRUE(std::all_of(llr.begin(), llr.end(), [](auto x) { return x == 0; }));
}
