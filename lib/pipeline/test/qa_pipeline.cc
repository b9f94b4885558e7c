// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the pipeline with a fake backend, and of output_window, put_other_pages(),
 * copy_past_caches() and checked_size. */

#include "common/checked_size.h"
#include "common/non_temporal_copy.h"
#include "common/page_mappings.h"
#include "pipeline/pipeline.h"
#include "pipeline/windows.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

using namespace gr::gpufec;

namespace {

struct number_job {
    int number = 0;
};

// A decoder that finishes batches and fails when the test requests it.
class fake_decoder : public batch_decoder<number_job>
{
public:
    struct control {
        std::mutex mutex;
        std::mutex notifying; // held during callbacks, because the destructor awaits them
        std::map<unsigned, std::pair<number_job, batch_memory>> running; // by slot
        std::set<unsigned> done;
        std::function<void()> notify = [] {};
        std::atomic<bool> fail_finished{ false };
        std::atomic<bool> fail_submit{ false };
        std::atomic<bool> busy{ false }; // makes wait_idle() fail
        std::atomic<int> locked{ 0 };
        const void* device_memory = nullptr;
        std::vector<int> submitted;

        // Finishes the batch with this number.
        void finish(int number)
        {
            std::lock_guard<std::mutex> calling(notifying);
            std::function<void()> call;
            {
                std::lock_guard<std::mutex> lock(mutex);
                for (auto& [slot, work] : running) {
                    if (work.first.number == number) {
                        auto* const borrowed = work.second.borrowed.to;
                        (borrowed ? borrowed : work.second.output)[0] = std::byte(number);
                        done.insert(slot);
                    }
                }
                call = notify;
            }
            call();
        }
    };

    fake_decoder(control& c, std::string name) : d_control(c), d_name(std::move(name)) {}

    ~fake_decoder() override
    {
        std::lock_guard<std::mutex> calling(d_control.notifying);
        d_control.notify = [] {};
    }

    batch_limits limits() const override { return { 8, 16, 16, 4, 32 }; }
    bool has(const void* memory) const noexcept override
    {
        return memory && memory == d_control.device_memory;
    }
    std::string backend() const override { return d_name; }
    std::string device() const override { return "fake"; }
    bool page_lock(void*, std::size_t) noexcept override
    {
        ++d_control.locked;
        return true;
    }
    void page_unlock(void*) noexcept override { --d_control.locked; }
    void on_completion(std::function<void()> notify) override
    {
        std::lock_guard<std::mutex> lock(d_control.mutex);
        d_control.notify = std::move(notify);
    }
    void submit(unsigned slot, const number_job& job, const batch_memory& memory) override
    {
        if (d_control.fail_submit) {
            throw device_error("submit failed");
        }
        std::lock_guard<std::mutex> lock(d_control.mutex);
        d_control.running[slot] = { job, memory };
        d_control.done.erase(slot);
        d_control.submitted.push_back(job.number);
    }
    bool finished(unsigned slot) override
    {
        if (d_control.fail_finished) {
            throw device_error("device lost");
        }
        std::lock_guard<std::mutex> lock(d_control.mutex);
        return d_control.done.count(slot) > 0;
    }

    bool wait_idle(std::chrono::milliseconds) noexcept override
    {
        return !d_control.busy;
    }

private:
    control& d_control;
    std::string d_name;
};

using fake_pipeline = pipeline<number_job>;

std::vector<std::unique_ptr<batch_decoder<number_job>>>
fakes(std::initializer_list<fake_decoder::control*> controls)
{
    std::vector<std::unique_ptr<batch_decoder<number_job>>> decoders;
    for (auto* c : controls) {
        decoders.push_back(std::make_unique<fake_decoder>(*c, "fake"));
    }
    return decoders;
}

constexpr std::chrono::milliseconds moment(20), long_time(5000);

TEST(pipeline, BatchesFinishedOutOfOrder_AreReadyInOrder)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 3, {});
    for (int i = 0; i < 3; ++i) {
        ASSERT_NE(p.filling(), nullptr);
        p.submit({ i });
    }
    EXPECT_TRUE(p.full());
    EXPECT_EQ(p.filling(), nullptr);
    c.finish(2);
    c.finish(1);
    EXPECT_EQ(p.ready(), nullptr);
    EXPECT_FALSE(p.wait(moment));
    c.finish(0);
    for (int i = 0; i < 3; ++i) {
        const auto* s = p.ready();
        ASSERT_NE(s, nullptr);
        EXPECT_EQ(s->job.number, i);
        EXPECT_EQ(int(s->output[0]), i);
        p.release();
    }
    EXPECT_TRUE(p.empty());
}

