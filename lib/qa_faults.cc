// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What decoders do when calls of the CUDA runtime fail, when work on a device does not
 * end, and when memory and threads are refused. Over emulated devices, whose kernels run
 * on the CPU, or over a real one, whose calls are intercepted. */

#include "cuda/devices.h"
#include "cuda/faults.h"
#include "ldpc/room.h"
#include "ldpc/setup.h"
#include "pipeline/pipeline.h"
#include "qa_kinds.h"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>
#include <set>
#ifdef GPUFEC_EMULATED
#include "cuda/emulation/runtime.h"
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace {

// Allocations that pass before one fails, or all do; none where negative.
std::atomic<long> allocations_left{ -1 };
std::atomic<bool> all_fail{ false };
std::atomic<long> allocations{ 0 };

// Whether this allocation is to fail.
bool refused()
{
    ++allocations;
    if (allocations_left < 0) {
        return false;
    }
    const auto left = allocations_left--;
    if (left == 0 && all_fail) {
        allocations_left = 0;
    }
    return left == 0;
}

// Threads that start before one does not, or none does any more; all where negative.
std::atomic<long> threads_left{ -1 };
std::atomic<long> threads{ 0 };

} // namespace

// In the place of the system's, for std::thread too.
extern "C" int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*begin)(void*),
                              void* argument)
{
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    ++threads;
    if (threads_left >= 0) {
        const auto left = threads_left--;
        if (left == 0) {
            if (all_fail) {
                threads_left = 0;
            }
            return EAGAIN;
        }
    }
    return real(thread, attributes, begin, argument);
}

#if defined(GPUFEC_EMULATED) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

// All that there is: operator new and the C library's own functions call these too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    return memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes)
{
    void* const memory = memalign(alignment, bytes);
    if (memory) {
        *to = memory;
    }
    return memory ? 0 : ENOMEM;
}
}

#else

// Sanitizers have a malloc() of their own, and a driver has threads that need theirs.

namespace {

void* allocate(std::size_t bytes, std::size_t alignment)
{
    void* memory = nullptr;
    if (!refused()) {
        memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment,
                                          (bytes + alignment - 1) / alignment * alignment)
                     : std::malloc(std::max<std::size_t>(1, bytes));
    }
    if (!memory) {
        throw std::bad_alloc();
    }
    return memory;
}

// Not inlined where operator new is not: GCC warns of a free() without its malloc() then.
[[gnu::noinline]] void deallocate(void* memory) { std::free(memory); }

} // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocate(bytes, std::size_t(alignment));
}
// Sanitizers have one of their own, and then the two would not match.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    try {
        return allocate(bytes, 0);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    deallocate(memory);
}

#endif

namespace gr::gpufec {
namespace {

using namespace qa;
namespace faults = cuda::faults;

// So few portions that each call can fail in its turn.
template <class Kind, bool Floats, bool Emulated = Floats>
struct kind : Kind {
    static constexpr bool floats = Floats;     // of output
    static constexpr bool emulated = Emulated; // some of its kernels
    static constexpr unsigned portions = Floats ? 3 : 7;
};

template <class Kind>
class faulty : public decoders<Kind>
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
        faults::begin();
#ifdef GPUFEC_EMULATED
        cuda::emulation::set_asynchronous(asynchronous());
        d_used = cuda::emulation::used_memory();
        d_registered = cuda::emulation::registered_ranges();
#endif
    }
    void TearDown() override
    {
        faults::begin();
        faults::release();
        allocations_left = threads_left = -1;
    }

    // As a real device is; emulated ones are on request.
    static bool asynchronous()
    {
#ifdef GPUFEC_EMULATED
        const auto* const asked = std::getenv("GPUFEC_EMULATION");
        return asked && std::string(asked) == "asynchronous";
#else
        return true;
#endif
    }

    static run_options run(backend where = backend::automatic)
    {
        run_options r;
        r.where = where;
        r.batch = Kind::floats ? 1 : 2;
        r.slots = 2;
        r.max_latency_ms = 1e9;
        return r;
    }

    // Bits are the same; probabilities, which are floating point, within 1e-6.
    static bool same(const bytes& a, const bytes& b)
    {
        if (!Kind::floats || a.size() != b.size()) {
            return a == b;
        }
        for (std::size_t i = 0; i + 4 <= a.size(); i += 4) {
            float x, y;
            std::memcpy(&x, &a[i], 4);
            std::memcpy(&y, &b[i], 4);
            if (!(std::abs(x - y) <= 1e-6f)) {
                return false;
            }
        }
        return true;
    }

