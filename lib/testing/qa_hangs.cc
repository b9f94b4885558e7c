// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of decoders when work on a device hangs. */

#include "faulty_decoders.h"
#include "ldpc/model/setup.h"
#include "pipeline/pipeline.h"
#include <algorithm>

namespace gr::gpufec {
namespace {

using namespace qa;

TYPED_TEST_SUITE(faulty, faulty_kinds);

TYPED_TEST(faulty, EndlessWork_AbandonsDevice)
{
    const leak_on_purpose leaks;
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    auto r = this->run();
    r.device_timeout_ms = 30;
    std::vector<std::pair<const char*, std::size_t>> places;
    for (const char* const name : { "cudaMemcpyAsync", "launch" }) {
        const auto all = std::size_t(std::count(calls.begin(), calls.end(), name));
        ASSERT_GT(all, 1u);
        for (const auto k : { std::size_t(0), all / 3, 2 * all / 3, all - 1 }) {
            places.emplace_back(name, k);
        }
    }
    for (const auto& [name, k] : places) {
        faults::begin();
        faults::hang(name, k);
        const auto o = this->decode(r);
        EXPECT_FALSE(faults::waited_for_ever()) << name << " call " << k;
        faults::release(); // the device now writes to memory that must still exist
        EXPECT_TRUE(this->same(o.output, expected.output)) << name << " call " << k;
        EXPECT_EQ(o.backend, "cpu");
        ASSERT_EQ(o.errors.size(), 1u);
        EXPECT_NE(o.errors[0].find(
                      "has not finished a batch within 30 ms; 1 MiB of host memory and "),
                  std::string::npos)
            << o.errors[0];
        EXPECT_NE(o.errors[0].find("without loss of data"), std::string::npos)
            << o.errors[0];
    }

    r.backend = backend::cuda;
    faults::begin();
    faults::hang("cudaMemcpyAsync", 0);
    try {
        this->decode(r);
        FAIL();
    } catch (const device_timeout_error& error) {
        EXPECT_NE(std::string(error.what()).find("never freed"), std::string::npos)
            << error.what();
    }
    EXPECT_FALSE(faults::waited_for_ever());
    faults::release();
}

// A hanging device may later write to the ring, so the decoder must request that the
// pages of the ring are replaced. If the pages cannot be replaced, the decoder may throw
// device_timeout_error.
TYPED_TEST(faulty, HangingDevice_LeavesRingIntact)
{
    const leak_on_purpose leaks;
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    const bool borrows = this->decode_to_ring(this->run(), 4000).ring->in_place > 0;
    const auto calls = faults::calls();
    const auto copies =
        std::size_t(std::count(calls.begin(), calls.end(), "cudaMemcpyAsync"));
    auto r = this->run();
    r.device_timeout_ms = 30;
    bool replaced = false;
    for (const bool replaceable : { true, false }) {
        for (const auto k : { std::size_t(0), copies / 3, copies - 1 }) {
            faults::begin();
            faults::hang("cudaMemcpyAsync", k);
            outcome o;
            try {
                o = this->decode_to_ring(r, 4000, replaceable);
                EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                EXPECT_EQ(o.backend, "cpu");
                EXPECT_TRUE(replaceable || !o.ring->replaced()) << k;
                replaced = replaced || o.ring->replaced();
            } catch (const device_timeout_error& error) {
                EXPECT_FALSE(replaceable) << error.what();
            }
            EXPECT_FALSE(faults::waited_for_ever()) << k;
            faults::release();
#ifndef GPUFEC_EMULATED // a late write of the emulation reaches the new pages
            EXPECT_TRUE(!o.ring || o.ring->is_as_written());
#endif
        }
    }
    EXPECT_EQ(replaced, borrows);
}

TYPED_TEST(faulty, HangingDevice_DoesNotBlockDestruction)
{
    const leak_on_purpose leaks;
    for (const auto where : { backend::automatic, backend::cuda }) {
        faults::begin();
        outcome o;
        {
            auto r = this->run(where);
            r.device_timeout_ms = 30;
            auto u = TypeParam::make(r, this->hooks_to(o));
            faults::begin();
            faults::hang(0);
            const auto on_device = [] {
                const auto calls = faults::calls();
                return std::count(calls.begin(), calls.end(), "cudaMemcpyAsync") > 0;
            };
            for (unsigned f = 0; f < TypeParam::portions && !on_device(); ++f) {
                for (std::size_t first = 0; first < u.portion;) {
                    first += u.push(f, first);
                }
                u.engine->flush();
            }
            if (!on_device()) {
                u.engine->finish(); // submits a stream's incomplete first batch
            }
            ASSERT_TRUE(on_device());
        }
        EXPECT_FALSE(faults::waited_for_ever());
        EXPECT_EQ(o.errors.size() + o.warnings.size(), 1u);
        faults::release();
    }
}

// A device is abandoned because a call fails while an earlier batch hangs. When that
// batch continues, its copies must not write to memory that has been reused.
TYPED_TEST(faulty, LateCopiesOfFailedDevice_DoNotChangeOutput)
{
    const leak_on_purpose leaks;
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    const auto copy = std::find(calls.begin(), calls.end(), "cudaMemcpyAsync");
    const auto copy_at = std::size_t(copy - calls.begin());
    const auto next = std::size_t(
        std::find(calls.begin() + copy_at + 1, calls.end(), "cudaLaunchHostFunc") -
        calls.begin());
    outcome o;
    bool released = false;
    // Releases the work once the device is abandoned.
    const auto release_late = [&] {
        if (!released && !o.errors.empty()) {
            released = true;
            faults::release();
        }
    };
    faults::begin();
    auto r = this->run();
    r.device_timeout_ms = 30;
    auto u = TypeParam::make(r, this->hooks_to(o));
    const auto made = faults::calls().size();
    faults::hang(made);
    // The first batch is enqueued and hangs; enqueueing the next one fails.
    faults::fail(made + (next - copy_at) + 4, cudaErrorIllegalAddress, false);
    for (unsigned f = 0; f < TypeParam::portions; ++f) {
        for (std::size_t first = 0; first < u.portion;) {
            const auto n = u.push(f, first);
            release_late();
            this->take(u, o);
            first += n;
            if (n == 0) {
                u.engine->wait(std::chrono::milliseconds(10));
            }
        }
    }
    u.engine->finish();
    while (!u.engine->done()) {
        release_late();
        this->take(u, o);
        u.engine->wait(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(released);
    EXPECT_TRUE(this->same(o.output, expected.output));
}

#ifdef GPUFEC_EMULATED

TEST(faulty_ldpc, LargerCode_DoesNotWaitForHangingDevice)
{
    const leak_on_purpose leaks;
    ldpc_options o;
    o.codes = { ldpc::qa::regular_code(120, 60, 1),
                ldpc::qa::regular_code(1200, 600, 2) };
    o.batch = 1;
    o.slots = 3;
    o.device_timeout_ms = 30;
    std::mt19937 random(4);
    std::vector<std::int8_t> values(1200);
    for (auto& v : values) {
        v = std::int8_t(random() % 21 - 10);
    }
    const auto decode = [&](backend where) {
        o.backend = where;
        const auto d = ldpc_decoder::make(o);
        EXPECT_EQ(d->active_backend(), where == backend::cpu ? "cpu" : "cuda");
        faults::begin();
        faults::hang("cudaMemcpyAsync", 0);
        for (const unsigned code : { 0, 1, 0 }) {
            d->select(code);
            const std::size_t items = code ? 1200 : 120;
            EXPECT_EQ(d->push({ values.data(), items }), items);
        }
        EXPECT_FALSE(faults::waited_for_ever());
        d->finish();
        bytes out(720);
        for (std::size_t n = 0; !d->done(); d->wait(std::chrono::milliseconds(10))) {
            n += d->pull(unpacked_bits(span(out).from(n)));
        }
        EXPECT_EQ(d->active_backend(), "cpu");
        faults::release();
        return out;
    };
    EXPECT_EQ(decode(backend::automatic), decode(backend::cpu));
}

#endif

} // namespace
} // namespace gr::gpufec
