// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of several decoders that share an emulated device. */

#include "faulty_decoders.h"
#include <algorithm>
#include <array>

namespace gr::gpufec {
namespace {

using namespace qa;

// Fixture of several decoders on one device. Batches of synchronisation decoders count as
// long, so they may wait for admission to the device (cuda/device_admission.h).
template <class Kind>
class sharing : public faulty<Kind>
{
protected:
    // Decodes the same input with three decoders, which receive portions in rotation.
    std::array<outcome, 3> decode_together(const run_options& run)
    {
        std::array<outcome, 3> outcomes;
        struct part {
            user u;
            unsigned portion = 0;
            std::size_t first = 0;
        };
        std::vector<part> parts;
        for (auto& o : outcomes) {
            parts.push_back({ Kind::make(run, this->hooks_to(o)) });
        }
        for (bool all_done = false; !all_done;) {
            all_done = true;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                auto& p = parts[i];
                if (p.portion < Kind::portions) {
                    p.first += p.u.push(p.portion, p.first);
                    if (p.first >= p.u.portion) {
                        p.first = 0;
                        ++p.portion;
                    }
                    if (p.portion == Kind::portions) {
                        p.u.engine->finish();
                    }
                }
                this->take(p.u, outcomes[i]);
                const bool done = p.portion == Kind::portions && p.u.engine->done();
                if (!done) {
                    using std::chrono::steady_clock;
                    const auto begin = steady_clock::now();
                    p.u.engine->wait(std::chrono::seconds(10));
                    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(9));
                }
                all_done = all_done && done;
            }
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            outcomes[i].backend = parts[i].u.engine->active_backend();
        }
        return outcomes;
    }
};
TYPED_TEST_SUITE(sharing, faulty_kinds);

TYPED_TEST(sharing, DecodersOnOneDevice_AllFinish)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto& o : this->decode_together(this->run())) {
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_EQ(o.backend, "cuda");
        EXPECT_TRUE(o.errors.empty());
    }
}

TYPED_TEST(sharing, FailedDecoder_OthersStayOnDevice)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode_together(this->run());
    const auto calls = faults::calls();
    for (const char* const name : { "cudaMemcpyAsync", "launch", "cudaEventQuery" }) {
        const auto all = std::size_t(std::count(calls.begin(), calls.end(), name));
        ASSERT_GT(all, 8u);
        for (const auto place : { std::size_t(0), all / 4, all / 2 }) {
            faults::begin();
            faults::fail(name, place, cudaErrorIllegalAddress);
            unsigned on_device = 0;
            for (const auto& o : this->decode_together(this->run())) {
                EXPECT_TRUE(this->same(o.output, expected.output))
                    << name << " call " << place;
                on_device += o.backend == "cuda";
            }
            // The number of state queries varies, so the fault may not occur.
            EXPECT_EQ(on_device, faults::failed().empty() ? 3u : 2u)
                << name << " call " << place;
        }
    }
}

TYPED_TEST(sharing, HangingDecoder_LaterDecodersUseDevice)
{
    const leak_on_purpose leaks;
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    auto r = this->run();
    r.device_timeout_ms = 30;
    faults::hang("cudaMemcpyAsync", 3);
    for (const auto& o : this->decode_together(r)) {
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_EQ(o.backend, "cpu");
    }
    faults::release();
    for (const auto& o : this->decode_together(this->run())) {
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_EQ(o.backend, "cuda");
    }
}

TYPED_TEST(sharing, StoppedDecoder_DropsWaitingBatches)
{
    const auto expected = this->decode(this->run(backend::cpu));
    outcome first, second;
    {
        auto u = TypeParam::make(this->run(), this->hooks_to(first));
        auto other = TypeParam::make(this->run(), this->hooks_to(second));
        for (unsigned f = 0; f < TypeParam::portions; ++f) {
            if (u.push(f, 0) + other.push(f, 0) < 2 * u.portion) {
                break;
            }
        }
    }
    for (const auto& o : this->decode_together(this->run())) {
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_EQ(o.backend, "cuda");
    }
}

} // namespace
} // namespace gr::gpufec
