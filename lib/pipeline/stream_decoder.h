// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of stream decoders, and the check of options that all decoders share. */

#ifndef INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H

#include "backends.h"
#include "batch_deadline.h"
#include "common/checked_size.h"
#include "common/host_memory.h"
#include "common/non_temporal_copy.h"
#include "guards.h"
#include "input_judge.h"
#include "memory_in_place.h"
#include "pipeline.h"
#include "thread_team.h"
#include "windows.h"
#include <atomic>
#include <cmath>
#include <new>
#include <optional>

namespace gr::gpufec {

constexpr unsigned max_slots = 16;

//! Checks the options that all decoders share.
//! \throws std::invalid_argument if one is out of range
inline void check_run_options(const run_options& run, std::size_t max_work_items)
{
    const auto from = [](std::size_t least, std::size_t most) {
        return std::to_string(least) + " to " + std::to_string(most);
    };
    require(
        run.slots >= 1 && run.slots <= max_slots, "slots", run.slots, from(1, max_slots));
    require(run.threads >= 1 && run.threads <= 256, "threads", run.threads, from(1, 256));
    require(run.copy_threads <= 256, "copy_threads", run.copy_threads, from(0, 256));
    require(run.batch <= max_work_items, "batch", run.batch, from(0, max_work_items));
    require(!run.devices.empty() && run.devices.size() <= 16,
            "number of devices",
            run.devices.size(),
            from(1, 16));
    require(run.device_timeout_ms >= 0 && run.device_timeout_ms <= 1e9,
            "device_timeout_ms",
            run.device_timeout_ms,
            "0 to 1e9");
}

/*!
 * \brief Base class of stream decoders: owns the pipeline, the latency limit and the
 * borrowed memory, and logs the backend and any fail-over.
 *
 * The derived class divides the stream into work items and assembles their results.
 * \tparam Decoder the public interface of the decoder, such as ldpc_decoder
 * \tparam Traits see backends.h
 */
template <class Decoder, class Traits>
class stream_decoder : public judged_decoder<Decoder>, public memory_in_place
{
public:
    using job = typename Traits::job;
    using setup = typename Traits::setup;
    using slot = typename pipeline<job>::slot;

    void finish() override
    {
        d_finishing = true;
        advance();
    }
    bool ready() override
    {
        const bool is = d_pipeline->ready() != nullptr;
        watch();
        return is;
    }
    bool due() const override { return waiting() > 0 && d_deadline.over(); }
    void flush() override
    {
        d_flushing = true;
        advance();
        d_flushing = false;
    }
    bool full() const override { return d_pipeline->full(); }
    bool wait(std::chrono::milliseconds limit) override
    {
        return d_pipeline->wait(limit);
    }
    void reset() override
    {
        if (d_pipeline) {
            d_pipeline->drain();
        } else { // the previous open() threw an exception
            open(setup(*d_setup));
        }
        d_deadline.stop();
        d_input.reset();
        d_output = {};
        d_finishing = false;
        d_judged = 0;
        restart();
        d_judge->reset();
    }
    void set_max_latency_ms(double ms) override { d_deadline.set_latency_ms(ms); }

    std::size_t batch() const override { return d_batch; }
    std::string active_backend() const override { return d_pipeline->active().backend(); }
    std::string active_device() const override { return d_pipeline->active().device(); }

