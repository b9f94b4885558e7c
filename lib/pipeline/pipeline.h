// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A ring of slots between a caller and batch decoders, which keeps batches in order and
 * limits their number in flight. If a device fails or hangs, the fallback decodes the
 * device's unfinished batches again. */

#ifndef INCLUDED_GPUFEC_PIPELINE_PIPELINE_H
#define INCLUDED_GPUFEC_PIPELINE_PIPELINE_H

#include "batch_decoder.h"
#include "slot_buffers.h"
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

//! Error of a device that did not finish a batch before the timeout.
class device_timeout_error : public device_error
{
public:
    using device_error::device_error;
};

/*!
 * \brief A ring of slots over one or more batch decoders.
 *
 * The caller fills the slot that filling() returns and submits it. ready() returns
 * finished slots in the order of submission. Several decoders receive batches in
 * rotation. Only one thread at a time may call a pipeline. The thread that calls the
 * pipeline also calls the hooks, except hooks::completion, which any thread may call.
 */
template <class Job>
class pipeline
{
public:
    using decoder = batch_decoder<Job>;

    struct slot {
        std::byte* input;
        std::byte* output; //!< the slot's own buffer, or borrowed memory of equal layout
        std::byte* status;
        Job job{};
        const std::byte* from = nullptr; //!< data to decode: \c input, or borrowed items
        borrowed_output borrowed{};      //!< memory to which a device writes in place
    };

    struct hooks {
        //! Called from any thread when a batch may have finished.
        std::function<void()> completion = [] {};
        //! Makes the decoder that replaces failed devices. If empty, errors are thrown.
        std::function<std::unique_ptr<decoder>()> fallback;
        //! Called with the error and the number of remaining devices when the fallback
        //! has replaced a failed device. The destructor may call this hook.
        std::function<void(const std::string&, std::size_t)> failed_over =
            [](const std::string&, std::size_t) {};
        //! Called with the reason when a device is abandoned while the pipeline is
        //! drained or destroyed, and no fallback replaces the device.
        std::function<void(const std::string&)> abandoned = [](const std::string&) {};
        //! Timeout of one batch, counted from the end of the previous one; 0: no timeout.
        std::chrono::milliseconds timeout{ 0 };
    };

