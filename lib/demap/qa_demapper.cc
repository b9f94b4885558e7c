// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the fast demapper against the reference, of the reference against the
 * definition of LLRs, of the constellations, and of the estimates of scale and Es/N0 with
 * impairments. */

#include "demapper.h"
#include "qa_support.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>

using namespace gr::gpufec::demap;

namespace {

struct tested {
    const char *name, *rate;
};
const std::vector<tested> some = {
    { "qpsk", "1/4" },        { "qpsk", "9/10" },     { "8psk", "3/5" },
    { "8psk", "2/3" },        { "8psk", "9/10" },     { "16apsk", "2/3" },
    { "16apsk", "3/4" },      { "16apsk", "4/5" },    { "16apsk", "5/6" },
    { "16apsk", "8/9" },      { "16apsk", "9/10" },   { "32apsk", "3/4" },
    { "32apsk", "4/5" },      { "32apsk", "5/6" },    { "32apsk", "8/9" },
    { "32apsk", "9/10" },     { "8apsk", "100/180" }, { "64apsk", "7/9" },
    { "16apsk", "3/5" },      { "32apsk", "2/3" },    { "64apsk", "4/5" },
    { "128apsk", "135/180" }, { "256apsk", "20/30" },
};

void compare(const constellation& c,
             method how,
             symbol_format format,
             const void* symbols,
             std::size_t count,
             int level = estimated)
{
    const auto bits = std::uint32_t(count * c.bits);
    std::vector<std::int8_t> plain(bits, 99), fast(bits, 55);
    cell_tables tables(c, how);
    const auto a =
        reference_demap(tables.points(), how, format, symbols, bits, level, plain.data());
    demapper d(format);
    const auto b = d.demap(tables, symbols, bits, level, fast.data());
    EXPECT_EQ(a.level, b.level);
    EXPECT_EQ(a.passes, b.passes);
    EXPECT_TRUE(plain == fast);
}

// A disturbance of symbols that already have Gaussian noise.
struct impairment {
    const char* name;
    double max_error_db; // maximum error of the estimated Es/N0
    std::function<void(complexes&, std::mt19937&)> spoil;
};

std::complex<float> turned(double magnitude, std::mt19937& random)
{
    return std::polar(float(magnitude),
                      std::uniform_real_distribution<float>(0, 6.28f)(random));
}

// Returns an impairment that replaces \p count symbols of a frame by symbols of
// \p magnitude and random phase.
impairment outliers(const char* name, double magnitude, unsigned count)
{
    return { name, 0.75, [=](complexes& symbols, std::mt19937& random) {
                for (unsigned n = 0; n < count; ++n) {
                    symbols[random() % symbols.size()] = turned(magnitude, random);
                }
            } };
}

// Returns an impairment that replaces five symbols by (value, −value). \p value is
// infinite or NaN.
impairment bad_values(const char* name, float value)
{
    return { name, 0.75, [=](complexes& symbols, std::mt19937& random) {
                for (unsigned n = 0; n < 5; ++n) {
                    symbols[random() % symbols.size()] = { value, -value };
                }
            } };
}

std::vector<impairment> outlier_impairments()
{
    return { outliers("one symbol of magnitude 10", 10, 1),
             outliers("one symbol of magnitude 30", 30, 1),
             outliers("one symbol of magnitude 1e6", 1e6, 1),
             outliers("one symbol of magnitude 3e38", 3e38, 1),
             outliers("20 symbols of magnitude 5", 5, 20),
             bad_values("five infinite symbols", std::numeric_limits<float>::infinity()),
             bad_values("five NaN symbols", std::numeric_limits<float>::quiet_NaN()),
             // This interferer is periodic, but scale_samples must not sample only its
             // symbols.
             { "every 16th symbol of magnitude 8",
               0.75,
               [](complexes& symbols, std::mt19937& random) {
                   for (std::size_t s = 0; s < symbols.size(); s += 16) {
                       symbols[s] = turned(8, random);
                   }
               } },
             { "impulsive noise",
               1.25,
               [](complexes& symbols, std::mt19937& random) {
                   std::normal_distribution<float> noise(0, 10 / std::sqrt(2.0f));
                   for (auto& x : symbols) {
                       if (random() % 100 == 0) {
                           x += std::complex<float>(noise(random), noise(random));
                       }
                   }
               } },
             { "tone in 1 % of the frame",
               0.75,
               [](complexes& symbols, std::mt19937& random) {
                   const auto tone = turned(10, random);
                   const auto first = random() % (symbols.size() * 9 / 10);
                   for (std::size_t s = 0; s < symbols.size() / 100; ++s) {
                       symbols[first + s] += tone * std::polar(1.0f, 0.3f * float(s));
                   }
               } },
             { "zeros in a third of the frame",
               0.75,
               [](complexes& symbols, std::mt19937& random) {
                   const auto first = random() % (symbols.size() / 2);
                   std::fill_n(symbols.begin() + first, symbols.size() / 3, 0.0f);
               } } };
}

// Transmits with a fading signal and constant noise. \p fading_db returns the attenuation
// in dB at a position in the frame, from 0 (begin) to 1 (end).
sent transmit_fading(const constellation& c,
                     std::size_t count,
                     double esn0_db,
                     unsigned seed,
                     const std::function<double(double)>& fading_db)
{
    auto made = transmit(c, count, esn0_db, 1, seed);
    for (std::size_t s = 0; s < count; ++s) {
        const auto gain = std::pow(10, -fading_db(double(s) / count) / 20);
        const std::complex<float> point(c.points[made.labels[s]]);
        made.symbols[s] += point * float(gain - 1);
    }
    return made;
}

double half_fade(double place) { return place < 0.5 ? 0 : 6; }
double slow_fade(double place) { return 6 * place; }

std::size_t wrong_bits(const constellation& c,
                       const std::vector<unsigned>& labels,
                       const std::vector<std::int8_t>& llr)
{
    std::size_t wrong = 0;
    for (std::size_t s = 0; s < labels.size(); ++s) {
        for (unsigned b = 0; b < c.bits; ++b) {
            const auto at = c.bits == 2 ? 2 * s + b : c.columns[b] * labels.size() + s;
            wrong += (llr[at] <= 0) != (labels[s] >> (c.bits - 1 - b) & 1);
        }
    }
    return wrong;
}

// Scales real and imaginary parts and clamps them to int16; NaN becomes 0.
std::vector<std::int16_t> to_int16(const complexes& symbols, float scale)
{
    const auto part = [=](float x) {
        return std::int16_t(std::isnan(x) ? 0
                                          : std::clamp(x * scale, -32768.0f, 32767.0f));
    };
    std::vector<std::int16_t> parts;
    for (const auto& s : symbols) {
        parts.push_back(part(s.real()));
        parts.push_back(part(s.imag()));
    }
    return parts;
}

std::vector<signed char> to_int8(const complexes& symbols, float scale)
{
    std::vector<signed char> parts;
    for (const auto x : to_int16(symbols, scale)) {
        parts.push_back(std::clamp<int>(x, -128, 127));
    }
    return parts;
}

} // namespace

