// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The synchronisation decoder: frames, pushed or cut from a stream, into slots, and
 * decoded frames out in order. */

#include "backends.h"
#include "cpu.h"
#include "job.h"
#include "pipeline/deadline_timer.h"
#include "pipeline/pipeline.h"
#include "pipeline/refuse.h"
#include "stream.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

namespace gr::gpufec {

using namespace sync_map;

namespace {

using clock = deadline_timer::clock;

const sync_options& checked(const sync_options& o)
{
    check_options(o);
    if (o.slots < 1 || o.slots > 16) {
        refuse("slots", o.slots, "1 to 16 is allowed");
    }
    if (o.threads < 1 || o.threads > 256) {
        refuse("threads", o.threads, "1 to 256 is allowed");
    }
    if (o.batch > 1u << 20) {
        refuse("batch", o.batch, "0 to 1048576 is allowed");
    }
    if (o.devices.empty() || o.devices.size() > 16) {
        refuse("number of devices", o.devices.size(), "1 to 16 is allowed");
    }
    if (!(o.max_latency_ms >= 0) || std::isinf(o.max_latency_ms)) {
        refuse("max_latency_ms", o.max_latency_ms, "finite values from 0 are allowed");
    }
    return o;
}

double entropy(double p) { return p > 0 ? -p * std::log2(p) : 0; }

/* What a stream that follows its frames is more likely than random items, as a logarithm
 * an item; half of that is the limit. An item that the code explains is worth the code's
 * rate and the channel's entropy, instead of that of a random symbol. */
double lock_limit(const sync_options& o)
{
    const auto& c = o.channel;
    const double worth = std::log2(double(o.code.alphabet()));
    const double followed =
        std::log2(double(o.code.q())) / o.code.n() + entropy(c.p_insert()) +
        entropy(c.p_delete()) + entropy(c.p_transmit()) +
        c.p_transmit() * (entropy(c.p_substitute()) + entropy(1 - c.p_substitute()));
    return followed < worth ? std::log(2.0) * (worth - followed) / 2 : -INFINITY;
}

} // namespace

class sync_decoder::impl
{
public:
    impl(const sync_options& options, sync_decoder::hooks h)
        : d_options(checked(options)),
          d_hooks(std::move(h)),
          d_timer([this] { d_hooks.wake(); })
    {
        build();
        report();
    }

