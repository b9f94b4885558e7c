// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "cuda/device_turns.h"
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

// A decoder's place, which notes in \p woken that it was called.
struct decoder {
    decoder(const std::shared_ptr<device_turns>& turns,
            bool long_ones,
            std::string& woken,
            char name)
        : place(turns, long_ones, [&woken, name] { woken += name; })
    {
    }
    unsigned begin(unsigned batches, device_turns::clock::time_point now = {})
    {
        unsigned begun = 0;
        while (begun < batches && place.begin(now)) {
            ++begun;
        }
        return begun;
    }
    device_turns::place place;
};

class device_turns_of : public testing::Test
{
protected:
    std::shared_ptr<device_turns> turns = std::make_shared<device_turns>();
    std::string woken;
    // With long batches: a, b and c; with short ones: s.
    decoder a{ turns, true, woken, 'a' }, b{ turns, true, woken, 'b' },
        c{ turns, true, woken, 'c' }, s{ turns, false, woken, 's' };
    const device_turns::clock::time_point start{ 1h };
};

TEST_F(device_turns_of, who_is_alone_waits_for_nobody)
{
    EXPECT_EQ(a.begin(16, start), 16u);
}

TEST_F(device_turns_of, short_batches_never_wait)
{
    EXPECT_EQ(a.begin(3, start), 3u);
    EXPECT_EQ(s.begin(16, start), 16u);
}

TEST_F(device_turns_of, few_long_batches_are_on_the_device_while_others_work)
{
    EXPECT_EQ(s.begin(1, start), 1u);
    EXPECT_EQ(a.begin(3, start), 2u);
    s.place.end();
    EXPECT_EQ(woken, ""); // a short batch made no place
    EXPECT_EQ(a.begin(1, start), 0u);
    a.place.end();
    EXPECT_EQ(woken, "a");
    EXPECT_EQ(a.begin(3, start), 1u);
    // The other has long done nothing.
    EXPECT_EQ(a.begin(3, start + 2 * device_turns::at_work), 3u);
}

TEST_F(device_turns_of, who_waits_longest_is_woken_first)
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

TEST_F(device_turns_of, who_waits_longest_begins_first)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start + 1us), 0u);
    EXPECT_EQ(c.begin(1, start + 2us), 0u);
    a.place.end(start + 3us);
    EXPECT_EQ(woken, "bc");
    // Nobody overtakes b, which may be on its way, though others are here already.
    EXPECT_EQ(a.begin(1, start + 4us), 0u);
    EXPECT_EQ(c.begin(1, start + 4us), 0u);
    EXPECT_EQ(b.begin(2, start + 5us), 1u);
    a.place.end(start + 6us);
    EXPECT_EQ(woken, "bcacb");
    EXPECT_EQ(a.begin(1, start + 7us), 0u);
    // It is not waited for long.
    EXPECT_EQ(a.begin(1, start + 2 * device_turns::kept), 1u);
    // Where nothing runs any more nobody would wake who waited.
    a.place.end(start + 8us);
    b.place.end(start + 9us);
    EXPECT_EQ(a.begin(1, start + 10us), 1u);
}

TEST_F(device_turns_of, who_rests_or_leaves_holds_nobody_up)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    a.place.rest();
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(b.begin(3, start), 2u);
    a.place.end(); // of what it had on the device
    EXPECT_EQ(b.begin(1, start), 0u);

    auto d = std::make_unique<decoder>(turns, true, woken, 'd');
    EXPECT_EQ(d->begin(1, start), 0u);
    woken.clear();
    d.reset();
    EXPECT_EQ(woken, "b");
}

TEST_F(device_turns_of, who_takes_a_turn_counts_as_well)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.take();
    a.place.end(start);
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(a.begin(1, start + 10ms), 0u); // two are there
    b.place.end(start);
    EXPECT_EQ(a.begin(1, start + 10ms), 1u);
}

TEST_F(device_turns_of, who_rests_while_it_waits_is_woken)
{
    EXPECT_EQ(a.begin(2, start), 2u);
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.rest(); // asked whether anything of it is on the device
    woken.clear();
    EXPECT_EQ(b.begin(1, start), 0u);
    b.place.rest();
    EXPECT_EQ(woken, "b");
    EXPECT_EQ(b.begin(1, start), 0u);
    a.place.end(start);
    EXPECT_EQ(woken, "bb");
    EXPECT_EQ(b.begin(1, start), 1u);
}

// Of decoders in threads of their own, whose batches a thread of the device ends.
TEST(device_turns, come_to_all_that_wait)
{
    constexpr unsigned decoders = 4, batches = 500;
    const auto turns = std::make_shared<device_turns>();
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<device_turns::place*> running;
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
            device_turns::place place(turns, d > 0, [&] {
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
            // What it has on the device ends before its place is gone.
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

TEST(device_turns, are_those_of_a_device)
{
    EXPECT_EQ(device_turns::of(0), device_turns::of(0));
    EXPECT_NE(device_turns::of(0), device_turns::of(1));
}

} // namespace
} // namespace cuda
} // namespace gr::gpufec
