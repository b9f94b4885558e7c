// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes frames that the caller marks, and puts them into batches. */

#include "decoder_impl.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace gr::gpufec {

namespace {

class framed_decoder : public sync_decoder_impl
{
public:
    framed_decoder(const sync_options& options, decoder_hooks hooks)
        : sync_decoder_impl(options, std::move(hooks))
    {
        open_channel();
    }

    bool push_frame(input_items items, const float* priors) override
    {
        items.require(expected_type());
        const auto count = items.size();
        if (!capacity_for_frame()) {
            return false;
        }
        if (!d_setup->placed) {
            write_framed(*d_setup, items.data(), count, priors, next_input());
            added(1);
            return true;
        }
        const auto length = length_of_frame(*d_setup, count);
        const auto stored = length > 0 ? count : 0;
        if (d_items + stored > d_layout.item_capacity) {
            send();
            if (!capacity_for_frame()) {
                return false;
            }
        }
        if (stored > 0) {
            const auto size = d_setup->item_bytes();
            std::memcpy(filling()->input + d_layout.items_at + d_items * size,
                        items.data(),
                        stored * size);
        }
        add_placed({ length, std::uint32_t(d_items) });
        return true;
    }

    std::size_t push(input_items items) override
    {
        items.require(expected_type());
        const auto count = items.size();
        // This check is needed here, because an incomplete frame's items do not reach the
        // pipeline.
        d_pipeline.require_this_process();
        const auto* from = static_cast<const std::byte*>(items.data());
        if (d_options.frame_items == 0) {
            gather(from, count);
            return count;
        }
        advance();
        std::size_t taken = 0;
        while (taken < count && d_have < d_options.frame_items) {
            const auto n = std::min(count - taken, d_options.frame_items - d_have);
            const auto* const next = from + taken * d_setup->item_bytes();
            if (n < d_options.frame_items || !push_frame({ next, n }, nullptr)) {
                gather(next, n);
                end_whole();
            }
            taken += n;
        }
        return taken;
    }

    bool end_frame(const float* priors) override
    {
        if (!borrowing()) {
            const bool whole = d_part.size() == d_have * d_setup->item_bytes();
            if (!push_frame({ d_part.data(), whole ? d_have : beyond_limits }, priors)) {
                return false;
            }
            d_part.clear();
            d_have = 0;
            return true;
        }
        if (!capacity_for_frame()) {
            return false;
        }
        end_borrowed(1, d_have);
        return true;
    }

    std::size_t skip(std::size_t count) override
    {
        return borrowing() ? take_borrowed(count, false) : count;
    }

    using sync_decoder_impl::pull;
    std::size_t pull(frame* frames, std::size_t count) override
    {
        release_emitted();
        if (d_emitted == 0) {
            advance(); // once per slot only, because advance() reads the clock
        }
        const auto first = d_emitted;
        const auto n = pull_from_slot(frames, count);
        // The table or the headers of the slot's input begin with the length.
        const auto size = d_setup->placed ? sizeof(placed_frame) : d_setup->input_bytes();
        const auto* entry = n > 0 ? d_pipeline->ready()->input + first * size : nullptr;
        for (auto* f = frames; f != frames + n; ++f, entry += size) {
            const auto length = *reinterpret_cast<const std::int32_t*>(entry);
            f->status.log_probability -= length * d_log_item;
            f->begin = f->status.start_drift;
            f->locked = f->status.valid;
            f->bound = 0;
        }
        return n;
    }

    bool can_borrow() const override
    {
        return d_setup->placed && d_have + d_count + d_number == 0 &&
               d_pipeline->empty() && stream_decoder::can_borrow();
    }

    bool full() const override
    {
        return stream_decoder::full() || (d_next && !d_pipeline->empty());
    }

private:
    static constexpr std::size_t beyond_limits = INT32_MAX;

    void begin_channel() override
    {
        d_log_item = std::log(d_setup->item_weight);
        d_layout = d_setup->placed_input(d_batch);
        d_divides = length_of_frame(*d_setup, d_options.frame_items) > 0;
    }

    void restart() override
    {
        sync_decoder_impl::restart();
        d_items = d_have = 0;
        d_too_long = false;
        d_part.clear();
    }
    void advance() override
    {
        end_whole();
        send_due();
    }
    std::size_t left() const override
    {
        return waiting() + (d_options.frame_items > 0 && d_have > 0);
    }
    void send() override
    {
        job j{ d_count };
        j.placed = d_setup->placed;
        j.items = d_items;
        j.borrowed = borrowing();
        const auto layout = rows();
        d_count = d_items = 0;
        j.borrowed ? submit(j, d_input.end() - decodable_of_open(), layout)
                   : submit(j, layout);
    }
    bool can_borrow_output() const override { return !d_setup->drifts; }

    // Releases pulled frames, switches to a waiting channel if possible, and returns
    // whether a frame can be written to the open slot.
    bool capacity_for_frame()
    {
        release_emitted();
        take_next();
        return open_slot();
    }

