// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "bit_unpacker.h"
#include "deadline_timer.h"
#include "worker_pool.h"
#include <gtest/gtest.h>
#include <atomic>
#include <random>
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

TEST(bit_unpacker, gives_what_is_unpacked_at_once)
{
    std::mt19937 random(5);
    for (const std::size_t frame_bits : { 1000003u, 8u, 13u, 32400u, 9000000u }) {
        const std::size_t frames = 9000000 / frame_bits;
        const std::size_t frame_bytes = (frame_bits + 7) / 8;
        std::vector<std::uint8_t> packed(frames * frame_bytes);
        for (auto& byte : packed) {
            byte = std::uint8_t(random());
        }
        std::vector<std::uint8_t> expected(frames * frame_bits), out(expected.size(), 9);
        for (std::size_t f = 0; f < frames; ++f) {
            unpack_bits(
                &packed[f * frame_bytes], 0, frame_bits, &expected[f * frame_bits]);
        }
        bit_unpacker unpacker(out.data(), frame_bits);
        for (std::size_t taken = 0; taken < packed.size();) {
            taken += unpacker.take([&](std::uint8_t* to, std::size_t room) {
                EXPECT_GT(room, 0u);
                const auto n = std::min(
                    { room, packed.size() - taken, std::size_t(random() % 100000 + 1) });
                std::copy_n(&packed[taken], n, to);
                return n;
            });
        }
        unpacker.finish();
        EXPECT_EQ(out, expected) << frame_bits;
    }
}

TEST(bit_unpacker, ends_where_it_is_left)
{
    std::vector<std::uint8_t> out(8u << 20, 9);
    bit_unpacker unpacker(out.data(), out.size());
    for (int k = 0; k < 3; ++k) {
        unpacker.take([](std::uint8_t* to, std::size_t room) {
            std::fill_n(to, room, 0xff);
            return room;
        });
    }
}

TEST(worker_pool, does_every_chunk_once)
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

TEST(worker_pool, is_not_finished_before_the_last_chunk)
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

TEST(worker_pool, ends_with_work_queued)
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

// A restart must not wait for what nobody wants any more.
TEST(worker_pool, what_is_dropped_is_not_done)
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
    EXPECT_FALSE(pool.finished(0)); // two chunks are at work
    EXPECT_TRUE(pool.finished(1));
    EXPECT_TRUE(pool.finished(2));
    go = true;
    EXPECT_TRUE(eventually([&] { return pool.finished(0); }));
    EXPECT_EQ(runs, 2);
    pool.submit(1, 1, [&](std::size_t, unsigned) { ++runs; });
    EXPECT_TRUE(eventually([&] { return runs == 3; }));
}

TEST(deadline_timer, rings_once_at_its_time)
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

TEST(deadline_timer, can_be_moved_and_cleared)
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
