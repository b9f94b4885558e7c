// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Emulates the threads of a block on one CPU thread. Each emulated thread has its own
 * stack and runs until it reaches a barrier. The order of the threads is random, with the
 * seed in the environment variable GPUFEC_EMULATION_SEED, by default 1. */

#include "cuda_pipeline.h"
#include <cuda_runtime.h>
#include <ucontext.h>
#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#endif

__thread dim3 threadIdx, blockIdx, blockDim, gridDim;

// The shared memory of the running block. Kernels declare it under several names, which
// are aliases of one array.
namespace gr::gpufec::sync_map {
alignas(1024) double shared[(227 << 10) / sizeof(double)];
}
namespace gr::gpufec::ldpc::device {
extern uint4 shared_memory[(227 << 10) / sizeof(uint4)]
    __attribute__((alias("_ZN2gr6gpufec8sync_map6sharedE")));
}
namespace gr::gpufec::on_device {
extern std::uint64_t shared[(227 << 10) / sizeof(std::uint64_t)]
    __attribute__((alias("_ZN2gr6gpufec8sync_map6sharedE")));
}

namespace {

constexpr std::size_t stack_bytes = 1 << 16;

enum class barrier { none, warp, numbered, block };

struct copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

struct thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
    barrier waits;
    unsigned number; // number of the barrier at which the thread waits, if `waits` is
                     // barrier::numbered
    bool done;
    // Numbers of calls of emulated_exchange() and of __syncthreads_or() so far.
    unsigned exchanges, votes;
    std::vector<copy> copies; // asynchronous copies that have not arrived
};

// Values of a warp's latest two emulated_exchange() calls. Some threads can be one
// exchange ahead of others, which still read the values of the previous exchange.
struct warp {
    std::array<std::array<std::uint64_t, 32>, 2> exchanged;
};

thread_local std::vector<thread> threads;
thread_local std::vector<warp> warps;
thread_local std::array<bool, 3> votes;
// Number of threads that have arrived at each numbered barrier.
thread_local std::array<unsigned, 16> arrived;
thread_local ucontext_t scheduler;
thread_local const std::function<void()>* kernel_of_block;

std::mt19937& turns()
{
    static const char* const seed = std::getenv("GPUFEC_EMULATION_SEED");
    thread_local std::mt19937 random(seed ? std::atoi(seed) : 1);
    return random;
}

thread& self() { return threads[threadIdx.x]; }

void wait(barrier at)
{
    auto& t = self();
    t.waits = at;
    swapcontext(&t.context, &scheduler);
}

void run_thread()
{
    (*kernel_of_block)();
    auto& t = self();
    t.done = true;
    swapcontext(&t.context, &scheduler);
}

void release(std::size_t first, std::size_t count, barrier at)
{
    const auto begin = threads.begin() + first;
    const auto end = begin + std::min(count, threads.size() - first);
    // The barrier does not wait for threads that have returned.
    if (std::all_of(
            begin, end, [&](const thread& t) { return t.done || t.waits == at; })) {
        std::for_each(begin, end, [](thread& t) { t.waits = barrier::none; });
    }
}

void run_block(std::size_t shared_bytes)
{
    using gr::gpufec::sync_map::shared;
    auto* const memory = reinterpret_cast<std::byte*>(shared);
    ASAN_UNPOISON_MEMORY_REGION(memory, sizeof(shared));
    std::fill(memory, memory + sizeof(shared), std::byte(0xff));
    ASAN_POISON_MEMORY_REGION(memory + shared_bytes, sizeof(shared) - shared_bytes);
    std::vector<unsigned> order;
    for (auto& t : threads) {
        t.waits = barrier::none;
        t.done = false;
        t.exchanges = t.votes = 0;
        t.copies.clear();
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = t.stack.get();
        t.context.uc_stack.ss_size = stack_bytes;
        t.context.uc_link = nullptr;
        makecontext(&t.context, run_thread, 0);
        order.push_back(order.size());
    }
    votes = {};
    arrived = {};
    const auto done = [](const thread& t) { return t.done; };
    while (!std::all_of(threads.begin(), threads.end(), done)) {
        std::shuffle(order.begin(), order.end(), turns());
        bool ran = false;
        for (const unsigned number : order) {
            if (threads[number].done || threads[number].waits != barrier::none) {
                continue;
            }
            ran = true;
            threadIdx = dim3(number);
            swapcontext(&scheduler, &threads[number].context);
            // Warp barriers are released here, so that a warp can run ahead of others.
            release(number / 32 * 32, 32, barrier::warp);
        }
        release(0, threads.size(), barrier::block);
        const bool stuck =
            std::all_of(threads.begin(), threads.end(), [](const thread& t) {
                return t.done || t.waits != barrier::none;
            });
        if (!ran && stuck && !std::all_of(threads.begin(), threads.end(), done)) {
            throw std::logic_error("threads wait at different barriers");
        }
    }
    ASAN_UNPOISON_MEMORY_REGION(memory, sizeof(gr::gpufec::sync_map::shared));
}

} // namespace

void __syncwarp() { wait(barrier::warp); }
void __syncthreads() { wait(barrier::block); }
namespace {

void count_arrival(unsigned number, unsigned count)
{
    if (++arrived[number] == count) {
        arrived[number] = 0;
        for (auto& t : threads) {
            if (t.waits == barrier::numbered && t.number == number) {
                t.waits = barrier::none;
            }
        }
    }
}

} // namespace

void emulated_arrive(unsigned number, unsigned count)
{
    count_arrival(number, count);
    wait(barrier::none); // other threads may run now
}
void emulated_sync(unsigned number, unsigned count)
{
    auto& t = self();
    t.waits = barrier::numbered;
    t.number = number;
    count_arrival(number, count);
    swapcontext(&t.context, &scheduler);
}

int __syncthreads_or(int predicate)
{
    const unsigned number = self().votes++;
    votes[(number + 1) % 3] = false;
    votes[number % 3] |= predicate != 0;
    wait(barrier::block);
    return votes[number % 3];
}

const std::uint64_t* emulated_exchange(std::uint64_t mine)
{
    auto& values = warps[threadIdx.x / 32].exchanged[self().exchanges++ % 2];
    values[threadIdx.x % 32] = mine;
    wait(barrier::warp);
    return values.data();
}

void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes)
{
    self().copies.push_back({ to, from, bytes });
}

void __pipeline_wait_prior(int)
{
    for (const auto& c : self().copies) {
        std::memcpy(c.to, c.from, c.bytes);
    }
    self().copies.clear();
}

void emulate(dim3 grid,
             dim3 block,
             std::size_t shared_bytes,
             cudaStream_t stream,
             std::function<void()> kernel)
{
    if (shared_bytes > sizeof(gr::gpufec::sync_map::shared)) {
        throw std::logic_error("a block requests too much shared memory");
    }
    emulated_launch(stream, [=, kernel = std::move(kernel)] {
        gridDim = grid;
        blockDim = block;
        kernel_of_block = &kernel;
        threads.resize(block.x);
        warps.resize((block.x + 31) / 32);
        for (unsigned y = 0; y < grid.y; ++y) {
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = dim3(x, y);
                run_block(shared_bytes);
            }
        }
    });
}