    /*!
     * \param decoders at least one, all with the same limits
     * \param slots number of slots per decoder, at least 1
     * \param h callbacks and the timeout
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
            d_ring.push_back(s.get());
            d_slots.push_back(std::move(s));
        }
        // Pages are locked last: an exception in a later step would leave them locked.
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
            if (d && !d->wait_idle(drain_timeout())) {
                try {
                    d_hooks.abandoned(abandon(*d));
                } catch (const std::exception&) {
                    // A destructor cannot throw. The device is abandoned anyway.
                }
            }
        }
        for (auto& s : d_slots) {
            if (d_abandoned) {
                keep_locked(*s); // unlocking might wait for a device that hangs
            } else {
                unlock_pages(*s);
            }
        }
    }

    //! Returns the decoder that receives the next batch.
    const decoder& active() const { return *d_ring[d_fill]->user; }

    //! Returns the number of decoders that have not failed, not counting the fallback.
    std::size_t devices() const { return d_decoders.size() - d_failed; }

    //! Returns the slot to fill, or nullptr while every slot is in flight.
    slot* filling() { return full() ? nullptr : &d_ring[d_fill]->memory; }
    const slot* filling() const { return full() ? nullptr : &d_ring[d_fill]->memory; }

    std::size_t slots() const { return d_ring.size(); }

    bool full() const { return d_flight.size() == d_ring.size(); }
    bool empty() const { return d_flight.empty(); }

    //! Submits the slot that filling() returns.
    void submit(const Job& job) { submit(job, d_ring[d_fill]->memory.input); }

    //! Submits the slot that filling() returns, with input at \p from. Output is written
    //! to the memory \p borrowed, if pin_output() has pinned it. The caller must not
    //! change the memory of input or output before release().
    void
    submit(const Job& job, const std::byte* from, const borrowed_output& borrowed = {})
    {
        auto& s = *d_ring[d_fill];
        s.memory.job = job;
        s.memory.from = from;
        s.put_to(d_output_pinned && s.user != d_fallback.get() ? borrowed
                                                               : borrowed_output{});
        d_flight.push_back(&s);
        s.finished = false;
        d_fill = (d_fill + 1) % d_ring.size();
        try {
            guarded(s, [&] { start(s); });
        } catch (...) {
            // The batch was not started, so it is not in flight.
            s.finished = true;
            d_flight.pop_back();
            d_fill = std::find(d_ring.begin(), d_ring.end(), &s) - d_ring.begin();
            d_fill %= d_ring.size();
            throw;
        }
    }

    //! Returns the oldest slot in flight if it has finished, else nullptr.
    slot* ready()
    {
        return !d_flight.empty() && finished(*d_flight.front())
                   ? &d_flight.front()->memory
                   : nullptr;
    }

    //! Makes the slot that ready() returned available for filling.
    void release()
    {
        auto& s = *d_flight.front();
        d_flight.pop_front();
        if (s.retiring) {
            remove_from_ring(s);
        }
    }

    //! Waits up to \p limit for the oldest slot; returns whether that slot has finished.
    bool wait(std::chrono::milliseconds limit)
    {
        return !d_flight.empty() && wait(*d_flight.front(), limit);
    }

    //! Waits until every slot in flight has finished. Afterwards no borrowed input is
    //! read.
    void wait_idle()
    {
        for (auto* s : d_flight) {
            while (!wait(*s, std::chrono::milliseconds(100))) {
            }
        }
    }

    //! Calls \p each with the slots in flight, oldest first, until a call returns
    //! false. Returns true if every call returned true.
    template <class Call>
    bool each_in_flight(Call&& each) const
    {
        return std::all_of(d_flight.begin(), d_flight.end(), [&](const auto* s) {
            return each(s->memory);
        });
    }

    //! Reserves device memory to convert input from the caller's format. Returns false if
    //! a device lacks the memory or has been abandoned.
    bool reserve_conversion_buffers()
    {
        return all_devices([](decoder& d) { return d.reserve_conversion_buffers(); });
    }
    //! Reserves device memory for output of one bit per byte. Returns false if a device
    //! lacks the memory or has been abandoned.
    bool reserve_unpacked_output()
    {
        return all_devices([](decoder& d) { return d.reserve_unpacked_output(); });
    }

    //! Pins borrowed input for all devices; returns false if that fails. On success,
    //! unpins the slots' input buffers except their first batch_limits::table_bytes.
    bool pin_input(void* memory, std::size_t bytes)
    {
        if (d_abandoned || !d_decoders.front()->page_lock(memory, bytes)) {
            return false;
        }
        d_pinned_input_bytes = bytes;
        for (auto& s : d_slots) {
            s->own->input.unlock(*s->user);
            s->own->input.lock(*s->user, s->user->limits().table_bytes);
        }
        return true;
    }
    void unpin_input(void* memory) noexcept
    {
        d_pinned_input_bytes = 0;
        if (d_abandoned) {
            return; // the abandoned device may still read the memory
        }
        d_decoders.front()->page_unlock(memory);
        for (auto& s : d_slots) {
            s->own->input.unlock(*s->user);
            s->own->input.lock(*s->user, s->own->input.memory.size());
        }
    }

    /*! Pins memory to which all devices may write output in place; returns false if that
     * fails. \p replace is called if an abandoned device may still write the memory.
     * \p replace must map other pages with the same contents at the same addresses; if
     * that fails, \p replace must return false, and decoding ends with an error. */
    bool pin_output(void* memory, std::size_t bytes, std::function<bool()> replace)
    {
        if (d_abandoned || !d_decoders.front()->page_lock(memory, bytes)) {
            return false;
        }
        d_output_pinned = true;
        d_output_bytes = bytes;
        d_replace_output = std::move(replace);
        return true;
    }
    //! Waits until every slot in flight has finished and copies output from borrowed
    //! memory to the slots' own memory.
    void keep_output()
    {
        wait_idle();
        for (auto* s : d_flight) {
            s->user->copy_to_slot(s->output, s->memory.borrowed);
            s->put_to({});
        }
    }
    void unpin_output(void* memory) noexcept
    {
        d_output_pinned = false;
        d_output_bytes = 0;
        d_replace_output = nullptr;
        if (!d_abandoned && device_is_idle()) {
            d_decoders.front()->page_unlock(memory);
        }
    }

    //! Returns when the timeout of the oldest slot in flight expires; the clock's maximum
    //! if no slot is in flight.
    std::chrono::steady_clock::time_point overdue() const
    {
        return d_flight.empty() ? clock::time_point::max() : overdue(*d_flight.front());
    }

    //! Waits for the batches in flight and discards their output.
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

