// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares backends to the last bit. The CPU is compared with the reference decoders, for
 * all instruction sets. If a CUDA device is available, it is compared with the CPU or the
 * reference decoders. Also tests the quantisation of channel values on the CPU, and
 * decoding near the thresholds of the DVB-S2 codes. */

#include "cuda/devices.h"
#include "ldpc/cpu/input_kernels.h"
#include "ldpc/model/reference.h"
#include "qa_support.h"
#include <cstdlib>
#include <map>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

setup setup_of(std::vector<ldpc_code> codes, ldpc_precision precision)
{
    setup s;
    s.codes = std::move(codes);
    s.precision = precision;
    return s;
}

// Returns \p frames_per_code noisy frames per code; successive frames have different
// codes. In float, the frames of every second code have few distinct values.
std::vector<qa::frame>
noisy_frames(const setup& setup, unsigned frames_per_code, double es_n0_db, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<qa::frame> frames;
    for (unsigned i = 0; i < frames_per_code; ++i) {
        for (unsigned c = 0; c < setup.codes.size(); ++c) {
            const auto& code = setup.codes[c];
            // The Es/N0 exceeds the Shannon limit of the rate for QPSK by es_n0_db to
            // es_n0_db + 0.8 dB.
            const double rate = double(code.k()) / code.sent();
            const double limit = 10 * std::log10(std::pow(2, 2 * rate) - 1);
            const double es = limit + es_n0_db + 0.2 * (i % 5);
            const auto values =
                qa::in_quantised(qa::transmit(code, es, random).llr, setup.rule(code));
            frames.push_back(
                { c, c % 2 ? qa::in_halves(values, setup.rule(code)) : values });
        }
    }
    return frames;
}

std::vector<qa::decoded> by_model(const setup& setup,
                                  const std::vector<qa::frame>& frames)
{
    std::vector<layer_plan> plans;
    for (const auto& code : setup.codes) {
        plans.push_back(make_layer_plan(code));
    }
    std::vector<qa::decoded> results;
    for (const auto& f : frames) {
        const auto& code = setup.codes[f.code];
        const auto r = setup.schedule == ldpc_schedule::layered
                           ? reference::layered(code,
                                                plans[f.code],
                                                setup.rule(code),
                                                f.values,
                                                setup.max_iterations,
                                                setup.early_stop)
                           : reference::flooding(code,
                                                 setup.rule(code),
                                                 f.values,
                                                 setup.max_iterations,
                                                 setup.early_stop);
        results.push_back({ qa::pack(r.bits, setup.output_bits(code)),
                            { r.iterations, r.unsatisfied },
                            {} });
        if (setup.soft != ldpc_soft_output::none) {
            results.back().llrs = reference::soft_output(
                r,
                f.values,
                setup.soft == ldpc_soft_output::extrinsic,
                qa::soft_factor_of(std::uint32_t(&f - &frames[0])));
        }
    }
    return results;
}

void expect_equal(const std::vector<qa::decoded>& got,
                  const std::vector<qa::decoded>& wanted)
{
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].status.iterations, wanted[i].status.iterations) << "frame " << i;
        EXPECT_EQ(got[i].status.unsatisfied, wanted[i].status.unsatisfied)
            << "frame " << i;
        std::size_t differing = 0;
        for (std::size_t b = 0; b < wanted[i].bytes.size(); ++b) {
            differing += got[i].bytes[b] != wanted[i].bytes[b];
        }
        EXPECT_EQ(differing, 0u) << "differing output bytes of frame " << i;
        ASSERT_EQ(got[i].llrs.size(), wanted[i].llrs.size());
        std::size_t llrs = 0;
        for (std::size_t b = 0; b < wanted[i].llrs.size(); ++b) {
            llrs += got[i].llrs[b] != wanted[i].llrs[b];
        }
        EXPECT_EQ(llrs, 0u) << "differing LLRs of frame " << i;
    }
}

