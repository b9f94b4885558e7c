/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Slots in flight between a caller and batch decoders: in order, bounded, and
 * decoded again elsewhere when a device fails. */

#ifndef INCLUDED_GPUFEC_PIPELINE_PIPELINE_H
#define INCLUDED_GPUFEC_PIPELINE_PIPELINE_H

#include "host_memory.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <condition_variable>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gr {
namespace gpufec {

/*!
 * \brief A ring of slots over one or more batch decoders.
 *
 * The caller fills filling(), submits it, and takes what ready() gives, always in the
 * order of submission. With several decoders the slots are dealt out in turn. One thread
 * calls it; completions arrive on any thread.
 */
template <class Job>
class pipeline
{
public:
    using decoder = batch_decoder<Job>;

    struct slot {
        std::byte* input;
        std::byte* output;
        std::byte* status;
        Job job{};
    };

    struct hooks {
        //! A batch may have finished; called from any thread.
        std::function<void()> completion = [] {};
        //! Makes the decoder that takes over from a failed one; empty: none does.
        std::function<std::unique_ptr<decoder>()> fallback;
        //! A device failed with this message and the fallback has taken over.
        std::function<void(const std::string&)> failed_over = [](const std::string&) {};
    };

    /*!
     * \p slots (at least 1) for each of the \p decoders (at least one, all of the same
     * limits).
     */
    pipeline(std::vector<std::unique_ptr<decoder>> decoders, unsigned slots, hooks h)
        : d_hooks(std::move(h))
    {
        const auto limits = decoders.front()->limits();
        for (auto& d : decoders) {
            attach(*d);
        }
        const auto count = std::max(1u, slots) * decoders.size();
        for (std::size_t i = 0; i < count; ++i) {
            auto s = std::make_unique<entry>(limits);
            s->user = decoders[i % decoders.size()].get();
            s->number = unsigned(i / decoders.size());
            lock_pages(*s);
            d_slots.push_back(std::move(s));
        }
        d_decoders = std::move(decoders);
    }

    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    ~pipeline()
    {
        drain();
        for (auto& s : d_slots) {
            unlock_pages(*s);
        }
    }

    //! The decoder that takes the next batch.
    const decoder& active() const { return *d_slots[d_fill]->user; }

    //! The slot to fill, or nullptr while every slot is in flight.
    slot* filling() { return full() ? nullptr : &d_slots[d_fill]->memory; }

    bool full() const { return d_flight.size() == d_slots.size(); }
    bool empty() const { return d_flight.empty(); }

    //! Submits the slot that filling() gives.
    void submit(const Job& job)
    {
        const auto index = d_fill;
        d_slots[index]->memory.job = job;
        d_fill = (d_fill + 1) % d_slots.size();
        d_flight.push_back(index);
        guarded(*d_slots[index], [&] { start(index); });
    }

    //! The oldest slot in flight if it has finished, else nullptr.
    slot* ready()
    {
        if (d_flight.empty()) {
            return nullptr;
        }
        const auto index = d_flight.front();
        auto& s = *d_slots[index];
        bool done = false;
        guarded(s, [&] { done = s.user->finished(s.number); });
        return done ? &s.memory : nullptr;
    }

    //! Gives the slot that ready() gave back to be filled again.
    void release() { d_flight.pop_front(); }

    //! Sleeps until the oldest slot has finished or the time is over.
    bool wait(std::chrono::milliseconds limit)
    {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!d_flight.empty()) {
            const auto seen = completions();
            if (ready()) {
                return true;
            }
            std::unique_lock<std::mutex> lock(d_mutex);
            if (!d_condition.wait_until(
                    lock, end, [&] { return d_completions != seen; })) {
                return false;
            }
        }
        return false;
    }

    //! Sleeps until nothing is in flight; what was is dropped.
    void drain() noexcept
    {
        while (!d_flight.empty()) {
            try {
                if (ready() || wait(std::chrono::milliseconds(100))) {
                    release();
                }
            } catch (const std::exception&) {
                release();
            }
        }
    }

private:
    struct entry {
        explicit entry(const batch_limits& l)
            : input(l.input_bytes),
              output(l.output_bytes),
              status(l.status_bytes),
              memory{ input.data(), output.data(), status.data() }
        {
        }
        host_memory input, output, status;
        slot memory;
        decoder* user = nullptr;
        unsigned number = 0; // among the slots of that decoder
        bool moved = false;  // to a fallback, and not yet started there
    };

    void attach(decoder& d)
    {
        d.on_completion([this] {
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                ++d_completions;
            }
            d_condition.notify_all();
            d_hooks.completion();
        });
    }

    std::uint64_t completions()
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_completions;
    }

    void start(std::size_t index)
    {
        auto& s = *d_slots[index];
        auto& m = s.memory;
        s.user->submit(s.number, m.job, { m.input, m.output, m.status });
    }

    //! Runs \p action on the slot's decoder; if that device fails, moves its slots over.
    template <class Action>
    void guarded(entry& s, Action&& action)
    {
        try {
            action();
        } catch (const device_error& error) {
            if (!d_hooks.fallback || s.user == d_fallback.get()) {
                throw;
            }
            fail_over(*s.user, error.what());
        }
    }

    void fail_over(decoder& failed, const std::string& reason)
    {
        if (!d_fallback) {
            d_fallback = d_hooks.fallback();
            attach(*d_fallback);
        }
        for (std::size_t index = 0; index < d_slots.size(); ++index) {
            auto& s = d_slots[index];
            if (s->user == &failed) {
                unlock_pages(*s);
                s->user = d_fallback.get();
                s->number = unsigned(index);
                lock_pages(*s);
                s->moved = true;
            }
        }
        d_hooks.failed_over(reason);
        for (const auto index : d_flight) {
            if (std::exchange(d_slots[index]->moved, false)) {
                start(index);
            }
        }
    }

    template <class Call>
    static void each_buffer(entry& s, Call&& call)
    {
        for (auto* m : { &s.input, &s.output, &s.status }) {
            if (m->size() > 0) {
                call(m->data(), m->size());
            }
        }
    }

    static void lock_pages(entry& s)
    {
        each_buffer(s, [&](void* p, std::size_t n) { s.user->page_lock(p, n); });
    }

    static void unlock_pages(entry& s)
    {
        each_buffer(s, [&](void* p, std::size_t) { s.user->page_unlock(p); });
    }

    // Before the decoders, whose threads may be calling back until they are gone.
    hooks d_hooks;
    std::mutex d_mutex;
    std::condition_variable d_condition;
    std::uint64_t d_completions = 0;

    std::vector<std::unique_ptr<entry>> d_slots;
    std::vector<std::unique_ptr<decoder>> d_decoders;
    std::unique_ptr<decoder> d_fallback;
    std::deque<std::size_t> d_flight; // oldest first
    std::size_t d_fill = 0;
};

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_PIPELINE_PIPELINE_H */