    // Calls that may fail without anyone being the worse for it: page-locking, what
    // frees and what asks for a moment's state.
    static bool harmless(const std::string& call)
    {
        static const std::set<std::string> calls{
            "cudaHostRegister",  "cudaHostUnregister", "cudaFree",
            "cudaStreamDestroy", "cudaEventDestroy",   "cudaStreamSynchronize",
            "cudaStreamQuery",   "cudaSetDevice",      "cudaGetLastError"
        };
        return calls.count(call) > 0;
    }

    // But what was kept on purpose before.
    void nothing_is_left() const
    {
#ifdef GPUFEC_EMULATED
        ASSERT_EQ(cuda::emulation::used_memory(), d_used);
        ASSERT_EQ(cuda::emulation::registered_ranges(), d_registered);
#endif
    }

private:
    std::size_t d_used = 0, d_registered = 0;
};

using all_kinds = testing::Types<kind<viterbi_streams, false>,
                                 kind<viterbi_bits, false>,
                                 kind<viterbi_frames, false>,
                                 kind<ldpc_frames, false>,
                                 kind<ldpc_bits, false>,
                                 kind<ldpc_llrs, false>,
                                 kind<ldpc_symbol_frames<true>, false, true>,
                                 kind<sync_frames<sync_mode::framed>, true>,
                                 kind<sync_frames<sync_mode::stream>, true>,
                                 kind<sync_lent<sync_mode::framed, float>, true>>;
TYPED_TEST_SUITE(faulty, all_kinds);

TYPED_TEST(faulty, every_call_fails_in_turn_and_the_output_is_the_same)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    const auto good = this->decode(this->run());
    ASSERT_EQ(good.backend, "cuda");
    ASSERT_TRUE(this->same(good.output, expected.output));
    const auto calls = faults::calls();
    ASSERT_GT(calls.size(), 50u);
    this->RecordProperty("calls", int(calls.size()));
    // Slots without room for values as they are pushed get them converted.
    const bool spare = std::is_base_of<ldpc_frames, TypeParam>::value ||
                       std::is_base_of<ldpc_bits, TypeParam>::value ||
                       std::is_base_of<ldpc_llrs, TypeParam>::value;
    for (const bool for_good : { false, true }) {
        unsigned done_without = 0;
        for (std::size_t k = 0; k < calls.size(); ++k) {
            faults::begin();
            faults::fail(k, cudaErrorIllegalAddress, for_good);
            const auto o = this->decode(this->run());
            const auto failed = faults::failed();
            if (failed.empty()) {
                continue; // how often a device is asked may differ
            }
            const auto where = "call " + std::to_string(k) + ", " + failed +
                               (for_good ? ", for good" : ", once");
            EXPECT_TRUE(this->same(o.output, expected.output)) << where;
            // At most one error; none only where nothing was lost, or no device seen.
            EXPECT_LE(o.errors.size(), 1u) << where;
            if (o.backend == "cuda") {
                const bool room = spare && failed == "cudaMalloc";
                done_without += room;
                EXPECT_TRUE(room || this->harmless(failed) || k + 40 > calls.size())
                    << where;
                EXPECT_TRUE(o.errors.empty()) << where;
            } else if (o.errors.empty()) {
                EXPECT_EQ(failed, "cudaGetDeviceCount");
                EXPECT_NE(o.infos[0].find("no CUDA"), std::string::npos);
            } else {
                EXPECT_NE(o.errors[0].find("CUDA: "), std::string::npos) << o.errors[0];
                EXPECT_NE(o.errors[0].find("nothing is lost"), std::string::npos);
            }
            if (!for_good) {
                this->nothing_is_left();
            }
        }
        EXPECT_EQ(done_without, spare && !for_good ? this->run().slots : 0);
    }
}

