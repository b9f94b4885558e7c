// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of decoders when allocations and starts of threads fail, and after fork(). */

#include "faulty_decoders.h"
#include "ldpc/model/setup.h"
#include "ldpc/stream/traits.h"
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

namespace gr::gpufec {
namespace {

using namespace qa;

TYPED_TEST_SUITE(faulty, faulty_kinds);

// Output in place with one bit per byte needs device memory. If there is none left,
// output is copied.
TYPED_TEST(faulty, RingWithoutMemoryForBits_IsNotBorrowed)
{
    const auto expected = this->decode(this->run(backend::cpu));
    auto u = TypeParam::make(this->run(), {});
    bytes ring(1 << 16);
    faults::begin();
    pinned_output(*u.engine, ring.data(), ring.size());
    const auto calls = faults::calls();
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

TYPED_TEST(faulty, RefusedMemory_ThrowsOrDoesNotChangeOutput)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto where : { backend::cpu, backend::automatic }) {
#ifdef GPUFEC_EMULATED
        // If an emulated kernel or the thread of asynchronous streams threw
        // std::bad_alloc, nothing would catch it, and the program would terminate.
        const bool possible = !TypeParam::emulated && !this->asynchronous();
#else
        const bool possible = false; // the refusal would hit the driver's allocations
#endif
        if (where == backend::automatic && !possible) {
            continue;
        }
        const auto before = refusals::allocations.load();
        this->decode(this->run(where));
        const auto all = refusals::allocations - before;
        for (const bool for_good : { false, true }) {
            for (long k = 0; k < all; k += k < 200 ? 1 : 17) {
                faults::begin();
                refusals::all_fail = for_good;
                refusals::allocations_left = k;
                bytes output;
                bool threw = false;
                try {
                    output = this->decode(this->run(where)).output;
                } catch (const std::exception&) {
                    threw = true;
                }
                refusals::allocations_left = -1;
                EXPECT_TRUE(threw || this->same(output, expected.output))
                    << "allocation " << k << " of " << all << ", backend " << int(where)
                    << ", all later ones too: " << for_good;
            }
        }
    }
}

// In each run, the start of another thread fails, either alone or with all later starts.
// Threads start when a decoder is created, and when the CPU replaces a failed device.
TYPED_TEST(faulty, RefusedThread_ThrowsOrDoesNotChangeOutput)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const bool device_fails : { false, true }) {
        auto r = this->run(device_fails ? backend::automatic : backend::cpu);
        r.threads = 3;
#ifndef GPUFEC_EMULATED
        if (device_fails) {
            continue; // the driver also starts threads
        }
#endif
        const auto decode = [&] {
            faults::begin();
            if (device_fails) {
                faults::fail("cudaMemcpyAsync", 0, cudaErrorIllegalAddress);
            }
            return this->decode(r);
        };
        const auto before = refusals::threads.load();
        ASSERT_TRUE(this->same(decode().output, expected.output));
        const auto all = refusals::threads - before;
        ASSERT_GE(all, 3);
        unsigned threw = 0;
        for (const bool for_good : { false, true }) {
            for (long k = 0; k < all; ++k) {
                refusals::all_fail = for_good;
                refusals::threads_left = k;
                try {
                    const auto o = decode();
                    EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                    EXPECT_EQ(o.backend, "cpu") << k;
                } catch (const std::runtime_error& error) {
                    ++threw;
                    const std::string text = error.what();
                    EXPECT_NE(text.find("thread"), std::string::npos) << text;
                }
                refusals::threads_left = -1;
            }
        }
        EXPECT_GE(threw, 1u); // an exception is required if no thread starts at all
        EXPECT_LT(threw, 2 * all);
    }
}

TYPED_TEST(faulty, ForkedDecoder_ThrowsInChild)
{
    outcome o;
    auto u = TypeParam::make(this->run(backend::cpu), this->hooks_to(o));
    this->push_all(u, o, 2);
    const auto child = fork();
    if (child == 0) {
        alarm(20); // the destructor must not wait for threads of the parent
        try {
            u.push(2, 0);
        } catch (const std::runtime_error& error) {
            const bool named_cause =
                std::string(error.what()).find("created before fork()") !=
                std::string::npos;
            u = {};
            _exit(named_cause ? 0 : 1);
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

TYPED_TEST(faulty, LargeBatch_IsHalvedWithoutFailedAllocation)
{
    const auto expected = this->decode(this->run(backend::cpu));
    // Leaves 4 MiB of free memory. Earlier tests have leaked memory on purpose.
    cuda::emulation::set_memory(cuda::emulation::used_memory() + (std::size_t(4) << 20));
    auto r = this->run();
    r.watch = false; // otherwise a verdict on the random values is logged too
    r.batch = 1u << 14;
    const auto refused = cuda::emulation::refused_allocations();
    const auto o = this->decode(r);
    EXPECT_EQ(cuda::emulation::refused_allocations(), refused);
    EXPECT_TRUE(this->same(o.output, expected.output));
    EXPECT_EQ(o.backend, "cuda");
    ASSERT_EQ(o.warnings.size(), 1u);
    EXPECT_NE(o.warnings[0].find("device memory suffices only for"), std::string::npos);
    cuda::emulation::set_memory(std::size_t(1) << 30);
}

// A code that does not fit the device's memory must not affect codes prepared earlier.
TEST(faulty_ldpc, RefusedScratchMemory_DoesNotAffectEarlierCodes)
{
    ldpc::setup s;
    s.codes = { ldpc::qa::regular_code(120, 60, 1),
                ldpc::qa::regular_code(1200, 600, 2) };
    faults::begin();
    const auto decoder = ldpc::traits::make_cuda(s, 4, 1, 0);
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
        return reinterpret_cast<const ldpc_status*>(status.data())->iterations;
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
