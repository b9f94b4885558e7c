// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The part of sync_decoder that its modes share: puts frames into batches, returns
 * decoded frames in order, and changes the channel between frames. */

#include "decoder_impl.h"
#include <algorithm>
#include <cmath>
#include <new>

namespace gr::gpufec {

std::size_t sync_decoder_impl::push(const void* items, std::size_t count)
{
    d_pipeline.require_this_process(); // items that complete no frame do not reach it
    if (!d_cutter) {
        return push_part(static_cast<const std::byte*>(items), count);
    }
    if (d_next || capacity() < count) {
        advance();
    }
    const auto n = std::min(count, capacity());
    d_cutter->push(items, n);
    advance();
    return n;
}

bool sync_decoder_impl::can_borrow() const
{
    const bool begun =
        d_cutter ? d_cutter->received() > 0 : d_have + d_count + d_number > 0;
    return (d_cutter ? bool(d_search) : d_setup->placed) && !begun &&
           d_pipeline->empty() && stream_decoder::can_borrow();
}

std::size_t sync_decoder_impl::borrow(const void* items, std::size_t count)
{
    if (!d_cutter) {
        return stream_decoder::borrow(items, count);
    }
    d_pipeline.require_this_process();
    if (d_next) {
        advance();
    }
    const auto before = borrowed();
    const auto n = std::min(count - before, capacity());
    d_cutter->store().borrow(static_cast<const std::byte*>(items), before + n);
    advance();
    return n;
}

std::size_t sync_decoder_impl::borrowed() const
{
    return d_cutter ? d_cutter->store().borrowed() : stream_decoder::borrowed();
}

std::size_t sync_decoder_impl::release_borrowed()
{
    if (!d_cutter) {
        return stream_decoder::release_borrowed();
    }
    if (!d_cutter->store().borrowing()) {
        return 0;
    }
    if (all_pulled()) {
        d_cutter->forget(d_cutter->received());
    } else if (d_search) {
        forget_unneeded();
    }
    return d_cutter->store().release_borrowed();
}

void sync_decoder_impl::copy_borrowed()
{
    if (!d_cutter) {
        stream_decoder::copy_borrowed();
    } else if (d_cutter->store().borrowing()) {
        d_pipeline->wait_idle([](const slot&) {});
        d_cutter->store().copy_borrowed();
    }
}

std::size_t sync_decoder_impl::input_bytes() const
{
    const auto slots = d_pipeline->slots();
    return stream_decoder::input_bytes() / slots * (slots + (d_search ? 1 : 0));
}

bool sync_decoder_impl::full() const
{
    return stream_decoder::full() || (d_next && !d_cutter && !d_pipeline->empty());
}

void sync_decoder_impl::finish()
{
    if (d_cutter) {
        d_cutter->finish();
    }
    stream_decoder::finish();
}

bool sync_decoder_impl::pull(frame& f)
{
    release_emitted();
    if (!d_search) {
        if (d_emitted == 0) {
            advance(); // once per slot only, because advance() reads the clock
        }
    } else if (d_search->results.proven() == 0) {
        advance();
        take_results();
        if (!d_search->again.empty()) {
            advance();
        }
    }
    if (d_search) {
        if (d_search->results.proven() == 0) {
            return false;
        }
        const auto& next = d_search->results.front();
        f.number = d_number++;
        f.status = next.status;
        f.begin = next.origin + next.status.start_drift;
        f.locked = next.locked;
        f.bound = next.bound;
        f.in_place = false;
        point_to(next.output, f);
        d_emitted = 1;
        return true;
    }
    const auto* slot = d_pipeline->ready();
    if (!slot) {
        return false;
    }
    const auto number = d_emitted++;
    f.number = d_number++;
    point_to(slot->output + number * d_setup->output_bytes(), f);
    f.in_place = slot->borrowed.to;
    if (f.in_place) {
        f.output = slot->borrowed.to + number * f.output_bytes;
    }
    pulled(f.output_bytes);
    f.status = reinterpret_cast<const sync_status*>(slot->status)[number];
    const auto place = d_places.front();
    d_places.pop_front();
    f.begin = place.origin + f.status.start_drift;
    f.locked = f.status.valid && (!d_cutter || follows(f.status, place.items));
    f.bound = 0;
    if (!d_cutter) {
        f.status.log_probability -= place.items * d_log_item;
    }
    return true;
}

bool sync_decoder_impl::ready()
{
    release_emitted();
    if (d_search) {
        take_results();
        return d_search->results.proven() > 0;
    }
    return stream_decoder::ready();
}

bool sync_decoder_impl::all_pulled()
{
    release_emitted();
    if (d_search) {
        take_results();
        return stream_decoder::all_pulled() && no_more_frames() &&
               d_search->results.size() == 0;
    }
    return stream_decoder::all_pulled() && (!d_cutter || d_cutter->done());
}

bool sync_decoder_impl::wait(std::chrono::milliseconds limit)
{
    release_emitted();
    const bool there =
        (d_search && d_search->results.proven() > 0) || stream_decoder::wait(limit);
    if (there) {
        *d_notified = true;
    }
    return there;
}

void sync_decoder_impl::set_channel(const bsid_model& channel)
{
    auto options = d_options;
    options.channel = channel;
    // Throws if the channel cannot be decoded, before anything changes.
    make_setup(options);
    d_next = std::move(options);
    flush();
    take_next();
}

std::size_t sync_decoder_impl::capacity() const
{
    const auto limit = 2 * (std::size_t(d_setup->max_items) + d_options.acquire) +
                       d_setup->window + (d_search ? d_search->max_ahead() : 0);
    const auto held = d_search ? ahead_of_search() : d_cutter->held();
    return limit - std::min(limit, held);
}

void sync_decoder_impl::build()
{
    const auto setup = make_setup(d_options);
    d_window = decoder_window(d_options);
    d_lock_limit = lock_limit(d_options);
    d_log_item = std::log(setup.item_weight);
    open(setup);
    d_layout = d_setup->placed_input(d_batch);
    try {
        restart();
    } catch (const std::bad_alloc&) {
        refuse("acquire",
               d_options.acquire,
               "not enough memory for this number of beginnings; allowed are smaller "
               "numbers");
    }
}

void sync_decoder_impl::restart()
{
    d_count = d_emitted = d_items = 0;
    d_have = 0;
    d_too_long = false;
    d_part.clear();
    d_number = 0;
    d_links_failed = d_frames_again = 0;
    d_places.clear();
    if (d_options.mode == sync_mode::stream) {
        d_cutter.emplace(d_options, *d_setup);
        begin_search();
    }
}

void sync_decoder_impl::take_next()
{
    if (!d_next || d_count > 0 || !d_pipeline->empty() ||
        (d_search && (d_search->results.size() > 0 || !d_search->again.empty()))) {
        return;
    }
    const auto number = d_number;
    const auto have = d_have;
    const auto too_long = d_too_long;
    auto part = std::move(d_part);
    if (d_search) {
        if (const auto* const ends = d_search->results.abandon()) {
            d_cutter->go_on(*ends);
        }
    }
    auto before = std::move(d_cutter);
    d_cutter.reset();
    const auto options = std::exchange(d_options, std::move(*d_next));
    d_next.reset();
    try {
        build();
    } catch (...) {
        d_options = options; // the previous options fitted into memory
        build();
        throw;
    }
    d_number = number;
    d_have = have;
    d_too_long = too_long;
    d_part = std::move(part);
    if (before) {
        d_cutter->resume(std::move(*before));
        begin_search();
    }
}

bool sync_decoder_impl::capacity_for_frame()
{
    release_emitted();
    take_next();
    return !d_next && d_pipeline->filling() != nullptr;
}

std::byte* sync_decoder_impl::next_input()
{
    return d_pipeline->filling()->input + d_count * d_setup->input_bytes();
}

void sync_decoder_impl::added(stream_cutter::place place)
{
    d_places.push_back(place);
    ++d_count;
    d_deadline.start();
    if (d_count == d_batch) {
        send();
    }
}

std::size_t sync_decoder_impl::waiting() const
{
    return d_count + (d_search ? d_search->again.size() : 0);
}

void sync_decoder_impl::advance()
{
    if (d_search) {
        return advance_search();
    }
    while (d_cutter && d_cutter->ready() && capacity_for_frame()) {
        added(d_cutter->write(next_input()));
    }
    if (d_count > 0 && send_now() && d_pipeline->filling()) {
        send();
    }
}

void sync_decoder_impl::send()
{
    job j{ d_count };
    j.placed = d_setup->placed;
    j.items = d_items;
    j.borrowed = borrowing();
    const output_rows rows{
        0, d_count, d_setup->outputs * d_setup->symbol_bytes(), d_setup->output_bytes()
    };
    d_count = d_items = 0;
    j.borrowed ? submit(j, d_input.end() - kept_of_open(), rows) : submit(j, rows);
}

void sync_decoder_impl::release_emitted()
{
    if (d_emitted == 0) {
        return;
    }
    if (d_search) {
        d_search->results.pop();
        d_emitted = 0;
        if (d_search->in_place && d_search->results.size() == 0) {
            d_search->in_place = false;
            release();
        }
        return;
    }
    const auto* slot = d_pipeline->ready();
    if (slot && d_emitted == slot->job.frames) {
        release();
        d_emitted = 0;
    }
}

void sync_decoder_impl::point_to(const std::byte* out, frame& f) const
{
    f.output = out;
    f.output_bytes = d_setup->outputs * d_setup->symbol_bytes();
    f.first_drifts = f.last_drifts = nullptr;
    if (d_setup->drifts) {
        f.first_drifts = reinterpret_cast<const float*>(out + d_setup->drifts_at());
        f.last_drifts = f.first_drifts + d_setup->window;
    }
}

bool sync_decoder_impl::follows(const sync_status& status, std::int64_t items) const
{
    return status.log_probability / items > d_lock_limit;
}

sync_decoder::sptr sync_decoder::make(const sync_options& options, decoder_hooks hooks)
{
    return make_process_bound<sync_decoder_impl>(options, std::move(hooks));
}

} // namespace gr::gpufec