TYPED_TEST(faulty, with_cuda_asked_for_the_reason_is_told)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run(backend::cuda));
    const auto calls = faults::calls();
    for (const bool for_good : { false, true }) {
        if (for_good && TypeParam::floats) {
            break; // emulated kernels are slow
        }
        for (std::size_t k = 0; k < calls.size(); ++k) {
            faults::begin();
            faults::fail(k, cudaErrorIllegalAddress, for_good);
            try {
                const auto o = this->decode(this->run(backend::cuda));
                EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                EXPECT_EQ(o.backend, "cuda");
            } catch (const std::runtime_error& error) {
                const std::string text = error.what();
                EXPECT_TRUE(text.find("CUDA") != std::string::npos) << text;
            }
            if (!for_good) {
                this->nothing_is_left();
            }
        }
    }
}

TYPED_TEST(faulty, what_may_pass_is_tried_again)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    unsigned tried = 0;
    for (const char* const name : { "cudaMemcpyAsync",
                                    "cudaMemsetAsync",
                                    "cudaEventRecord",
                                    "cudaStreamWaitEvent",
                                    "launch",
                                    "cudaLaunchHostFunc",
                                    "cudaEventQuery",
                                    "cudaSetDevice" }) {
        const auto all = std::size_t(std::count(calls.begin(), calls.end(), name));
        // The first, one in mid-run and the last that there surely is.
        std::set<std::size_t> places{ 0, all / 2, all - 1 };
        if (all == 0) {
            continue;
        }
        if (std::string(name) == "cudaEventQuery" ||
            std::string(name) == "cudaSetDevice") {
            places = { 0, 1 }; // it is asked so often at least
        }
        for (const auto place : places) {
            for (const auto error :
                 { cudaErrorMemoryAllocation, cudaErrorDevicesUnavailable }) {
                faults::begin();
                faults::fail(name, place, error);
                const auto o = this->decode(this->run());
                const auto where = std::string(name) + " " + std::to_string(place);
                EXPECT_EQ(faults::failed(), name) << where;
                EXPECT_TRUE(this->same(o.output, expected.output)) << where;
                EXPECT_EQ(o.backend, "cuda") << where;
                EXPECT_TRUE(o.errors.empty()) << where << " " << o.errors[0];
                ++tried;
            }
        }
    }
    EXPECT_GE(tried, 24u);
}

// An error that a device tells when it is asked for a batch may be of that batch: it is
// decoded again, and not for ever.
TYPED_TEST(faulty, what_a_device_tells_late_does_not_last_for_ever)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    const auto asked = std::find(calls.begin(), calls.end(), "cudaEventQuery");
    ASSERT_NE(asked, calls.end());
    faults::begin();
    faults::fail(asked - calls.begin(), cudaErrorDevicesUnavailable, true);
    const auto o = this->decode(this->run());
    EXPECT_TRUE(this->same(o.output, expected.output));
    EXPECT_EQ(o.backend, "cpu");
    EXPECT_EQ(o.errors.size(), 1u);
}

TYPED_TEST(faulty, a_device_that_is_busy_at_first_is_waited_for)
{
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    // The context is made here.
    const auto made = std::find(calls.begin(), calls.end(), "cudaFree") - calls.begin();
    faults::begin();
    faults::fail(made, cudaErrorDevicesUnavailable, false);
    const auto o = this->decode(this->run());
    EXPECT_EQ(o.backend, "cuda");
    EXPECT_TRUE(o.errors.empty());
}

TYPED_TEST(faulty, pages_that_cannot_be_locked_are_copied_more_slowly)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    for (std::size_t k = 0; k < calls.size(); ++k) {
        if (calls[k] == "cudaHostRegister") {
            faults::begin();
            faults::fail(k, cudaErrorMemoryAllocation, false);
            const auto o = this->decode(this->run());
            EXPECT_EQ(faults::failed(), "cudaHostRegister");
            EXPECT_TRUE(this->same(o.output, expected.output));
            EXPECT_EQ(o.backend, "cuda");
            EXPECT_TRUE(o.errors.empty());
            this->nothing_is_left();
        }
    }
}

// What a device that hangs was given is kept for good.
class leak_on_purpose
{
public:
    leak_on_purpose()
    {
        qa::lent_is_kept = true;
#if defined(__SANITIZE_ADDRESS__)
        __lsan_disable();
#endif
    }
    ~leak_on_purpose()
    {
        qa::lent_is_kept = false;
#if defined(__SANITIZE_ADDRESS__)
        __lsan_enable();
#endif
    }
};