    struct entry {
        explicit entry(const batch_limits& l) : own(std::make_unique<slot_buffers>(l))
        {
            point_to(*own);
        }
        void point_to(const slot_buffers& b)
        {
            memory.input = b.input.memory.data();
            output = b.output.memory.data();
            memory.status = b.status.memory.data();
            put_to(memory.borrowed);
        }
        void put_to(const borrowed_output& borrowed)
        {
            memory.borrowed = borrowed;
            memory.output =
                borrowed.to && borrowed.rows.as_given() ? borrowed.to : output;
        }
        std::unique_ptr<slot_buffers> own;
        slot memory{};
        std::byte* output = nullptr; // the slot's own output buffer
        decoder* user = nullptr;
        unsigned number = 0;          // slot number in the calls of its decoder
        clock::time_point since = {}; // time of the batch's submission
        bool finished = true;         // whether the slot's latest batch is finished
        bool must_redecode = false;   // whether the device failed before the batch's end
        // Whether the slot leaves the ring when released: its device has failed, and the
        // slower fallback would delay the batches of the other devices.
        bool retiring = false;
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
                // The decoder's thread that calls the hook cannot handle exceptions.
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
                s.number, m.job, { m.from, s.output, m.status, m.input, m.borrowed });
        });
        s.since = clock::now();
    }

    // Returns when the batch's timeout expires. The timeout starts at the end of the
    // previous batch, because a device decodes batches one after the other.
    clock::time_point overdue(const entry& s) const
    {
        const bool counts = d_hooks.timeout.count() > 0 && s.user != d_fallback.get();
        return counts ? std::max(s.since, d_progress) + d_hooks.timeout
                      : clock::time_point::max();
    }

    // Returns how long to wait for a device to become idle: the timeout of a batch, or
    // 1e9 ms (almost 12 days) if there is no timeout.
    std::chrono::milliseconds drain_timeout() const
    {
        return d_hooks.timeout.count() > 0 ? d_hooks.timeout
                                           : std::chrono::milliseconds(1) * 1'000'000'000;
    }

    bool finished(entry& s)
    {
        if (!s.finished) {
            guarded(s, [&] {
                s.finished = poll(s);
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

    // Returns whether the batch is finished. After a transient error, submits the batch
    // again without extending its timeout.
    bool poll(entry& s)
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

    // Runs an action on the slot's decoder. On an exception, the fallback takes over all
    // slots of that decoder; without a fallback, or if the fallback itself fails, the
    // exception is thrown to the caller.
    template <class Action>
    void guarded(entry& s, Action&& action)
    {
        try {
            action();
        } catch (const std::exception& error) {
            const bool late = dynamic_cast<const device_timeout_error*>(&error);
            if (!d_hooks.fallback || s.user == d_fallback.get()) {
                if (late && held(*s.user)) {
                    const auto what = error.what() + ("; " + abandon(*s.user));
                    if (d_draining) {
                        d_hooks.abandoned(what); // reported here, because drain()
                                                 // discards the exception
                    }
                    throw device_timeout_error(what);
                }
                throw;
            }
            fail_over(*s.user, error.what(), late ? clock::duration(0) : drain_timeout());
        }
    }

    // Returns whether the pipeline still owns the decoder, i.e. has not abandoned it.
    bool held(const decoder& d) const
    {
        return std::any_of(d_decoders.begin(), d_decoders.end(), [&d](const auto& p) {
            return p.get() == &d;
        });
    }

    // Returns whether no decoder is abandoned and \p call returns true for each.
    template <class Call>
    bool all_devices(Call&& call)
    {
        return std::all_of(
            d_decoders.begin(), d_decoders.end(), [&](auto& d) { return d && call(*d); });
    }

    // Waits until no device writes host memory; returns false if the time limit expired.
    bool device_is_idle() noexcept
    {
        return std::all_of(d_decoders.begin(), d_decoders.end(), [this](auto& d) {
            return !d || d->wait_idle(drain_timeout());
        });
    }

    // Replaces the pages of borrowed output memory that an abandoned device may still
    // write. Output is copied from now on, because no device has pinned the new pages.
    void replace_output() noexcept
    {
        d_output_pinned = false;
        try {
            d_output_lost = !(d_replace_output && device_is_idle() && d_replace_output());
        } catch (...) {
            d_output_lost = true;
        }
    }

    // Abandons a decoder that may still be running: neither the decoder nor the host
    // memory of its slots is ever freed. Returns a text for the log.
    std::string abandon(decoder& hung)
    {
        const auto device_bytes = hung.limits().device_bytes;
        std::vector<std::unique_ptr<slot_buffers>> fresh(d_slots.size());
        for (std::size_t i = 0; i < d_slots.size() && d_hooks.fallback; ++i) {
            if (d_slots[i]->user == &hung) {
                fresh[i] = std::make_unique<slot_buffers>(hung.limits());
            }
        }
        hung.abandon();
        d_abandoned = true;
        for (auto& d : d_decoders) {
            if (d.get() == &hung) {
                (void)d.release();
            }
        }
        if (std::any_of(d_flight.begin(), d_flight.end(), [&hung](const auto* s) {
                return s->user == &hung && !s->finished && s->memory.borrowed.to;
            })) {
            replace_output();
        }
        std::size_t slots = 0;
        d_kept_bytes +=
            std::exchange(d_pinned_input_bytes, 0) + std::exchange(d_output_bytes, 0);
        for (std::size_t i = 0; i < d_slots.size(); ++i) {
            auto& s = *d_slots[i];
            if (s.user != &hung || !s.own) {
                continue;
            }
            d_kept_bytes += s.own->bytes();
            ++slots;
            const auto* const old = s.own.release();
            if (fresh[i]) {
                fresh[i]->copy_from(*old);
                s.own = std::move(fresh[i]);
                s.point_to(*s.own);
            }
        }
        const auto text = [](std::size_t bytes) {
            return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
        };
        return text(d_kept_bytes) + " of host memory and " + text(slots * device_bytes) +
               " of device memory are never freed, as the device may use them";
    }

    // Moves the slots of a failed device to the fallback, which decodes the unfinished
    // batches again. The device is abandoned if it is not idle within the time limit.
    void fail_over(decoder& failed, std::string reason, clock::duration limit)
    {
        if (!d_fallback) {
            auto fallback = d_hooks.fallback();
            fallback->reserve_conversion_buffers();
            attach(*fallback);
            d_fallback = std::move(fallback);
        }
        failed.drop(); // otherwise wait_idle() would start the queued batches
        using std::chrono::milliseconds;
        if (!failed.wait_idle(std::chrono::duration_cast<milliseconds>(limit))) {
            reason += "; " + abandon(failed);
        }
        ++d_failed;
        for (std::size_t index = 0; index < d_slots.size(); ++index) {
            auto& s = *d_slots[index];
            if (s.user == &failed) {
                unlock_pages(s);
                s.user = d_fallback.get();
                s.number = unsigned(index);
                lock_pages(s);
                s.must_redecode = !s.finished;
                if (s.must_redecode) {
                    s.put_to({});
                }
                s.retiring = devices() > 0;
                if (s.retiring && !in_flight(s) && &s != d_ring[d_fill]) {
                    remove_from_ring(s);
                }
            }
        }
        const bool ends = d_output_lost && !d_draining;
        if (!ends) {
            d_hooks.failed_over(reason, devices());
        }
        for (auto* s : d_flight) {
            if (std::exchange(s->must_redecode, false)) {
                if (d_draining || ends) {
                    s->finished = true;
                } else {
                    start(*s);
                }
            }
        }
        if (std::exchange(d_output_lost, false) && ends) {
            throw device_timeout_error(reason + "; the device may still write to "
                                                "the output, so decoding ends");
        }
    }

    bool in_flight(const entry& s) const
    {
        return std::find(d_flight.begin(), d_flight.end(), &s) != d_flight.end();
    }

    void remove_from_ring(entry& s)
    {
        const auto place = std::find(d_ring.begin(), d_ring.end(), &s) - d_ring.begin();
        d_ring.erase(d_ring.begin() + place);
        d_fill -= std::size_t(place) < d_fill;
        d_fill %= d_ring.size();
    }

    template <class Call>
    static void each_buffer(entry& s, Call&& call)
    {
        if (s.own) {
            s.own->each(call);
        }
    }

    static void keep_locked(entry& s) noexcept
    {
        bool locked = false;
        each_buffer(s, [&](const slot_buffer& b) { locked |= b.locked; });
        if (locked) {
            (void)s.own.release();
        }
    }

    static void lock_pages(entry& s) noexcept
    {
        each_buffer(s, [&](slot_buffer& b) { b.lock(*s.user, b.memory.size()); });
    }

    static void unlock_pages(entry& s) noexcept
    {
        each_buffer(s, [&](slot_buffer& b) { b.unlock(*s.user); });
    }

    // Declared before the decoders, because their threads use these members.
    hooks d_hooks;
    std::mutex d_mutex;
    std::condition_variable d_condition;
    std::uint64_t d_completions = 0;

    std::vector<std::unique_ptr<entry>> d_slots;
    std::vector<std::unique_ptr<decoder>> d_decoders;
    std::unique_ptr<decoder> d_fallback;
    std::size_t d_failed = 0;     // number of failed decoders in d_decoders
    bool d_draining = false;      // whether batches in flight are being discarded
    bool d_abandoned = false;     // whether a decoder was abandoned (null in d_decoders)
    bool d_output_pinned = false; // whether devices may write to memory of pin_output()
    bool d_output_lost = false;   // whether replacing an abandoned device's pages failed
    std::function<bool()> d_replace_output;
    std::size_t d_kept_bytes = 0, d_pinned_input_bytes = 0, d_output_bytes = 0;
    clock::time_point d_progress = {}; // when the latest end of a batch was detected
    std::vector<entry*> d_ring;        // slots in the order in which they are filled
    std::size_t d_fill = 0;            // index in d_ring of the slot to fill next
    std::deque<entry*> d_flight;       // submitted slots, oldest first
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_PIPELINE_H */
