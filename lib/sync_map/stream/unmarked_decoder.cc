// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream of frames without marks: passes received items to an engine, which
 * cuts them into frames. */

#include "sequential_frames.h"
#include <algorithm>
#include <memory>
#include <new>

namespace gr::gpufec {

namespace {

/*!
 * \brief Decoder of a stream whose frames an engine cuts and returns.
 *
 * The constructor and each change of the channel choose the engine: searching_frames if
 * the frames can search for their beginnings, and sequential_frames otherwise.
 */
class unmarked_decoder : public sync_decoder_impl
{
public:
    unmarked_decoder(const sync_options& options, decoder_hooks hooks)
        : sync_decoder_impl(options, std::move(hooks))
    {
        open_channel();
    }

    bool push_frame(input_items, const float*) override { refuse_frames(); }
    bool end_frame(const float*) override { refuse_frames(); }
    std::size_t skip(std::size_t) override { refuse_frames(); }

    std::size_t push(input_items items) override
    {
        items.require(expected_type());
        const auto count = items.size();
        // This check is needed here, because an incomplete frame's items do not reach the
        // pipeline.
        d_pipeline.require_this_process();
        if (d_next || capacity() < count) {
            advance();
        }
        const auto n = std::min(count, capacity());
        d_engine->d_cutter.push(items.data(), n);
        advance();
        return n;
    }

    using sync_decoder_impl::pull;
    std::size_t pull(frame* frames, std::size_t count) override
    {
        release_emitted();
        if (!d_engine->decoded()) {
            advance();
        }
        return count > 0 && d_engine->pull(*frames);
    }

    void finish() override
    {
        d_engine->d_cutter.finish();
        sync_decoder_impl::finish();
    }

    bool ready() override
    {
        release_emitted();
        return d_engine->ready();
    }

    bool wait(std::chrono::milliseconds limit) override
    {
        release_emitted();
        return d_engine->decoded() ? *d_notified = true : sync_decoder_impl::wait(limit);
    }

    bool can_borrow() const override
    {
        return d_engine->can_borrow() && d_engine->d_cutter.received() == 0 &&
               d_pipeline->empty() && stream_decoder::can_borrow();
    }

    std::size_t borrow(const void* items, std::size_t count) override
    {
        d_pipeline.require_this_process();
        if (d_next) {
            advance();
        }
        const auto before = borrowed();
        const auto n = std::min(count - before, capacity());
        d_engine->d_cutter.store().borrow(static_cast<const std::byte*>(items),
                                          before + n);
        advance();
        return n;
    }

    std::size_t borrowed() const override
    {
        return d_engine->d_cutter.store().borrowed();
    }

    std::size_t release_borrowed() override
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

    void copy_borrowed() override
    {
        if (d_pipeline && d_engine->d_cutter.store().borrowing()) {
            d_pipeline->wait_idle();
            d_engine->d_cutter.store().copy_borrowed();
        }
    }

    // Returns the size in bytes of the input of all slots, plus that of one more batch
    // for the items of unproven frames and of frames that are not yet cut.
    std::size_t input_bytes() const override
    {
        const auto slots = d_pipeline->slots();
        return stream_decoder::input_bytes() / slots * (slots + 1);
    }

private:
    [[noreturn]] static void refuse_frames()
    {
        throw std::logic_error("a decoder of a stream accepts items, not frames");
    }

    void begin_channel() override
    {
        auto next = make_engine();
        if (d_engine) {
            d_engine->follow_proven();
            next->d_cutter.resume(std::move(d_engine->d_cutter));
        }
        d_engine = std::move(next);
    }

    bool idle() const override { return d_engine->idle(); }

    void restart() override
    {
        sync_decoder_impl::restart();
        d_engine = make_engine();
    }

    void advance() override
    {
        do {
            release_emitted();
            d_engine->advance();
        } while (take_next());
    }

    std::size_t waiting() const override { return d_engine->waiting(); }

    bool all_pulled() override
    {
        release_emitted();
        return d_engine->ended() && stream_decoder::all_pulled();
    }

    void release_emitted() override { d_engine->release_emitted(); }

    std::unique_ptr<stream_engine> make_engine()
    {
        try {
            if (d_setup->search) {
                return make_searching_frames(*this);
            }
            return std::make_unique<sequential_frames>(*this);
        } catch (const std::bad_alloc&) {
            refuse("acquire",
                   d_options.acquire,
                   "not enough memory for this number of beginnings; allowed values are "
                   "smaller numbers");
        }
    }

    // Returns the number of items that push() accepts now. The number of items that are
    // not yet cut into frames is limited, to limit the memory.
    std::size_t capacity() const
    {
        const auto limit = 2 * (std::size_t(d_setup->max_items) + d_options.acquire) +
                           d_setup->window + d_engine->more_ahead();
        return limit - std::min(limit, d_engine->ahead());
    }

    std::unique_ptr<stream_engine> d_engine;
};

} // namespace

sync_decoder::sptr make_unmarked_decoder(const sync_options& options, decoder_hooks hooks)
{
    return make_process_bound<unmarked_decoder>(options, std::move(hooks));
}

} // namespace gr::gpufec