TEST(pipeline, CompletionOnOtherThread_WakesWaitingCaller)
{
    fake_decoder::control c;
    std::atomic<int> completions{ 0 };
    fake_pipeline::hooks h;
    h.completion = [&] { ++completions; };
    fake_pipeline p(fakes({ &c }), 2, h);
    p.submit({ 7 });
    std::thread device([&] {
        std::this_thread::sleep_for(moment);
        c.finish(7);
    });
    EXPECT_TRUE(p.wait(long_time));
    device.join();
    EXPECT_EQ(completions, 1);
    p.release();
}

TEST(pipeline, SlowDevice_WaitSleeps)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 1, {});
    p.submit({ 1 });
    rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    EXPECT_FALSE(p.wait(std::chrono::milliseconds(300)));
    getrusage(RUSAGE_THREAD, &after);
    const auto us = [](const rusage& r) {
        return r.ru_utime.tv_sec * 1000000 + r.ru_utime.tv_usec +
               r.ru_stime.tv_sec * 1000000 + r.ru_stime.tv_usec;
    };
    EXPECT_LT(us(after) - us(before), 30000);
    c.finish(1);
    EXPECT_TRUE(p.wait(long_time));
    p.release();
}

TEST(pipeline, NothingInFlight_WaitReturnsImmediately)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 1, {});
    EXPECT_FALSE(p.wait(long_time));
}

TEST(pipeline, FailureInFlight_FallbackRedecodesBatches)
{
    fake_decoder::control gpu, cpu;
    std::vector<std::string> reasons;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    h.failed_over = [&](const std::string& what, std::size_t left) {
        EXPECT_EQ(left, 0u);
        reasons.push_back(what);
    };
    fake_pipeline p(fakes({ &gpu }), 3, h);
    for (int i = 0; i < 3; ++i) {
        p.submit({ i });
    }
    gpu.finish(0);
    ASSERT_NE(p.ready(), nullptr);
    p.release();
    gpu.fail_finished = true;
    EXPECT_EQ(p.ready(), nullptr); // the batch is on the fallback and not finished
    EXPECT_EQ(reasons, std::vector<std::string>{ "device lost" });
    EXPECT_EQ(cpu.submitted, (std::vector<int>{ 1, 2 }));
    EXPECT_EQ(p.active().backend(), "fallback");
    p.submit({ 3 });
    for (int i = 3; i >= 1; --i) {
        cpu.finish(i);
    }
    for (int i = 1; i <= 3; ++i) {
        const auto* s = p.ready();
        ASSERT_NE(s, nullptr);
        EXPECT_EQ(s->job.number, i);
        EXPECT_EQ(int(s->output[0]), i);
        p.release();
    }
    EXPECT_EQ(gpu.locked, 0);
    EXPECT_EQ(reasons.size(), 1u);
}

TEST(pipeline, FailureAtSubmission_FallbackDecodesBatch)
{
    fake_decoder::control gpu, cpu;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    fake_pipeline p(fakes({ &gpu }), 2, h);
    gpu.fail_submit = true;
    p.submit({ 5 });
    cpu.finish(5);
    ASSERT_NE(p.ready(), nullptr);
    p.release();
}

TEST(pipeline, FailureWithoutFallback_IsThrown)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 2, {});
    p.submit({ 1 });
    c.fail_finished = true;
    EXPECT_THROW(p.ready(), device_error);
    EXPECT_THROW(p.wait(moment), device_error);
}

TEST(pipeline, FailureOfFallback_IsThrown)
{
    fake_decoder::control gpu, cpu;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    fake_pipeline p(fakes({ &gpu }), 2, h);
    gpu.fail_finished = true;
    cpu.fail_finished = true;
    p.submit({ 1 });
    p.ready();
    EXPECT_THROW(p.ready(), device_error);
}

