// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the batch decoders on a CUDA device have in common. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H

#include "device_turns.h"
#include "runtime.h"
#include "unpack_bits.h"
#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace gr::gpufec {
namespace cuda {

//! Page-locked host memory of the slots of a batch that is chosen.
constexpr std::size_t page_locked_bytes = 64u << 20;

//! A batch in flight; decoders add their memory.
struct device_slot {
    stream queue;
    event done, copied;
    std::unique_ptr<buffer<std::uint8_t>> bits; // of the output, one per byte
    std::exception_ptr failure;                 // of a batch that had waited for its turn
};

//! Slots with a stream each, on which other work keeps its place among their batches.
class slot_streams
{
public:
    virtual cudaStream_t stream_of(unsigned slot) = 0;

protected:
    ~slot_streams() = default;
};

//! Called after each step of a batch with its name, before the first with "".
using marker = std::function<void(const char*)>;

/*!
 * \brief A device with slots in flight on it.
 *
 * A decoder enqueues the steps of a batch on its slot's stream. Its destructor calls
 * settle() before what the batches use is gone.
 */
template <class Job, class Slot>
class device_decoder : public batch_decoder<Job>, public slot_streams
{
public:
    batch_limits limits() const override { return d_limits; }
    std::string backend() const override { return "cuda"; }
    std::string device() const override { return d_name; }
    bool page_lock(void* memory, std::size_t bytes) noexcept override
    {
        return cudaSetDevice(d_device) == cudaSuccess && cuda::page_lock(memory, bytes);
    }
    void page_unlock(void* memory) noexcept override
    {
        cudaSetDevice(d_device);
        cuda::page_unlock(memory);
    }
    bool take_bits() noexcept override
    {
        return take(&device_slot::bits, 8 * d_limits.output_bytes);
    }
    void on_completion(std::function<void()> notify) override
    {
        d_notify = std::move(notify);
    }
    void submit(unsigned slot, const Job& job, const batch_memory& memory) override
    {
        use();
        if (d_waiting.empty() && d_turn.begin()) {
            put(d_slots.at(slot), job, memory);
        } else {
            d_waiting.push_back({ slot, job, memory });
        }
    }
    cudaStream_t stream_of(unsigned slot) override
    {
        return d_slots.at(slot).queue.get();
    }
    bool finished(unsigned slot) override
    {
        use();
        put_waiting();
        auto& s = d_slots.at(slot);
        if (s.failure) {
            std::rethrow_exception(std::exchange(s.failure, nullptr));
        }
        if (waits(slot)) {
            return false;
        }
        const auto state = cudaEventQuery(s.done.get());
        if (state == cudaErrorNotReady) {
            return false;
        }
        check(state, "decoding");
        return true;
    }
    void drop() noexcept override { d_waiting.clear(); }

    bool quiet(std::chrono::milliseconds limit) noexcept override
    {
        using clock = std::chrono::steady_clock;
        const auto end = clock::now() + limit;
        cudaSetDevice(d_device);
        put_waiting(true); // which would be written later
        for (auto& s : d_slots) {
            // Asked and not waited for: that might never return.
            while (cudaStreamQuery(s.queue.get()) == cudaErrorNotReady) {
                if (clock::now() >= end) {
                    return false;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        }
        cudaGetLastError();
        d_turn.rest(); // one that failed calls nobody back
        return true;
    }
    void give_up() noexcept override
    {
        d_turn.rest();
        std::lock_guard<std::mutex> lock(d_notifying);
        d_notify = nullptr;
    }

    std::vector<timed_step>
    time_steps(const Job& job, const batch_memory& memory, unsigned rounds) override
    {
        use();
        auto& s = d_slots.front();
        std::vector<timed_step> steps;
        std::vector<std::vector<double>> times;
        for (unsigned round = 0; round <= rounds; ++round) {
            std::vector<event> marks;
            steps.clear();
            enqueue(s, job, memory, [&](const char* step) {
                marks.emplace_back(cudaEventDefault);
                check(cudaEventRecord(marks.back().get(), s.queue.get()), "event");
                steps.push_back({ step, 0 });
            });
            check(cudaStreamSynchronize(s.queue.get()), "decoding");
            times.resize(steps.size());
            for (std::size_t i = 1; i < steps.size() && round > 0; ++i) {
                float ms = 0; // the first round warms up
                check(cudaEventElapsedTime(&ms, marks[i - 1].get(), marks[i].get()),
                      "event");
                times[i].push_back(ms);
            }
        }
        for (std::size_t i = 1; i < steps.size(); ++i) {
            const auto middle = times[i].begin() + times[i].size() / 2;
            std::nth_element(times[i].begin(), middle, times[i].end());
            steps[i].ms = times[i].empty() ? 0 : *middle;
        }
        steps.erase(steps.begin());
        return steps;
    }

protected:
    //! \p long_batches: a batch takes some milliseconds, however few pieces it has.
    //! \throws std::runtime_error if there is no such usable device
    explicit device_decoder(int device, bool long_batches = false)
        : d_device(device),
          d_turn(device_turns::of(device), long_batches, [this] { wake(); })
    {
        select(device);
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, device), "device properties");
        d_name = properties.name;
    }

