// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoder of a room on one device, whose slots are filled and emptied in turn,
 * by kernels of the caller's on the streams of the slots: nobody waits for them. */

#ifndef INCLUDED_GPUFEC_CUDA_SLOT_ROUNDS_H
#define INCLUDED_GPUFEC_CUDA_SLOT_ROUNDS_H

#include "device_decoder.h"
#include "pipeline/backends.h"
#include <condition_variable>
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace gr::gpufec {
namespace cuda {

//! What a batch decoder calls when a batch may have finished.
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
    //! Sleeps until \p finished says so.
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

//! What a slot begins with.
struct round_slot {
    bool busy = false;            //!< its batch is in flight
    cudaStream_t queue = nullptr; //!< for work on its memory, before and after a batch
};

//! A batch decoder and its slots, which derive from round_slot.
template <class Room, class Slot>
class slot_rounds
{
public:
    using job = typename Room::job;
    using setup = typename Room::setup;

    //! Batches of \p run, or \p times what is chosen for slots that the host fills; with
    //! jobs that are raw, if \p raw.
    slot_rounds(const setup& s,
                const run_options& run,
                int device,
                unsigned times = 1,
                bool raw = false)
        : d_device(device), d_setup(s)
    {
        select(device);
        d_slots = std::vector<Slot>(run.slots); // whose events are the device's
        const auto unit = Room::unit(s);
        const auto whole = [unit](std::size_t n) { return (n + unit - 1) / unit * unit; };
        const auto asked = whole(run.batch);
        auto pieces = asked ? asked : Room::cuda_batch(s, run.slots, device);
        const auto chosen = pieces;
        if (!asked && times > 1) {
            pieces = std::max(pieces,
                              std::min(times * pieces, Room::most_pieces / unit * unit));
        }
        if (!asked && run.most) {
            pieces = std::min(pieces, whole(run.most));
        }
        d_decoder = make_cuda_within_memory<Room>(s, pieces, run.slots, device, raw);
        d_pieces = d_decoder->limits().pieces;
        d_chosen = std::min(chosen, d_pieces);
        d_decoder->on_completion([this] { d_completion.notify(); });
        auto& streams = dynamic_cast<slot_streams&>(*d_decoder);
        for (unsigned number = 0; number < d_slots.size(); ++number) {
            d_slots[number].queue = streams.stream_of(number);
        }
    }

protected:
    ~slot_rounds() { settle(); }

    // Fills slot after slot, and empties each before it is filled again.
    // \p fill(slot, number, batch) submits, \p empty(slot) takes what it decoded, and
    // says whether to go on.
    template <class Fill, class Empty>
    void run(std::size_t batches, Fill&& fill, Empty&& empty)
    {
        use(d_device);
        const struct settled {
            slot_rounds& self;
            ~settled() { self.settle(); }
        } settled{ *this };
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

    // Waits for all that was put on a slot's queue.
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
    std::size_t d_pieces = 0; // of a batch at most
    std::size_t d_chosen = 0; // of a batch that keeps the device busy

private:
    // Nothing is in flight, whatever happened.
    void settle() noexcept
    {
        for (unsigned number = 0; number < d_slots.size(); ++number) {
            while (d_slots[number].busy) {
                try {
                    d_completion.wait([&] { return d_decoder->finished(number); });
                } catch (const std::exception&) {
                    // It failed, and so is not in flight.
                }
                d_slots[number].busy = false;
            }
            cudaStreamSynchronize(d_slots[number].queue);
        }
    }

    completion d_completion; // before the decoder, which calls it
    std::unique_ptr<batch_decoder<job>> d_decoder;
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_SLOT_ROUNDS_H */
