// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How frames, pushed or cut from a stream, become a batch, and decoded frames leave it.
 */

#include "pipeline/stream_decoder.h"
#include "room.h"
#include "stream.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <new>
#include <optional>
#include <utility>

namespace gr::gpufec {

using namespace sync_map;

class sync_decoder::impl : public stream_decoder<room>
{
public:
    impl(const sync_options& options, decoder_hooks hooks)
        : stream_decoder(options, std::move(hooks), 1), d_options(options)
    {
        build();
    }

    bool push_frame(const void* items, std::size_t count, const float* priors)
    {
        if (!room_for_frame()) {
            return false;
        }
        write_framed(d_options, *d_setup, d_window, items, count, priors, next_input());
        added({ 0, std::int64_t(count) });
        return true;
    }

    std::size_t push(const void* items, std::size_t count)
    {
        advance();
        // No more ahead than the next frames need, whatever is pushed at a time.
        const auto limit =
            2 * (std::size_t(d_setup->max_items) + d_options.acquire) + d_setup->window;
        const auto n = std::min(count, limit - std::min(limit, d_cutter->held()));
        d_cutter->push(items, n);
        advance();
        return n;
    }

    void finish() override
    {
        if (d_cutter) {
            d_cutter->finish();
        }
        stream_decoder::finish();
    }

    bool pull(frame& f)
    {
        release_given();
        advance();
        const auto* slot = d_pipeline->ready();
        if (!slot) {
            return false;
        }
        const auto number = d_given++;
        const auto* const out = slot->output + number * d_setup->output_bytes();
        f.number = d_number++;
        f.output = out;
        f.output_bytes = d_setup->outputs * d_setup->symbol_bytes();
        f.first_drifts = f.last_drifts = nullptr;
        if (d_setup->drifts) {
            f.first_drifts = reinterpret_cast<const float*>(out + d_setup->drifts_at());
            f.last_drifts = f.first_drifts + d_setup->window;
        }
        f.status = reinterpret_cast<const sync_status*>(slot->status)[number];
        const auto place = d_places.front();
        d_places.pop_front();
        f.begin = place.origin + f.status.start_drift;
        f.locked = f.status.valid && (!d_cutter || follows(f.status, place.items));
        if (!d_cutter) {
            f.status.log_probability -= place.items * std::log(d_setup->item_weight);
        }
        return true;
    }

    bool ready() override
    {
        release_given();
        return stream_decoder::ready();
    }
    bool done() override
    {
        release_given();
        return stream_decoder::done() && (!d_cutter || d_cutter->done());
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        release_given();
        return stream_decoder::wait(limit);
    }

    void set_channel(const bsid_model& channel)
    {
        auto options = d_options;
        options.channel = channel;
        make_setup(options); // refuses what could not be decoded once it is its turn
        d_next = std::move(options);
        flush();
        take_next();
    }

    using stream_decoder::d_setup;
    sync_options d_options;
    drift_range d_window;

private:
    void build()
    {
        const auto setup = make_setup(d_options);
        d_window = decoder_window(d_options);
        d_lock_limit = lock_limit(d_options);
        open(setup);
        try {
            restart();
        } catch (const std::bad_alloc&) {
            refuse("acquire",
                   d_options.acquire,
                   "there is not the memory for the beginnings of " +
                       room::describe(*d_setup) + " allowed are smaller ones");
        }
    }

    void restart() override
    {
        d_count = d_given = 0;
        d_number = 0;
        d_places.clear();
        if (d_options.mode == sync_mode::stream) {
            d_cutter.emplace(d_options, *d_setup);
        }
    }

    // Another channel takes over once nothing is left of the one before.
    void take_next()
    {
        if (!d_next || d_count > 0 || !d_pipeline->empty()) {
            return;
        }
        const auto number = d_number;
        auto before = std::move(d_cutter);
        d_cutter.reset();
        const auto options = std::exchange(d_options, std::move(*d_next));
        d_next.reset();
        try {
            build();
        } catch (...) {
            d_options = options; // which there was room for
            build();
            throw;
        }
        d_number = number;
        if (before) {
            d_cutter->resume(*before);
        }
    }

    // Whether a frame can be written now.
    bool room_for_frame()
    {
        release_given();
        take_next();
        return !d_next && d_pipeline->filling() != nullptr;
    }

    std::byte* next_input()
    {
        return d_pipeline->filling()->input + d_count * d_setup->input_bytes();
    }

    void added(stream_cutter::place place)
    {
        d_places.push_back(place);
        ++d_count;
        d_deadline.start();
        if (d_count == d_batch) {
            send();
        }
    }

    std::size_t waiting() const override { return d_count; }

    void advance() override
    {
        while (d_cutter && d_cutter->ready() && room_for_frame()) {
            added(d_cutter->write(next_input()));
        }
        if (d_count > 0 && send_now() && d_pipeline->filling()) {
            send();
        }
    }

    void send()
    {
        submit({ d_count });
        d_count = 0;
    }

    // Gives a slot back once all its frames have been pulled and looked at.
    void release_given()
    {
        if (d_given == 0) {
            return;
        }
        const auto* slot = d_pipeline->ready();
        if (slot && d_given == slot->job.frames) {
            release();
            d_given = 0;
        }
    }

    // Items that lie beyond the end of the stream say nothing either way.
    bool follows(const sync_status& status, std::int64_t items) const
    {
        return status.log_probability / items > d_lock_limit;
    }

    std::optional<sync_options> d_next; // waits for frames in flight
    std::optional<stream_cutter> d_cutter;
    double d_lock_limit = 0;
    std::deque<stream_cutter::place> d_places; // of frames not yet pulled
    std::size_t d_count = 0;                   // frames in the open slot
    std::size_t d_given = 0;                   // frames of the oldest slot already pulled
    std::uint64_t d_number = 0;
};

sync_decoder::sync_decoder(const sync_options& options, decoder_hooks hooks)
    : decoder(std::make_unique<impl>(options, std::move(hooks)))
{
}

sync_decoder::impl& sync_decoder::self() const { return static_cast<impl&>(inside()); }

bool sync_decoder::push_frame(const void* items, std::size_t count, const float* priors)
{
    return self().push_frame(items, count, priors);
}

std::size_t sync_decoder::push(const void* items, std::size_t count)
{
    return self().push(items, count);
}

bool sync_decoder::pull(frame& f) { return self().pull(f); }

void sync_decoder::set_channel(const bsid_model& channel) { self().set_channel(channel); }

const sync_options& sync_decoder::options() const { return self().d_options; }
drift_range sync_decoder::window() const { return self().d_window; }

unsigned sync_decoder::lookahead() const
{
    return self().d_setup->symbols - self().d_setup->outputs;
}

std::size_t sync_decoder::symbol_bytes() const { return self().d_setup->symbol_bytes(); }

} // namespace gr::gpufec