TEST(Constellation, Modcods_HaveUnitEnergyAndKnownColumns)
{
    for (const auto& m : some) {
        const auto c = make_constellation(m.name, m.rate);
        double energy = 0;
        for (const auto& p : c.points) {
            energy += std::norm(p);
        }
        EXPECT_NEAR(energy / c.points.size(), 1, 1e-12);
        EXPECT_EQ(c.points.size(), 1u << c.bits);
    }
    EXPECT_THROW(make_constellation("8psk", "1/2"), std::invalid_argument);
    EXPECT_THROW(make_constellation("16apsk", "1/2"), std::invalid_argument);
    EXPECT_THROW(make_constellation("32apsk", "3/5"), std::invalid_argument);
    EXPECT_THROW(make_constellation("64apsk", "2/3"), std::invalid_argument);
    EXPECT_EQ(make_constellation("8psk", "3/5").columns,
              (std::vector<unsigned>{ 2, 1, 0 }));
    EXPECT_EQ(make_constellation("8psk", "2/3").columns,
              (std::vector<unsigned>{ 0, 1, 2 }));
}

TEST(Constellation, EveryModcod_HasUnitEnergyAndAllColumns)
{
    unsigned count = 0;
    for (const auto& m : modcods()) {
        SCOPED_TRACE(m.name + ' ' + m.frame_size + ' ' + m.rate);
        const auto c = make_constellation(m.name, m.rate, m.frame_size);
        std::vector<unsigned> columns(c.bits);
        std::iota(columns.begin(), columns.end(), 0u);
        EXPECT_TRUE(std::is_permutation(
            columns.begin(), columns.end(), c.columns.begin(), c.columns.end()));
        double energy = 0, nearest = 9;
        for (unsigned a = 0; a < c.points.size(); ++a) {
            energy += std::norm(c.points[a]) / c.points.size();
            for (unsigned b = 0; b < a; ++b) {
                nearest = std::min(nearest, std::abs(c.points[a] - c.points[b]));
            }
        }
        EXPECT_NEAR(energy, 1, 1e-12);
        EXPECT_GT(nearest, 0.0001);
        EXPECT_EQ(c.points.size(), 1u << c.bits);
        count += m.standard == "dvbs2x";
    }
    EXPECT_EQ(count, 9u + 46);
    EXPECT_THROW(make_constellation("128apsk", "135/180", "short"),
                 std::invalid_argument);
    // DVB-S2X includes all MODCODs of DVB-S2, and has further constellations for codes of
    // DVB-S2.
    EXPECT_THROW(make_constellation("16apsk", "3/5", "normal", "dvbs2"),
                 std::invalid_argument);
    EXPECT_EQ(make_constellation("16apsk", "3/5", "normal", "dvbs2x").columns,
              (std::vector<unsigned>{ 3, 2, 1, 0 }));
    EXPECT_EQ(make_constellation("8psk", "3/5", "short", "dvbs2x").columns,
              (std::vector<unsigned>{ 2, 1, 0 }));
}