TEST(pipeline, SeveralDecoders_ReceiveBatchesInRotation)
{
    fake_decoder::control a, b;
    fake_pipeline p(fakes({ &a, &b }), 2, {});
    for (int i = 0; i < 4; ++i) {
        p.submit({ i });
    }
    EXPECT_TRUE(p.full());
    EXPECT_EQ(a.submitted, (std::vector<int>{ 0, 2 }));
    EXPECT_EQ(b.submitted, (std::vector<int>{ 1, 3 }));
    for (int i = 0; i < 4; ++i) {
        (i % 2 ? b : a).finish(i);
        ASSERT_NE(p.ready(), nullptr);
        EXPECT_EQ(p.ready()->job.number, i);
        p.release();
    }
}

TEST(pipeline, FailureOfOneDecoder_OthersKeepTheirBatches)
{
    fake_decoder::control a, b, cpu;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    fake_pipeline p(fakes({ &a, &b }), 1, h);
    p.submit({ 0 });
    p.submit({ 1 });
    a.fail_finished = true;
    p.ready();
    EXPECT_EQ(cpu.submitted, std::vector<int>{ 0 });
    cpu.finish(0);
    ASSERT_NE(p.ready(), nullptr);
    p.release();
    b.finish(1);
    ASSERT_NE(p.ready(), nullptr);
    p.release();
}

TEST(pipeline, FailedDevice_LeavesRotationWhileOthersRun)
{
    fake_decoder::control a, b, cpu;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    std::size_t devices = 0;
    h.failed_over = [&](const std::string&, std::size_t left) { devices = left; };
    fake_pipeline p(fakes({ &a, &b }), 2, h);
    const auto take = [&](fake_decoder::control& c, int number) {
        c.finish(number);
        const auto* s = p.ready();
        ASSERT_NE(s, nullptr);
        EXPECT_EQ(s->job.number, number);
        EXPECT_EQ(int(s->output[0]), number);
        p.release();
    };
    for (int i = 0; i < 3; ++i) {
        p.submit({ i });
    }
    EXPECT_EQ(p.slots(), 4u);
    b.fail_finished = true;
    take(a, 0);
    EXPECT_EQ(p.ready(), nullptr); // batch 1 fails and moves to the fallback
    EXPECT_EQ(p.devices(), 1u);
    EXPECT_EQ(devices, 1u);
    EXPECT_EQ(cpu.submitted, std::vector<int>{ 1 });
    // The slot that filling() returns may already hold input, so the slot is used once
    // more.
    p.submit({ 3 });
    EXPECT_EQ(cpu.submitted, (std::vector<int>{ 1, 3 }));
    p.submit({ 4 });
    EXPECT_TRUE(p.full());
    take(cpu, 1);
    EXPECT_TRUE(p.full()); // The slot of the failed device has left the ring.
    take(a, 2);
    EXPECT_FALSE(p.full());
    take(cpu, 3);
    EXPECT_EQ(p.slots(), 2u);
    for (int i = 5; i < 20; ++i) {
        take(a, i - 1);
        p.submit({ i });
    }
    EXPECT_EQ(cpu.submitted, (std::vector<int>{ 1, 3 }));
    // After the last device has failed, the fallback decodes all batches.
    a.fail_finished = true;
    EXPECT_EQ(p.ready(), nullptr);
    EXPECT_EQ(p.devices(), 0u);
    EXPECT_EQ(p.slots(), 2u);
    take(cpu, 19);
    p.submit({ 20 });
    take(cpu, 20);
    EXPECT_EQ(p.active().backend(), "fallback");
}

TEST(pipeline, FinishedBatch_IsNotDecodedAgainAfterFailure)
{
    fake_decoder::control gpu, cpu;
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    fake_pipeline p(fakes({ &gpu }), 2, h);
    p.submit({ 1 });
    p.submit({ 2 });
    gpu.finish(1);
    ASSERT_NE(p.ready(), nullptr);
    gpu.fail_submit = true;
    p.release();
    gpu.finish(2);
    ASSERT_NE(p.ready(), nullptr);
    p.submit({ 3 });
    EXPECT_EQ(cpu.submitted, std::vector<int>{ 3 });
    ASSERT_NE(p.ready(), nullptr);
    EXPECT_EQ(int(p.ready()->output[0]), 2);
    p.release();
    cpu.finish(3);
    ASSERT_NE(p.ready(), nullptr);
    p.release();
}