const ldpc_precision precisions[] = { ldpc_precision::int8,
                                      ldpc_precision::int16,
                                      ldpc_precision::float32 };

// Returns whether runs should be short, because a tool slows the program down.
bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

std::vector<ldpc_code> all_codes()
{
    std::vector<ldpc_code> codes;
    if (small_scale()) { // five codes with checks of different degrees
        return { ldpc_code::dvbs2("normal", "8/9"),
                 ldpc_code::dvbs2("normal", "9/10"),
                 ldpc_code::dvbs2("short", "1/4"),
                 ldpc_code::dvbs2("short", "3/5"),
                 ldpc_code::dvbs2("short", "4/5") };
    }
    for (const char* size : { "normal", "short" }) {
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            codes.push_back(ldpc_code::dvbs2(size, rate));
        }
    }
    return codes;
}

std::vector<ldpc_code> short_codes()
{
    std::vector<ldpc_code> codes;
    for (const auto& rate : ldpc_code::dvbs2_rates("short")) {
        codes.push_back(ldpc_code::dvbs2("short", rate));
    }
    codes.push_back(qa::regular_code(504, 252, 7));
    return codes;
}

// Returns codes of each structure that kernels distinguish: circulants of many sizes,
// blocks with several circulants, parity chains, punctured and shortened positions, rows
// of differing degrees.
std::vector<ldpc_code> structured_codes()
{
    const auto hole = ldpc_code::standard("wifi", "648", "3/4");
    std::vector<ldpc_code> codes = {
        ldpc_code::standard("wifi", "1944", "5/6"),
        ldpc_code::standard("nr", "bg2 z7", "10/50"),
        ldpc_code::standard("nr", "bg1 z26", "22/28"),
        ldpc_code::standard("ccsds_c2", "8160", "7/8"),
        ldpc_code::standard("ccsds_ar4ja", "1024", "1/2"),
        ldpc_code::standard("ccsds_tc", "128", "1/2"),
        ldpc_code::standard("dvbs2x", "vl-snr short", "4/15"),
        hole.with_positions({ 100, 3, 511 }, { 0, 1, 2, 30 }),
    };
    if (small_scale()) {
        return codes;
    }
    for (const char* rate : { "1/2", "2/3", "3/4" }) {
        codes.push_back(ldpc_code::standard("wifi", "648", rate));
    }
    codes.push_back(ldpc_code::standard("wifi", "1296", "1/2"));
    codes.push_back(ldpc_code::standard("nr", "bg1 z112", "1/3"));
    codes.push_back(ldpc_code::standard("nr", "bg1 z2", "22/24"));
    codes.push_back(ldpc_code::standard("nr", "bg2 z384", "10/12"));
    codes.push_back(ldpc_code::standard("ccsds_ar4ja", "4096", "2/3"));
    codes.push_back(ldpc_code::standard("ccsds_tc", "512", "1/2"));
    codes.push_back(ldpc_code::standard("dvbs2x", "medium", "11/45"));
    codes.push_back(ldpc_code::standard("dvbs2x", "short", "26/45"));
    codes.push_back(ldpc_code::standard("dvbs2x", "vl-snr short sf2", "1/5"));
    codes.push_back(ldpc_code::standard("dvbt2", "short", "3/5"));
    // The next codes have, in this order: rows of few checks that contain a bit twice,
    // rows that are divided into several layers, and a parity chain with a lifting size
    // other than 360.
    std::istringstream crowded("lifting 40\n0,3 1 5,6,7 0 -1\n-1 9 0,20 12,2 0\n");
    codes.push_back(ldpc_code::from_base_matrix(crowded, "crowded"));
    std::istringstream large("lifting 700\n0,3 1 5,600 7\n10 9 12,2 0\n");
    codes.push_back(ldpc_code::from_base_matrix(large, "large"));
    std::istringstream chain("lifting 50\nchain\n0,13 1 -1 4\n7 -1 0 12\n3 20,21 9 -1\n");
    codes.push_back(ldpc_code::from_base_matrix(chain, "chain"));
    return codes;
}