    //! The copies and kernels of a batch.
    virtual void
    enqueue(Slot& s, const Job& job, const batch_memory& memory, const marker& mark) = 0;

    void use() const { cuda::use(d_device); }

    // Input and output of a batch may be memory of the device too. Slots copy one after
    // the other: copies that share the link all arrive late, and then kernels wait for
    // each other while the link is idle.
    void copy_in(Slot& s, void* to, const void* from, std::size_t bytes)
    {
        if (d_last_copied && d_last_copied != s.copied.get()) {
            check(cudaStreamWaitEvent(s.queue.get(), d_last_copied, 0),
                  "order of copies");
        }
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.queue.get()),
              "copy to the device");
        check(cudaEventRecord(s.copied.get(), s.queue.get()), "event");
        d_last_copied = s.copied.get();
    }
    void copy_out(Slot& s, void* to, const void* from, std::size_t bytes)
    {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.queue.get()),
              "copy to the host");
    }

    //! To be enqueued before copy_output(), as a kernel among the others.
    void unpack_output(Slot& s, const batch_memory& memory, const void* output)
    {
        const auto& [to, rows] = memory.lent;
        if (to && rows.bits > 0) {
            launch_unpack(output, rows, s.bits->get(), s.queue.get());
        }
    }

    //! The output of a batch, of which a user's own memory takes what it gets of it.
    void copy_output(Slot& s,
                     const batch_memory& memory,
                     const void* output,
                     std::size_t bytes)
    {
        const auto& [to, rows] = memory.lent;
        if (!memory.lent.in_place_of_output()) {
            copy_out(s, memory.output, output, bytes);
            if (to) {
                copy_out(s, to, s.bits->get(), rows.total());
            }
            return;
        }
        const auto* const from = static_cast<const std::byte*>(output) + rows.first;
        if (rows.pitch == rows.bytes) {
            return copy_out(s, to, from, rows.total());
        }
        check(cudaMemcpy2DAsync(to,
                                rows.bytes,
                                from,
                                rows.pitch,
                                rows.bytes,
                                rows.rows,
                                cudaMemcpyDefault,
                                s.queue.get()),
              "copy to the host");
    }

    //! Memory of so many \p bytes for each slot, where it has none. Returns whether it
    //! could; no slot has any if not.
    template <class T, class S>
    bool take(std::unique_ptr<buffer<T>> S::*memory, std::size_t count) noexcept
    {
        try {
            use();
            for (auto& s : d_slots) {
                if (!(s.*memory)) {
                    s.*memory = std::make_unique<buffer<T>>(count);
                }
            }
            return true;
        } catch (const std::exception&) {
            for (auto& s : d_slots) {
                (s.*memory).reset();
            }
            return false;
        }
    }

    //! Waits for all slots.
    void settle() noexcept
    {
        cudaSetDevice(d_device);
        for (auto& s : d_slots) {
            cudaStreamSynchronize(s.queue.get());
        }
    }

    const int d_device;
    batch_limits d_limits;
    std::vector<Slot> d_slots;

private:
    // A batch whose turn has not come.
    struct waiting_batch {
        unsigned slot;
        Job job;
        batch_memory memory;
    };

    bool waits(unsigned slot) const
    {
        return std::any_of(d_waiting.begin(), d_waiting.end(), [slot](const auto& b) {
            return b.slot == slot;
        });
    }

    // \p all: out of turn, if need be.
    void put_waiting(bool all = false)
    {
        while (!d_waiting.empty() && (all || d_turn.begin())) {
            if (all) {
                d_turn.take();
            }
            const auto batch = std::move(d_waiting.front());
            d_waiting.pop_front();
            auto& s = d_slots.at(batch.slot);
            try {
                put(s, batch.job, batch.memory);
            } catch (...) {
                s.failure = std::current_exception(); // for who asks for this one
            }
        }
    }

    void put(Slot& s, const Job& job, const batch_memory& memory)
    {
        try {
            enqueue(s, job, memory, [](const char*) {});
            complete(s);
        } catch (...) {
            d_turn.end();
            throw;
        }
    }

    // The caller is told once what was enqueued on the slot is done.
    void complete(Slot& s)
    {
        // Before the callback, so that who is called finds the batch finished.
        check(cudaEventRecord(s.done.get(), s.queue.get()), "event");
        check(cudaLaunchHostFunc(
                  s.queue.get(),
                  [](void* self) { static_cast<device_decoder*>(self)->notify(); },
                  this),
              "completion callback");
    }

    // On a thread of the runtime.
    void notify()
    {
        d_turn.end();
        wake();
    }

    // On any thread.
    void wake()
    {
        std::lock_guard<std::mutex> lock(d_notifying);
        if (d_notify) {
            d_notify();
        }
    }

    std::string d_name;
    cudaEvent_t d_last_copied = nullptr; // of the slot that copied last
    std::mutex d_notifying;
    std::function<void()> d_notify;
    std::deque<waiting_batch> d_waiting; // who came first comes first
    device_turns::place d_turn;          // last: it may call wake()
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H */