    std::size_t input_bytes() const override
    {
        const auto limits = d_pipeline->active().limits();
        return d_pipeline->slots() *
               (limits.caller_item_bytes ? limits.caller_item_bytes : limits.input_bytes);
    }
    bool can_borrow() const override { return d_borrows && d_input.end() == 0; }
    std::size_t borrow(const void* items, std::size_t count) override
    {
        begin_borrowing();
        d_input.borrow(static_cast<const std::byte*>(items));
        const auto before = borrowed();
        const auto n = take_borrowed(count - std::min(count, before));
        if (input_on_device()) {
            judge_sample(items, before, n);
        } else {
            d_judge->look_at(items, before, n);
        }
        return n;
    }
    std::size_t borrowed() const override { return d_input.borrowed(); }
    std::size_t release_borrowed() override
    {
        return d_input.release_borrowed(all_pulled());
    }
    void copy_borrowed() override
    {
        if (d_pipeline && d_input.borrowing()) {
            d_pipeline->wait_idle();
            if (all_pulled()) {
                return; // all output was pulled, so the input is not needed
            }
            std::vector<std::byte> copy;
            if (input_on_device()) {
                copy = on_host(d_input.oldest_borrowed(),
                               borrowed() * d_input.caller_item_bytes());
                d_input.borrow(copy.data());
            }
            store_borrowed();
        }
    }
    bool pin_input(void* memory, std::size_t bytes) override
    {
        d_judged = 0;
        const bool locked = reserve_conversion() && d_pipeline->pin_input(memory, bytes);
        d_locked = locked
                       ? pinned_memory{ memory, bytes, d_pipeline->active().has(memory) }
                       : pinned_memory{};
        return locked;
    }
    void unpin_input(void* memory) override
    {
        d_locked = {};
        if (d_pipeline) {
            d_pipeline->unpin_input(memory);
        }
    }
    std::size_t output_bytes() const override
    {
        return can_borrow_output() ? d_pipeline->slots() * borrowed_bytes() : 0;
    }
    bool pin_output(void* memory,
                    std::size_t bytes,
                    const std::function<bool()>& replace) override
    {
        d_pin_output = [=] {
            return (!borrows_bits() || d_pipeline->reserve_unpacked_output()) &&
                   d_pipeline->pin_output(memory, bytes, replace);
        };
        const bool there = d_pipeline->active().has(memory);
        const bool can = can_borrow_output() && (!there || all_output_in_rows());
        d_pinned_output = can && d_pin_output() ? memory : nullptr;
        d_pinned_on_device = d_pinned_output && there;
        d_output_on_device = d_pinned_on_device;
        return d_pinned_output;
    }
    bool borrow_output(void* next, std::size_t bytes) override
    {
        d_output.borrow(static_cast<std::byte*>(next), bytes);
        d_output_on_device = d_pinned_on_device;
        return output_fits() && (d_output.empty() || d_output.place(borrowed_bytes()));
    }
    void release_output() override
    {
        d_output.borrow(nullptr, 0);
        d_output_on_device = false;
        if (d_pipeline) {
            d_pipeline->keep_output();
        }
    }
    void unpin_output(void* memory) override
    {
        d_pinned_output = nullptr;
        d_pinned_on_device = d_output_on_device = false;
        if (d_pipeline) {
            d_pipeline->unpin_output(memory);
        }
    }

protected:
    //! \p item_bytes is the size of an input item in slots, \p caller_item_bytes its size
    //! in the caller's memory. If \p caller_item_bytes is 0, input cannot be borrowed.
    stream_decoder(const run_options& run,
                   decoder_hooks hooks,
                   std::size_t item_bytes,
                   std::size_t caller_item_bytes = 0)
        : d_hooks(without_exceptions(std::move(hooks))),
          d_run(run),
          d_deadline(run.max_latency_ms, [this] { d_hooks.wake(); }),
          d_input(item_bytes, caller_item_bytes),
          d_borrows(caller_item_bytes > 0)
    {
        check_run_options(run, Traits::max_work_items);
    }

    //! Replaces the pipeline by one for setup \p s. No batch may be in flight.
    //! \throws std::invalid_argument if the memory does not suffice
    void open(const setup& s)
    {
        try {
            open_within_memory(s);
        } catch (const std::bad_alloc&) {
            if (d_run.batch > 0) {
                refuse("batch",
                       d_run.batch,
                       "not enough memory for " + std::to_string(d_run.slots) +
                           " slots with this number of " + Traits::work_items_name +
                           "; allowed values are smaller numbers, and 0 (automatic)");
            }
            throw std::invalid_argument(printable(
                Traits::describe(s) + " needs more memory than available, with slots " +
                std::to_string(d_run.slots) + " and threads " +
                std::to_string(d_run.threads)));
        }
    }

    // Functions for the derived class to implement.

