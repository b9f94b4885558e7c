// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A test fixture that runs a simulation on a device and on the host. */

#ifndef INCLUDED_GPUFEC_LAB_QA_CHANNELS_H
#define INCLUDED_GPUFEC_LAB_QA_CHANNELS_H

#include "cuda/devices.h"
#include "lab/device_channel.h"
#include <gtest/gtest.h>
#include <utility>

namespace gr::gpufec {
namespace qa {

class device_channels : public testing::Test
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }

    // Returns the results of a simulation on the host, with the CPU backend and its batch
    // size, and on a device. All other options are equal.
    template <class Options, class Make, class Simulate>
    static auto both(Options options, Make make, Simulate simulate)
    {
        auto device = options;
        device.simulated_channel.make = make;
        device.simulated_channel.place = channel_place::device;
        options.decoder.backend = backend::cpu;
        options.decoder.batch = 0;
        const auto on_host = simulate(options);
        const auto on_device = simulate(device);
        EXPECT_EQ(on_host.channel, "host");
        EXPECT_EQ(on_device.channel, "device");
        EXPECT_EQ(on_device.backend, "cuda");
        return std::make_pair(on_host, on_device);
    }
};

} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LAB_QA_CHANNELS_H */