// Returns setups with and without early stop, with all outputs, and with all algorithms.
std::vector<setup> variants(const setup& base)
{
    std::vector<setup> all(7, base);
    all[0].soft = ldpc_soft_output::posterior;
    all[2].soft = ldpc_soft_output::extrinsic;
    all[5].soft = ldpc_soft_output::extrinsic;
    all[5].bits = false;
    all[5].early_stop = false;
    all[5].max_iterations = 4;
    all[1].early_stop = false;
    all[1].max_iterations = 3;
    all[1].message_only = false;
    all[2].algorithm = ldpc_algorithm::normalized_min_sum;
    all[2].max_iterations = 5;
    all[3].algorithm = ldpc_algorithm::min_sum;
    all[3].max_iterations = 1;
    all[4].message_only = false;
    all[4].offset = 0.5;
    all[6].algorithm = ldpc_algorithm::normalized_min_sum;
    for (auto& s : all) {
        s.max_iterations = std::min(s.max_iterations, small_scale() ? 2u : 1000u);
    }
    return all;
}

bool cuda_missing()
{
    const auto found = find_cuda_devices();
    return found.devices.empty();
}

#define SKIP_WITHOUT_CUDA()                                                \
    if (cuda_missing()) {                                                  \
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing; \
    }

// Returns four frames per code: zeros, largest values, smallest values, and values of
// largest magnitude with random signs.
std::vector<qa::frame> extreme_frames(const setup& setup)
{
    std::vector<qa::frame> frames;
    std::mt19937 random(5);
    for (unsigned c = 0; c < setup.codes.size(); ++c) {
        const float most = setup.rule(setup.codes[c]).channel_limit;
        const auto n = setup.codes[c].n();
        for (const float v : { 0.0f, most, -most }) {
            frames.push_back({ c, std::vector<float>(n, v) });
        }
        std::vector<float> garbage;
        for (unsigned i = 0; i < n; ++i) {
            garbage.push_back(random() >> 31 ? most : -most);
        }
        frames.push_back({ c, garbage });
    }
    return frames;
}

void expect_cuda_equals_cpu(const setup& setup, const std::vector<qa::frame>& frames)
{
    auto cpu = traits::make_cpu(setup, frames.size(), 8);
    auto gpu = traits::make_cuda(setup, frames.size(), 1, 0);
    expect_equal(qa::decode(*gpu, setup, frames), qa::decode(*cpu, setup, frames));
}

} // namespace

// Returns \p value times \p factor, clamped to ±limit. If To is an integer, the result is
// rounded, ties to even. NaN becomes 0.
template <class To>
To in_quantised(double value, float factor, float limit)
{
    const double x = std::isnan(value) ? 0.0f : float(value) * factor;
    const double clamped = std::clamp<double>(x, -limit, limit);
    return To(std::is_integral_v<To> ? std::nearbyint(clamped) : clamped);
}

template <class From, class To>
void check_conversion(input::converter<From, To> convert,
                      const std::vector<From>& values,
                      std::initializer_list<float> limits)
{
    for (const float factor : { 0.25f, 0.5f, 1.0f, 1.5f, 2.0f / 3, 4.0f, -1.0f, -2.5f }) {
        for (const float limit : limits) {
            std::vector<To> to(values.size());
            convert(values.data(), values.size(), factor, limit, to.data());
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double x =
                    values[i] == -128 && sizeof(From) == 1 ? -127 : values[i];
                ASSERT_EQ(to[i], in_quantised<To>(x, factor, limit)) << x;
            }
        }
    }
}