TEST(pipeline, BorrowedInput_WaitIdleWaitsForAllBatches)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 3, {});
    EXPECT_EQ(c.locked, 9);
    std::array<std::byte, 64> borrowed{};
    ASSERT_TRUE(p.pin_input(borrowed.data(), borrowed.size()));
    EXPECT_EQ(c.locked, 9 + 1 - 3);
    for (int i = 0; i < 3; ++i) {
        p.submit({ i }, borrowed.data() + i);
        EXPECT_EQ(c.running[i].second.input, borrowed.data() + i);
    }
    std::thread device([&] {
        for (const int i : { 2, 0, 1 }) {
            std::this_thread::sleep_for(moment / 4);
            c.finish(i);
        }
    });
    p.wait_idle();
    c.fail_finished = true; // finished batches no longer depend on the device
    std::vector<int> in_flight;
    p.each_in_flight([&](const fake_pipeline::slot& s) {
        EXPECT_EQ(s.from, borrowed.data() + s.job.number);
        in_flight.push_back(s.job.number);
        return true;
    });
    device.join();
    EXPECT_EQ(in_flight, (std::vector<int>{ 0, 1, 2 }));
    EXPECT_NE(p.ready(), nullptr);
    EXPECT_TRUE(p.full()); // the slots are not released yet
    p.unpin_input(borrowed.data());
    EXPECT_EQ(c.locked, 9);
    c.fail_finished = true; // finished batches no longer depend on the device
    for (int i = 0; i < 3; ++i) {
        ASSERT_NE(p.ready(), nullptr);
        EXPECT_EQ(int(p.ready()->output[0]), i);
        p.release();
    }
}

// Returns borrowed memory for the first byte of an output of 16 bytes.
borrowed_output borrowed_at(std::byte* to) { return { to, { 0, 1, 1, 1 } }; }

TEST(pipeline, BorrowedOutput_IsCopiedToSlotsWhenBorrowingEnds)
{
    fake_decoder::control c;
    fake_pipeline p(fakes({ &c }), 3, {});
    std::array<std::byte, 3> ring{};
    // The borrowed memory is ignored, because it is not pinned.
    p.submit({ 1 }, nullptr, borrowed_at(&ring[0]));
    c.finish(1);
    ASSERT_NE(p.ready(), nullptr);
    EXPECT_EQ(int(p.ready()->output[0]), 1);
    EXPECT_EQ(int(ring[0]), 0);
    p.release();
    ASSERT_TRUE(p.pin_output(ring.data(), ring.size(), {}));
    EXPECT_EQ(c.locked, 10);
    p.submit({ 2 }, nullptr, borrowed_at(&ring[0]));
    p.submit({ 3 });
    p.submit({ 4 }, nullptr, { &ring[1], { 0, 2, 1, 8 } });
    for (const int number : { 4, 2, 3 }) {
        c.finish(number);
    }
    ASSERT_NE(p.ready(), nullptr);
    EXPECT_EQ(p.ready()->output, &ring[0]);
    EXPECT_EQ(int(ring[0]), 2);
    ring[2] = std::byte(5); // the second row of batch 4
    p.keep_output();
    p.unpin_output(ring.data());
    EXPECT_EQ(c.locked, 9);
    ring.fill(std::byte(0x55));
    for (const int number : { 2, 3, 4 }) {
        ASSERT_NE(p.ready(), nullptr);
        EXPECT_EQ(p.ready()->borrowed.to, nullptr);
        EXPECT_EQ(int(p.ready()->output[0]), number);
        EXPECT_EQ(int(p.ready()->output[8]), number == 4 ? 5 : 0);
        p.release();
    }
}