    bool push_frame(const void* items, std::size_t count, const float* priors)
    {
        if (!room()) {
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
        const std::size_t limit =
            2 * (d_setup->max_items + d_options.acquire) + d_setup->window;
        const auto n = std::min(count, limit - std::min(limit, d_cutter->held()));
        d_cutter->push(items, n);
        advance();
        return n;
    }

    void finish()
    {
        d_finishing = true;
        if (d_cutter) {
            d_cutter->finish();
        }
        advance();
    }

    bool pull(frame& f)
    {
        release();
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

    bool ready()
    {
        release();
        return d_pipeline->ready() != nullptr;
    }
    bool full() const { return d_pipeline->full(); }
    bool due() const { return d_count > 0 && clock::now() >= d_deadline; }
    void flush()
    {
        if (d_count > 0 && d_pipeline->filling()) {
            submit();
        }
    }
    bool done()
    {
        release();
        return d_finishing && d_count == 0 && d_pipeline->empty() &&
               (!d_cutter || d_cutter->done());
    }
    bool wait(std::chrono::milliseconds limit)
    {
        release();
        return d_pipeline->wait(limit);
    }

    void reset()
    {
        d_pipeline->drain();
        d_count = d_given = 0;
        d_number = 0;
        d_places.clear();
        d_finishing = false;
        stop_clock();
        start_stream();
    }

    void set_channel(const bsid_model& channel)
    {
        auto options = d_options;
        options.channel = channel;
        check_options(options);
        d_next = std::move(options);
        flush();
        take_next();
    }

    void set_max_latency_ms(double milliseconds)
    {
        auto options = d_options;
        options.max_latency_ms = milliseconds;
        d_options.max_latency_ms = checked(options).max_latency_ms;
    }

    sync_options d_options;
    const sync_decoder::hooks d_hooks;
    std::optional<setup> d_setup;
    drift_range d_window;
    std::size_t d_batch = 0;
    std::optional<pipeline<job>> d_pipeline; // its decoders call the hooks

private:
    void build()
    {
        d_setup.emplace(make_setup(d_options));
        d_window = decoder_window(d_options);
        d_lock_limit = lock_limit(d_options);
        start_stream();
        make_pipeline();
    }

    void start_stream()
    {
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
        d_options = std::move(*d_next);
        d_next.reset();
        d_pipeline.reset();
        const auto before = std::move(d_cutter);
        d_cutter.reset();
        build();
        if (before) {
            d_cutter->resume(*before);
        }
    }

    void make_pipeline()
    {
        auto made = make_sync_decoders(*d_setup, d_options);
        d_missing = made.missing;
        d_batch = made.decoders.front()->limits().pieces;

        pipeline<job>::hooks h;
        h.completion = d_hooks.wake;
        if (d_options.where == backend::automatic) {
            h.fallback = [this] {
                return make_cpu(*d_setup, d_batch, d_options.threads);
            };
        }
        h.failed_over = [this](const std::string& what) {
            d_hooks.log(level::error, failed_over_text(what, d_pipeline->devices()));
        };
        d_pipeline.emplace(std::move(made.decoders), d_options.slots, std::move(h));
    }

    void report() const
    {
        const auto& d = d_pipeline->active();
        std::ostringstream text;
        text << "synchronisation, n=" << d_options.code.n() << " q=" << d_options.code.q()
             << " N=" << d_options.code.frame_symbols() << " on " << d.backend() << " ("
             << d.device() << "), drifts " << d_window.first << " to " << d_window.last
             << ", batches of " << d_batch;
        if (!d_missing.empty()) {
            text << "; no CUDA: " << d_missing;
        }
        d_hooks.log(level::info, text.str());
    }

    // Whether a frame can be written now.
    bool room()
    {
        release();
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
        start_clock();
        if (d_count == d_batch) {
            submit();
        }
    }

    // Cuts frames, and submits what is full, due, or, at the end, left.
    void advance()
    {
        while (d_cutter && d_cutter->ready() && room()) {
            added(d_cutter->write(next_input()));
        }
        if (due() || (d_finishing && d_count > 0)) {
            flush();
        }
    }

    void submit()
    {
        d_pipeline->submit({ d_count });
        d_count = 0;
        stop_clock();
    }

    // Gives a slot back once all its frames have been pulled and looked at.
    void release()
    {
        if (d_given == 0) {
            return;
        }
        const auto* slot = d_pipeline->ready();
        if (slot && d_given == slot->job.frames) {
            d_pipeline->release();
            d_given = 0;
        }
    }

    // Items that lie beyond the end of the stream say nothing either way.
    bool follows(const sync_status& status, std::int64_t items) const
    {
        return status.log_probability / items > d_lock_limit;
    }

    void start_clock()
    {
        if (d_deadline == clock::time_point::max()) {
            const std::chrono::duration<double, std::milli> latency(
                d_options.max_latency_ms);
            d_deadline =
                clock::now() + std::chrono::duration_cast<clock::duration>(latency);
            d_timer.set(d_deadline);
        }
    }

    void stop_clock()
    {
        d_deadline = clock::time_point::max();
        d_timer.clear();
    }

    std::optional<sync_options> d_next; // waits for frames in flight
    std::optional<stream_cutter> d_cutter;
    std::string d_missing; // why there is no CUDA
    double d_lock_limit = 0;
    std::deque<stream_cutter::place> d_places; // of frames not yet pulled
    std::size_t d_count = 0;                   // frames in the open slot
    std::size_t d_given = 0;                   // frames of the oldest slot already pulled
    std::uint64_t d_number = 0;
    bool d_finishing = false;
    clock::time_point d_deadline = clock::time_point::max();
    deadline_timer d_timer;
};

sync_decoder::sync_decoder(const sync_options& options, hooks h)
    : d_impl(std::make_unique<impl>(options, std::move(h)))
{
}

sync_decoder::sync_decoder(const sync_options& options) : sync_decoder(options, hooks())
{
}

sync_decoder::~sync_decoder() = default;

bool sync_decoder::push_frame(const void* items, std::size_t count, const float* priors)
{
    return d_impl->push_frame(items, count, priors);
}

std::size_t sync_decoder::push(const void* items, std::size_t count)
{
    return d_impl->push(items, count);
}

void sync_decoder::finish() { d_impl->finish(); }
bool sync_decoder::pull(frame& f) { return d_impl->pull(f); }
bool sync_decoder::ready() { return d_impl->ready(); }
bool sync_decoder::due() const { return d_impl->due(); }
void sync_decoder::flush() { d_impl->flush(); }
bool sync_decoder::full() const { return d_impl->full(); }
bool sync_decoder::done() const { return d_impl->done(); }

bool sync_decoder::wait(std::chrono::milliseconds limit) { return d_impl->wait(limit); }

void sync_decoder::reset() { d_impl->reset(); }

void sync_decoder::set_channel(const bsid_model& channel)
{
    d_impl->set_channel(channel);
}

void sync_decoder::set_max_latency_ms(double milliseconds)
{
    d_impl->set_max_latency_ms(milliseconds);
}

const sync_options& sync_decoder::options() const { return d_impl->d_options; }
drift_range sync_decoder::window() const { return d_impl->d_window; }

unsigned sync_decoder::lookahead() const
{
    return d_impl->d_setup->symbols - d_impl->d_setup->outputs;
}

std::size_t sync_decoder::symbol_bytes() const { return d_impl->d_setup->symbol_bytes(); }
std::size_t sync_decoder::batch() const { return d_impl->d_batch; }

std::string sync_decoder::active_backend() const
{
    return d_impl->d_pipeline->active().backend();
}

std::string sync_decoder::active_device() const
{
    return d_impl->d_pipeline->active().device();
}

} // namespace gr::gpufec