TYPED_TEST(faulty, work_that_does_not_end_gives_the_device_up)
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
        EXPECT_FALSE(faults::waited_for_ever()) << name << k;
        faults::release(); // into memory that must still be there
        EXPECT_TRUE(this->same(o.output, expected.output)) << name << k;
        EXPECT_EQ(o.backend, "cpu");
        ASSERT_EQ(o.errors.size(), 1u);
        EXPECT_NE(o.errors[0].find("has not finished a batch within 30 ms; what it may "
                                   "still use is kept for good, 1 MiB of host memory"),
                  std::string::npos)
            << o.errors[0];
        EXPECT_NE(o.errors[0].find("nothing is lost"), std::string::npos) << o.errors[0];
    }

    r.where = backend::cuda;
    faults::begin();
    faults::hang("cudaMemcpyAsync", 0);
    try {
        this->decode(r);
        FAIL();
    } catch (const device_timeout_error& error) {
        EXPECT_NE(std::string(error.what()).find("kept for good"), std::string::npos)
            << error.what();
    }
    EXPECT_FALSE(faults::waited_for_ever());
    faults::release();
}

// It may write late where output was lent: then that is other memory.
TYPED_TEST(faulty, a_ring_does_not_suffer_from_a_device_that_hangs)
{
    const leak_on_purpose leaks;
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    const bool lends = this->decode_to_ring(this->run(), 4000).ring->in_place > 0;
    const auto calls = faults::calls();
    const auto copies =
        std::size_t(std::count(calls.begin(), calls.end(), "cudaMemcpyAsync"));
    auto r = this->run();
    r.device_timeout_ms = 30;
    unsigned replaced = 0;
    for (const bool replaceable : { true, false }) {
        for (const auto k : { std::size_t(0), copies / 3, copies - 1 }) {
            faults::begin();
            faults::hang("cudaMemcpyAsync", k);
            outcome o;
            try {
                o = this->decode_to_ring(r, 4000, replaceable);
                EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                EXPECT_EQ(o.backend, "cpu");
                EXPECT_TRUE(replaceable || o.ring->replaced == 0) << k;
                replaced += o.ring->replaced;
            } catch (const device_timeout_error& error) {
                EXPECT_FALSE(replaceable) << error.what();
            }
            EXPECT_FALSE(faults::waited_for_ever()) << k;
            faults::release();
#ifndef GPUFEC_EMULATED // whose copies find memory by its address
            EXPECT_TRUE(!o.ring || o.ring->is_as_written());
#endif
        }
    }
    EXPECT_EQ(replaced > 0, lends);
}

// What a ring needs of a device's memory may not be there.
TYPED_TEST(faulty, without_memory_for_bits_a_ring_is_not_lent)
{
    const auto expected = this->decode(this->run(backend::cpu));
    auto u = TypeParam::make(this->run(), {});
    bytes ring(1 << 16);
    faults::begin();
    const bool lent = u.engine->lock_output(ring.data(), ring.size());
    const auto calls = faults::calls();
    if (lent) {
        u.engine->unlock_output(ring.data());
    }
    const bool bits = std::is_base_of<viterbi_bits, TypeParam>::value ||
                      std::is_base_of<ldpc_bits, TypeParam>::value;
    ASSERT_EQ(std::count(calls.begin(), calls.end(), "cudaMalloc"),
              bits ? this->run().slots : 0);
    for (std::size_t k = 0; k < calls.size(); ++k) {
        if (calls[k] != "cudaMalloc") {
            continue;
        }
        outcome o;
        auto failing = TypeParam::make(this->run(), this->hooks_to(o));
        faults::begin();
        faults::fail(k, cudaErrorMemoryAllocation, false);
        failing.ring = std::make_shared<output_ring>(*failing.engine, 4000, true);
        EXPECT_EQ(faults::failed(), "cudaMalloc") << k;
        this->push_all(failing, o, TypeParam::portions);
        this->finish(failing, o);
        failing.ring->end();
        EXPECT_EQ(failing.ring->in_place, 0u);
        EXPECT_TRUE(this->same(o.output, expected.output)) << k;
        EXPECT_EQ(o.backend, "cuda");
        EXPECT_TRUE(o.errors.empty());
    }
}

TYPED_TEST(faulty, a_device_that_hangs_holds_nobody_up_who_stops)
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
                u.engine->finish(); // a stream wants to know how it goes on
            }
            ASSERT_TRUE(on_device());
        }
        EXPECT_FALSE(faults::waited_for_ever());
        EXPECT_EQ(o.errors.size() + o.warnings.size(), 1u);
        faults::release();
    }
}