TEST(ldpc_cpu, ChannelValues_AreRoundedAndClamped)
{
    std::vector<std::int8_t> bytes;
    std::vector<float> floats{ NAN, INFINITY, -INFINITY, -0.0f, 1e30f, -1e-30f };
    for (int i = -1000; i < 1000; ++i) {
        bytes.push_back(std::int8_t(i));
        floats.push_back(i * 0.125f); // some products are ties in rounding
    }
    for (const auto& set : cpu_variants()) {
        SCOPED_TRACE(set);
        const auto& kernels = input::variants().of(set);
        check_conversion(kernels.bytes.to_int8, bytes, { 64.0f, 95.5f, 96.0f, 127.0f });
        check_conversion(kernels.floats.to_int8, floats, { 64.0f, 95.5f, 96.0f, 127.0f });
        check_conversion(kernels.bytes.to_int16, bytes, { 100.0f, 1023.0f });
        check_conversion(kernels.floats.to_int16, floats, { 100.0f, 1023.0f });
        check_conversion(kernels.bytes.to_float, bytes, { 100.0f, 4096.0f });
        check_conversion(kernels.floats.to_float, floats, { 100.0f, 4096.0f });
    }
}

TEST(ldpc_cpu, ShortCodes_DecodeAsReference)
{
    for (const auto precision : precisions) {
        for (auto setup : variants(setup_of(short_codes(), precision))) {
            setup.max_iterations = std::min(setup.max_iterations, 8u);
            const auto frames = noisy_frames(setup, 1, 0.9, 11);
            const auto wanted = by_model(setup, frames);
            for (const auto& name : cpu_variants()) {
                SCOPED_TRACE(name);
                auto decoder = traits::make_cpu(setup, frames.size(), 2, name);
                expect_equal(qa::decode(*decoder, setup, frames), wanted);
            }
        }
    }
}

TEST(ldpc_cpu, StructuredCodes_DecodeAsReference)
{
    for (const auto precision : precisions) {
        for (auto setup : variants(setup_of(structured_codes(), precision))) {
            setup.max_iterations = std::min(setup.max_iterations, 6u);
            const auto frames = noisy_frames(setup, 1, 0.9, 13);
            const auto wanted = by_model(setup, frames);
            for (const auto& name : cpu_variants()) {
                SCOPED_TRACE(name);
                auto decoder = traits::make_cpu(setup, frames.size(), 2, name);
                expect_equal(qa::decode(*decoder, setup, frames), wanted);
            }
        }
    }
}

// Tests the largest offset with clamped channel values, and with posteriors that do not
// fit in a byte.
TEST(ldpc_cpu, LargeOffset_DecodesAsReference)
{
    for (const char* rate : { "1/4", "3/5" }) {
        auto setup = setup_of({ ldpc_code::dvbs2("short", rate) }, ldpc_precision::int8);
        setup.max_iterations = 6;
        setup.offset = 15;
        auto frames = noisy_frames(setup, 3, 0.9, 14);
        const float most = setup.rule(setup.codes[0]).channel_limit;
        for (auto& v : frames[0].values) {
            v = std::clamp(std::rint(v * 100), -most, most);
        }
        const auto wanted = by_model(setup, frames);
        for (const auto& name : cpu_variants()) {
            SCOPED_TRACE(name);
            auto decoder = traits::make_cpu(setup, frames.size(), 1, name);
            expect_equal(qa::decode(*decoder, setup, frames), wanted);
        }
    }
}

TEST(ldpc_cpu, FullLanes_StopIndependently)
{
    auto setup = setup_of({ ldpc_code::dvbs2("short", "1/2") }, ldpc_precision::int8);
    setup.max_iterations = 12;
    setup.soft = ldpc_soft_output::extrinsic;
    // There are more frames than lanes, and the last group is not full.
    const auto frames = noisy_frames(setup, 37, 1.0, 12);
    auto decoder = traits::make_cpu(setup, 64, 1);
    const auto got = qa::decode(*decoder, setup, frames);
    expect_equal(got, by_model(setup, frames));
    std::vector<unsigned> stops;
    for (const auto& g : got) {
        stops.push_back(g.status.iterations);
    }
    EXPECT_LT(*std::min_element(stops.begin(), stops.end()),
              *std::max_element(stops.begin(), stops.end()));
}

