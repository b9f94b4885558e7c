// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of all batch decoders on a CUDA device. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H

#include "device_admission.h"
#include "runtime.h"
#include "unified_memory.h"
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

//! Pinned host memory of all slots, in bytes, from which decoders derive a batch size if
//! the user sets none.
constexpr std::size_t page_locked_bytes = 64u << 20;

//! Device resources of a slot. Derived structures add a decoder's own buffers.
struct device_slot {
    stream queue;
    event done, copied, decoded; // ends of the batch, of its input copy, of its kernels
    // Output unpacked to one bit per byte; null until reserve_unpacked_output().
    std::unique_ptr<buffer<std::uint8_t>> bits;
    std::exception_ptr failure; // exception thrown when a queued batch was started
};

//! Interface to the slots' streams, on which other work can run in order with the slots'
//! batches.
class slot_streams
{
public:
    virtual cudaStream_t stream_of(unsigned slot) = 0;

protected:
    ~slot_streams() = default;
};

//! Callback of enqueue(): called with "" before the first step of a batch is enqueued,
//! and with a step's name after the step is enqueued.
using marker = std::function<void(const char*)>;

/*!
 * \brief Base class of batch decoders on a CUDA device.
 *
 * The derived class enqueues the steps of a batch on the slot's stream. The destructor of
 * the derived class must call wait_idle() before it frees memory that batches use.
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
        return cudaSetDevice(d_device) == cudaSuccess &&
               (has(memory) || cuda::page_lock(memory, bytes));
    }
    void page_unlock(void* memory) noexcept override
    {
        cudaSetDevice(d_device);
        if (!has(memory)) {
            cuda::page_unlock(memory);
        }
    }
    bool has(const void* memory) const noexcept override
    {
        return d_unified_memory.on_device(memory);
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes) const override
    {
        use();
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d_to_host.get()),
              "copy to the host");
        check(cudaStreamSynchronize(d_to_host.get()), "copy to the host");
    }
    bool reserve_unpacked_output() noexcept override
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
        if (d_waiting.empty() && d_admission.begin()) {
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

    bool wait_idle(std::chrono::milliseconds limit) noexcept override
    {
        using clock = std::chrono::steady_clock;
        const auto end = clock::now() + limit;
        cudaSetDevice(d_device);
        put_waiting(true); // no queued batch may start later and write host memory
        for (auto& s : d_slots) {
            // The stream is polled because cudaStreamSynchronize() might never return.
            while (cudaStreamQuery(s.queue.get()) == cudaErrorNotReady) {
                if (clock::now() >= end) {
                    return false;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        }
        cudaGetLastError();
        d_admission.leave_queue(); // failed batches have no completion callback
        return true;
    }
    void abandon() noexcept override
    {
        d_admission.leave_queue();
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
                check(cudaEventRecord(marks.back().get(), s.queue.get()),
                      "event recording");
                steps.push_back({ step, 0 });
            });
            check(cudaStreamSynchronize(s.queue.get()), "decoding");
            times.resize(steps.size());
            for (std::size_t i = 1; i < steps.size() && round > 0; ++i) {
                float ms = 0; // the first round is a warm-up and is not recorded
                check(cudaEventElapsedTime(&ms, marks[i - 1].get(), marks[i].get()),
                      "event timing");
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
    //! \param long_batches true if even a batch of one work item takes milliseconds, so
    //!        that device_admission limits the decoder's batches
    //! \throws std::runtime_error if \p device does not exist or is not usable
    explicit device_decoder(int device, bool long_batches = false)
        : device_decoder(device, select_and_query(device), long_batches)
    {
    }

    //! Enqueues the copies and kernels of a batch. The derived class calls \p mark before
    //! the first step and after each step.
    virtual void
    enqueue(Slot& s, const Job& job, const batch_memory& memory, const marker& mark) = 0;

    void use() const { cuda::use(d_device); }

    // Returns the address at which kernels read a batch's input: that of \p from if
    // kernels can read it there, otherwise \p to, after a copy.
    template <class T>
    const T* bring_in(Slot& s, T* to, const void* from, std::size_t bytes)
    {
        if (const auto* const there = d_unified_memory.readable(from)) {
            return static_cast<const T*>(there);
        }
        copy_in(s, to, from, bytes);
        return to;
    }

    // Copies a batch's input from host or device memory. Copies of different slots run
    // one after the other. Concurrent copies would share the bus, so all kernels would
    // start late, and the bus would be idle while the kernels run.
    void copy_in(Slot& s, void* to, const void* from, std::size_t bytes)
    {
        if (d_last_copied && d_last_copied != s.copied.get()) {
            check(cudaStreamWaitEvent(s.queue.get(), d_last_copied, 0), "event wait");
        }
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.queue.get()),
              "copy to the device");
        check(cudaEventRecord(s.copied.get(), s.queue.get()), "event recording");
        d_last_copied = s.copied.get();
    }
    // Delays the kernels enqueued next until the kernels of an earlier batch have ended:
    // the latest batch if `distance` is 1, the one before if `distance` is 2.
    void start_after(Slot& s, unsigned distance)
    {
        const auto* const before = d_latest[distance - 1];
        if (before && before != &s) {
            check(cudaStreamWaitEvent(s.queue.get(), before->decoded.get(), 0),
                  "event wait");
        }
    }
    // Marks the end of a batch's kernels.
    void end_kernels(Slot& s)
    {
        check(cudaEventRecord(s.decoded.get(), s.queue.get()), "event recording");
        d_latest[1] = std::exchange(d_latest[0], &s);
    }
    // Returns the address to which kernels write before copy_out() to \p host: that of
    // \p host on a device with unified memory, otherwise \p buffer.
    template <class T>
    T* target(T* buffer, std::byte* host) const
    {
        auto* const there = d_unified_memory.address(host);
        return there ? reinterpret_cast<T*>(there) : buffer;
    }
    // Returns the address to which kernels write before copy_output(): that of the slot's
    // output on a device with unified memory, unless output is borrowed; else \p buffer.
    template <class T>
    T* target(T* buffer, const batch_memory& memory) const
    {
        return memory.borrowed.in_place_of_output() ? buffer
                                                    : target(buffer, memory.output);
    }
    // Copies output, unless kernels have written the output to \p to directly.
    void copy_out(Slot& s, void* to, const void* from, std::size_t bytes)
    {
        if (d_unified_memory.address(to) == from) {
            return;
        }
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s.queue.get()),
              "copy to the host");
    }

    //! Enqueues the kernel that unpacks \p output to one bit per byte if the batch's
    //! borrowed memory has this format. Must be called before copy_output().
    void unpack_output(Slot& s, const batch_memory& memory, const void* output)
    {
        const auto& [to, rows] = memory.borrowed;
        if (to && rows.bits > 0) {
            launch_unpack(output, rows, s.bits->get(), s.queue.get());
        }
    }

    //! Enqueues the copies of a batch's output: to the slot, to borrowed memory, or to
    //! the slot and, unpacked, to borrowed memory.
    void copy_output(Slot& s,
                     const batch_memory& memory,
                     const void* output,
                     std::size_t bytes)
    {
        const auto& [to, rows] = memory.borrowed;
        if (!memory.borrowed.in_place_of_output()) {
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

    //! Allocates the buffer \p memory of \p count elements in each slot that lacks it. On
    //! failure, frees this buffer in all slots and returns false.
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

    //! Waits until the streams of all slots are idle.
    void wait_idle() noexcept
    {
        cudaSetDevice(d_device);
        for (auto& s : d_slots) {
            cudaStreamSynchronize(s.queue.get());
        }
    }

    const int d_device;
    const unified_memory d_unified_memory;
    batch_limits d_limits;
    std::vector<Slot> d_slots;

private:
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

    // Starts the queued batches that are admitted or, if \p all is true, all queued
    // batches.
    void put_waiting(bool all = false)
    {
        while (!d_waiting.empty() && (all || d_admission.begin())) {
            if (all) {
                d_admission.take();
            }
            const auto batch = std::move(d_waiting.front());
            d_waiting.pop_front();
            auto& s = d_slots.at(batch.slot);
            try {
                put(s, batch.job, batch.memory);
            } catch (...) {
                // finished() rethrows the exception for this slot.
                s.failure = std::current_exception();
            }
        }
    }

    void put(Slot& s, const Job& job, const batch_memory& memory)
    {
        try {
            enqueue(s, job, memory, [](const char*) {});
            complete(s);
        } catch (...) {
            d_admission.end();
            throw;
        }
    }

    // Records the end of the batch and enqueues the completion callback.
    void complete(Slot& s)
    {
        // The event comes first, because the callback may call finished().
        check(cudaEventRecord(s.done.get(), s.queue.get()), "event recording");
        check(cudaLaunchHostFunc(
                  s.queue.get(),
                  [](void* self) { static_cast<device_decoder*>(self)->notify(); },
                  this),
              "completion callback");
    }

    // Completion callback; called on a thread of the CUDA runtime.
    void notify()
    {
        d_admission.end();
        wake();
    }

    // Callback of the admission; called on any thread.
    void wake()
    {
        std::lock_guard<std::mutex> lock(d_notifying);
        if (d_notify) {
            d_notify();
        }
    }

    static cudaDeviceProp select_and_query(int device)
    {
        select(device);
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, device), "query of a device");
        return properties;
    }

    device_decoder(int device, const cudaDeviceProp& properties, bool long_batches)
        : d_device(device),
          d_unified_memory(device, properties),
          d_name(properties.name),
          d_admission(device_admission::of(device), long_batches, [this] { wake(); })
    {
    }

    const std::string d_name;
    const stream d_to_host;
    cudaEvent_t d_last_copied = nullptr; // completion of the latest input copy
    const Slot* d_latest[2] = {};        // slots of the two latest batches, latest first
    std::mutex d_notifying;
    std::function<void()> d_notify;
    std::deque<waiting_batch> d_waiting; // in the order of submission
    device_admission::place d_admission; // declared last: its callback uses other members
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H */