    bool all_pulled() override
    {
        return d_finishing && left() == 0 && d_pipeline->empty();
    }
    //! Submits the open batch if it is full or send_now() returns true.
    virtual void advance() = 0;
    //! Returns the number of complete work items in the open batch.
    virtual std::size_t waiting() const = 0;
    //! Returns the number of work items still to be submitted after finish().
    virtual std::size_t left() const { return waiting(); }
    //! Returns the number of items that the open batch can still accept.
    virtual std::size_t items_wanted() const { return 0; }
    //! Copies items from the caller's memory into a slot, converting their format.
    virtual void
    store(const std::byte* /*from*/, std::size_t /*items*/, std::byte* /*to*/)
    {
    }
    //! Accepts up to \p count further borrowed items and returns how many were accepted.
    virtual std::size_t take_borrowed(std::size_t count)
    {
        return take(count, [](std::size_t, std::size_t, std::byte*) {});
    }
    //! Copies the borrowed items of the open batch when borrowing ends.
    virtual void store_borrowed()
    {
        d_input.copy_borrowed([this](const std::byte* from,
                                     std::size_t n,
                                     std::byte* to) { store(from, n, to); });
    }
    //! Returns whether users pull the output of batches without post-processing, so that
    //! a device can write it in place.
    virtual bool can_borrow_output() const { return false; }
    //! Returns whether the output of every batch has regular rows. Output in device
    //! memory requires such rows, because the host cannot copy output to device memory.
    virtual bool all_output_in_rows() const { return true; }
    //! Returns whether output that is written in place has one bit per byte.
    virtual bool borrows_bits() const { return false; }
    //! Resets the derived class to the beginning of a stream.
    virtual void restart() = 0;

    // Functions for the derived class to call.

    //! Returns whether borrowed input is in device memory.
    bool input_on_device() const { return d_locked.on_device; }
    //! Returns whether output is written in place, to device memory.
    bool output_on_device() const { return d_output_on_device; }
    //! Returns a copy of \p bytes bytes of device memory.
    std::vector<std::byte> on_host(const std::byte* from, std::size_t bytes) const
    {
        std::vector<std::byte> copy(bytes);
        d_pipeline->active().copy_to_host(copy.data(), from, bytes);
        return copy;
    }

    void log(log_level level, const std::string& text) const { d_hooks.log(level, text); }

    //! Returns whether to submit a batch that is not full.
    bool send_now() const { return d_finishing || d_flushing || d_deadline.over(); }
    bool finishing() const { return d_finishing; }