TEST(Reference, Llrs_EqualRatiosOfLikelihoods)
{
    for (const auto& modcod : some) {
        SCOPED_TRACE(std::string(modcod.name) + " " + modcod.rate);
        const auto c = make_constellation(modcod.name, modcod.rate);
        const auto m = make_model(c);
        const double esn0_db = c.bits == 2 ? 2 : 3.0 * c.bits - 1;
        const std::size_t count = 16200 / c.bits;
        const auto t = transmit(c, count, esn0_db, 3.5, 1);
        double power = 0;
        for (const auto& s : t.symbols) {
            power += std::norm(s) / count;
        }
        const auto ratio = std::pow(10, esn0_db / 10);
        const auto amplitude = std::sqrt(power * ratio / (1 + ratio));
        const auto width = m.width[level_of(esn0_db) - first_level];
        const auto edge = 127 * width;
        for (const auto how : { method::max_log, method::log_map }) {
            std::vector<std::int8_t> llr(count * c.bits);
            reference_demap(m,
                            how,
                            symbol_format::float32,
                            t.symbols.data(),
                            llr.size(),
                            level_of(esn0_db),
                            llr.data());
            double worst = 0;
            std::size_t wrong = 0;
            for (std::size_t s = 0; s < count; ++s) {
                auto y = std::complex<double>(t.symbols[s]) / amplitude;
                y = { std::clamp(y.real(), -edge, edge),
                      std::clamp(y.imag(), -edge, edge) };
                for (unsigned b = 0; b < c.bits; ++b) {
                    double most[2] = { -1e9, -1e9 }, sum[2] = {};
                    for (unsigned label = 0; label < c.points.size(); ++label) {
                        const auto e = -std::norm(y - c.points[label]) * ratio;
                        const auto bit = label >> (c.bits - 1 - b) & 1;
                        most[bit] = std::max(most[bit], e);
                        sum[bit] += std::exp(e);
                    }
                    const auto exact = how == method::max_log ? most[0] - most[1]
                                                              : std::log(sum[0] / sum[1]);
                    const auto at = c.bits == 2 ? 2 * s + b : c.columns[b] * count + s;
                    const auto found = llr[at] / double(steps_per_nat);
                    const auto limit = double(max_steps) / steps_per_nat;
                    worst = std::max(worst,
                                     std::abs(std::clamp(exact, -limit, limit) - found));
                    wrong += (found < 0) != (t.labels[s] >> (c.bits - 1 - b) & 1);
                }
            }
            // The error of an LLR is at most half a quantisation step plus, for each of
            // the two coordinates, half a cell times the slope of the LLR.
            const auto slope = 4 * c.peak() * ratio * width / 2;
            EXPECT_LT(worst, 0.5 / steps_per_nat + 2 * slope);
            EXPECT_LT(wrong, count * c.bits / 8);
        }
    }
}

