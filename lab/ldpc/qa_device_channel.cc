// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that a simulation of an LDPC code counts the same errors on a device as on the
 * host, whatever the batch size. */

#include "lab/qa_channels.h"
#include "simulation.h"
#include <limits>

namespace gr::gpufec::ldpc {
namespace {

simulation_options code(const ldpc_code& c, double ebn0_db)
{
    simulation_options o;
    o.decoder.codes = { c };
    o.decoder.max_iterations = 6;
    o.ebn0_db = ebn0_db;
    o.min_frame_errors = 0;
    o.max_frames = 70; // more than the 64 codewords of frame_source, so some repeat
    return o;
}

class ldpc_channels : public qa::device_channels
{
protected:
    static error_counts equal(const simulation_options& options)
    {
        const auto [host, device] =
            both(options, make_device_channel, [](const auto& o) { return simulate(o); });
        const auto &a = host.decoded, &b = device.decoded;
        EXPECT_EQ(a.frames, b.frames);
        EXPECT_EQ(a.frame_errors, b.frame_errors);
        EXPECT_EQ(a.bits, b.bits);
        EXPECT_EQ(a.errors, b.errors);
        EXPECT_EQ(a.undetected, b.undetected);
        EXPECT_EQ(a.iterations, b.iterations);
        return b;
    }
};

TEST_F(ldpc_channels, CompleteCodewords_CountErrorsLikeHost)
{
    const auto c = equal(code(ldpc_code::dvbs2("short", "1/2"), 0.8));
    EXPECT_EQ(c.frames, 70u);
    EXPECT_GT(c.errors, 1000u);
    EXPECT_GT(equal(code(ldpc_code::standard("wifi", "648", "1/2"), 0.5)).errors, 100u);
}

TEST_F(ldpc_channels, ArithmeticAndSigns_CountErrorsLikeHost)
{
    for (const auto precision :
         { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
        auto o = code(ldpc_code::standard("wifi", "1296", "2/3"), 1);
        o.decoder.precision = precision;
        o.decoder.llr_scale = 3;
        o.decoder.positive_bit = precision == ldpc_precision::int16;
        EXPECT_GT(equal(o).errors, 100u);
    }
}

TEST_F(ldpc_channels, IncompleteCodewords_CountErrorsLikeHost)
{
    // The codes are punctured, shortened with filler bits, or both.
    EXPECT_GT(equal(code(ldpc_code::standard("ccsds_ar4ja", "1024", "1/2"), 0)).errors,
              100u);
    EXPECT_GT(equal(code(ldpc_code::standard("nr", "bg2 z16", "10/30"), 0)).errors, 10u);
    for (const auto precision :
         { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
        auto o = code(ldpc_code::standard("wifi", "648", "1/2")
                          .with_positions({ 400, 401, 500 }, { 0, 1, 17, 300 }),
                      0.5);
        o.decoder.precision = precision;
        EXPECT_GT(equal(o).errors, 100u);
    }
    auto ccsds = code(ldpc_code::standard("ccsds_c2", "8160", "7/8"), 3);
    ccsds.max_frames = 20;
    EXPECT_GT(equal(ccsds).errors, 100u);
}

TEST_F(ldpc_channels, BatchesOfAnySize_CountErrorsLikeHost)
{
    auto o = code(ldpc_code::standard("wifi", "648", "3/4"), 2);
    o.max_frames = 300;
    for (const unsigned batch : { 1, 7, 64, 1000 }) {
        o.decoder.batch = batch;
        EXPECT_GT(equal(o).frame_errors, 10u);
    }
}

TEST_F(ldpc_channels, MinFrameErrors_EndsAtSameFrame)
{
    auto o = code(ldpc_code::standard("wifi", "648", "3/4"), 2);
    o.max_frames = 100000;
    o.min_frame_errors = 11;
    EXPECT_EQ(equal(o).frame_errors, 11u);
    o.decoder.batch = 5;
    EXPECT_EQ(equal(o).frame_errors, 11u);
}

TEST_F(ldpc_channels, CodewordOutput_CountsMessageErrors)
{
    auto o = code(ldpc_code::standard("wifi", "648", "1/2"), 0.5);
    o.decoder.codeword = true;
    EXPECT_GT(equal(o).errors, 100u);
}

TEST_F(ldpc_channels, NoNoise_HasNoErrors)
{
    auto o =
        code(ldpc_code::dvbs2("short", "8/9"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(equal(o).errors, 0u);
}

} // namespace
} // namespace gr::gpufec::ldpc