    //! Accepts up to \p count items and returns how many were accepted. \p store(first,
    //! n, to) copies n items to the address \c to in the slot, beginning with item
    //! \c first of the \p count items.
    template <class Store>
    std::size_t take(std::size_t count, Store&& store)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && open_input()) {
            const auto n = std::min(count - taken, items_wanted());
            if (n > 0) {
                if (!d_input.borrowing()) {
                    auto* const to = filling()->input + d_input.bytes();
                    copy(n, d_input.item_bytes(), [&](std::size_t first, std::size_t m) {
                        store(taken + first, m, to + first * d_input.item_bytes());
                    });
                }
                d_input.took(n);
                taken += n;
                d_deadline.start();
            }
            advance();
        }
        return taken;
    }

    //! Copies \p units units of \p bytes bytes each by calls of part(first, count). If a
    //! device decodes, several threads share the copy. If the CPU decodes, the caller's
    //! thread copies alone, because decoding keeps the other cores busy.
    template <class Part>
    void copy(std::size_t units, std::size_t bytes, const Part& part)
    {
        if (d_on_device) {
            d_copies(units, bytes, part);
        } else {
            part(0, units);
        }
    }

    //! Copies pushed data into the slot. If a device decodes, non-temporal stores keep
    //! the data out of the caches, because the CPU does not read them again.
    void copy_to_slot(std::byte* to, const std::byte* from, std::size_t bytes) const
    {
        if (d_on_device) {
            copy_past_caches(to, from, bytes);
        } else {
            std::memcpy(to, from, bytes);
        }
    }

    bool on_device() const { return d_on_device; }

    //! Reserves device memory to convert the caller's format, if that differs from the
    //! format of slots. Returns false if the memory does not suffice.
    bool reserve_conversion()
    {
        d_caller_format = d_caller_format ||
                          d_pipeline->active().limits().caller_item_bytes == 0 ||
                          d_pipeline->reserve_conversion_buffers();
        return d_caller_format;
    }

    //! Returns the slot of the open batch; nullptr while every slot is in flight, or
    //! while borrowed device memory lacks space for the batch's output. The host cannot
    //! copy output to device memory.
    slot* filling() { return output_fits() ? d_pipeline->filling() : nullptr; }

    //! Returns the address at which the open batch's input begins; nullptr if filling()
    //! returns nullptr.
    const std::byte* open_input()
    {
        auto* const s = filling();
        return s ? d_input.open(s->input) : nullptr;
    }

    //! Submits the open batch, whose output has the layout \p rows. The next batch begins
    //! with item \p next.
    void submit(const job& j, std::uint64_t next, const output_rows& rows = {})
    {
        const auto* const input = open_input();
        send(j, input, rows);
        d_input.submitted(input, next);
        d_deadline.stop();
        watch();
    }

    //! Submits the open batch, whose input the derived class has written into the slot.
    void submit(const job& j, const output_rows& rows = {})
    {
        submit_from(j, filling()->input, rows);
    }
    //! Submits the open batch with input that begins at \p input.
    void submit_from(const job& j, const std::byte* input, const output_rows& rows)
    {
        send(j, input, rows);
        d_deadline.stop();
        watch();
    }

    //! Returns whether the slot's output was written in place. \p bits is true if the
    //! caller requests one bit per byte, false for packed bits.
    //! \throws std::logic_error if output was written in place in the other format
    bool in_place(const slot& s, bool bits) const
    {
        if (s.borrowed.to && bits != borrows_bits()) {
            throw std::logic_error("output memory was borrowed for another format");
        }
        return s.borrowed.to;
    }

    void pulled(std::size_t bytes) { d_output.pulled(bytes); }

    //! Releases the oldest slot, whose output has been pulled.
    void release()
    {
        d_pipeline->release();
        d_input.released();
    }

    //! Returns whether the open batch reads borrowed input in place.
    bool borrowing() const { return d_input.borrowing(); }

    const decoder_hooks d_hooks;
    std::optional<setup> d_setup;
    std::size_t d_batch = 0; // size of a full batch in work items
    const run_options d_run;
    batch_deadline d_deadline;
    input_window d_input;
    output_window d_output;
    // Declared after d_hooks, because the pipeline's threads call the hooks.
    process_bound<pipeline<job>> d_pipeline;
    using judged_decoder<Decoder>::d_judge;

