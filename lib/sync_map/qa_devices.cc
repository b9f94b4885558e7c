// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of sync_decoder on simulated devices: several take batches in turn, and where one
 * fails in mid-run nothing is lost. */

#include "lab/sync_map/simulation.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <gtest/gtest.h>
#include <cstdlib>

namespace gr::gpufec::sync_map {
namespace {

class failing_device
{
public:
    failing_device(int device, unsigned batches)
    {
        const auto text = std::to_string(device) + ":" + std::to_string(batches);
        setenv("GPUFEC_SIMULATED_FAILURE", text.c_str(), 1);
    }
    failing_device(const failing_device&) = delete;
    ~failing_device() { unsetenv("GPUFEC_SIMULATED_FAILURE"); }
};

struct decoded {
    std::vector<std::uint8_t> bytes; // of all outputs, in order
    std::vector<std::string> errors; // logged
    std::string backend;             // at the end
};

constexpr unsigned frames = 40;

sync_options options_of(sync_mode mode)
{
    sync_options o(codebook_random(6, 8, 15, 4), { 0.02, 0.02, 0.01 });
    o.mode = mode;
    o.output = sync_output::posteriors;
    return o;
}

void take_all(sync_decoder& decoder, decoded& to)
{
    for (sync_decoder::frame f; decoder.pull(f);) {
        const auto* const bytes = static_cast<const std::uint8_t*>(f.output);
        to.bytes.insert(to.bytes.end(), bytes, bytes + f.output_bytes);
        EXPECT_TRUE(f.status.valid);
    }
}

decoded decode(const sync_options& o)
{
    decoded out;
    sync_decoder::hooks hooks;
    hooks.log = [&](sync_decoder::level level, const std::string& text) {
        if (level == sync_decoder::level::error) {
            out.errors.push_back(text);
        }
    };
    sync_decoder decoder(o, hooks);
    const frame_source source(o, 3);
    for (unsigned f = 0; f < frames; ++f) {
        const auto frame = source.make(f);
        for (std::size_t taken = 0; taken < frame.count;) {
            const auto n =
                o.mode == sync_mode::stream
                    ? decoder.push(&frame.items[taken], frame.count - taken)
                    : decoder.push_frame(frame.items.data(), frame.count) * frame.count;
            take_all(decoder, out);
            taken += n;
            if (n == 0) {
                decoder.wait(std::chrono::milliseconds(10));
            }
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        take_all(decoder, out);
        decoder.wait(std::chrono::milliseconds(10));
    }
    out.backend = decoder.active_backend();
    return out;
}

class sync_devices : public testing::TestWithParam<sync_mode>
{
};

TEST_P(sync_devices, failure_in_mid_run_loses_nothing)
{
    auto o = options_of(GetParam());
    o.where = backend::cpu;
    const auto expected = decode(o);
    ASSERT_EQ(expected.bytes.size(), frames * 15 * 8 * sizeof(float));
    o.where = backend::automatic;
    EXPECT_EQ(decode(o).bytes, expected.bytes);
    EXPECT_EQ(decode(o).backend, "cuda");
    o.batch = 4;
    // At the first batch, with slots in flight, and at the last.
    for (const unsigned batches : { 0u, 1u, 3u, 6u, 9u }) {
        const failing_device fails(0, batches);
        const auto out = decode(o);
        EXPECT_EQ(out.bytes, expected.bytes) << batches;
        EXPECT_EQ(out.backend, "cpu") << batches;
        ASSERT_EQ(out.errors.size(), 1u) << batches;
        EXPECT_NE(out.errors[0].find("simulated device 0 failed"), std::string::npos);
        EXPECT_NE(out.errors[0].find("nothing is lost"), std::string::npos);
    }
}

TEST_P(sync_devices, one_of_several_may_fail)
{
    auto o = options_of(GetParam());
    o.where = backend::cpu;
    const auto expected = decode(o);
    o.where = backend::automatic;
    o.batch = 3;
    o.slots = 2;
    o.devices = { 2, 0, 1 };
    EXPECT_EQ(decode(o).bytes, expected.bytes);
    const failing_device fails(0, 2);
    const auto out = decode(o);
    EXPECT_EQ(out.bytes, expected.bytes);
    EXPECT_EQ(out.errors.size(), 1u);
}

TEST_P(sync_devices, what_was_asked_for_is_not_replaced)
{
    auto o = options_of(GetParam());
    o.where = backend::cuda;
    o.batch = 4;
    EXPECT_EQ(decode(o).backend, "cuda");
    {
        const failing_device fails(0, 3);
        EXPECT_THROW(decode(o), device_error);
    }
    o.devices = { 4 };
    EXPECT_THROW(decode(o), std::runtime_error);
    o.where = backend::automatic;
    EXPECT_EQ(decode(o).backend, "cpu");
}

INSTANTIATE_TEST_SUITE_P(modes,
                         sync_devices,
                         testing::Values(sync_mode::framed, sync_mode::stream));

} // namespace
} // namespace gr::gpufec::sync_map
