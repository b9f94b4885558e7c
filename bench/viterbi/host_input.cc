// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares methods of transferring input from a ring buffer to a GPU: through pinned
 * slots, with several copy functions, or directly from the ring. Another thread fills
 * the ring, like an upstream block. Prints the rate of each method as JSON, for rings and
 * transfers of several sizes. With "array", the program measures instead the rates at
 * which one thread copies a large array into slots.
 *
 * Usage: host_input [SECONDS [array]] */

#include "common/host_memory.h"
#include "common/non_temporal_copy.h"
#include "cuda/runtime.h"
#include "json.h"
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

using namespace gr::gpufec;

namespace {

constexpr unsigned slots = 3;

double seconds()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

// A ring buffer whose memory is mapped twice in a row, like GNU Radio's buffers, so that
// data is contiguous across the wrap.
class ring
{
public:
    explicit ring(std::size_t bytes) : d_bytes(bytes)
    {
        const int file = memfd_create("ring", 0);
        const bool sized = file >= 0 && ftruncate(file, bytes) == 0;
        void* const both =
            mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (!sized || both == MAP_FAILED) {
            throw std::runtime_error("the memory of the ring cannot be mapped");
        }
        d_data = static_cast<std::byte*>(both);
        for (int half = 0; half < 2; ++half) {
            mmap(d_data + half * bytes,
                 bytes,
                 PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED,
                 file,
                 0);
        }
        close(file);
        std::memset(d_data, 1, bytes);
    }
    ~ring() { munmap(d_data, 2 * d_bytes); }

    std::byte* at(std::uint64_t position) { return d_data + position % d_bytes; }
    std::byte* data() { return d_data; }
    std::size_t bytes() const { return d_bytes; }

    std::atomic<std::uint64_t> written{ 0 }, read{ 0 };
    std::atomic<bool> stop{ false };

private:
    std::byte* d_data;
    std::size_t d_bytes;
};

// Fills free space of the ring, at most half a ring at a time, like an upstream block.
void produce(ring& r)
{
    std::uint64_t written = 0;
    int value = 0;
    while (!r.stop) {
        const auto free = r.bytes() - (written - r.read);
        const auto n = std::min<std::size_t>(free, r.bytes() / 2);
        if (n < std::min<std::size_t>(32768, r.bytes() / 2)) {
            std::this_thread::yield();
            continue;
        }
        std::memset(r.at(written), ++value, n);
        written += n;
        r.written = written;
    }
}

using copy = void (*)(std::byte*, const std::byte*, std::size_t);

void plain(std::byte* to, const std::byte* from, std::size_t n)
{
    std::memcpy(to, from, n);
}

void string_move(std::byte* to, const std::byte* from, std::size_t n)
{
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

// Copies with non-temporal stores, which do not read the destination into the cache
// first.
__attribute__((target("avx512f"))) void
streaming(std::byte* to, const std::byte* from, std::size_t n)
{
    const auto head =
        std::min<std::size_t>(n, -reinterpret_cast<std::uintptr_t>(to) % 64);
    std::memcpy(to, from, head);
    std::size_t i = head;
    for (; i + 256 <= n; i += 256) {
        for (int k = 0; k < 4; ++k) {
            _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i + 64 * k),
                                _mm512_loadu_si512(from + i + 64 * k));
        }
    }
    _mm_sfence();
    std::memcpy(to + i, from + i, n - i);
}