// Groups of fewer codewords than lanes are decoded by narrower kernels, if any exist.
TEST(ldpc_cpu, PartialGroups_DecodeAsReference)
{
    for (const auto precision : precisions) {
        auto setup = setup_of({ ldpc_code::dvbs2("short", "8/9") }, precision);
        setup.max_iterations = 6;
        for (const std::size_t count : { 1, 4, 5, 8, 9, 16, 17 }) {
            const auto frames = noisy_frames(setup, count, 0.9, unsigned(count));
            auto decoder = traits::make_cpu(setup, 32, 1);
            expect_equal(qa::decode(*decoder, setup, frames), by_model(setup, frames));
        }
    }
}

TEST(ldpc_cpu, Flooding_DecodesAsReference)
{
    for (const auto precision : precisions) {
        for (auto setup : variants(setup_of({ ldpc_code::dvbs2("short", "3/5"),
                                              ldpc_code::dvbs2("short", "8/9"),
                                              qa::regular_code(504, 252, 7) },
                                            precision))) {
            setup.schedule = ldpc_schedule::flooding;
            setup.max_iterations = std::min(setup.max_iterations, 8u);
            const auto frames = noisy_frames(setup, 2, 1.2, 13);
            auto decoder = traits::make_cpu(setup, frames.size(), 2);
            expect_equal(qa::decode(*decoder, setup, frames), by_model(setup, frames));
        }
    }
}

// All frames become valid before the last of 12 iterations. Decoding ends early only if
// early stop is requested.
TEST(ldpc_cpu, EarlyStop_OccursOnlyIfRequested)
{
    for (const auto precision : precisions) {
        for (const auto schedule : { ldpc_schedule::layered, ldpc_schedule::flooding }) {
            for (const bool early : { true, false }) {
                auto setup = setup_of(
                    { ldpc_code::dvbs2("short", "3/5"), qa::regular_code(504, 252, 7) },
                    precision);
                setup.schedule = schedule;
                setup.early_stop = early;
                setup.max_iterations = 12;
                const auto frames = noisy_frames(setup, 2, 4.0, 14);
                auto decoder = traits::make_cpu(setup, frames.size(), 2);
                const auto got = qa::decode(*decoder, setup, frames);
                expect_equal(got, by_model(setup, frames));
                for (const auto& g : got) {
                    EXPECT_EQ(g.status.iterations < 12, early);
                    EXPECT_EQ(g.status.unsatisfied, 0u);
                }
            }
        }
    }
}

TEST(ldpc_cpu, CheckWithoutBits_IsSatisfied)
{
    for (const auto precision : precisions) {
        for (const auto schedule : { ldpc_schedule::layered, ldpc_schedule::flooding }) {
            auto setup = setup_of({ qa::code_with_empty_checks() }, precision);
            setup.schedule = schedule;
            // The first bit of this codeword is 1. An empty check that wrongly read this
            // bit would fail.
            const std::vector<float> sent{ -9, -9, -9, 9, 9, 9, 9 };
            const std::vector<qa::frame> frames(3, { 0, sent });
            for (const auto& set : cpu_variants()) {
                SCOPED_TRACE(set);
                auto decoder = traits::make_cpu(setup, frames.size(), 1, set);
                const auto got = qa::decode(*decoder, setup, frames);
                expect_equal(got, by_model(setup, frames));
                for (const auto& g : got) {
                    EXPECT_EQ(g.status.unsatisfied, 0u);
                    EXPECT_EQ(g.status.iterations, 1u);
                }
            }
        }
    }
}