// The copies of other batches, which end late, must not reach memory that is used again.
TYPED_TEST(faulty, late_copies_of_a_device_that_failed_do_no_harm)
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
    const auto release_late = [&] { // once the device was given up
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
    // The first batch is put on its stream; the next one fails on the way.
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

TYPED_TEST(faulty, memory_that_is_refused_ends_in_an_exception_or_is_no_matter)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto where : { backend::cpu, backend::automatic }) {
#ifdef GPUFEC_EMULATED
        // Not through threads that are emulated, or that are the device's.
        const bool possible = !TypeParam::emulated && !this->asynchronous();
#else
        const bool possible = false; // not through the driver
#endif
        if (where == backend::automatic && !possible) {
            continue;
        }
        const auto before = allocations.load();
        this->decode(this->run(where));
        const auto all = allocations - before;
        for (const bool for_good : { false, true }) {
            for (long k = 0; k < all; k += k < 200 ? 1 : 17) {
                faults::begin();
                all_fail = for_good;
                allocations_left = k;
                bytes output;
                bool threw = false;
                try {
                    output = this->decode(this->run(where)).output;
                } catch (const std::exception&) {
                    threw = true;
                }
                allocations_left = -1;
                EXPECT_TRUE(threw || this->same(output, expected.output))
                    << k << " of " << all << " on " << int(where) << ", for good "
                    << for_good;
            }
        }
    }
}

// Each thread that a decoder starts, at its beginning and when it takes over from a
// device.
TYPED_TEST(faulty, threads_that_do_not_start_end_in_an_exception_or_are_no_matter)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const bool device_fails : { false, true }) {
        auto r = this->run(device_fails ? backend::automatic : backend::cpu);
        r.threads = 3;
#ifndef GPUFEC_EMULATED
        if (device_fails) {
            continue; // the driver starts threads of its own
        }
#endif
        const auto decode = [&] {
            faults::begin();
            if (device_fails) {
                faults::fail("cudaMemcpyAsync", 0, cudaErrorIllegalAddress);
            }
            return this->decode(r);
        };
        const auto before = threads.load();
        ASSERT_TRUE(this->same(decode().output, expected.output));
        const auto all = threads - before;
        ASSERT_GE(all, 3);
        unsigned threw = 0;
        for (const bool for_good : { false, true }) {
            for (long k = 0; k < all; ++k) {
                all_fail = for_good;
                threads_left = k;
                try {
                    const auto o = decode();
                    EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                    EXPECT_EQ(o.backend, "cpu") << k;
                } catch (const std::runtime_error& error) {
                    ++threw;
                    const std::string text = error.what();
                    EXPECT_NE(text.find("thread"), std::string::npos) << text;
                }
                threads_left = -1;
            }
        }
        EXPECT_GE(threw, 1u); // where there is not one
        EXPECT_LT(threw, 2 * all);
    }
}

TYPED_TEST(faulty, a_decoder_works_in_the_process_that_made_it_alone)
{
    outcome o;
    auto u = TypeParam::make(this->run(backend::cpu), this->hooks_to(o));
    this->push_all(u, o, 2);
    const auto child = fork();
    if (child == 0) {
        alarm(20); // destroying it must not wait for threads that are not here
        try {
            u.push(2, 0);
        } catch (const std::runtime_error& error) {
            const bool told =
                std::string(error.what()).find("made before fork()") != std::string::npos;
            u = {};
            _exit(told ? 0 : 1);
        }
        _exit(2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const auto expected = this->decode(this->run(backend::cpu));
    for (unsigned f = 2; f < TypeParam::portions; ++f) {
        for (std::size_t first = 0; first < u.portion;) {
            const auto n = u.push(f, first);
            this->take(u, o);
            first += n;
        }
    }
    this->finish(u, o);
    EXPECT_TRUE(this->same(o.output, expected.output));
}

#ifdef GPUFEC_EMULATED

TYPED_TEST(faulty, batches_too_large_are_halved_without_a_failed_allocation)
{
    const auto expected = this->decode(this->run(backend::cpu));
    // Besides what devices that were given up have kept.
    cuda::emulation::set_memory(cuda::emulation::used_memory() + (std::size_t(4) << 20));
    auto r = this->run();
    r.batch = 1u << 14;
    const auto refused = cuda::emulation::refused_allocations();
    const auto o = this->decode(r);
    EXPECT_EQ(cuda::emulation::refused_allocations(), refused);
    EXPECT_TRUE(this->same(o.output, expected.output));
    EXPECT_EQ(o.backend, "cuda");
    ASSERT_EQ(o.warnings.size(), 1u);
    EXPECT_NE(o.warnings[0].find("the device's memory holds"), std::string::npos);
    cuda::emulation::set_memory(std::size_t(1) << 30);
}

// Decoders on one device; those of synchronisation wait for their turns.
template <class Kind>
class sharing : public faulty<Kind>
{
protected:
    // By three decoders, a portion each in turn, or until nobody takes any.
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
TYPED_TEST_SUITE(sharing, all_kinds);

TYPED_TEST(sharing, nobody_waits_for_ever)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto& o : this->decode_together(this->run())) {
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_EQ(o.backend, "cuda");
        EXPECT_TRUE(o.errors.empty());
    }
}

TYPED_TEST(sharing, a_decoder_that_fails_leaves_its_turns_to_others)
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
                EXPECT_TRUE(this->same(o.output, expected.output)) << name << place;
                on_device += o.backend == "cuda";
            }
            // How often a device is asked may differ.
            EXPECT_EQ(on_device, faults::failed().empty() ? 3u : 2u) << name << place;
        }
    }
}