// Copies four pages at a time, one cache line of each page in rotation, with non-temporal
// stores. The loads then form four streams for the prefetchers.
void four_pages(std::byte* to, const std::byte* from, std::size_t n)
{
    constexpr std::size_t page = 4096, line = 64;
    for (; n >= 4 * page; n -= 4 * page, to += 4 * page, from += 4 * page) {
        for (std::size_t at = 0; at < page; at += line) {
            for (std::size_t p = 0; p < 4 * page; p += page) {
                _mm_prefetch(reinterpret_cast<const char*>(from + p + at + 2 * line),
                             _MM_HINT_T0);
                for (std::size_t k = p + at; k < p + at + line; k += sizeof(__m128i)) {
                    _mm_stream_si128(
                        reinterpret_cast<__m128i*>(to + k),
                        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
                }
            }
        }
    }
    _mm_sfence();
    std::memcpy(to, from, n);
}

// A set of threads that each copy an equal part of a transfer, and spin between
// transfers.
class copiers
{
public:
    copiers(unsigned threads, copy how) : d_how(how), d_parts(threads)
    {
        for (unsigned t = 1; t < threads; ++t) {
            d_threads.emplace_back([this, t] { serve(t); });
        }
    }
    ~copiers()
    {
        d_stop = true;
        ++d_turn;
        for (auto& t : d_threads) {
            t.join();
        }
    }
    void operator()(std::byte* to, const std::byte* from, std::size_t n)
    {
        d_to = to;
        d_from = from;
        d_bytes = n;
        d_left = d_parts - 1;
        ++d_turn;
        part(0);
        while (d_left > 0) {
            _mm_pause();
        }
    }

private:
    void part(unsigned t)
    {
        const auto begin = d_bytes * t / d_parts / 64 * 64;
        const auto end =
            t + 1 == d_parts ? d_bytes : d_bytes * (t + 1) / d_parts / 64 * 64;
        d_how(d_to + begin, d_from + begin, end - begin);
    }
    void serve(unsigned t)
    {
        unsigned seen = 0;
        for (;;) {
            while (d_turn == seen) {
                _mm_pause();
            }
            ++seen;
            if (d_stop) {
                return;
            }
            part(t);
            --d_left;
        }
    }

    const copy d_how;
    const unsigned d_parts;
    std::byte* d_to = nullptr;
    const std::byte* d_from = nullptr;
    std::size_t d_bytes = 0;
    std::atomic<unsigned> d_turn{ 0 }, d_left{ 0 };
    std::atomic<bool> d_stop{ false };
    std::vector<std::thread> d_threads;
};

struct transfer {
    explicit transfer(std::size_t bytes) : host(bytes), device(bytes)
    {
        cuda::page_lock(host.data(), bytes);
    }
    ~transfer()
    {
        cudaStreamSynchronize(stream.get());
        if (host.size()) {
            cuda::page_unlock(host.data());
        }
    }
    void send(const std::byte* from, std::size_t bytes)
    {
        cuda::check(cudaMemcpyAsync(
                        device.get(), from, bytes, cudaMemcpyHostToDevice, stream.get()),
                    "copy");
        cuda::check(cudaEventRecord(done.get(), stream.get()), "event");
    }
    host_memory host;
    cuda::buffer<std::byte> device;
    cuda::stream stream;
    cuda::event done;
};

// Returns the rate, in bytes per second, at which `step` consumes data from the ring.
double rate(ring& r, double duration, const std::function<void()>& step)
{
    std::thread upstream([&] { produce(r); });
    const auto run_until = [&](double end) {
        while (seconds() < end) {
            step();
        }
    };
    run_until(seconds() + 0.3 * duration);
    const auto begin = seconds();
    const auto before = r.read.load();
    run_until(begin + duration);
    const auto bytes = r.read - before;
    const auto end = seconds();
    r.stop = true;
    upstream.join();
    return bytes / (end - begin);
}

// Returns the rate, in bytes per second, at which the ring is filled if its data are
// discarded.
double nothing(std::size_t ring_bytes, double duration)
{
    ring r(ring_bytes);
    return rate(r, duration, [&] { r.read = r.written.load(); });
}

template <class Copy>
double copied(std::size_t ring_bytes, std::size_t slot_bytes, double duration, Copy&& how)
{
    ring r(ring_bytes);
    std::vector<std::unique_ptr<transfer>> t;
    for (unsigned i = 0; i < slots; ++i) {
        t.push_back(std::make_unique<transfer>(slot_bytes));
    }
    unsigned slot = 0;
    std::size_t filled = 0;
    return rate(r, duration, [&] {
        const auto n = std::min<std::size_t>(r.written - r.read, slot_bytes - filled);
        if (n == 0) {
            std::this_thread::yield();
            return;
        }
        if (filled == 0) {
            cudaEventSynchronize(t[slot]->done.get());
        }
        how(t[slot]->host.data() + filled, r.at(r.read), n);
        r.read += n;
        filled += n;
        if (filled == slot_bytes) {
            t[slot]->send(t[slot]->host.data(), slot_bytes);
            filled = 0;
            slot = (slot + 1) % slots;
        }
    });
}

// Returns the rate of transfers directly from the pinned ring, in bytes per second. The
// source may overwrite a part of the ring only when its transfer has ended.
double in_place(std::size_t ring_bytes, std::size_t transfer_bytes, double duration)
{
    ring r(ring_bytes);
    cuda::check(cudaHostRegister(r.data(), 2 * ring_bytes, cudaHostRegisterPortable),
                "pinning the ring");
    double result;
    {
        struct part {
            explicit part(std::size_t bytes) : device(bytes) {}
            cuda::buffer<std::byte> device;
            cuda::stream stream;
            cuda::event done;
        };
        std::vector<std::unique_ptr<part>> t;
        for (unsigned i = 0; i < slots; ++i) {
            t.push_back(std::make_unique<part>(transfer_bytes));
        }
        std::uint64_t sent = 0, number = 0, finished = 0;
        result = rate(r, duration, [&] {
            bool idle = true;
            if (number - finished < slots && r.written - sent >= transfer_bytes) {
                auto& p = *t[number++ % slots];
                cudaMemcpyAsync(p.device.get(),
                                r.at(sent),
                                transfer_bytes,
                                cudaMemcpyHostToDevice,
                                p.stream.get());
                cudaEventRecord(p.done.get(), p.stream.get());
                sent += transfer_bytes;
                idle = false;
            }
            if (number > finished &&
                cudaEventQuery(t[finished % slots]->done.get()) == cudaSuccess) {
                ++finished;
                r.read += transfer_bytes;
                idle = false;
            }
            if (idle) {
                std::this_thread::yield();
            }
        });
        for (auto& p : t) {
            cudaStreamSynchronize(p->stream.get());
        }
    }
    cudaHostUnregister(r.data());
    return result;
}

constexpr std::size_t MiB = 1u << 20;

// An array in huge pages, like large NumPy arrays, or in small pages.
class array
{
public:
    array(std::size_t bytes, bool large_pages)
        : d_data(static_cast<std::byte*>(std::aligned_alloc(2 * MiB, bytes))),
          d_bytes(bytes)
    {
        madvise(d_data, bytes, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        std::memset(d_data, 1, bytes);
    }
    ~array()
    {
        if (d_locked) {
            cuda::page_unlock(d_data);
        }
        std::free(d_data);
    }
    void lock() { d_locked = cuda::page_lock(d_data, d_bytes); }
    std::byte* data() const { return d_data; }

private:
    std::byte* d_data;
    std::size_t d_bytes;
    bool d_locked = false;
};

// Returns the rate, in bytes per second, of copying an array into slots. The slots are in
// huge pages if \p large_pages is true. With \p send, the slots are pinned and
// transferred to the device.
double
from_array(copy how, std::size_t slot_bytes, bool large_pages, bool send, double duration)
{
    constexpr std::size_t bytes = 200 * MiB;
    const array from(bytes, true);
    std::vector<std::unique_ptr<array>> memory;
    std::vector<std::unique_ptr<transfer>> t;
    for (unsigned i = 0; i < slots; ++i) {
        memory.push_back(std::make_unique<array>(slot_bytes, large_pages));
        t.push_back(std::make_unique<transfer>(send ? slot_bytes : 0));
        if (send) {
            memory.back()->lock();
        }
    }
    std::vector<double> times;
    for (const double end = seconds() + duration; seconds() < end;) {
        const double begin = seconds();
        unsigned slot = 0;
        for (std::size_t at = 0; at + slot_bytes <= bytes; at += slot_bytes) {
            cudaEventSynchronize(t[slot]->done.get());
            how(memory[slot]->data(), from.data() + at, slot_bytes);
            if (send) {
                t[slot]->send(memory[slot]->data(), slot_bytes);
            }
            slot = (slot + 1) % slots;
        }
        times.push_back(seconds() - begin);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return bytes / slot_bytes * slot_bytes / times[times.size() / 2];
}

void measure_arrays(double duration)
{
    auto results = json::array();
    const std::pair<const char*, copy> ways[] = {
        { "memcpy", plain },
        { "rep movsb", string_move },
        { "copy_past_caches",
          [](std::byte* to, const std::byte* from, std::size_t n) {
              copy_past_caches(to, from, n);
          } },
        { "four pages in turn", four_pages },
        { "non-temporal, 64 bytes", streaming },
    };
    for (const auto& [way, how] : ways) {
        if (how == streaming && !__builtin_cpu_supports("avx512f")) {
            continue;
        }
        for (const std::size_t slot_bytes : { 20 * MiB, 100 * MiB }) {
            for (const bool large_pages : { false, true }) {
                for (const bool send : { false, true }) {
                    results.add(json::object(
                        { { "way", way },
                          { "slot_bytes", slot_bytes },
                          { "large_pages", large_pages },
                          { "sent", send },
                          { "bytes_per_s",
                            from_array(
                                how, slot_bytes, large_pages, send, duration) } }));
                }
            }
        }
    }
    const auto report =
        json::object({ { "benchmark", "host_input array" }, { "rates", results } });
    std::cout << report.to_string() << "\n";
}

} // namespace

int main(int argc, char** argv)
{
    const double duration = argc > 1 ? std::atof(argv[1]) : 0.4;
    cuda::select(0);
    if (argc > 2 && std::string(argv[2]) == "array") {
        measure_arrays(duration);
        return 0;
    }
    auto results = json::array();
    const auto add =
        [&](const char* way, std::size_t ring_bytes, std::size_t slot_bytes, auto&& run) {
            results.add(json::object({ { "way", way },
                                       { "ring_bytes", ring_bytes },
                                       { "transfer_bytes", slot_bytes },
                                       { "bytes_per_s", run() } }));
        };
    for (const auto ring_bytes :
         { 64u << 10, 1u << 20, 4u << 20, 16u << 20, 64u << 20 }) {
        add("nothing", ring_bytes, 0, [&] { return nothing(ring_bytes, duration); });
    }
    const bool wide = __builtin_cpu_supports("avx512f");
    for (const std::size_t ring_bytes : { 1 * MiB, 4 * MiB }) {
        for (const std::size_t slot_bytes : { 1 * MiB / 2, 2 * MiB, 20 * MiB }) {
            const auto with = [&](const char* way, auto&& how) {
                add(way, ring_bytes, slot_bytes, [&] {
                    return copied(ring_bytes, slot_bytes, duration, how);
                });
            };
            with("memcpy", plain);
            with("rep movsb", string_move);
            if (wide) {
                with("non-temporal", streaming);
            }
            copiers two(2, plain), four(4, plain);
            with("memcpy, 2 threads", two);
            with("memcpy, 4 threads", four);
            if (wide) {
                copiers two_streaming(2, streaming);
                with("non-temporal, 2 threads", two_streaming);
            }
        }
    }
    for (const std::size_t transfer_bytes : { MiB / 4, 1 * MiB, 4 * MiB, 16 * MiB }) {
        for (const std::size_t ring_bytes : { 1 * MiB, 4 * MiB, 16 * MiB, 64 * MiB }) {
            if (ring_bytes >= 2 * transfer_bytes) {
                add("in place", ring_bytes, transfer_bytes, [&] {
                    return in_place(ring_bytes, transfer_bytes, duration);
                });
            }
        }
    }
    std::cout << json::object({ { "benchmark", "host_input" }, { "rates", results } })
                     .to_string()
              << "\n";
    return 0;
}