TEST(ldpc_cuda, CheckWithoutBits_IsSatisfied)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        for (const auto schedule : { ldpc_schedule::layered, ldpc_schedule::flooding }) {
            auto setup = setup_of({ qa::code_with_empty_checks() }, precision);
            setup.schedule = schedule;
            const std::vector<qa::frame> frames(3, { 0, { -9, -9, -9, 9, 9, 9, 9 } });
            auto gpu = traits::make_cuda(setup, frames.size(), 1, 0);
            expect_equal(qa::decode(*gpu, setup, frames), by_model(setup, frames));
        }
    }
}

TEST(ldpc_cpu, ExtremeValues_DecodeAsReference)
{
    for (const auto precision : precisions) {
        auto setup = setup_of(
            { ldpc_code::dvbs2("short", "8/9"), ldpc_code::dvbs2("short", "1/4") },
            precision);
        setup.max_iterations = 6;
        const auto frames = extreme_frames(setup);
        auto decoder = traits::make_cpu(setup, frames.size(), 1);
        expect_equal(qa::decode(*decoder, setup, frames), by_model(setup, frames));
    }
}

TEST(ldpc_cpu, EveryCode_DecodesNearItsThreshold)
{
    // Es/N0 in dB of EN 302 307-1 table 13 for quasi-error-free reception. A margin of
    // 0.35 dB, or of 0.65 dB for short frames, is added.
    const std::map<std::string, double> thresholds{
        { "1/4", -2.35 }, { "1/3", -1.24 }, { "2/5", -0.30 }, { "1/2", 1.00 },
        { "3/5", 2.23 },  { "2/3", 3.10 },  { "3/4", 4.03 },  { "4/5", 4.68 },
        { "5/6", 5.18 },  { "8/9", 6.20 },  { "9/10", 6.42 },
    };
    for (const char* size : { "normal", "short" }) {
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            SCOPED_TRACE(std::string(size) + " " + rate);
            const auto code = ldpc_code::dvbs2(size, rate);
            auto setup = setup_of({ code }, ldpc_precision::int8);
            setup.max_iterations = 50;
            const double margin = code.n() == 64800 ? 0.35 : 0.65;
            std::mt19937 random(21);
            std::vector<qa::frame> frames;
            std::vector<std::vector<std::uint8_t>> sent;
            for (unsigned i = 0; i < 8; ++i) {
                const auto t = qa::transmit(code, thresholds.at(rate) + margin, random);
                frames.push_back({ 0, qa::in_quantised(t.llr, setup.rule(code)) });
                sent.push_back(qa::pack(t.message, code.k()));
            }
            auto decoder = traits::make_cpu(setup, 8, 1);
            const auto got = qa::decode(*decoder, setup, frames);
            for (unsigned i = 0; i < 8; ++i) {
                EXPECT_EQ(got[i].bytes, sent[i]);
                EXPECT_EQ(got[i].status.unsatisfied, 0u);
            }
        }
    }
}

// With the offset of the codes' rate, 1/4 nat, 12 of 64 frames of rate 4/15 and 17 of 64
// frames of rate 14/45 would fail.
TEST(ldpc_cpu, CodesThatNeedALargerOffset_LoseFewFramesAtTheirThresholds)
{
    struct point {
        const char* rate;
        double es_n0_db; // of QPSK
        unsigned wrong;
    };
    for (const auto& p : { point{ "4/15", -2.29, 6 }, point{ "14/45", -1.69, 8 } }) {
        SCOPED_TRACE(p.rate);
        const auto code = ldpc_code::standard("dvbs2x", "short", p.rate);
        auto setup = setup_of({ code }, ldpc_precision::int8);
        setup.max_iterations = 50;
        std::mt19937 random(22);
        auto decoder = traits::make_cpu(setup, 64, 1);
        std::vector<qa::frame> frames;
        std::vector<std::vector<std::uint8_t>> sent;
        for (unsigned i = 0; i < 64; ++i) {
            const auto t = qa::transmit(code, p.es_n0_db, random);
            frames.push_back({ 0, qa::in_quantised(t.llr, setup.rule(code)) });
            sent.push_back(qa::pack(t.message, code.k()));
        }
        const auto got = qa::decode(*decoder, setup, frames);
        unsigned wrong = 0;
        for (unsigned i = 0; i < 64; ++i) {
            wrong += got[i].bytes != sent[i];
        }
        EXPECT_LE(wrong, p.wrong);
    }
}

