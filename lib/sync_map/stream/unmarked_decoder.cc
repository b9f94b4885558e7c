// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes received items to the engine that cuts them into frames, and replaces the engine
 * when the channel changes. */

#include "searching_frames.h"
#include "sequential_frames.h"
#include "unmarked_decoder.h"
#include <algorithm>
#include <new>

namespace gr::gpufec {

namespace {

// Returns hooks whose wake() also sets \p notified.
decoder_hooks notifying(decoder_hooks hooks, std::shared_ptr<std::atomic<bool>> notified)
{
    hooks.wake = [notified = std::move(notified), wake = std::move(hooks.wake)] {
        *notified = true;
        wake();
    };
    return hooks;
}

[[noreturn]] void refuse_frames()
{
    throw std::logic_error("frames of a stream are not pushed one by one");
}

} // namespace

unmarked_decoder::unmarked_decoder(const sync_options& options,
                                   decoder_hooks hooks,
                                   std::shared_ptr<std::atomic<bool>> notified)
    : sync_decoder_impl(options, notifying(std::move(hooks), notified)),
      d_notified(std::move(notified))
{
    open_channel();
}

unmarked_decoder::~unmarked_decoder() = default;

bool unmarked_decoder::push_frame(const void*, std::size_t, const float*)
{
    refuse_frames();
}

bool unmarked_decoder::end_frame(const float*) { refuse_frames(); }

std::size_t unmarked_decoder::skip(std::size_t) { refuse_frames(); }

void unmarked_decoder::begin_channel()
{
    d_lock_limit = lock_limit(d_options);
    auto next = make_engine();
    if (d_engine) {
        d_engine->follow_proven();
        next->d_cutter.resume(std::move(d_engine->d_cutter));
    }
    d_engine = std::move(next);
}

std::unique_ptr<unmarked_decoder::engine> unmarked_decoder::make_engine()
{
    try {
        if (d_setup->search) {
            return std::make_unique<searching>(*this);
        }
        return std::make_unique<sequential>(*this);
    } catch (const std::bad_alloc&) {
        refuse("acquire",
               d_options.acquire,
               "there is not the memory for the beginnings of " +
                   traits::describe(*d_setup) + " allowed are smaller ones");
    }
}

void unmarked_decoder::restart()
{
    sync_decoder_impl::restart();
    d_links_failed = d_frames_again = 0;
    d_engine = make_engine();
}

void unmarked_decoder::advance()
{
    do {
        release_emitted();
        d_engine->advance();
    } while (take_next());
}

std::size_t unmarked_decoder::push(const void* items, std::size_t count)
{
    d_pipeline.require_this_process(); // items that complete no frame do not reach it
    if (d_next || capacity() < count) {
        advance();
    }
    const auto n = std::min(count, capacity());
    d_engine->d_cutter.push(items, n);
    advance();
    return n;
}

bool unmarked_decoder::pull(frame& f)
{
    release_emitted();
    if (!d_engine->decoded()) {
        advance();
    }
    return d_engine->pull(f);
}

void unmarked_decoder::finish()
{
    d_engine->d_cutter.finish();
    sync_decoder_impl::finish();
}

bool unmarked_decoder::ready()
{
    release_emitted();
    return d_engine->ready();
}

bool unmarked_decoder::wait(std::chrono::milliseconds limit)
{
    release_emitted();
    const bool there = d_engine->decoded() || stream_decoder::wait(limit);
    if (there) {
        *d_notified = true;
    }
    return there;
}

bool unmarked_decoder::idle() const { return d_engine->idle(); }

std::size_t unmarked_decoder::waiting() const { return d_engine->waiting(); }

void unmarked_decoder::release_emitted() { d_engine->release_emitted(); }

bool unmarked_decoder::all_pulled()
{
    release_emitted();
    return d_engine->ended() && stream_decoder::all_pulled();
}

bool unmarked_decoder::can_borrow() const
{
    return d_engine->can_borrow() && d_engine->d_cutter.received() == 0 &&
           d_pipeline->empty() && stream_decoder::can_borrow();
}

std::size_t unmarked_decoder::borrow(const void* items, std::size_t count)
{
    d_pipeline.require_this_process();
    if (d_next) {
        advance();
    }
    const auto before = borrowed();
    const auto n = std::min(count - before, capacity());
    d_engine->d_cutter.store().borrow(static_cast<const std::byte*>(items), before + n);
    advance();
    return n;
}

std::size_t unmarked_decoder::borrowed() const
{
    return d_engine->d_cutter.store().borrowed();
}

std::size_t unmarked_decoder::release_borrowed()
{
    if (!d_engine->d_cutter.store().borrowing()) {
        return 0;
    }
    if (all_pulled()) {
        d_engine->d_cutter.forget(d_engine->d_cutter.received());
    } else {
        d_engine->forget_unneeded();
    }
    return d_engine->d_cutter.store().release_borrowed();
}

void unmarked_decoder::copy_borrowed()
{
    if (d_pipeline && d_engine->d_cutter.store().borrowing()) {
        d_pipeline->wait_idle([](const slot&) {});
        d_engine->d_cutter.store().copy_borrowed();
    }
}

std::size_t unmarked_decoder::input_bytes() const
{
    const auto slots = d_pipeline->slots();
    return stream_decoder::input_bytes() / slots * (slots + 1);
}

std::size_t unmarked_decoder::capacity() const
{
    const auto limit = 2 * (std::size_t(d_setup->max_items) + d_options.acquire) +
                       d_setup->window + d_engine->more_ahead();
    return limit - std::min(limit, d_engine->ahead());
}

bool unmarked_decoder::follows(const sync_status& status, std::int64_t items) const
{
    return status.log_probability / items > d_lock_limit;
}

} // namespace gr::gpufec