TEST(Demapper, NoisySymbols_DemapAsReference)
{
    unsigned seed = 0;
    for (const auto& m : some) {
        SCOPED_TRACE(std::string(m.name) + " " + m.rate);
        const auto c = make_constellation(m.name, m.rate);
        const std::size_t count = 700 + c.bits;
        for (const double esn0_db : { -3.0, 6.0, 17.0 }) {
            const auto how = ++seed % 2 ? method::max_log : method::log_map;
            const auto t = transmit(c, count, esn0_db, 0.3, seed);
            compare(c, how, symbol_format::float32, t.symbols.data(), count);
            if (esn0_db == 6) {
                compare(c, how, symbol_format::float32, t.symbols.data(), count, 40);
                const auto int16 = to_int16(t.symbols, 5000);
                compare(c, how, symbol_format::int16, int16.data(), count);
                const auto int8 = to_int8(t.symbols, 120);
                compare(c, how, symbol_format::int8, int8.data(), count);
            }
        }
    }
}

TEST(Demapper, ExponentialAndLogarithm_AreAccurate)
{
    for (double x = 0; x > -45; x -= 0.01) {
        const auto exact = std::exp(x);
        EXPECT_NEAR(detail::exponential(x), exact, 1e-13 * exact);
    }
    for (double x = -60; x < 60; x += 0.013) {
        EXPECT_NEAR(detail::logarithm(std::exp(x)), x, 1e-12);
    }
}

TEST(Demapper, ExtremeSymbols_DemapAsReference)
{
    for (const auto& m : { tested{ "qpsk", "1/2" }, tested{ "16apsk", "3/4" } }) {
        const auto c = make_constellation(m.name, m.rate);
        const auto bad = bad_symbols(transmit(c, 310, 10, 1, 1).symbols);
        for (const auto& s : bad) {
            for (const auto level : { int(estimated), 20 }) {
                compare(c,
                        method::max_log,
                        symbol_format::float32,
                        s.data(),
                        s.size(),
                        level);
            }
        }
        // NaN and zeros are erasures.
        std::vector<std::int8_t> llr(310 * c.bits);
        cell_tables tables(c, method::max_log);
        demapper d(symbol_format::float32);
        d.demap(tables, bad[4].data(), llr.size(), 40, llr.data());
        EXPECT_NE(llr[0], 0);
        if (c.bits == 2) {
            EXPECT_EQ(llr[2 * 9], 0);
            d.demap(tables, bad[0].data(), llr.size(), estimated, llr.data());
            EXPECT_EQ(std::count(llr.begin(), llr.end(), 0), int(llr.size()));
        }
        const std::vector<std::int16_t> extreme(2 * 310, -32768);
        compare(c, method::max_log, symbol_format::int16, extreme.data(), 310);
        const std::vector<signed char> small(2 * 310, -128);
        compare(c, method::max_log, symbol_format::int8, small.data(), 310);
    }
}

TEST(Demapper, NoisyFrame_EstimateIsNearTrueEsN0)
{
    for (const auto& m : some) {
        const auto c = make_constellation(m.name, m.rate);
        cell_tables tables(c, method::max_log);
        demapper d(symbol_format::float32);
        const std::size_t count = tables.points().symbols(64800);
        std::vector<std::int8_t> llr(64800);
        // Lowest Es/N0 in dB at which codes of these constellations are used.
        const std::map<std::string, double> first = {
            { "qpsk", -2 },     { "8psk", 5.5 },  { "8apsk", 4.7 },    { "16apsk", 9 },
            { "32apsk", 12.5 }, { "64apsk", 14 }, { "128apsk", 17.5 }, { "256apsk", 17 },
        };
        const auto from = first.at(c.name);
        for (double db = from; db < from + 6; db += 2.5) {
            for (unsigned seed = 1; seed < 3; ++seed) {
                const auto t = transmit(c, count, db, 20, seed);
                const auto found =
                    d.demap(tables, t.symbols.data(), llr.size(), estimated, llr.data());
                EXPECT_NEAR(found.level / 4.0, db, 0.5)
                    << m.name << ' ' << m.rate << ' ' << db << ' ' << seed;
            }
        }
    }
}