TEST(ldpc_cuda, EveryDvbS2Code_DecodesAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        for (const auto& setup : variants(setup_of(all_codes(), precision))) {
            // Codes alternate in one batch.
            const auto frames = noisy_frames(setup, small_scale() ? 1 : 5, 0.9, 31);
            expect_cuda_equals_cpu(setup, frames);
        }
    }
}

TEST(ldpc_cuda, LargeBatch_DecodesAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    if (small_scale()) {
        GTEST_SKIP() << "large batches are not tested at small scale";
    }
    for (const char* rate : { "1/4", "1/2", "3/4", "9/10" }) {
        SCOPED_TRACE(rate);
        auto setup = setup_of({ ldpc_code::dvbs2("normal", rate) }, ldpc_precision::int8);
        const auto some = noisy_frames(setup, 30, 0.9, 32);
        std::vector<qa::frame> frames;
        for (unsigned i = 0; i < 601; ++i) {
            frames.push_back(some[i * 7 % some.size()]);
        }
        auto cpu = traits::make_cpu(setup, some.size(), 8);
        auto gpu = traits::make_cuda(setup, frames.size(), 1, 0);
        const auto wanted = qa::decode(*cpu, setup, some);
        const auto got = qa::decode(*gpu, setup, frames);
        std::vector<qa::decoded> repeated;
        for (unsigned i = 0; i < 601; ++i) {
            repeated.push_back(wanted[i * 7 % some.size()]);
        }
        expect_equal(got, repeated);
    }
}

TEST(ldpc_cuda, UnstructuredCodes_DecodeAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        const auto setup = setup_of(
            { qa::regular_code(504, 252, 7), qa::regular_code(1000, 400, 8) }, precision);
        const auto frames = noisy_frames(setup, 10, 1.5, 33);
        expect_cuda_equals_cpu(setup, frames);
    }
}

TEST(ldpc_cuda, StructuredCodes_DecodeAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        for (const auto& setup : variants(setup_of(structured_codes(), precision))) {
            const auto frames = noisy_frames(setup, small_scale() ? 1 : 7, 0.9, 35);
            expect_cuda_equals_cpu(setup, frames);
        }
    }
}

TEST(ldpc_cuda, Flooding_DecodesAsReference)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        for (const bool early : { true, false }) {
            auto setup = setup_of({ ldpc_code::dvbs2("short", "3/5"),
                                    ldpc_code::dvbs2("short", "1/4"),
                                    qa::regular_code(504, 252, 7) },
                                  precision);
            setup.schedule = ldpc_schedule::flooding;
            setup.early_stop = early;
            setup.max_iterations = small_scale() ? 2 : 15;
            const auto frames = noisy_frames(setup, 3, 1.2, 34);
            auto gpu = traits::make_cuda(setup, frames.size(), 1, 0);
            expect_equal(qa::decode(*gpu, setup, frames), by_model(setup, frames));
        }
    }
}

TEST(ldpc_cuda, ExtremeValues_DecodeAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : precisions) {
        auto codes = all_codes();
        const auto structured = structured_codes();
        codes.insert(codes.end(), structured.begin(), structured.end());
        auto setup = setup_of(codes, precision);
        setup.max_iterations = small_scale() ? 2 : setup.max_iterations;
        expect_cuda_equals_cpu(setup, extreme_frames(setup));
    }
}
