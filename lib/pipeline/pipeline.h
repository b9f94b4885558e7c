// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Slots in flight between a caller and batch decoders: in order, bounded, and
 * decoded again elsewhere when a device fails or does not come to an end. */

#ifndef INCLUDED_GPUFEC_PIPELINE_PIPELINE_H
#define INCLUDED_GPUFEC_PIPELINE_PIPELINE_H

#include "back_off.h"
#include "batch_decoder.h"
#include "host_memory.h"
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

//! A batch did not finish in the time that a device has for one.
class device_timeout_error : public device_error
{
public:
    using device_error::device_error;
};

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
        std::byte* output; //!< its own, or what was lent if that has it as it is
        std::byte* status;
        Job job{};
        const std::byte* from = nullptr; //!< what is decoded: input, or what was lent
        lent_output lent{};              //!< where a device puts the output
    };

    struct hooks {
        //! A batch may have finished; called from any thread.
        std::function<void()> completion = [] {};
        //! Makes the decoder that takes over from a failed one; empty: none does.
        std::function<std::unique_ptr<decoder>()> fallback;
        //! A device failed with this message and the fallback has taken over; so many
        //! devices are left. May come from the destructor.
        std::function<void(const std::string&, std::size_t)> failed_over =
            [](const std::string&, std::size_t) {};
        //! A device is given up when nothing is asked of it any more, with this message.
        std::function<void(const std::string&)> given_up = [](const std::string&) {};
        //! That a device has for a batch once those before it are finished; 0: for ever.
        std::chrono::milliseconds timeout{ 0 };
    };

    /*!
     * \p slots (at least 1) for each of the \p decoders (at least one, all of the same
     * limits).
     */
    pipeline(std::vector<std::unique_ptr<decoder>> decoders, unsigned slots, hooks h)
        : d_hooks(std::move(h))
    {
        d_decoders = std::move(decoders);
        const auto limits = d_decoders.front()->limits();
        for (auto& d : d_decoders) {
            attach(*d);
        }
        const auto count = std::max(1u, slots) * d_decoders.size();
        for (std::size_t i = 0; i < count; ++i) {
            auto s = std::make_unique<entry>(limits);
            s->user = d_decoders[i % d_decoders.size()].get();
            s->number = unsigned(i / d_decoders.size());
            d_turn.push_back(s.get());
            d_slots.push_back(std::move(s));
        }
        // Last: nothing throws while pages are locked, and nobody would unlock them.
        for (auto& s : d_slots) {
            lock_pages(*s);
        }
    }

    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    ~pipeline()
    {
        drain();
        for (auto& d : d_decoders) {
            if (d && !d->quiet(patience())) {
                try {
                    d_hooks.given_up(give_up(*d));
                } catch (const std::exception&) {
                    // Nobody can be told; d is given up all the same.
                }
            }
        }
        for (auto& s : d_slots) {
            if (d_given_up) {
                keep_locked(*s); // unlocking might wait for what does not end
            } else {
                unlock_pages(*s);
            }
        }
    }

    //! The decoder that takes the next batch.
    const decoder& active() const { return *d_turn[d_fill]->user; }

    //! Decoders, of those given, that have not failed.
    std::size_t devices() const { return d_decoders.size() - d_failed; }

    //! The slot to fill, or nullptr while every slot is in flight.
    slot* filling() { return full() ? nullptr : &d_turn[d_fill]->memory; }
    const slot* filling() const { return full() ? nullptr : &d_turn[d_fill]->memory; }

    //! That are filled in turn.
    std::size_t slots() const { return d_turn.size(); }

    bool full() const { return d_flight.size() == d_turn.size(); }
    bool empty() const { return d_flight.empty(); }

    //! Submits the slot that filling() gives.
    void submit(const Job& job) { submit(job, d_turn[d_fill]->memory.input); }

    //! Submits it with input that the caller keeps as it is until release(), and so the
    //! memory that is \p lent for its output, which counts after lock_output() alone.
    void submit(const Job& job, const std::byte* from, const lent_output& lent = {})
    {
        auto& s = *d_turn[d_fill];
        s.memory.job = job;
        s.memory.from = from;
        s.put_to(d_output_locked && s.user != d_fallback.get() ? lent : lent_output{});
        d_flight.push_back(&s);
        s.finished = false;
        d_fill = (d_fill + 1) % d_turn.size();
        try {
            guarded(s, [&] { start(s); });
        } catch (...) {
            // What nobody decodes is not in flight.
            s.finished = true;
            d_flight.pop_back();
            d_fill = std::find(d_turn.begin(), d_turn.end(), &s) - d_turn.begin();
            d_fill %= d_turn.size();
            throw;
        }
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

    //! Calls \p each with every slot in flight, finished or not, the oldest first, as
    //! long as it returns true. Returns whether it always did.
    template <class Call>
    bool each_in_flight(Call&& each) const
    {
        return std::all_of(d_flight.begin(), d_flight.end(), [&](const auto* s) {
            return each(s->memory);
        });
    }

    //! Whether all decoders take input as its caller has it.
    bool take_raw()
    {
        return all_devices([](decoder& d) { return d.take_raw(); });
    }
    //! Whether all have room for output as one bit per byte.
    bool take_bits()
    {
        return all_devices([](decoder& d) { return d.take_bits(); });
    }

    //! Page-locks memory to lend from, for all devices, in place of that of the slots'
    //! inputs but for their tables. Returns whether it could.
    bool lock_lent(void* memory, std::size_t bytes)
    {
        if (d_given_up || !d_decoders.front()->page_lock(memory, bytes)) {
            return false;
        }
        d_lent_bytes = bytes;
        for (auto& s : d_slots) {
            unlock(*s, s->own->input);
            lock(*s, s->own->input, s->user->limits().table_bytes);
        }
        return true;
    }
    void unlock_lent(void* memory) noexcept
    {
        d_lent_bytes = 0;
        if (d_given_up) {
            return; // it may still be read
        }
        d_decoders.front()->page_unlock(memory);
        for (auto& s : d_slots) {
            unlock(*s, s->own->input);
            lock(*s, s->own->input, s->own->input.memory.size());
        }
    }

    /*! Page-locks memory to lend for output, for all devices; returns whether it could.
     * If a device is given up that may still write there, \p replace puts other memory
     * with the same contents in its place, and says whether it did: if not, decoding
     * ends. */
    bool lock_output(void* memory, std::size_t bytes, std::function<bool()> replace)
    {
        if (d_given_up || !d_decoders.front()->page_lock(memory, bytes)) {
            return false;
        }
        d_output_locked = true;
        d_output_bytes = bytes;
        d_replace_output = std::move(replace);
        return true;
    }
    //! Sleeps until every slot in flight has finished. Its output is in its own memory
    //! from then on.
    void keep_output()
    {
        settle([](const slot&) {});
        for (auto* s : d_flight) {
            const auto [to, rows] = s->memory.lent;
            const bool there = !s->memory.lent.in_place_of_output();
            for (std::size_t i = 0; !there && i < rows.rows; ++i) {
                std::memcpy(s->output + rows.first + i * rows.pitch,
                            to + i * rows.bytes,
                            rows.bytes);
            }
            s->put_to({});
        }
    }
    void unlock_output(void* memory) noexcept
    {
        d_output_locked = false;
        d_output_bytes = 0;
        d_replace_output = nullptr;
        if (!d_given_up && come_to_rest()) { // else it may still be written
            d_decoders.front()->page_unlock(memory);
        }
    }

    //! When the oldest slot in flight has been waited for too long; the end of time if
    //! none is.
    std::chrono::steady_clock::time_point overdue() const
    {
        return d_flight.empty() ? clock::time_point::max() : overdue(*d_flight.front());
    }

    //! Sleeps until nothing is in flight; what was is dropped.
    void drain() noexcept
    {
        d_draining = true;
        for (auto& d : d_decoders) {
            if (d) {
                d->drop();
            }
        }
        if (d_fallback) {
            d_fallback->drop();
        }
        while (!d_flight.empty()) {
            try {
                if (ready() || wait(std::chrono::milliseconds(100))) {
                    release();
                }
            } catch (const std::exception&) {
                release();
            }
        }
        d_draining = false;
    }

private:
    using clock = std::chrono::steady_clock;

    struct buffer {
        explicit buffer(std::size_t bytes) : memory(bytes) {}
        host_memory memory;
        bool locked = false;
    };
    struct buffers {
        explicit buffers(const batch_limits& l)
            : input(l.input_bytes), output(l.output_bytes), status(l.status_bytes)
        {
        }
        std::size_t bytes() const
        {
            return input.memory.size() + output.memory.size() + status.memory.size();
        }
        buffer input, output, status;
    };
    struct entry {
        explicit entry(const batch_limits& l) : own(std::make_unique<buffers>(l))
        {
            point_to(*own);
        }
        void point_to(const buffers& b)
        {
            memory.input = b.input.memory.data();
            output = b.output.memory.data();
            memory.status = b.status.memory.data();
            put_to(memory.lent);
        }
        void put_to(const lent_output& lent)
        {
            memory.lent = lent;
            memory.output = lent.to && lent.rows.as_given() ? lent.to : output;
        }
        std::unique_ptr<buffers> own;
        slot memory{};
        std::byte* output = nullptr; // its own
        decoder* user = nullptr;
        unsigned number = 0;          // among the slots of that decoder
        clock::time_point since = {}; // that it is being decoded
        bool finished = true;         // with what was last submitted
        bool lost = false;            // not finished when its device failed
        // Its device failed and others go on: once released it is not filled again, for
        // the fallback would hold the others up whenever it is its turn.
        bool leaving = false;
    };

    void attach(decoder& d)
    {
        d.on_completion([this] {
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                ++d_completions;
            }
            d_condition.notify_all();
            try {
                d_hooks.completion();
            } catch (const std::exception&) {
                // Nothing may be thrown into the threads of a decoder.
            }
        });
    }

    std::uint64_t completions()
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_completions;
    }

    void start(entry& s)
    {
        with_back_off([&] {
            const auto& m = s.memory;
            s.user->submit(
                s.number, m.job, { m.from, s.output, m.status, m.input, m.lent });
        });
        s.since = clock::now();
    }

    // A device works on one batch after the other.
    clock::time_point overdue(const entry& s) const
    {
        const bool counts = d_hooks.timeout.count() > 0 && s.user != d_fallback.get();
        return counts ? std::max(s.since, d_progress) + d_hooks.timeout
                      : clock::time_point::max();
    }

    // That a device has to come to rest.
    std::chrono::milliseconds patience() const
    {
        return d_hooks.timeout.count() > 0 ? d_hooks.timeout
                                           : std::chrono::milliseconds(1) * 1'000'000'000;
    }

    bool finished(entry& s)
    {
        if (!s.finished) {
            guarded(s, [&] {
                s.finished = asked(s);
                if (s.finished) {
                    d_progress = clock::now();
                } else if (clock::now() >= overdue(s)) {
                    throw device_timeout_error(
                        s.user->device() + " has not finished a batch within " +
                        std::to_string(d_hooks.timeout.count()) + " ms");
                }
            });
        }
        return s.finished;
    }

    // Whether it is finished. An error that may pass can be one of this batch: then it is
    // decoded once more, within the time that it had.
    bool asked(entry& s)
    {
        bool again = false;
        return with_back_off([&] {
            if (std::exchange(again, true)) {
                const auto since = s.since;
                start(s);
                s.since = since;
            }
            return s.user->finished(s.number);
        });
    }

    bool wait(entry& s, std::chrono::milliseconds limit)
    {
        const auto end = clock::now() + limit;
        for (;;) {
            const auto seen = completions();
            if (finished(s)) {
                return true;
            }
            const auto next = std::min(end, overdue(s));
            std::unique_lock<std::mutex> lock(d_mutex);
            if (!d_condition.wait_until(
                    lock, next, [&] { return d_completions != seen; }) &&
                clock::now() >= end) {
                return false;
            }
        }
    }

    //! Runs \p action on the slot's decoder; if that fails, whatever it throws, its slots
    //! move over.
    template <class Action>
    void guarded(entry& s, Action&& action)
    {
        try {
            action();
        } catch (const std::exception& error) {
            const bool late = dynamic_cast<const device_timeout_error*>(&error);
            if (!d_hooks.fallback || s.user == d_fallback.get()) {
                if (late && held(*s.user)) {
                    const auto what = error.what() + ("; " + give_up(*s.user));
                    if (d_draining) {
                        d_hooks.given_up(what); // nobody catches it
                    }
                    throw device_timeout_error(what);
                }
                throw;
            }
            fail_over(*s.user, error.what(), late ? clock::duration(0) : patience());
        }
    }

    // Whether it was not given up yet.
    bool held(const decoder& d) const
    {
        return std::any_of(d_decoders.begin(), d_decoders.end(), [&d](const auto& p) {
            return p.get() == &d;
        });
    }

    // Whether \p call says so for each of those that were given, and none is given up.
    template <class Call>
    bool all_devices(Call&& call)
    {
        return std::all_of(
            d_decoders.begin(), d_decoders.end(), [&](auto& d) { return d && call(*d); });
    }

    // Whether nothing of what was submitted to devices is written any more.
    bool come_to_rest() noexcept
    {
        return std::all_of(d_decoders.begin(), d_decoders.end(), [this](auto& d) {
            return !d || d->quiet(patience());
        });
    }

    // A device that is given up may write what is lent for output at any time. The others
    // do not know of what is put in its place.
    void replace_output() noexcept
    {
        d_output_locked = false;
        try {
            d_output_lost = !(d_replace_output && come_to_rest() && d_replace_output());
        } catch (const std::exception&) {
            d_output_lost = true;
        }
    }

    // Leaves a decoder alone that may still be at work, and what host memory it was
    // given: none of it is freed, ever. Says so.
    std::string give_up(decoder& lost)
    {
        const auto device_bytes = lost.limits().device_bytes;
        std::vector<std::unique_ptr<buffers>> fresh(d_slots.size());
        for (std::size_t i = 0; i < d_slots.size() && d_hooks.fallback; ++i) {
            if (d_slots[i]->user == &lost) {
                fresh[i] = std::make_unique<buffers>(lost.limits());
            }
        }
        lost.give_up();
        d_given_up = true;
        for (auto& d : d_decoders) {
            if (d.get() == &lost) {
                d.release();
            }
        }
        if (std::any_of(d_flight.begin(), d_flight.end(), [&lost](const auto* s) {
                return s->user == &lost && !s->finished && s->memory.lent.to;
            })) {
            replace_output();
        }
        std::size_t slots = 0;
        d_kept_bytes += std::exchange(d_lent_bytes, 0) + std::exchange(d_output_bytes, 0);
        for (std::size_t i = 0; i < d_slots.size(); ++i) {
            auto& s = *d_slots[i];
            if (s.user != &lost || !s.own) {
                continue;
            }
            d_kept_bytes += s.own->bytes();
            ++slots;
            const auto* const old = s.own.release();
            if (fresh[i]) {
                copy(old->input, fresh[i]->input);
                copy(old->output, fresh[i]->output);
                copy(old->status, fresh[i]->status);
                s.own = std::move(fresh[i]);
                s.point_to(*s.own);
            }
        }
        const auto text = [](std::size_t bytes) {
            return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
        };
        return "what it may still use is kept for good, " + text(d_kept_bytes) +
               " of host memory and " + text(slots * device_bytes) + " of its own";
    }

    static void copy(const buffer& from, const buffer& to)
    {
        if (from.memory.size() > 0) {
            std::memcpy(to.memory.data(), from.memory.data(), from.memory.size());
        }
    }

    // What else a device that failed is at may read and write its slots for \p limit.
    void fail_over(decoder& failed, std::string reason, clock::duration limit)
    {
        if (!d_fallback) {
            auto fallback = d_hooks.fallback();
            fallback->take_raw();
            attach(*fallback);
            d_fallback = std::move(fallback);
        }
        failed.drop(); // what it has not begun; come_to_rest() would begin it
        using std::chrono::milliseconds;
        if (!failed.quiet(std::chrono::duration_cast<milliseconds>(limit))) {
            reason += "; " + give_up(failed);
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
                if (s.lost) {
                    s.put_to({});
                }
                s.leaving = devices() > 0;
                if (s.leaving && !in_flight(s) && &s != d_turn[d_fill]) {
                    leave(s);
                }
            }
        }
        const bool ends = d_output_lost && !d_draining;
        if (!ends) {
            d_hooks.failed_over(reason, devices());
        }
        for (auto* s : d_flight) {
            if (std::exchange(s->lost, false)) {
                if (d_draining || ends) {
                    s->finished = true;
                } else {
                    start(*s);
                }
            }
        }
        if (std::exchange(d_output_lost, false) && ends) {
            throw device_timeout_error(reason + "; it may still write where the output "
                                                "goes, so decoding ends");
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
        if (s.own) {
            for (auto* b : { &s.own->input, &s.own->output, &s.own->status }) {
                call(*b);
            }
        }
    }

    static void lock(entry& s, buffer& b, std::size_t bytes) noexcept
    {
        if (bytes > 0) {
            b.locked = s.user->page_lock(b.memory.data(), bytes);
        }
    }

    static void unlock(entry& s, buffer& b) noexcept
    {
        if (std::exchange(b.locked, false)) {
            s.user->page_unlock(b.memory.data());
        }
    }

    static void keep_locked(entry& s) noexcept
    {
        bool locked = false;
        each_buffer(s, [&](const buffer& b) { locked |= b.locked; });
        if (locked) {
            s.own.release();
        }
    }

    static void lock_pages(entry& s) noexcept
    {
        each_buffer(s, [&](buffer& b) { lock(s, b, b.memory.size()); });
    }

    static void unlock_pages(entry& s) noexcept
    {
        each_buffer(s, [&](buffer& b) { unlock(s, b); });
    }

    // Before the decoders, whose threads may be calling back until they are gone.
    hooks d_hooks;
    std::mutex d_mutex;
    std::condition_variable d_condition;
    std::uint64_t d_completions = 0;

    std::vector<std::unique_ptr<entry>> d_slots;
    std::vector<std::unique_ptr<decoder>> d_decoders;
    std::unique_ptr<decoder> d_fallback;
    std::size_t d_failed = 0;     // of d_decoders
    bool d_draining = false;      // nobody wants what is in flight
    bool d_given_up = false;      // some of them, which are gone from there
    bool d_output_locked = false; // what is lent for output counts
    bool d_output_lost = false;   // a device that was given up may still write there
    std::function<bool()> d_replace_output;
    std::size_t d_kept_bytes = 0, d_lent_bytes = 0, d_output_bytes = 0;
    clock::time_point d_progress = {}; // when a batch was last seen finished
    std::vector<entry*> d_turn;        // the slots that are filled in turn
    std::size_t d_fill = 0;            // whose turn it is
    std::deque<entry*> d_flight;       // oldest first
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_PIPELINE_H */