private:
    // Maximum number of items per stream that are judged if the input is in device
    // memory, because these items are copied to the host.
    static constexpr std::size_t max_judged = 1u << 18;

    memory_in_place* in_place() override { return this; }

    // Passes items in device memory to the judge, at most max_judged items per stream.
    void judge_sample(const void* items, std::size_t first, std::size_t count)
    {
        const auto n = std::min(count, max_judged - d_judged);
        if (n > 0) {
            const auto size = d_input.caller_item_bytes();
            const auto* const from = static_cast<const std::byte*>(items) + first * size;
            d_judge->look_at(on_host(from, n * size).data(), 0, n);
            d_judged += n;
        }
    }

    // Returns the size in bytes of the borrowed memory that the output of a full batch
    // may need.
    std::size_t borrowed_bytes() const
    {
        return (borrows_bits() ? 8 : 1) * d_pipeline->active().limits().output_bytes;
    }

    bool output_fits() const
    {
        return !d_output_on_device || d_output.place(borrowed_bytes());
    }

    void begin_borrowing()
    {
        if (!d_input.borrowing() && !reserve_conversion()) {
            throw std::runtime_error(std::string(active_backend()) +
                                     " lacks the memory to convert borrowed input");
        }
    }

    void send(const job& j, const std::byte* input, const output_rows& rows)
    {
        auto* const to = rows.regular() ? d_output.place(rows.total()) : nullptr;
        d_pipeline->submit(j, input, { to, rows });
        d_output.submitted(rows.total());
    }

    // Wakes the caller when the timeout of a batch expires, so that the caller detects a
    // device that hangs. The timer is set once per timeout, not for each batch, because
    // batches are frequent.
    void watch()
    {
        const auto when = d_pipeline->overdue();
        if (when != deadline_timer::clock::time_point::max() &&
            !d_watching.exchange(true)) {
            d_watchdog->set(when);
        }
    }

    void open_within_memory(const setup& s)
    {
        d_caller_format = false;
        if (d_pipeline && d_locked.memory) {
            d_pipeline->unpin_input(d_locked.memory);
        }
        if (d_pipeline && d_pinned_output) {
            d_pipeline->unpin_output(d_pinned_output);
        }
        d_pipeline.reset();
        d_setup.emplace(s);
        auto made = make_decoders<Traits>(s, d_run);
        const auto& first = *made.decoders.front();
        d_on_device = first.backend() == "cuda";
        if (made.failed) {
            log(log_level::error,
                made.missing + "; decoding continues on the CPU without loss of data");
        }
        const auto limits = first.limits();
        const auto slots = checked_size(d_run.slots) * made.decoders.size();
        const auto needed = slots * (checked_size(limits.input_bytes) +
                                     limits.output_bytes + limits.status_bytes);
        if (needed.value() > physical_memory()) {
            throw std::bad_alloc();
        }
        d_batch = limits.work_items;
        if (d_batch < d_run.batch) {
            log(log_level::warning,
                "batch is " + std::to_string(d_run.batch) +
                    ": device memory suffices only for " + std::to_string(d_batch) + " " +
                    Traits::work_items_name);
        }
        log(log_level::info,
            Traits::describe(s) + " on " + first.backend() + " (" + first.device() +
                "), batches of " + std::to_string(d_batch) + " " +
                Traits::work_items_name +
                (made.missing.empty() ? "" : "; no CUDA: " + made.missing));

        typename pipeline<job>::hooks h;
        h.completion = d_hooks.wake;
        if (d_run.backend == backend::automatic) {
            h.fallback = [this] {
                return Traits::make_cpu(*d_setup, d_batch, d_run.threads);
            };
        }
        if (d_on_device) {
            h.timeout = std::chrono::milliseconds(
                std::int64_t(std::ceil(d_run.device_timeout_ms)));
            if (!d_watchdog) {
                d_watchdog.emplace([this] {
                    d_watching = false;
                    d_hooks.wake();
                });
            }
        }
        h.abandoned = [this](const std::string& what) { log(log_level::error, what); };
        h.failed_over = [this](const std::string& failure, std::size_t devices) {
            d_on_device = devices > 0;
            log(log_level::error,
                failure + "; decoding continues on the " +
                    (devices > 0 ? "other devices" : "CPU") + " without loss of data");
        };
        d_pipeline.emplace(std::move(made.decoders), d_run.slots, std::move(h));
        if (d_locked.memory && reserve_conversion()) {
            d_pipeline->pin_input(d_locked.memory, d_locked.bytes);
        }
        // If pinning fails, the host must copy output, but it cannot copy to device
        // memory.
        if (d_pinned_output && !d_pin_output() && d_pinned_on_device) {
            throw std::runtime_error(
                "the device lacks the memory to write output in place");
        }
    }

    struct pinned_memory {
        void* memory = nullptr;
        std::size_t bytes = 0;
        // Stored, because has() asks the CUDA runtime, which is slow compared with taking
        // a frame.
        bool on_device = false;
    };

    const bool d_borrows;
    bool d_finishing = false;
    bool d_flushing = false;
    bool d_on_device = false;
    bool d_caller_format = false;    // whether decoders can convert the caller's format
    pinned_memory d_locked;          // pinned memory of borrowed input
    std::size_t d_judged = 0;        // number of items in judge_sample() so far
    void* d_pinned_output = nullptr; // memory for output in place; nullptr: none
    bool d_pinned_on_device = false; // whether d_pinned_output is device memory
    bool d_output_on_device = false; // whether borrowed output is in device memory
    std::function<bool()> d_pin_output;
    std::atomic<bool> d_watching{ false };
    std::optional<deadline_timer> d_watchdog; // only if a device decodes
    copy_team d_copies{ d_run.copy_threads ? d_run.copy_threads : d_run.threads };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H */