TEST(pipeline, AbandonedDevice_BorrowedOutputMemoryIsReplaced)
{
#if defined(__SANITIZE_ADDRESS__)
    const __lsan::ScopedDisabler kept_for_good;
#endif
    for (const bool replaced : { true, false }) {
        fake_decoder::control gpu, cpu;
        unsigned wanted = 0, fail_overs = 0;
        std::array<std::byte, 3> ring{};
        fake_pipeline::hooks h;
        h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
        h.failed_over = [&](const std::string&, std::size_t) { ++fail_overs; };
        h.timeout = moment;
        fake_pipeline p(fakes({ &gpu }), 2, h);
        ASSERT_TRUE(p.pin_output(ring.data(), ring.size(), [&] {
            ++wanted;
            return replaced;
        }));
        p.submit({ 1 }, nullptr, borrowed_at(&ring[0]));
        p.submit({ 2 }, nullptr, borrowed_at(&ring[1]));
        gpu.finish(1);
        ASSERT_TRUE(p.wait(long_time));
        gpu.busy = true;
        p.release();
        const auto late = [&] { p.wait(3 * moment); };
        if (replaced) {
            late();
        } else {
            EXPECT_THROW(late(), device_timeout_error);
        }
        cpu.finish(2); // no effect unless the batch moved to the CPU
        EXPECT_EQ(wanted, 1u);
        EXPECT_EQ(fail_overs, unsigned(replaced));
        EXPECT_EQ(cpu.submitted, replaced ? std::vector<int>{ 2 } : std::vector<int>());
        EXPECT_EQ(p.active().backend(), "fallback");
        if (replaced) {
            ASSERT_NE(p.ready(), nullptr);
            EXPECT_EQ(p.ready()->borrowed.to, nullptr); // the CPU's output is copied
            EXPECT_EQ(int(p.ready()->output[0]), 2);
            p.release();
        }
        p.drain();
        p.submit({ 3 }, nullptr, borrowed_at(&ring[2]));
        cpu.finish(3);
        ASSERT_NE(p.ready(), nullptr);
        EXPECT_EQ(p.ready()->borrowed.to, nullptr);
        EXPECT_FALSE(p.pin_output(ring.data(), ring.size(), {}));
        const int locked = gpu.locked;
        p.unpin_output(ring.data());
        EXPECT_EQ(gpu.locked, locked); // the device may still write output
    }
}

TEST(pipeline, FailedDevice_BorrowedOutputMemoryIsReplacedOnlyIfAbandoned)
{
    fake_decoder::control gpu, cpu;
    std::array<std::byte, 1> ring{};
    fake_pipeline::hooks h;
    h.fallback = [&] { return std::make_unique<fake_decoder>(cpu, "fallback"); };
    fake_pipeline p(fakes({ &gpu }), 1, h);
    ASSERT_TRUE(p.pin_output(ring.data(), ring.size(), [] {
        ADD_FAILURE() << "pages replaced although the device is idle";
        return false;
    }));
    p.submit({ 1 }, nullptr, borrowed_at(&ring[0]));
    gpu.fail_finished = true;
    EXPECT_EQ(p.ready(), nullptr);
    cpu.finish(1);
    ASSERT_NE(p.ready(), nullptr);
    EXPECT_EQ(int(p.ready()->output[0]), 1);
    EXPECT_EQ(int(ring[0]), 0);
    p.unpin_output(ring.data());
}

TEST(pipeline, DeviceThatMayStillWrite_KeepsOutputMemoryPinned)
{
    fake_decoder::control c;
    std::array<std::byte, 1> ring{};
    fake_pipeline p(fakes({ &c }), 1, {});
    ASSERT_TRUE(p.pin_output(ring.data(), ring.size(), {}));
    p.submit({ 1 }, nullptr, borrowed_at(&ring[0]));
    c.fail_finished = true;
    EXPECT_THROW(p.keep_output(), device_error);
    const int locked = c.locked;
    c.busy = true;
    p.unpin_output(ring.data());
    EXPECT_EQ(c.locked, locked);
    c.busy = false;
    p.unpin_output(ring.data());
    EXPECT_EQ(c.locked, locked - 1);
}

