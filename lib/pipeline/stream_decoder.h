// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Between a decoder's slots and its user: what is the same whatever is decoded. */

#ifndef INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H

#include "backends.h"
#include "batch_deadline.h"
#include "checked_size.h"
#include "copy_past_caches.h"
#include "copy_team.h"
#include "engine.h"
#include "host_memory.h"
#include "input_window.h"
#include "output_window.h"
#include "pipeline.h"
#include <atomic>
#include <cmath>
#include <new>
#include <optional>

namespace gr::gpufec {

constexpr unsigned most_slots = 16;

//! Refuses what no decoder can run with. \throws std::invalid_argument
inline void check_run_options(const run_options& run, std::size_t most_pieces)
{
    const auto from = [](std::size_t least, std::size_t most) {
        return std::to_string(least) + " to " + std::to_string(most);
    };
    require(run.slots >= 1 && run.slots <= most_slots,
            "slots",
            run.slots,
            from(1, most_slots));
    require(run.threads >= 1 && run.threads <= 256, "threads", run.threads, from(1, 256));
    require(run.copy_threads <= 256, "copy_threads", run.copy_threads, from(0, 256));
    require(run.batch <= most_pieces, "batch", run.batch, from(0, most_pieces));
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
 * \brief A room's decoder as a stream: owns the pipeline, the deadline of a batch that
 * waits, and what is lent for input and output; fails over, and says what decodes.
 *
 * The room's own decoder, derived from it, cuts the stream into pieces and puts results
 * together. \tparam Room see backends.h
 */
template <class Room>
class stream_decoder : public decoder::engine
{
public:
    using job = typename Room::job;
    using setup = typename Room::setup;
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
    bool done() override { return d_finishing && left() == 0 && d_pipeline->empty(); }
    bool wait(std::chrono::milliseconds limit) override
    {
        return d_pipeline->wait(limit);
    }
    void reset() override
    {
        if (d_pipeline) {
            d_pipeline->drain();
        } else { // what was made last had not the memory
            open(setup(*d_setup));
        }
        d_deadline.stop();
        d_input.reset();
        d_output = {};
        d_finishing = false;
        restart();
    }
    void set_max_latency_ms(double ms) override { d_deadline.set_latency_ms(ms); }

    std::size_t batch() const override { return d_batch; }
    std::string active_backend() const override { return d_pipeline->active().backend(); }
    std::string active_device() const override { return d_pipeline->active().device(); }

    std::size_t input_bytes() const override
    {
        const auto limits = d_pipeline->active().limits();
        return d_pipeline->slots() *
               (limits.raw_bytes ? limits.raw_bytes : limits.input_bytes);
    }
    bool can_lend() const override { return d_lends && d_input.end() == 0; }
    std::size_t lend(const void* items, std::size_t count) override
    {
        begin_lending();
        d_input.lend(static_cast<const std::byte*>(items));
        return take_lent(count - lent());
    }
    std::size_t lent() const override { return d_input.lent(); }
    std::size_t take_back() override { return d_input.take_back(done()); }
    void end_lending() override
    {
        if (d_pipeline && d_input.lending()) {
            std::size_t batch = 0;
            d_pipeline->settle([&](const slot& s) { settled(s, batch++); });
            keep_lent();
        }
    }
    bool lock_lent(void* memory, std::size_t bytes) override
    {
        const bool locked = takes_raw() && d_pipeline->lock_lent(memory, bytes);
        d_locked = locked ? lent_memory{ memory, bytes } : lent_memory{};
        return locked;
    }
    void unlock_lent(void* memory) override
    {
        d_locked = {};
        if (d_pipeline) {
            d_pipeline->unlock_lent(memory);
        }
    }
    std::size_t output_bytes() const override
    {
        return can_lend_output() ? d_pipeline->slots() * lent_bytes() : 0;
    }
    bool
    lock_output(void* memory, std::size_t bytes, std::function<bool()> replace) override
    {
        d_lock_output = [=] {
            return (!lends_bits() || d_pipeline->take_bits()) &&
                   d_pipeline->lock_output(memory, bytes, replace);
        };
        d_locked_output = can_lend_output() && d_lock_output() ? memory : nullptr;
        return d_locked_output;
    }
    bool lend_output(void* next, std::size_t bytes) override
    {
        d_output.lend(static_cast<std::byte*>(next), bytes);
        return d_output.empty() || d_output.place(lent_bytes());
    }
    void end_lending_output() override
    {
        d_output.lend(nullptr, 0);
        if (d_pipeline) {
            d_pipeline->keep_output();
        }
    }
    void unlock_output(void* memory) override
    {
        d_locked_output = nullptr;
        if (d_pipeline) {
            d_pipeline->unlock_output(memory);
        }
    }

protected:
    //! \p item_bytes of input as it lies in slots, \p raw_bytes as the caller has it; 0:
    //! input cannot be lent.
    stream_decoder(const run_options& run,
                   decoder_hooks hooks,
                   std::size_t item_bytes,
                   std::size_t raw_bytes = 0)
        : d_hooks(std::move(hooks)),
          d_run(run),
          d_deadline(run.max_latency_ms, [this] { d_hooks.wake(); }),
          d_input(item_bytes, raw_bytes),
          d_lends(raw_bytes > 0)
    {
        check_run_options(run, Room::most_pieces);
    }

    //! Makes what decodes such a setup, in place of what there was; nothing is in flight.
    void open(const setup& s)
    {
        try {
            open_within_memory(s);
        } catch (const std::bad_alloc&) {
            if (d_run.batch > 0) {
                refuse("batch",
                       d_run.batch,
                       "there is not the memory for " + std::to_string(d_run.slots) +
                           " slots of so many " + Room::piece +
                           "; allowed are smaller ones, and 0, which chooses");
            }
            throw std::invalid_argument(printable(
                Room::describe(s) + " needs more memory than there is, with slots " +
                std::to_string(d_run.slots) + " and threads " +
                std::to_string(d_run.threads)));
        }
    }

    // What a room adds.

    //! Submits what is full, due, or, at the end, left.
    virtual void advance() = 0;
    //! Complete pieces of the open batch.
    virtual std::size_t waiting() const = 0;
    //! Pieces that are to be submitted after finish(), and were not yet.
    virtual std::size_t left() const { return waiting(); }
    //! Items that the open batch lacks to be full.
    virtual std::size_t items_wanted() const { return 0; }
    //! Puts items that the caller has at \p from into a slot, at \p to.
    virtual void
    store(const std::byte* /*from*/, std::size_t /*items*/, std::byte* /*to*/)
    {
    }
    //! Takes what fits of \p count items that are lent after those before.
    virtual std::size_t take_lent(std::size_t count)
    {
        return take(count, [](std::size_t, std::size_t, std::byte*) {});
    }
    //! Copies what the open batch has been lent.
    virtual void keep_lent()
    {
        d_input.end_lending([this](const std::byte* from, std::size_t n, std::byte* to) {
            store(from, n, to);
        });
    }
    //! Whether the rows that are submitted with batches are what is pulled of them.
    virtual bool can_lend_output() const { return false; }
    //! Whether they are given as one bit per byte.
    virtual bool lends_bits() const { return false; }
    //! Forgets the stream.
    virtual void restart() = 0;
    //! Once for each batch in flight, which are counted from the oldest, before its input
    //! is gone.
    virtual void settled(const slot&, std::size_t /*batch*/) {}

    // What a room is given.

    void log(log_level level, const std::string& text) const { d_hooks.log(level, text); }

    //! Whether a batch is to be sent that is not full.
    bool send_now() const { return d_finishing || d_flushing || d_deadline.over(); }
    bool finishing() const { return d_finishing; }

    //! Takes what fits of \p count items: \p store(first, n, to) puts n of them at \p to.
    template <class Store>
    std::size_t take(std::size_t count, Store&& store)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && open_input()) {
            const auto n = std::min(count - taken, items_wanted());
            if (n > 0) {
                if (!d_input.lending()) {
                    auto* const to = d_pipeline->filling()->input + d_input.bytes();
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

    //! Copies what is pushed: part(first, count) does so for some of \p units of \p bytes
    //! each. Threads of the CPU help where it does not decode.
    template <class Part>
    void copy(std::size_t units, std::size_t bytes, const Part& part)
    {
        if (d_on_device) {
            d_copies(units, bytes, part);
        } else {
            part(0, units);
        }
    }

    //! Copies what is pushed, as it is, to where it lies in a slot.
    void copy_to_slot(std::byte* to, const std::byte* from, std::size_t bytes) const
    {
        if (d_on_device) {
            copy_past_caches(to, from, bytes);
        } else {
            std::memcpy(to, from, bytes);
        }
    }

    //! Whether a device decodes.
    bool on_device() const { return d_on_device; }

    //! Whether what decodes has room for input as the caller has it.
    bool takes_raw()
    {
        d_raw = d_raw || d_pipeline->active().limits().raw_bytes == 0 ||
                d_pipeline->take_raw();
        return d_raw;
    }

    //! Where the open batch's input begins; nullptr while every slot is in flight.
    const std::byte* open_input()
    {
        auto* const s = d_pipeline->filling();
        return s ? d_input.open(s->input) : nullptr;
    }

    //! Submits the open batch, of which \p rows will be pulled; the next one's input
    //! begins with item \p next.
    void submit(const job& j, std::uint64_t next, const output_rows& rows = {})
    {
        const auto* const input = open_input();
        send(j, input, rows);
        d_input.submitted(input, next);
        d_deadline.stop();
        watch();
    }

    //! Submits the open batch, whose input the room has written into the slot by itself.
    void submit(const job& j, const output_rows& rows = {})
    {
        submit_from(j, d_pipeline->filling()->input, rows);
    }
    //! The same, where what is decoded begins at \p input there.
    void submit_from(const job& j, const std::byte* input, const output_rows& rows)
    {
        send(j, input, rows);
        d_deadline.stop();
        watch();
    }

    //! Whether a device has put what is pulled of a slot where it goes. \throws
    //! std::logic_error if that is not the form that is pulled
    bool in_place(const slot& s, bool bits) const
    {
        if (s.lent.to && bits != lends_bits()) {
            throw std::logic_error("memory is lent for output in another form");
        }
        return s.lent.to;
    }

    //! So many bytes of the rows were pulled.
    void pulled(std::size_t bytes) { d_output.pulled(bytes); }

    //! Gives the oldest slot back, whose output has been pulled.
    void release()
    {
        d_pipeline->release();
        d_input.released();
    }

    //! Whether the batch that is open leaves its input where the caller has it.
    bool lending() const { return d_input.lending(); }

    const decoder_hooks d_hooks;
    std::optional<setup> d_setup;
    std::size_t d_batch = 0; // pieces
    const run_options d_run;
    batch_deadline d_deadline;
    input_window d_input;
    output_window d_output;
    std::optional<pipeline<job>> d_pipeline; // last: its decoders call the hooks

private:
    // That the output of a full batch may take of what is lent.
    std::size_t lent_bytes() const
    {
        return (lends_bits() ? 8 : 1) * d_pipeline->active().limits().output_bytes;
    }

    void begin_lending()
    {
        if (!d_input.lending() && !takes_raw()) {
            throw std::runtime_error(std::string(active_backend()) +
                                     " has not the memory to convert what is lent");
        }
    }

    void send(const job& j, const std::byte* input, const output_rows& rows)
    {
        auto* const to = rows.regular() ? d_output.place(rows.total()) : nullptr;
        d_pipeline->submit(j, input, { to, rows });
        d_output.submitted(rows.total());
    }

    // Someone is to look whether a device does not come to an end, though nothing else
    // happens: once a time-out, not for each batch.
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
        d_raw = false;
        if (d_pipeline && d_locked.memory) {
            d_pipeline->unlock_lent(d_locked.memory);
        }
        if (d_pipeline && d_locked_output) {
            d_pipeline->unlock_output(d_locked_output);
        }
        d_pipeline.reset();
        d_setup.emplace(s);
        auto made = make_decoders<Room>(s, d_run);
        const auto& first = *made.decoders.front();
        d_on_device = first.backend() == "cuda";
        if (made.failed) {
            log(log_level::error,
                made.missing + "; decoding is done by the CPU, nothing is lost");
        }
        const auto limits = first.limits();
        const auto slots = checked_size(d_run.slots) * made.decoders.size();
        const auto needed = slots * (checked_size(limits.input_bytes) +
                                     limits.output_bytes + limits.status_bytes);
        if (needed.value() > physical_memory()) {
            throw std::bad_alloc();
        }
        d_batch = limits.pieces;
        if (d_batch < d_run.batch) {
            log(log_level::warning,
                "batch is " + std::to_string(d_run.batch) +
                    ": the device's memory holds " + std::to_string(d_batch) + " " +
                    Room::piece);
        }
        log(log_level::info,
            Room::describe(s) + " on " + first.backend() + " (" + first.device() +
                "), batches of " + std::to_string(d_batch) + " " + Room::piece +
                (made.missing.empty() ? "" : "; no CUDA: " + made.missing));

        typename pipeline<job>::hooks h;
        h.completion = d_hooks.wake;
        if (d_run.where == backend::automatic) {
            h.fallback = [this] {
                return Room::make_cpu(*d_setup, d_batch, d_run.threads);
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
        h.given_up = [this](const std::string& what) { log(log_level::error, what); };
        h.failed_over = [this](const std::string& failure, std::size_t devices) {
            d_on_device = devices > 0;
            log(log_level::error,
                failure + "; decoding goes on with the " +
                    (devices > 0 ? "other devices" : "CPU") + ", nothing is lost");
        };
        d_pipeline.emplace(std::move(made.decoders), d_run.slots, std::move(h));
        if (d_locked.memory && takes_raw()) {
            d_pipeline->lock_lent(d_locked.memory, d_locked.bytes);
        }
        if (d_locked_output) {
            d_lock_output(); // where it cannot, output is copied
        }
    }

    struct lent_memory {
        void* memory = nullptr;
        std::size_t bytes = 0;
    };

    const bool d_lends;
    bool d_finishing = false;
    bool d_flushing = false;
    bool d_on_device = false;
    bool d_raw = false;              // decoders have room for input as the caller has it
    lent_memory d_locked;            // memory to lend from, whose pages are locked
    void* d_locked_output = nullptr; // memory to lend for output, likewise
    std::function<bool()> d_lock_output;
    std::atomic<bool> d_watching{ false };
    std::optional<deadline_timer> d_watchdog; // where a device decodes
    copy_team d_copies{ d_run.copy_threads ? d_run.copy_threads : d_run.threads };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_STREAM_DECODER_H */
