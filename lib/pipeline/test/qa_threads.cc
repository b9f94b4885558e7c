// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the threads of the pipeline: worker_pool, thread_team, copy_team,
 * batch_deadline and deadline_timer. */

#include "pipeline/batch_deadline.h"
#include "pipeline/deadline_timer.h"
#include "pipeline/thread_team.h"
#include "pipeline/worker_pool.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <thread>

using namespace gr::gpufec;

namespace {

using namespace std::chrono_literals;

template <class Condition>
bool eventually(Condition&& condition)
{
    for (int i = 0; i < 5000 && !condition(); ++i) {
        std::this_thread::sleep_for(1ms);
    }
    return condition();
}

TEST(worker_pool, EveryChunk_IsProcessedOnce)
{
    for (const unsigned threads : { 1u, 2u, 5u }) {
        worker_pool pool(threads);
        std::atomic<int> completions{ 0 };
        pool.on_completion([&] { ++completions; });
        std::vector<std::atomic<int>> runs(3 * 100);
        for (unsigned slot = 0; slot < 3; ++slot) {
            pool.submit(slot, 100, [&, slot](std::size_t chunk, unsigned worker) {
                EXPECT_LT(worker, threads);
                ++runs[slot * 100 + chunk];
            });
        }
        EXPECT_TRUE(eventually([&] { return completions == 3; }));
        for (unsigned slot = 0; slot < 3; ++slot) {
            EXPECT_TRUE(pool.finished(slot));
        }
        for (const auto& r : runs) {
            EXPECT_EQ(r, 1);
        }
    }
}

TEST(thread_team, EveryUnit_IsProcessedOnce)
{
    for (const unsigned threads : { 1u, 2u, 20u }) {
        thread_team team(threads);
        for (const std::size_t units : { 0u, 1u, 3u, 7000u }) {
            for (const std::size_t max_parts : { 0u, 1u, 10u }) {
                std::vector<std::atomic<int>> runs(units);
                std::atomic<std::size_t> parts{ 0 };
                team(units, max_parts, [&](std::size_t first, std::size_t count) {
                    ++parts;
                    for (auto i = first; i < first + count; ++i) {
                        ++runs[i];
                    }
                });
                for (const auto& r : runs) {
                    ASSERT_EQ(r, 1);
                }
                const auto most = std::min<std::size_t>({ threads, units, max_parts });
                EXPECT_EQ(parts, std::max<std::size_t>(most, 1));
            }
        }
    }
}

TEST(thread_team, ChunksInAdvance_AreProcessedOnceBeforeWaitReturns)
{
    for (const unsigned threads : { 1u, 2u, 20u }) {
        thread_team team(threads);
        for (const std::size_t chunks : { 1u, 3u, 700u, 5u }) {
            std::vector<std::atomic<int>> runs(chunks);
            team.begin(chunks, [&](std::size_t chunk) { ++runs[chunk]; });
            for (std::size_t i = 0; i < chunks; ++i) {
                const auto chunk = (i + chunks / 2) % chunks;
                team.wait(chunk);
                ASSERT_EQ(runs[chunk], 1);
            }
        }
    }
}

TEST(copy_team, EveryUnit_IsCopiedOnce)
{
    for (const unsigned threads : { 1u, 2u, 5u, 100u }) {
        copy_team copies(threads);
        for (const std::size_t units : { 0u, 1u, 3u, 7000u }) {
            std::vector<std::atomic<int>> runs(units);
            std::atomic<unsigned> parts{ 0 };
            copies(units, 1u << 10, [&](std::size_t first, std::size_t count) {
                ++parts;
                for (auto i = first; i < first + count; ++i) {
                    ++runs[i];
                }
            });
            for (const auto& r : runs) {
                ASSERT_EQ(r, 1);
            }
            // 7 MB are divided among up to 8 threads; 3 kB are copied by one.
            EXPECT_EQ(parts, units == 7000 ? std::min(threads, 8u) : 1u);
        }
    }
}

TEST(worker_pool, ChunkRunning_BatchIsNotFinished)
{
    worker_pool pool(2);
    std::atomic<bool> go{ false };
    pool.submit(4, 2, [&](std::size_t chunk, unsigned) {
        while (chunk == 1 && !go) {
            std::this_thread::sleep_for(1ms);
        }
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(pool.finished(4));
    go = true;
    EXPECT_TRUE(eventually([&] { return pool.finished(4); }));
}

TEST(worker_pool, WorkQueued_DestructorReturns)
{
    std::atomic<int> runs{ 0 };
    {
        worker_pool pool(1);
        pool.submit(0, 1000, [&](std::size_t, unsigned) {
            ++runs;
            std::this_thread::sleep_for(1ms);
        });
        eventually([&] { return runs > 0; });
    }
    EXPECT_GT(runs, 0);
    EXPECT_LT(runs, 1000);
}

// A decoder's reset() must not wait for the chunks of dropped batches.
TEST(worker_pool, DroppedChunks_AreNotProcessed)
{
    worker_pool pool(2);
    std::atomic<bool> go{ false };
    std::atomic<int> runs{ 0 };
    for (unsigned slot = 0; slot < 3; ++slot) {
        pool.submit(slot, 100, [&](std::size_t, unsigned) {
            ++runs;
            while (!go) {
                std::this_thread::sleep_for(1ms);
            }
        });
    }
    EXPECT_TRUE(eventually([&] { return runs == 2; }));
    pool.drop();
    EXPECT_FALSE(pool.finished(0)); // two of the chunks are running
    EXPECT_TRUE(pool.finished(1));
    EXPECT_TRUE(pool.finished(2));
    go = true;
    EXPECT_TRUE(eventually([&] { return pool.finished(0); }));
    EXPECT_EQ(runs, 2);
    pool.submit(1, 1, [&](std::size_t, unsigned) { ++runs; });
    EXPECT_TRUE(eventually([&] { return runs == 3; }));
}

// A clock that only the test advances.
struct simulated_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<simulated_clock>;
    static constexpr bool is_steady = true;
    static time_point now() { return time; }
    inline static time_point time{};
};

// A deadline_timer that uses simulated_clock.
class simulated_timer
{
public:
    using clock = simulated_clock;
    explicit simulated_timer(std::function<void()> ring) : d_ring(std::move(ring))
    {
        only = this;
    }
    void set(clock::time_point when) { d_when = when; }
    void clear() { d_when = clock::time_point::max(); }

    static void pass(clock::duration time)
    {
        const auto end = clock::time + time;
        if (only->d_when <= end) {
            clock::time = std::max(clock::time, only->d_when);
            only->clear();
            only->d_ring();
        }
        clock::time = end;
    }

private:
    inline static simulated_timer* only = nullptr;
    const std::function<void()> d_ring;
    clock::time_point d_when = clock::time_point::max();
};

TEST(batch_deadline, LatencyLimit_ExpiresExactlyAtItsEnd)
{
    const auto now = &simulated_clock::now;
    for (const auto latency : { 1ms, 50ms, 20000ms }) {
        auto rung = now();
        unsigned rings = 0;
        basic_batch_deadline<simulated_timer> deadline(latency.count(), [&] {
            rung = now();
            ++rings;
        });
        for (unsigned batch = 1; batch <= 3; ++batch) {
            simulated_timer::pass(latency * 3);
            EXPECT_FALSE(deadline.over());
            const auto begin = now();
            deadline.start();
            simulated_timer::pass(latency / 2);
            deadline.start(); // has no effect while the batch is waiting
            simulated_timer::pass(latency - latency / 2 - 1ns);
            EXPECT_FALSE(deadline.over());
            EXPECT_EQ(rings, batch - 1);
            simulated_timer::pass(1ns);
            EXPECT_TRUE(deadline.over());
            EXPECT_EQ(rings, batch);
            EXPECT_EQ(rung, begin + latency);
            deadline.stop();
            EXPECT_FALSE(deadline.over());
        }
    }
}

TEST(batch_deadline, NewLatency_CountsFromTheBeginningOfTheWait)
{
    basic_batch_deadline<simulated_timer> deadline(50, [] {});
    for (const double latency : { 30., 80. }) {
        deadline.set_latency_ms(50);
        deadline.start();
        simulated_timer::pass(20ms);
        deadline.set_latency_ms(latency);
        simulated_timer::pass(std::chrono::milliseconds(int(latency) - 20) - 1ns);
        EXPECT_FALSE(deadline.over());
        simulated_timer::pass(1ns);
        EXPECT_TRUE(deadline.over());
        deadline.stop();
    }
    deadline.start();
    simulated_timer::pass(20ms);
    deadline.set_latency_ms(20);
    EXPECT_TRUE(deadline.over());
}

TEST(deadline_timer, TimeReached_CallsBackOnce)
{
    std::atomic<int> rings{ 0 };
    deadline_timer timer([&] { ++rings; });
    const auto begin = deadline_timer::clock::now();
    timer.set(begin + 30ms);
    EXPECT_TRUE(eventually([&] { return rings == 1; }));
    EXPECT_GE(deadline_timer::clock::now() - begin, 30ms);
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(rings, 1);
}

TEST(deadline_timer, ChangedTime_MovesOrCancelsCallback)
{
    std::atomic<int> rings{ 0 };
    deadline_timer timer([&] { ++rings; });
    timer.set(deadline_timer::clock::now() + 1h);
    timer.clear();
    timer.set(deadline_timer::clock::now() + 20ms);
    timer.clear();
    std::this_thread::sleep_for(60ms);
    EXPECT_EQ(rings, 0);
    timer.set(deadline_timer::clock::now() - 1s);
    EXPECT_TRUE(eventually([&] { return rings == 1; }));
}

} // namespace
