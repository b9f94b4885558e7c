// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the admission of batches to a shared device: the limit on long batches and the
 * order in which waiting decoders are woken and begin. */

#include "cuda/device_admission.h"
#include <condition_variable>
#include <gtest/gtest.h>
#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gr::gpufec {
namespace cuda {
namespace {

using namespace std::chrono_literals;

// Decoder that appends \p name to \p woken when the admission wakes it.
struct decoder {
    decoder(const std::shared_ptr<device_admission>& admission,
            bool long_ones,
            std::string& woken,
            char name)
        : place(admission, long_ones, [&woken, name] { woken += name; })
    {
    }
    unsigned begin(unsigned batches, device_admission::clock::time_point now = {})
    {
        unsigned begun = 0;
        while (begun < batches && place.begin(now)) {
            ++begun;
        }
        return begun;
    }
    device_admission::place place;
};

class device_admission_test : public testing::Test
{
protected:
    std::shared_ptr<device_admission> admission = std::make_shared<device_admission>();
    std::string woken;
    // a, b and c have long batches, s has short ones.
    decoder a{ admission, true, woken, 'a' }, b{ admission, true, woken, 'b' },
        c{ admission, true, woken, 'c' }, s{ admission, false, woken, 's' };
    const device_admission::clock::time_point start{ 1h };
};

TEST_F(device_admission_test, SingleDecoder_IsNotLimited)
{
    EXPECT_EQ(a.begin(16, start), 16u);
}

TEST_F(device_admission_test, ShortBatches_NeverWait)
{
    EXPECT_EQ(a.begin(3, start), 3u);
    EXPECT_EQ(s.begin(16, start), 16u);
}

TEST_F(device_admission_test, SeveralActiveDecoders_LongBatchesAreLimited)
{
    EXPECT_EQ(s.begin(1, start), 1u);
    EXPECT_EQ(a.begin(3, start), 2u);
    s.place.end();
    EXPECT_EQ(woken, ""); // the end of a short batch admits no long batch
    EXPECT_EQ(a.begin(1, start), 0u);
    a.place.end();
    EXPECT_EQ(woken, "a");
    EXPECT_EQ(a.begin(3, start), 1u);
    // s is no longer active, so a is not limited.
    EXPECT_EQ(a.begin(3, start + 2 * device_admission::active_time), 3u);
}

TEST_F(device_admission_test, SeveralDecodersWait_LongestWaitIsWokenFirst)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(c.begin(1, start), 0u);
    EXPECT_EQ(b.begin(1, start), 0u);
    EXPECT_EQ(b.begin(1, start), 0u);
    a.place.end();
    EXPECT_EQ(woken, "cb");
    EXPECT_EQ(b.begin(2, start), 1u);
    EXPECT_EQ(c.begin(1, start), 0u);
    b.place.end();
    EXPECT_EQ(woken, "cbbc");
}

TEST_F(device_admission_test, SeveralDecodersWait_LongestWaitBeginsFirst)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start + 1us), 0u);
    EXPECT_EQ(c.begin(1, start + 2us), 0u);
    a.place.end(start + 3us);
    EXPECT_EQ(woken, "bc");
    // Decoder b was woken first, so decoders a and c must not begin before b.
    EXPECT_EQ(a.begin(1, start + 4us), 0u);
    EXPECT_EQ(c.begin(1, start + 4us), 0u);
    EXPECT_EQ(b.begin(2, start + 5us), 1u);
    a.place.end(start + 6us);
    EXPECT_EQ(woken, "bcacb");
    EXPECT_EQ(a.begin(1, start + 7us), 0u);
    // b has precedence for \c precedence_time only.
    EXPECT_EQ(a.begin(1, start + 2 * device_admission::precedence_time), 1u);
    // With no batch running, nothing would wake decoder a, so it begins immediately.
    a.place.end(start + 8us);
    b.place.end(start + 9us);
    EXPECT_EQ(a.begin(1, start + 10us), 1u);
}

TEST_F(device_admission_test, DecoderIdleOrDestroyed_WaitingDecoderIsWoken)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    a.place.leave_queue();
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(b.begin(3, start), 2u);
    a.place.end(); // no effect, because leave_queue() has ended all of a's batches
    EXPECT_EQ(b.begin(1, start), 0u);

    auto d = std::make_unique<decoder>(admission, true, woken, 'd');
    EXPECT_EQ(d->begin(1, start), 0u);
    woken.clear();
    d.reset();
    EXPECT_EQ(woken, "b");
}

TEST_F(device_admission_test, BatchAdmittedBeyondLimit_CountsTowardsLimit)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.take();
    a.place.end(start);
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(a.begin(1, start + 10ms), 0u); // two batches are on the device
    b.place.end(start);
    EXPECT_EQ(a.begin(1, start + 10ms), 1u);
}

TEST_F(device_admission_test, WaitingDecoderLeavesQueue_IsWoken)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.leave_queue(); // also called by device_decoder::wait_idle()
    woken.clear();
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.leave_queue();
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(b.begin(1, start), 0u);
    a.place.end(start);
    EXPECT_EQ(woken, "bb");
    EXPECT_EQ(b.begin(1, start), 1u);
}

// Each decoder begins its batches on its own thread. One further thread ends all batches.
TEST(device_admission, ConcurrentDecoders_AllBatchesAreAdmitted)
{
    constexpr unsigned decoders = 4, batches = 500;
    const auto admission = std::make_shared<device_admission>();
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<device_admission::place*> running;
    unsigned ended = 0, late = 0;
    bool over = false;
    std::thread device([&] {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return !running.empty() || over; });
            if (running.empty()) {
                return;
            }
            auto* const oldest = running.front();
            lock.unlock();
            oldest->end();
            lock.lock();
            running.pop_front();
            ++ended;
            changed.notify_all();
        }
    });
    std::vector<std::thread> threads;
    for (unsigned d = 0; d < decoders; ++d) {
        threads.emplace_back([&, d] {
            unsigned woken = 0;
            device_admission::place place(admission, d > 0, [&] {
                std::lock_guard<std::mutex> lock(mutex);
                ++woken;
                changed.notify_all();
            });
            for (unsigned b = 0; b < batches; ++b) {
                std::unique_lock<std::mutex> lock(mutex);
                for (;;) {
                    const auto seen = woken;
                    lock.unlock();
                    const bool begun = place.begin();
                    lock.lock();
                    if (begun) {
                        break;
                    }
                    late += !changed.wait_for(lock, 10s, [&] { return woken != seen; });
                }
                running.push_back(&place);
                changed.notify_all();
            }
            // All batches must end before the decoder's place is destroyed.
            std::unique_lock<std::mutex> lock(mutex);
            changed.wait(lock, [&] {
                return std::find(running.begin(), running.end(), &place) == running.end();
            });
        });
    }
    for (auto& t : threads) {
        t.join();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        over = true;
    }
    changed.notify_all();
    device.join();
    EXPECT_EQ(late, 0u);
    EXPECT_EQ(ended, decoders * batches);
}

TEST(device_admission, SameDevice_ReturnsSameAdmission)
{
    EXPECT_EQ(device_admission::of(0), device_admission::of(0));
    EXPECT_NE(device_admission::of(0), device_admission::of(1));
}

} // namespace
} // namespace cuda
} // namespace gr::gpufec