// Short frames need fewer than max_passes passes, even if almost free of noise.
TEST(Demapper, ShortFrame_NeedsFewerThanMaxPasses)
{
    for (const auto& m : { tested{ "16apsk", "2/3" },
                           tested{ "32apsk", "9/10" },
                           tested{ "8apsk", "100/180" },
                           tested{ "64apsk", "7/9" },
                           tested{ "128apsk", "135/180" },
                           tested{ "256apsk", "20/30" } }) {
        const auto c = make_constellation(m.name, m.rate);
        cell_tables tables(c, method::max_log);
        demapper d(symbol_format::float32);
        const std::size_t count = tables.points().symbols(16200);
        std::vector<std::int8_t> llr(16200);
        for (const double db : { 3.0 * c.bits - 2, 3.0 * c.bits + 4, 60.0 }) {
            const auto t = transmit(c, count, db, 1, unsigned(count));
            const auto found =
                d.demap(tables, t.symbols.data(), llr.size(), estimated, llr.data());
            EXPECT_LT(found.passes, max_passes) << m.name << ' ' << m.rate << ' ' << db;
            if (db == 60) {
                EXPECT_EQ(found.level, last_level) << m.name << ' ' << m.rate;
            }
        }
    }
}

TEST(Demapper, ScaledFrame_HasSameLlrs)
{
    const auto c = make_constellation("8psk", "3/4");
    const auto t = transmit(c, 5400, 8, 1, 3);
    cell_tables tables(c, method::max_log);
    demapper d(symbol_format::float32);
    std::vector<std::int8_t> once(16200), twice(16200);
    d.demap(tables, t.symbols.data(), 16200, estimated, once.data());
    auto larger = t.symbols;
    for (auto& s : larger) {
        s *= 1024;
    }
    d.demap(tables, larger.data(), 16200, estimated, twice.data());
    EXPECT_TRUE(once == twice);
}

TEST(Demapper, OutliersInFrame_AffectNeitherLevelNorOtherBits)
{
    for (const auto& m : some) {
        const auto c = make_constellation(m.name, m.rate);
        const std::size_t count = 16200 / c.bits;
        const double esn0_db = c.bits == 2 ? 2 : 3.0 * c.bits - 1;
        cell_tables tables(c, method::max_log);
        demapper d(symbol_format::float32);
        std::vector<std::int8_t> clean(count * c.bits), llr(clean.size());
        const auto t = transmit(c, count, esn0_db, 1, 5);
        d.demap(tables, t.symbols.data(), clean.size(), estimated, clean.data());
        for (const auto& i : outlier_impairments()) {
            SCOPED_TRACE(std::string(m.name) + ' ' + m.rate + ' ' + i.name);
            auto spoilt = t.symbols;
            std::mt19937 random(6);
            i.spoil(spoilt, random);
            for (const auto level : { int(estimated), level_of(esn0_db) }) {
                const auto found =
                    d.demap(tables, spoilt.data(), llr.size(), level, llr.data());
                EXPECT_NEAR(found.level / 4.0, esn0_db, i.max_error_db);
                auto labels = t.labels;
                std::size_t wrong_there = 0, wrong_before = 0;
                for (std::size_t s = 0; s < count; ++s) {
                    const bool same = spoilt[s] == t.symbols[s];
                    for (unsigned b = 0; b < c.bits; ++b) {
                        const auto at =
                            c.bits == 2 ? 2 * s + b : c.columns[b] * count + s;
                        const bool bit = labels[s] >> (c.bits - 1 - b) & 1;
                        wrong_there += same && (llr[at] < 0) != bit;
                        wrong_before += same && (clean[at] < 0) != bit;
                        if (!(std::norm(spoilt[s]) < 36)) {
                            EXPECT_EQ(llr[at], 0) << s;
                        }
                    }
                }
                EXPECT_LT(wrong_there, wrong_before * 1.05 + 20);
            }
        }
    }
}

