// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A batch decoder on one device, whose slots are filled and emptied by kernels of the
 * caller, and a condition variable for its completion callback. The caller's kernels run
 * on the slots' streams, so the host does not wait for these kernels. */

#ifndef INCLUDED_GPUFEC_CUDA_SLOT_LAUNCHES_H
#define INCLUDED_GPUFEC_CUDA_SLOT_LAUNCHES_H

#include "common/host_memory.h"
#include "device_decoder.h"
#include "pipeline/backends.h"
#include <condition_variable>
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace cuda {

//! Condition variable for the completion callback of a batch decoder.
class completion
{
public:
    void notify()
    {
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            ++d_count;
        }
        d_condition.notify_all();
    }
    //! Waits until \p finished returns true. Calls \p finished immediately, and then
    //! after each notify() or after 100 ms without one.
    template <class Finished>
    void wait(Finished&& finished)
    {
        for (;;) {
            std::uint64_t seen;
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                seen = d_count;
            }
            if (finished()) {
                return;
            }
            std::unique_lock<std::mutex> lock(d_mutex);
            d_condition.wait_for(
                lock, std::chrono::milliseconds(100), [&] { return d_count != seen; });
        }
    }

private:
    std::mutex d_mutex;
    std::condition_variable d_condition;
    std::uint64_t d_count = 0;
};

//! Pinned host memory of a slot.
class locked_memory
{
public:
    explicit locked_memory(std::size_t bytes) : d_memory(bytes)
    {
        page_lock(d_memory.data(), bytes);
    }
    ~locked_memory() { page_unlock(d_memory.data()); }
    locked_memory(const locked_memory&) = delete;
    std::byte* data() const { return d_memory.data(); }
    std::size_t size() const { return d_memory.size(); }

private:
    const host_memory d_memory;
};

//! Base class of the caller's slots.
struct round_slot {
    bool busy = false;            //!< whether the slot's batch is in flight
    cudaStream_t queue = nullptr; //!< stream of the slot's batches and caller's kernels
};

//! Base class that owns a batch decoder and its slots, which derive from round_slot.
template <class Traits, class Slot>
class slot_rounds
{
public:
    using job = typename Traits::job;
    using setup = typename Traits::setup;

    //! The batch size is run.batch. If run.batch is 0, the size is \p times the batch
    //! that Traits::cuda_batch() chooses for input from the host, limited by
    //! run.max_batch and Traits::max_work_items. The device memory may reduce the size
    //! further. If \p caller_format is set, the decoder also accepts input in the
    //! caller's format.
    slot_rounds(const setup& s,
                const run_options& run,
                int device,
                unsigned times = 1,
                bool caller_format = false)
        : d_device(device), d_setup(s)
    {
        select(device);
        d_slots = std::vector<Slot>(run.slots); // creates events on this device
        const auto batch_granularity = Traits::batch_granularity(s);
        const auto whole = [batch_granularity](std::size_t n) {
            return (n + batch_granularity - 1) / batch_granularity * batch_granularity;
        };
        const auto asked = whole(run.batch);
        auto work_items = asked ? asked : Traits::cuda_batch(s, run, device);
        const auto chosen = work_items;
        if (!asked && times > 1) {
            work_items = std::max(
                work_items,
                std::min(times * work_items,
                         Traits::max_work_items / batch_granularity * batch_granularity));
        }
        if (!asked && run.max_batch) {
            work_items = std::min(work_items, whole(run.max_batch));
        }
        d_decoder = make_cuda_within_memory<Traits>(
            s, work_items, run.slots, device, caller_format);
        d_work_items = d_decoder->limits().work_items;
        d_chosen = std::min(chosen, d_work_items);
        d_decoder->on_completion([this] { d_completion.notify(); });
        auto& streams = dynamic_cast<slot_streams&>(*d_decoder);
        for (unsigned number = 0; number < d_slots.size(); ++number) {
            d_slots[number].queue = streams.stream_of(number);
        }
    }

protected:
    ~slot_rounds() { wait_idle(); }

    std::string device_name() const { return d_decoder->device(); }

    // Decodes \p batches batches, using the slots in rotation. fill(slot, number, batch)
    // submits batch number `batch` with the slot of index `number`. empty(slot) collects
    // the output before the slot is filled again; if empty() returns false, decoding
    // stops.
    template <class Fill, class Empty>
    void run(std::size_t batches, Fill&& fill, Empty&& empty)
    {
        use(d_device);
        const struct waited_for {
            slot_rounds& self;
            ~waited_for() { self.wait_idle(); }
        } waited_for{ *this };
        for (std::size_t b = 0; b < batches + d_slots.size(); ++b) {
            const auto number = unsigned(b % d_slots.size());
            auto& s = d_slots[number];
            if (s.busy) {
                d_completion.wait([&] { return d_decoder->finished(number); });
                s.busy = false;
                if (!empty(s)) {
                    return;
                }
            }
            if (b < batches) {
                fill(s, number, b);
            }
        }
        for (const auto& s : d_slots) {
            finish(s);
        }
    }

    void submit(Slot& s, unsigned number, const job& j, const batch_memory& memory)
    {
        d_decoder->submit(number, j, memory);
        s.busy = true;
    }

    // Waits for all work on a slot's stream.
    static void finish(const Slot& s)
    {
        check(cudaStreamSynchronize(s.queue), "conversion");
    }

    template <class T>
    static T* ensure(std::unique_ptr<buffer<T>>& memory, std::size_t count)
    {
        if (!memory || memory->bytes() < count * sizeof(T)) {
            memory.reset();
            memory = std::make_unique<buffer<T>>(std::max<std::size_t>(count, 1));
        }
        return memory->get();
    }

    const int d_device;
    const setup d_setup;
    std::vector<Slot> d_slots;
    std::size_t d_work_items = 0; // maximum number of work items per batch
    std::size_t d_chosen = 0;     // this maximum if the argument `times` were 1

private:
    // Waits until all slots' batches have ended or failed.
    void wait_idle() noexcept
    {
        for (unsigned number = 0; number < d_slots.size(); ++number) {
            while (d_slots[number].busy) {
                try {
                    d_completion.wait([&] { return d_decoder->finished(number); });
                } catch (const std::exception&) {
                    // A failed batch is not in flight, so the error can be ignored.
                }
                d_slots[number].busy = false;
            }
            cudaStreamSynchronize(d_slots[number].queue);
        }
    }

    completion d_completion; // declared before d_decoder, which calls it
    std::unique_ptr<batch_decoder<job>> d_decoder;
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_SLOT_LAUNCHES_H */
