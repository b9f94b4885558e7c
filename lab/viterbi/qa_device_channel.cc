// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that a simulation of a convolutional code counts the same errors on a device as
 * on the host, whatever the batch size. */

#include "lab/qa_channels.h"
#include "simulation.h"
#include <limits>

namespace gr::gpufec::viterbi {
namespace {

simulation_options conv(const conv_code& code, double ebn0_db)
{
    simulation_options o{ viterbi_options(code) };
    o.ebn0_db = ebn0_db;
    o.min_errors = 0;
    o.max_bits = 200'000;
    return o;
}

simulation_options conv_frames(const conv_code& code, termination ends, unsigned bits)
{
    auto o = conv(code, 1);
    o.decoder.termination = ends;
    o.decoder.frame_bits = bits;
    o.max_bits = 40'000;
    return o;
}

const conv_code k7(7, { 0171, 0133 });

class viterbi_channels : public qa::device_channels
{
protected:
    // Expects equal error counts on host and device, and returns the number of errors.
    static std::uint64_t equal(const simulation_options& options)
    {
        const auto [host, device] =
            both(options, make_device_channel, [](const auto& o) { return simulate(o); });
        const auto &a = host.decoded, &b = device.decoded;
        EXPECT_EQ(a.bits(), b.bits());
        EXPECT_EQ(a.errors(), b.errors());
        EXPECT_EQ(a.events(), b.events());
        EXPECT_EQ(a.frame_errors(), b.frame_errors());
        EXPECT_EQ(a.confidence(), b.confidence());
        EXPECT_EQ(a.events_at(), b.events_at());
        EXPECT_EQ(host.errors_by_tenth, device.errors_by_tenth);
        EXPECT_EQ(host.decode_length, device.decode_length);
        EXPECT_EQ(host.overlap, device.overlap);
        return b.errors();
    }
};

TEST_F(viterbi_channels, Streams_CountErrorsLikeHost)
{
    // At these low Eb/N0, thousands of bits are wrong, so different soft values on host
    // and device would most likely change the counts.
    EXPECT_GT(equal(conv(k7, 1)), 3000u);
    EXPECT_GT(equal(conv(conv_code(7, { 0171, -0133 }), 0)), 3000u);
    EXPECT_GT(equal(conv(conv_code(9, { 0561, 0753, 0711 }), 0)), 1000u);
    EXPECT_GT(equal(conv(conv_code::preset("dvb_3_4"), 2)), 3000u);
    EXPECT_GT(equal(conv(conv_code::preset("ccsds_7_8"), 3)), 3000u);
}

TEST_F(viterbi_channels, BatchesOfAnySize_CountErrorsLikeHost)
{
    auto o = conv(conv_code::preset("dvb_5_6"), 2);
    o.decoder.slots = 2;
    o.seed = 99;
    for (const unsigned batch : { 1, 7, 1000 }) {
        o.decoder.batch = batch;
        EXPECT_GT(equal(o), 1000u);
    }
}

TEST_F(viterbi_channels, PackedValuesAndSigns_CountErrorsLikeHost)
{
    for (const unsigned positive_bit : { 0, 1 }) {
        for (const auto format : { soft_format::int8, soft_format::packed4 }) {
            auto o = conv(conv_code::preset("dvb_2_3"), 1);
            o.decoder.positive_bit = positive_bit;
            o.decoder.format = format;
            o.decoder.batch = 5;
            o.amplitude = 40;
            EXPECT_GT(equal(o), 3000u);
        }
    }
}

TEST_F(viterbi_channels, Frames_CountErrorsLikeHost)
{
    for (const auto ends :
         { termination::terminated, termination::truncated, termination::tailbiting }) {
        for (const unsigned bits : { 6u, 57u, 800u, 4001u }) {
            auto o = conv_frames(k7, ends, bits);
            o.decoder.batch = 64;
            EXPECT_GT(equal(o), 100u) << bits;
            o.decoder.format = soft_format::packed4;
            EXPECT_GT(equal(o), 100u) << bits;
        }
        EXPECT_GT(equal(conv_frames(conv_code::preset("80211_3_4"), ends, 801)), 100u);
    }
}

TEST_F(viterbi_channels, MinErrors_EndsAtSameSegment)
{
    auto o = conv(k7, 3);
    o.max_bits = 4'000'000;
    o.min_errors = 300;
    EXPECT_GE(equal(o), 300u);
    o.decoder.batch = 3;
    const auto errors = equal(o);
    EXPECT_GE(errors, 300u);
    EXPECT_LT(errors, 2000u);
}

TEST_F(viterbi_channels, NoNoise_HasNoErrors)
{
    auto o = conv(k7, std::numeric_limits<double>::infinity());
    EXPECT_EQ(equal(o), 0u);
}

TEST_F(viterbi_channels, UnsupportedOptions_RunOnHost)
{
    const auto refused = [](simulation_options o, const std::string& why) {
        o.simulated_channel.make = make_device_channel;
        o.max_bits = 1000;
        auto demanding = o;
        demanding.simulated_channel.place = channel_place::device;
        try {
            simulate(demanding);
            ADD_FAILURE() << why;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos)
                << error.what();
        }
        EXPECT_EQ(simulate(o).channel, "host");
    };
    auto o = conv(k7, 1);
    o.reference = true;
    refused(o, "maximum likelihood");
    o = conv(k7, 1);
    o.decoder.format = soft_format::float32;
    refused(o, "float and uint8");
    o = conv(k7, 1);
    o.decoder.backend = backend::cpu;
    refused(o, "CPU");
    // A device that is listed twice counts as two devices, which the simulation refuses.
    o = conv(k7, 1);
    o.decoder.devices = { 0, 0 };
    o.simulated_channel.make = make_device_channel;
    o.simulated_channel.place = channel_place::device;
    EXPECT_THROW(simulate(o), std::invalid_argument);
}

TEST_F(viterbi_channels, ErrorsAtBoundaries_CountInTheirSegments)
{
    // A segment has 65,536 bits. Errors occur on both sides of the boundary between the
    // two segments, and at the last bit of each batch. The first batch ends inside the
    // second segment.
    struct two_segments : device_channel {
        std::string device() const override { return "none"; }
        void run(std::uint64_t bits, const taker& take) override
        {
            EXPECT_EQ(bits, 131072u);
            EXPECT_TRUE(take(100000, { 65535, 65536, 99999 }));
            EXPECT_TRUE(take(31072, { 31071 }));
        }
    };
    auto o = conv(k7, 1);
    o.max_bits = 131072;
    o.simulated_channel.make = [](const auto&) {
        return std::make_unique<two_segments>();
    };
    auto r = simulate(o);
    EXPECT_EQ(r.errors_by_tenth,
              (std::vector<std::uint64_t>{ 1, 0, 0, 0, 0, 3, 0, 0, 0, 0 }));
    EXPECT_EQ(r.decoded.bits(), 131072u);
    EXPECT_EQ(r.decoded.events(), 3u);
    EXPECT_EQ(r.decoded.events_at()[99999 % r.decode_length], 1u);
    ASSERT_EQ(r.decode_length, 1024u);
    EXPECT_EQ(r.decoded.events_at()[1023], 2u); // the first and the last error
}

TEST_F(viterbi_channels, FailedDevice_ContinuesOnHost)
{
    struct failing : device_channel {
        std::string device() const override { return "none"; }
        void run(std::uint64_t, const taker& take) override
        {
            take(100, { 3, 5 });
            throw device_error("the device failed");
        }
    };
    auto o = conv(k7, 1);
    const auto right = simulate(o);
    std::string warning;
    o.simulated_channel.make = [](const auto&) { return std::make_unique<failing>(); };
    o.simulated_channel.warn = [&](const std::string& text) { warning = text; };
    const auto got = simulate(o);
    EXPECT_EQ(got.channel, "host");
    EXPECT_EQ(got.decoded.errors(), right.decoded.errors());
    EXPECT_NE(warning.find("the device failed"), std::string::npos);
    o.simulated_channel.place = channel_place::device;
    EXPECT_THROW(simulate(o), device_error);
}

} // namespace
} // namespace gr::gpufec::viterbi