TEST(Demapper, ImpairedFrames_DemapAsReference)
{
    unsigned seed = 0;
    for (const auto& m : { tested{ "qpsk", "1/4" },
                           tested{ "8psk", "3/4" },
                           tested{ "16apsk", "3/4" },
                           tested{ "32apsk", "3/4" } }) {
        const auto c = make_constellation(m.name, m.rate);
        const double esn0_db = c.bits == 2 ? 0 : 3.0 * c.bits;
        const std::size_t count = 2503;
        std::vector<complexes> frames;
        for (const auto& i : outlier_impairments()) {
            frames.push_back(transmit(c, count, esn0_db, 1, ++seed).symbols);
            std::mt19937 random(seed);
            i.spoil(frames.back(), random);
        }
        for (const auto fade : { half_fade, slow_fade }) {
            frames.push_back(transmit_fading(c, count, esn0_db, ++seed, fade).symbols);
        }
        frames.push_back(transmit_fading(c, count, esn0_db, ++seed, [](double at) {
                             return at < 0.3 ? 80.0 : 0;
                         }).symbols);
        for (const auto& f : frames) {
            SCOPED_TRACE(std::string(m.name) + ' ' + std::to_string(&f - frames.data()));
            compare(c, method::max_log, symbol_format::float32, f.data(), count);
            const auto int16 = to_int16(f, 900);
            compare(c, method::max_log, symbol_format::int16, int16.data(), count);
            const auto int8 = to_int8(f, 25);
            compare(c, method::max_log, symbol_format::int8, int8.data(), count, 40);
        }
    }
}

// Asserts a mean error below 0.15 dB. The strongest symbols are erased as outliers, which
// without a correction would bias the estimate by 0.3 dB at −2.35 dB
// (docs/decisions/2026-11-25-level-of-symbols.md).
TEST(Demapper, LowEsN0_EstimateHasNoBias)
{
    const auto c = make_constellation("qpsk", "1/4");
    cell_tables tables(c, method::max_log);
    demapper d(symbol_format::float32);
    std::vector<std::int8_t> llr(64800);
    for (const double esn0_db : { -2.35, 0.0, 3.0 }) {
        double sum = 0;
        constexpr unsigned frames = 40;
        for (unsigned seed = 1; seed <= frames; ++seed) {
            const auto t = transmit(c, 32400, esn0_db, 1, seed);
            sum += d.demap(tables, t.symbols.data(), llr.size(), estimated, llr.data())
                       .level /
                   4.0;
        }
        EXPECT_NEAR(sum / frames, esn0_db, 0.15);
    }
}

// A fading frame has fewer wrong bits than a frame that is constantly as weak as its
// weakest part. The estimated Es/N0 lies between the extremes.
TEST(Demapper, FadingFrame_HasFewerErrorsThanWeakFrame)
{
    for (const auto& m : { tested{ "qpsk", "1/2" },
                           tested{ "8psk", "3/4" },
                           tested{ "16apsk", "3/4" },
                           tested{ "32apsk", "3/4" },
                           tested{ "256apsk", "20/30" } }) {
        const auto c = make_constellation(m.name, m.rate);
        const std::size_t count = 64800 / c.bits;
        const double esn0_db = 3.0 * c.bits + 5;
        cell_tables tables(c, method::max_log);
        demapper d(symbol_format::float32);
        std::vector<std::int8_t> llr(count * c.bits);
        const auto weak = transmit(c, count, esn0_db - 6, 1, 3);
        d.demap(tables, weak.symbols.data(), llr.size(), estimated, llr.data());
        const auto wrong_weak = wrong_bits(c, weak.labels, llr);
        for (const auto fade : { half_fade, slow_fade }) {
            SCOPED_TRACE(std::string(m.name) + (fade == half_fade
                                                    ? " half of the frame fades"
                                                    : " slow fading"));
            const auto t = transmit_fading(c, count, esn0_db, 4, fade);
            const auto found =
                d.demap(tables, t.symbols.data(), llr.size(), estimated, llr.data());
            EXPECT_LT(wrong_bits(c, t.labels, llr), wrong_weak);
            EXPECT_GT(found.level / 4.0, esn0_db - 6);
            EXPECT_LT(found.level / 4.0, esn0_db);
        }
    }
}