TYPED_TEST(sharing, a_decoder_that_hangs_leaves_its_turns_to_others)
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

TYPED_TEST(sharing, what_waits_is_dropped_by_who_stops)
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

TEST(faulty_ldpc, a_larger_code_does_not_wait_for_a_device_that_hangs)
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
        o.where = where;
        ldpc_decoder d(o);
        EXPECT_EQ(d.active_backend(), where == backend::cpu ? "cpu" : "cuda");
        faults::begin();
        faults::hang("cudaMemcpyAsync", 0);
        for (const unsigned code : { 0, 1, 0 }) {
            d.select(code);
            EXPECT_EQ(d.push(values.data(), code ? 1200 : 120), code ? 1200u : 120u);
        }
        EXPECT_FALSE(faults::waited_for_ever());
        d.finish();
        bytes out(720);
        for (std::size_t n = 0; !d.done(); d.wait(std::chrono::milliseconds(10))) {
            n += d.pull_bits(out.data() + n, out.size() - n);
        }
        EXPECT_EQ(d.active_backend(), "cpu");
        faults::release();
        return out;
    };
    EXPECT_EQ(decode(backend::automatic), decode(backend::cpu));
}

// A code that there is no memory for must leave those that were prepared as they are.
TEST(faulty_ldpc, scratch_memory_that_is_refused_is_not_lost)
{
    ldpc::setup s;
    s.codes = { ldpc::qa::regular_code(120, 60, 1),
                ldpc::qa::regular_code(1200, 600, 2) };
    faults::begin();
    const auto decoder = ldpc::room::make_cuda(s, 4, 1, 0);
    std::vector<std::byte> input(s.limits(4).input_bytes), output(1 << 16),
        status(1 << 8);
    const batch_memory memory{ input.data(), output.data(), status.data() };
    const auto decode = [&](std::uint32_t code) {
        ldpc::job j;
        j.runs.push_back({ code, 0, 1 });
        j.codewords = 1;
        auto& place = *reinterpret_cast<ldpc::frame_place*>(input.data());
        place = { std::uint32_t(ldpc::job::values_offset(4)), 0, 0, 0 };
        j.input_bytes = input.size();
        j.output_bytes = s.frame_output_bytes(s.codes[code]);
        decoder->submit(0, j, memory);
        while (!decoder->finished(0)) {
        }
        return reinterpret_cast<const ldpc::frame_status*>(status.data())->iterations;
    };
    std::fill_n(
        input.begin() + std::ptrdiff_t(ldpc::job::values_offset(4)), 1200, std::byte(10));
    EXPECT_EQ(decode(0), 1u);
    cuda::emulation::set_memory(cuda::emulation::used_memory() + 4096);
    EXPECT_THROW(decode(1), device_memory_error);
    EXPECT_EQ(decode(0), 1u);
    cuda::emulation::set_memory(std::size_t(1) << 30);
    EXPECT_EQ(decode(1), 1u);
}

#endif

} // namespace
} // namespace gr::gpufec