    // Appends items to the open frame, up to the length that can be decoded; further
    // items are only counted.
    void gather(const std::byte* items, std::size_t count)
    {
        const std::size_t most = d_setup->max_items;
        const auto size = d_setup->item_bytes();
        const auto stored = std::min(count, most - std::min(most, d_part.size() / size));
        d_part.insert(d_part.end(), items, items + stored * size);
        d_have += count;
    }

    // Ends the open frame if it has the constant length, or if it is the last one.
    void end_whole()
    {
        if (d_have > 0 && d_options.frame_items > 0 &&
            (d_have == d_options.frame_items || finishing())) {
            end_frame(nullptr);
        }
    }

    // Adds \p frames frames of one length to the open batch. The items of the first frame
    // are at \p place, and those of the others follow.
    void add_placed(placed_frame place, std::size_t frames = 1)
    {
        auto* const table = reinterpret_cast<placed_frame*>(filling()->input) + d_count;
        for (std::size_t k = 0; k < frames; ++k) {
            table[k] = place;
            place.at += std::max(place.length, 0);
        }
        if (place.length > 0) {
            d_items = place.at;
        }
        added(frames);
    }

    // Ends \p frames frames of \p items items each, the oldest borrowed items that belong
    // to no frame yet.
    void end_borrowed(std::size_t frames, std::size_t items)
    {
        const auto at = d_input.end() - d_input.first() - decodable_of_open();
        d_have -= frames * items;
        const auto length =
            std::exchange(d_too_long, false) ? -1 : length_of_frame(*d_setup, items);
        add_placed({ length, std::uint32_t(length > 0 ? at : 0) }, frames);
    }

    // Returns the number of borrowed items of the open frame that will be decoded.
    std::size_t decodable_of_open() const { return d_too_long ? 0 : d_have; }

    // Returns the number of items that the open batch can still borrow. The limit is one
    // item more than a batch may have, so that a frame that is too long is detected.
    std::size_t borrowed_capacity() const
    {
        const auto reached = std::size_t(d_input.end() - d_input.first());
        return d_layout.item_capacity + 1 - std::min(d_layout.item_capacity + 1, reached);
    }

    std::size_t take_borrowed(std::size_t count) override
    {
        return take_borrowed(count, true);
    }

    // Marks borrowed items as received. If \p of_frame is true, the items belong to the
    // open frame, or to frames of constant length; otherwise they are skipped.
    std::size_t take_borrowed(std::size_t count, bool of_frame)
    {
        std::size_t taken = 0;
        advance();
        const auto every = of_frame ? d_options.frame_items : 0;
        // A slot with frames is open until the batch is submitted.
        for (bool open = false; taken < count && (open || capacity_for_frame());
             open = d_count > 0) {
            auto n = std::min(count - taken, borrowed_capacity());
            if (every > 0) {
                // Takes the items up to the end of the batch or, if the open frame cannot
                // be decoded, of that frame.
                const bool several = d_divides && !d_too_long;
                n = std::min(n, (several ? d_batch - d_count : 1) * every - d_have);
            }
            // Items between frames, or of frames that are too long, have filled the
            // batch.
            if (n == 0 && d_count > 0) {
                send();
                continue;
            }
            d_input.took(n);
            taken += n;
            d_have += of_frame ? n : 0;
            d_too_long |= n == 0 || (!d_divides && d_have > d_setup->max_items);
            if (d_count == 0 && decodable_of_open() == 0) {
                d_input.skip();
            }
            if (every > 0 && d_have >= every) {
                end_borrowed(d_have / every, every);
            }
        }
        return taken;
    }

    void store_borrowed() override
    {
        const auto size = d_setup->item_bytes();
        const auto* const borrowed = d_input.borrowed_position();
        if (d_items > 0) {
            std::memcpy(d_pipeline->filling()->input + d_layout.items_at,
                        borrowed,
                        d_items * size);
        }
        const auto stored = decodable_of_open();
        const auto* const open =
            borrowed + (d_input.end() - d_input.first() - stored) * size;
        d_part.assign(open, open + stored * size);
        // If the frame is too long, d_part holds fewer items than d_have; end_frame()
        // checks this.
        d_too_long = false;
        d_input.skip(); // the slot and d_part contain all items that are needed
        d_input.copy_borrowed([](auto, auto, auto) {});
    }

    double d_log_item = 0;  // log-probability of a random item
    bool d_divides = false; // whether frames have a constant length that can be decoded
    setup::placed_batch d_layout{};
    std::size_t d_items = 0; // number of items of the placed frames in the open slot
    std::size_t d_have = 0;  // number of items of the open frame
    std::vector<std::byte> d_part; // items of the open frame, unless they are borrowed
    bool d_too_long = false;       // whether the open frame is borrowed and too long
};

} // namespace

sync_decoder::sptr make_framed_decoder(const sync_options& options, decoder_hooks hooks)
{
    return make_process_bound<framed_decoder>(options, std::move(hooks));
}

} // namespace gr::gpufec
