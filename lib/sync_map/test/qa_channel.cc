// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the BSID channel, the distribution of its drift, codebooks and encoder. */

#include "channel/bsid.h"
#include "qa_vectors.h"
#include "sync_map/code/channel.h"
#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdio>
#include <fstream>
#include <limits>

namespace gr::gpufec::sync_map {
namespace {

template <class Action>
std::string refusal(Action&& action)
{
    try {
        action();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(sync_channel, InvalidParameter_ErrorNamesParameter)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(refusal([&] { bsid_model(-0.1, 0); }).find("p_insert is -0.1"),
              std::string::npos);
    EXPECT_NE(refusal([&] { bsid_model(nan, 0); }).find("p_insert is nan"),
              std::string::npos);
    EXPECT_NE(refusal([&] { bsid_model(0, 1); }).find("p_delete is 1"),
              std::string::npos);
    EXPECT_NE(refusal([&] { bsid_model(0.5, 0.5); }).find("p_insert + p_delete is 1"),
              std::string::npos);
    EXPECT_NE(refusal([&] { bsid_model(0, 0, 1.5); }).find("p_substitute is 1.5"),
              std::string::npos);
    EXPECT_NE(refusal([&] { bsid_model(0, 0, 0, 17); }).find("alphabet is 17"),
              std::string::npos);
    EXPECT_EQ(refusal([&] { bsid_model(0, 0, 1); }), "");
}

// Returns the logarithm of the probability of drift m after T symbols, by the formula of
// log_drift_probability() with 50 digits: the sum over all numbers of deletions.
double exact_log_drift(const bsid_model& c, int T, int m)
{
    using real = boost::multiprecision::cpp_bin_float_50;
    const auto choose = [](int a, int b) {
        real r = 1;
        for (int k = 1; k <= b; ++k) {
            r = r * (a - b + k) / k;
        }
        return r;
    };
    real sum = 0;
    for (int j = std::max(-m, 0); j <= T; ++j) {
        sum += pow(real(c.p_transmit()), T - j) * pow(real(c.p_delete()), j) *
               pow(real(c.p_insert()), m + j) * choose(T, j) *
               choose(T + m + j - 1, m + j);
    }
    return double(log(sum));
}

TEST(sync_channel, DriftProbability_IsAccurateAndSumsToOne)
{
    for (const auto& c : { bsid_model(0.01, 0.02), bsid_model(0.2, 0.1) }) {
        for (const int m : { -40, -7, 0, 1, 12, 60 }) {
            const double expected = exact_log_drift(c, 300, m);
            EXPECT_NEAR(c.log_drift_probability(300, m), expected, 1e-10) << m;
        }
    }
    double total = 0;
    const bsid_model nothing_deleted(0.1, 0);
    for (int m = 0; m < 200; ++m) {
        total += std::exp(nothing_deleted.log_drift_probability(100, m));
    }
    EXPECT_NEAR(total, 1, 1e-12);
    EXPECT_EQ(nothing_deleted.log_drift_probability(100, -1), -INFINITY);
    EXPECT_NEAR(bsid_model(0, 0.5).log_drift_probability(2, -1), std::log(0.5), 1e-15);
}

TEST(sync_channel, PublishedChannels_HavePublishedDriftLimits)
{
    // Briffa (2014) uses N = 840, n = 10, p = 1e-3 and N = 210, n = 10, p = 0.1, where p
    // is the probability of an insertion and of a deletion.
    EXPECT_EQ(drift_limits(bsid_model(1e-3, 1e-3), 8400, 1e-10),
              (drift_range{ -28, 28 }));
    const bsid_model poor(0.1, 0.1);
    EXPECT_EQ(drift_limits(poor, 2100, 1e-10), (drift_range{ -138, 142 }));
    const auto change = drift_limits(poor, 10, exclusion_per_symbol(1e-10, 210));
    EXPECT_EQ(change.size(), 29u);
}

TEST(sync_channel, TestVectors_HaveExpectedDriftLimits)
{
    const auto all = read_sync_vectors({ "ref_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    for (const auto& v : all) {
        const auto N = v.code.frame_symbols();
        const auto n = v.code.n();
        EXPECT_EQ(drift_limits(v.channel, n * N, v.exclusion), v.window) << v.name;
        EXPECT_EQ(drift_limits(v.channel, n, exclusion_per_symbol(v.exclusion, N)),
                  v.change)
            << v.name;
    }
}

TEST(sync_channel, SmallExclusionOrPrior_WidensDriftLimits)
{
    const bsid_model c(0.01, 0.01);
    auto previous = drift_limits(c, 1000, 1e-3);
    for (double Pr = 1e-6; Pr > 5e-16; Pr *= 1e-3) {
        const auto next = drift_limits(c, 1000, Pr);
        EXPECT_LT(next.first, previous.first);
        EXPECT_GT(next.last, previous.last);
        previous = next;
    }
    EXPECT_EQ(drift_limits(bsid_model(0, 0), 1000, 1e-10), (drift_range{ 0, 0 }));
    const auto plain = drift_limits(c, 1000, 1e-10);
    const auto moved = drift_limits(c, 1000, 1e-10, { 100, { 3 } });
    EXPECT_EQ(moved.last, plain.last + 100);
    EXPECT_EQ(moved.first, 0);
    const auto spread = drift_limits(c, 1000, 1e-10, { -5, { 1, 0, 0, 0, 0, 0, 0, 1 } });
    EXPECT_LT(spread.first, plain.first);
    EXPECT_GE(spread.last, plain.last + 1);
    EXPECT_NE(refusal([&] { drift_limits(c, 10, 0); }).find("exclusion is 0"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  drift_limits(c, 10, 1e-10, { 0, { 0 } });
              }).find("prior"),
              std::string::npos);
}

TEST(sync_channel, ExcessiveInsertions_AreRefused)
{
    const double most = std::nextafter(1, 0);
    EXPECT_EQ(refusal([&] { bsid_model(most, 0); }),
              "p_insert is 0.9999999999999999: allowed values are 0 to 0.99");
    EXPECT_EQ(refusal([&] { bsid_model(bsid_model::max_p_insert, 0); }), "");
    const bsid_model worst(bsid_model::max_p_insert, 0.005);
    EXPECT_NE(refusal([&] {
                  drift_limits(worst, 8400, 1e-10);
              }).find("with p_insert 0.99, p_delete 0.005 and the start_prior is 8"),
              std::string::npos);
    // With slightly more symbols, the range of drifts would exceed its size limit.
    const auto range = drift_limits(worst, 500, 1e-10);
    EXPECT_GT(range.last, 60000);
    std::vector<std::uint8_t> out;
    bsid_channel channel(worst, 1);
    for (unsigned k = 0; k < 1000; ++k) {
        channel.send(1, out);
    }
    EXPECT_LT(out.size(), 200000u);
}

TEST(sync_channel, LongestFrames_HaveDriftLimitsAndLongerAreRefused)
{
    const auto symbols = 2 * sync_code::max_frame_bits;
    const auto range = drift_limits(bsid_model(0.3, 0.3), symbols, 1e-15);
    EXPECT_GT(range.last, 8000);
    EXPECT_LT(range.size(), 65536u);
    EXPECT_NE(refusal([&] {
                  drift_limits(bsid_model(0.3, 0.3), symbols + 1, 1e-15);
              }).find("symbols is 2097153: allowed values are 0 to 2097152"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  drift_limits(bsid_model(0, 0.5), symbols, 1e-15);
              }).find("allowed values are up to 65536"),
              std::string::npos);
}

TEST(sync_channel, ScaledPrior_HasSameDriftLimits)
{
    const bsid_model c(0.01, 0.01);
    const auto plain = drift_limits(c, 1000, 1e-10, { -1, { 1, 2 } });
    EXPECT_EQ(drift_limits(c, 1000, 1e-10, { -1, { 5e-324, 1e-323 } }), plain);
    EXPECT_EQ(drift_limits(c, 1000, 1e-10, { -1, { 8e307, 1.6e308 } }), plain);
    const std::vector<double> longest(drift_prior::max_size, 1.0);
    EXPECT_GT(drift_limits(c, 1000, 1e-10, { 0, longest }).last, 16384);
    const std::vector<double> longer(drift_prior::max_size + 1, 1.0);
    EXPECT_NE(refusal([&] {
                  drift_limits(c, 1000, 1e-10, { 0, longer });
              }).find("size of start_prior is 16385: allowed values are 1 to 16384"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                  drift_limits(c, 1000, 1e-10, { 1 << 20, { 1 } });
              }).find("allowed values are up to 65536"),
              std::string::npos);
}

TEST(sync_channel, SimulatedChannel_FollowsModel)
{
    const bsid_model model(0.05, 0.1, 0.2, 4);
    bsid_channel channel(model, 1);
    const unsigned count = 200000;
    unsigned deleted = 0, wrong = 0, inserted = 0;
    for (unsigned k = 0; k < count; ++k) {
        std::vector<std::uint8_t> out;
        const auto received = channel.send(k % 4, out);
        deleted += received == 0;
        inserted += received > 1 ? received - 1 : 0;
        wrong += received == 1 && out[0] != k % 4;
    }
    // Each count differs from its expectation by less than five times the square root of
    // the expectation.
    const auto near = [&](double seen, double p) {
        return std::abs(seen - count * p) < 5 * std::sqrt(count * p);
    };
    // Exactly one item is received if the symbol is transmitted without an insertion, or
    // deleted after one insertion.
    EXPECT_TRUE(near(deleted, 0.1));
    EXPECT_TRUE(near(wrong, 0.85 * 0.2 + 0.05 * 0.1 * 0.75));
    EXPECT_TRUE(near(inserted, 0.05 / 0.95 - 0.05 * 0.1));
    EXPECT_EQ(bsid_channel(model, 7).send({ 0, 1, 2, 3, 0, 1, 2, 3 }),
              bsid_channel(model, 7).send({ 0, 1, 2, 3, 0, 1, 2, 3 }));
}

TEST(sync_code, InvalidCodebook_ErrorNamesParameter)
{
    const auto make = [](unsigned n, unsigned q, unsigned N, auto words) {
        return refusal([&] { sync_code(n, q, N, words); });
    };
    using list = std::vector<std::uint8_t>;
    EXPECT_EQ(make(1, 2, 1, list{ 0, 1 }), "");
    EXPECT_NE(make(0, 2, 1, list{}).find("n is 0"), std::string::npos);
    EXPECT_NE(make(1, 3, 1, list{ 0, 1, 1 }).find("q is 3"), std::string::npos);
    EXPECT_NE(make(1, 2, 0, list{}).find("frame_symbols is 0"), std::string::npos);
    EXPECT_NE(make(1, 2, 1, list{ 0 }).find("size of codebook is 1"), std::string::npos);
    EXPECT_NE(make(1, 2, 1, list{ 0, 2 }).find("codebook entry is 2"), std::string::npos);
    // The product of these three sizes is 2^64, which overflows to 0.
    EXPECT_EQ(make(1u << 17, 1u << 16, 1u << 31, list{}),
              "n is 131072: allowed values are 1 to 4096");
    EXPECT_NE(make(4096, 2, 1u << 31, list{}).find("frame_symbols is 2147483648"),
              std::string::npos);
    EXPECT_EQ(make(4096, 2, 257, list{}),
              "n * frame_symbols is 1052672: allowed values are 1 to 1048576");
    EXPECT_EQ(make(64, 65536, 16384, list{}),
              "n * q * frame_symbols is 68719476736: allowed values are 1 to 268435456");
    EXPECT_NE(refusal([] {
                  codebook_marker(4, 1, std::string(4095, '0'));
              }).find("the marker's length, is 4097: allowed values are 1 to 4096"),
              std::string::npos);
    const auto ambiguous = make(1, 2, 2, list{ 0, 1, 1, 1 });
    EXPECT_NE(ambiguous.find("index 1"), std::string::npos) << ambiguous;
}

TEST(sync_code, GeneratedCodebooks_HaveDocumentedWords)
{
    const auto sparse = codebook_davey_mackay(10, 32, 50, 1);
    for (unsigned i = 0; i < 50; ++i) {
        unsigned weight[32];
        for (unsigned D = 0; D < 32; ++D) {
            weight[D] = 0;
            for (unsigned t = 0; t < 10; ++t) {
                weight[D] += sparse.word(i, D)[t] != sparse.word(i, 0)[t];
            }
        }
        EXPECT_EQ(weight[1], 1u);
        EXPECT_EQ(weight[10], 1u);
        EXPECT_EQ(weight[11], 2u);
        EXPECT_EQ(weight[31], 2u);
    }
    const auto word = [](const sync_code& code, unsigned i) {
        return std::vector<std::uint8_t>(code.word(i, 6), code.word(i, 6) + 5);
    };
    const std::vector<std::uint8_t> plain{ 1, 1, 0, 0, 1 }, inverted{ 1, 1, 0, 1, 0 };
    const auto fixed = codebook_marker(8, 200, "01", 0),
               marker = codebook_marker(8, 200, "01"),
               other = codebook_marker(8, 200, "01", 2);
    unsigned turned = 0, differ = 0;
    for (unsigned i = 0; i < 200; ++i) {
        EXPECT_EQ(word(fixed, i), plain);
        EXPECT_TRUE(word(marker, i) == plain || word(marker, i) == inverted);
        turned += word(marker, i) == inverted;
        differ += word(marker, i) != word(other, i);
    }
    EXPECT_TRUE(turned > 70 && turned < 130) << turned;
    EXPECT_TRUE(differ > 70 && differ < 130) << differ;
    EXPECT_NE(refusal([] { codebook_marker(6, 1, "01"); }).find("q is 6"),
              std::string::npos);
    EXPECT_EQ(codebook_random(2, 4, 3, 9).q(), 4u);
    EXPECT_EQ(codebook_random(1, 16, 3, 9, 16).alphabet(), 16u);
}

TEST(sync_code, CodebookFile_HasListedWords)
{
    const auto path = testing::TempDir() + "gpufec_codebook.txt";
    std::ofstream(path) << "# index 0\n0 0 1\n010 # D = 1\n111\n100\n";
    const auto code = sync_code::from_file(path, 3, 2, 2);
    EXPECT_EQ(code.word(1, 0)[0], 1);
    EXPECT_EQ(code.word(0, 1)[1], 1);
    EXPECT_NE(refusal([&] { sync_code::from_file(path, 3, 2, 1); }).find("size"),
              std::string::npos);
    std::remove(path.c_str());
    EXPECT_NE(
        refusal([&] { sync_code::from_file(path, 3, 2, 2); }).find("cannot be read"),
        std::string::npos);
}

TEST(sync_code, InvalidOrEndlessFile_IsRefused)
{
    const auto of = [](const std::string& path, unsigned frame_symbols) {
        return refusal([&] { sync_code::from_file(path, 3, 2, frame_symbols); });
    };
    EXPECT_EQ(of("/dev/zero", 1),
              "codebook is \"/dev/zero\": '\\x00' is not a hexadecimal digit");
    const auto path = testing::TempDir() + "gpufec_codebook_hostile.txt";
    const auto of_text = [&](const std::string& text) {
        std::ofstream(path) << text;
        return of(path, 1);
    };
    EXPECT_EQ(of_text("000 111"), "");
    EXPECT_NE(of_text("000 111 0").find("size of codebook is above 6"),
              std::string::npos);
    EXPECT_NE(of_text("\xff").find("'\\xff' is not"), std::string::npos);
    EXPECT_NE(of_text("\x1b[31m").find("'\\x1b' is not"), std::string::npos);
    for (const char endless : { ' ', '#' }) {
        EXPECT_NE(of_text(std::string(17 << 20, endless)).find("longer than the"),
                  std::string::npos);
    }
    std::remove(path.c_str());
}

TEST(sync_encoder, TestVectors_EncodeAsExpected)
{
    const auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    for (const auto& v : all) {
        std::vector<std::uint8_t> sent(v.code.frame_bits());
        sync_encoder_kernel(v.code).encode(
            v.message.data(), v.message.size(), sent.data());
        EXPECT_EQ(sent, v.sent) << v.name;
    }
}

} // namespace
} // namespace gr::gpufec::sync_map
