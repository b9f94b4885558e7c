// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A simulation on a device beside the same on the host. */

#ifndef INCLUDED_GPUFEC_LAB_QA_LINKS_H
#define INCLUDED_GPUFEC_LAB_QA_LINKS_H

#include "cuda/devices.h"
#include "lab/device_link.h"
#include <gtest/gtest.h>
#include <utility>

namespace gr::gpufec {
namespace qa {

class device_links : public testing::Test
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }

    // Both, from the same options.
    template <class Options, class Make, class Simulate>
    static auto both(Options options, Make make, Simulate simulate)
    {
        auto device = options;
        device.link.make = make;
        device.link.place = link_place::device;
        options.decoder.where = backend::cpu;
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

#endif /* INCLUDED_GPUFEC_LAB_QA_LINKS_H */