TEST(Cells, AnyLevel_LlrsAndErrorsAreLimited)
{
    for (const auto& m : { tested{ "qpsk", "1/2" },
                           tested{ "8psk", "3/4" },
                           tested{ "16apsk", "3/4" },
                           tested{ "64apsk", "7/9" } }) {
        const auto made = make_model(make_constellation(m.name, m.rate));
        for (int level = first_level; level <= last_level; level += 32) {
            const auto most = 4096 * 6 / made.ratio[level - first_level];
            int largest = 0;
            double max_error = 0;
            for (int i = -127; i <= 127; i += 2) {
                for (int q = -127; q <= 127; q += 2) {
                    const auto c = make_cell(made, level, method::log_map, i, q);
                    for (unsigned b = 0; b < made.bits; ++b) {
                        largest = std::max(largest, std::abs(int(c.llr[b])));
                    }
                    max_error = std::max<double>(max_error, c.error);
                }
            }
            EXPECT_LE(largest, 60); // 15 nats
            EXPECT_EQ(largest == 60, level >= 24) << level;
            EXPECT_LE(max_error, most + 1);
            EXPECT_EQ(max_error > 0, made.refines());
        }
    }
}

// A symbol is erased above five times the upper quartile of the energies. The test
// computes the expected quartile by sorting all energies.
TEST(IntegerRule, StrongSymbols_AreErasedAboveFiveUpperQuartiles)
{
    const auto c = make_constellation("16apsk", "3/4");
    for (const std::size_t count : { std::size_t(1),
                                     std::size_t(7),
                                     std::size_t(2048),
                                     std::size_t(2049),
                                     std::size_t(16200) }) {
        for (const float amplitude : { 1e-15f, 0.7f, 1e15f }) {
            auto symbols = transmit(c, count, 12, 1, unsigned(count)).symbols;
            for (auto& s : symbols) {
                s *= amplitude;
            }
            std::vector<double> energies;
            for (const auto& s : symbols) {
                energies.push_back(std::norm(std::complex<double>(s)));
            }
            std::sort(energies.begin(), energies.end());
            const auto quartile = energies[(3 * count + 3) / 4 - 1];
            std::vector<std::uint32_t> classes(energy_classes::count);
            const scale_samples samples{ std::uint32_t(count) };
            std::uint32_t all = 0;
            EXPECT_LE(samples.count, 2048u);
            for (std::uint32_t n = 0; n < samples.count; ++n) {
                if (samples(n) < count) {
                    const auto s = symbols[samples(n)];
                    ++classes.at(energy_classes::of(s.real(), s.imag()));
                    ++all;
                }
            }
            EXPECT_GE(all + 1, samples.count);
            integer_rule rule;
            for (std::uint32_t k = 1, before = 0; k < classes.size(); ++k) {
                if (has_quartile(before, classes[k], all)) {
                    rule = integer_rule::of(k, before, classes[k], all);
                }
                before += classes[k];
            }
            const double scale = double(rule.factor) * rule.factor;
            EXPECT_NEAR(rule.largest / scale / quartile, 5, count < 8 ? 1.3 : 0.5);
            EXPECT_LE(rule.largest, 1u << 28);
            EXPECT_GT(rule.largest, 1u << 25);
            // Larger parts are clamped and still erased.
            EXPECT_EQ(rule(3e38f), 32767);
            EXPECT_EQ(rule(-3e38f), -32767);
            EXPECT_TRUE(rule.erases(integer_rule::energy(32767, 0)));
            EXPECT_TRUE(rule.erases(0));
            EXPECT_FALSE(rule.erases(1));
            EXPECT_FALSE(rule.erases(rule.largest));
            EXPECT_TRUE(rule.erases(rule.largest + 1));
        }
    }
}
