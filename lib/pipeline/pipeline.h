// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

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

namespace gr::gpufec {

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
        const std::byte* from = nullptr; //!< what is decoded: input, or what was lent
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
            d_turn.push_back(s.get());
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
    const decoder& active() const { return *d_turn[d_fill]->user; }

    //! Decoders, of those given, that have not failed.
    std::size_t devices() const { return d_decoders.size() - d_failed; }

    //! The slot to fill, or nullptr while every slot is in flight.
    slot* filling() { return full() ? nullptr : &d_turn[d_fill]->memory; }

    //! That are filled in turn.
    std::size_t slots() const { return d_turn.size(); }

    bool full() const { return d_flight.size() == d_turn.size(); }
    bool empty() const { return d_flight.empty(); }

    //! Submits the slot that filling() gives.
    void submit(const Job& job) { submit(job, d_turn[d_fill]->memory.input); }

    //! Submits it with input that the caller keeps as it is until release().
    void submit(const Job& job, const std::byte* from)
    {
        auto& s = *d_turn[d_fill];
        s.memory.job = job;
        s.memory.from = from;
        s.finished = false;
        d_flight.push_back(&s);
        d_fill = (d_fill + 1) % d_turn.size();
        guarded(s, [&] { start(s); });
    }

    //! The oldest slot in flight if it has finished, else nullptr.
    slot* ready()
    {
        return !d_flight.empty() && finished(*d_flight.front())
                   ? &d_flight.front()->memory
                   : nullptr;
    }

    //! Gives the slot that ready() gave back to be filled again.
    void release()
    {
        auto& s = *d_flight.front();
        d_flight.pop_front();
        if (s.leaving) {
            leave(s);
        }
    }

    //! Sleeps until the oldest slot has finished or the time is over.
    bool wait(std::chrono::milliseconds limit)
    {
        return !d_flight.empty() && wait(*d_flight.front(), limit);
    }

    //! Sleeps until every slot in flight has finished, and calls \p each with one after
    //! the other, the oldest first. What was lent is not read again.
    template <class Call>
    void settle(Call&& each)
    {
        for (auto* s : d_flight) {
            while (!wait(*s, std::chrono::milliseconds(100))) {
            }
            each(std::as_const(s->memory));
        }
    }

    //! Page-locks memory to lend from, for all devices, in place of that of the slots'
    //! inputs. Returns whether it could.
    bool lock_lent(void* memory, std::size_t bytes)
    {
        if (!d_decoders.front()->page_lock(memory, bytes)) {
            return false;
        }
        for (auto& s : d_slots) {
            s->user->page_unlock(s->input.data());
        }
        return true;
    }
    void unlock_lent(void* memory) noexcept
    {
        d_decoders.front()->page_unlock(memory);
        try {
            for (auto& s : d_slots) {
                s->user->page_lock(s->input.data(), s->input.size());
            }
        } catch (const device_error&) {
            // Whoever uses that device next is told.
        }
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
        unsigned number = 0;  // among the slots of that decoder
        bool finished = true; // with what was last submitted
        bool lost = false;    // not finished when its device failed
        // Its device failed and others go on: once released it is not filled again, for
        // the fallback would hold the others up whenever it is its turn.
        bool leaving = false;
    };

    using clock = std::chrono::steady_clock;

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

    void start(entry& s)
    {
        auto& m = s.memory;
        s.user->submit(s.number, m.job, { m.from, m.output, m.status });
    }

    bool finished(entry& s)
    {
        if (!s.finished) {
            guarded(s, [&] { s.finished = s.user->finished(s.number); });
        }
        return s.finished;
    }

    bool wait(entry& s, std::chrono::milliseconds limit)
    {
        const auto end = clock::now() + limit;
        for (;;) {
            const auto seen = completions();
            if (finished(s)) {
                return true;
            }
            std::unique_lock<std::mutex> lock(d_mutex);
            if (!d_condition.wait_until(
                    lock, end, [&] { return d_completions != seen; })) {
                return false;
            }
        }
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
        ++d_failed;
        for (std::size_t index = 0; index < d_slots.size(); ++index) {
            auto& s = *d_slots[index];
            if (s.user == &failed) {
                unlock_pages(s);
                s.user = d_fallback.get();
                s.number = unsigned(index);
                lock_pages(s);
                s.lost = !s.finished;
                s.leaving = devices() > 0;
                if (s.leaving && !in_flight(s) && &s != d_turn[d_fill]) {
                    leave(s);
                }
            }
        }
        d_hooks.failed_over(reason);
        for (auto* s : d_flight) {
            if (std::exchange(s->lost, false)) {
                start(*s);
            }
        }
    }

    bool in_flight(const entry& s) const
    {
        return std::find(d_flight.begin(), d_flight.end(), &s) != d_flight.end();
    }

    void leave(entry& s)
    {
        const auto place = std::find(d_turn.begin(), d_turn.end(), &s) - d_turn.begin();
        d_turn.erase(d_turn.begin() + place);
        d_fill -= std::size_t(place) < d_fill;
        d_fill %= d_turn.size();
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
    std::size_t d_failed = 0;    // of d_decoders
    std::vector<entry*> d_turn;  // the slots that are filled in turn
    std::size_t d_fill = 0;      // whose turn it is
    std::deque<entry*> d_flight; // oldest first
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_PIPELINE_H */