TEST(output_window, SubmittedOutput_GetsAddressesInPullOrder)
{
    std::array<std::byte, 32> ring{};
    output_window w;
    EXPECT_EQ(w.place(1), nullptr);
    w.borrow(&ring[4], 20);
    EXPECT_EQ(w.place(0), nullptr);
    EXPECT_EQ(w.place(8), &ring[4]);
    w.submitted(8);
    EXPECT_EQ(w.place(13), nullptr); // only 12 bytes are free
    w.submitted(13);                 // this output is copied when pulled
    w.pulled(8);
    EXPECT_EQ(w.place(1), nullptr);
    w.borrow(&ring[12], 16);
    EXPECT_EQ(w.place(3), &ring[25]);
    EXPECT_EQ(w.place(4), nullptr);
    w.submitted(3);
    w.pulled(13);
    EXPECT_FALSE(w.empty());
    w.pulled(3);
    EXPECT_TRUE(w.empty());
    EXPECT_EQ(w.place(0), nullptr);
    w.borrow(&ring[0], 1);
    EXPECT_EQ(w.place(1), &ring[0]);
    w.borrow(nullptr, 0);
    EXPECT_EQ(w.place(1), nullptr);
}

TEST(other_pages, MappedRing_GetsNewPagesWithSameContents)
{
    const auto size = 2 * std::size_t(sysconf(_SC_PAGESIZE));
    const int file = memfd_create("qa_pipeline", 0);
    ASSERT_EQ(ftruncate(file, size), 0);
    auto* const both =
        mmap(nullptr, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const ring = static_cast<char*>(both);
    for (auto* const at : { ring, ring + size }) {
        ASSERT_EQ(mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
                  at);
    }
    std::memset(ring, 1, size);
    ASSERT_TRUE(put_other_pages(ring, size, 2));
    EXPECT_EQ(std::count(ring, ring + 2 * size, 1), 2 * size);
    std::memset(ring + size / 2, 2, size); // crosses the end of the first mapping
    EXPECT_EQ(std::count(ring, ring + 2 * size, 2), 2 * size);
    std::vector<char> old(size);
    ASSERT_EQ(pread(file, old.data(), size, 0), ssize_t(size));
    EXPECT_EQ(std::count(old.begin(), old.end(), 1), size);
    EXPECT_FALSE(put_other_pages(ring + 1, size, 2)); // not a page's address
    munmap(ring, 2 * size);
    close(file);
}

TEST(pipeline, Destructor_WaitsForBatchesInFlight)
{
    fake_decoder::control c;
    std::thread device;
    {
        fake_pipeline p(fakes({ &c }), 1, {});
        p.submit({ 1 });
        device = std::thread([&] {
            std::this_thread::sleep_for(moment);
            c.finish(1);
        });
    }
    EXPECT_EQ(c.done.size(), 1u);
    device.join();
    EXPECT_EQ(c.locked, 0);
}

TEST(copy_past_caches, AnySizeAndAlignment_CopiesLikeMemcpy)
{
    constexpr std::size_t most = 70000;
    std::vector<std::byte> from(most + 64), to(most + 128);
    for (std::size_t k = 0; k < from.size(); ++k) {
        from[k] = std::byte(k * 2654435761u >> 24);
    }
    for (const std::size_t count :
         { 0, 1, 63, 16383, 16384, 16385, 16447, 65536, 70000 }) {
        for (const unsigned first : { 0u, 1u, 15u, 48u, 63u }) {
            for (const unsigned before : { 0u, 7u, 64u }) {
                std::vector<std::byte> wanted(to.size(), std::byte(0x55));
                std::copy_n(from.begin() + first, count, wanted.begin() + before);
                for (const bool whole_lines : { false, stores_whole_lines() }) {
                    std::fill(to.begin(), to.end(), std::byte(0x55));
                    copy_past_caches(
                        to.data() + before, from.data() + first, count, whole_lines);
                    EXPECT_EQ(to, wanted)
                        << count << " bytes, offsets " << first << " and " << before;
                }
            }
        }
    }
}

TEST(checked_size, Overflow_Saturates)
{
    const auto largest = std::numeric_limits<std::uint64_t>::max();
    const checked_size half(std::uint64_t(1) << 32), most(largest);
    EXPECT_EQ((half * half).value(), largest); // would wrap to 0 without saturation
    EXPECT_EQ((half * half * half).value(), largest);
    EXPECT_EQ((half * (half + checked_size(1))).value(), largest);
    EXPECT_EQ((most + checked_size(1)).value(), largest);
    EXPECT_EQ((checked_size(3) * checked_size(5) + checked_size(7)).value(), 22u);
    EXPECT_EQ(checked_size(7).within(7, 7, "n"), 7u);
    EXPECT_THROW((half * half).within(0, 7, "n"), std::invalid_argument);
}

} // namespace
