// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The implementation of sync_decoder, with three modes: frames that are pushed one by
 * one, a stream that is cut into frames sequentially, and a stream whose frames search
 * for their beginnings.
 *
 * decoder.cc contains the code that the modes share, pushed_frames.cc the first mode,
 * and searching_stream.cc the last mode. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H

#include "boundary_predictor.h"
#include "pipeline/stream_decoder.h"
#include "stream.h"
#include "stream_results.h"
#include "traits.h"
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace gr::gpufec {

using namespace sync_map;

class sync_decoder_impl : public stream_decoder<sync_decoder, traits>
{
public:
    sync_decoder_impl(const sync_options& options, decoder_hooks hooks)
        : sync_decoder_impl(
              options, std::move(hooks), std::make_shared<std::atomic<bool>>(true))
    {
    }
    sync_decoder_impl(const sync_options& options,
                      decoder_hooks hooks,
                      std::shared_ptr<std::atomic<bool>> notified)
        : stream_decoder(options,
                         notifying(std::move(hooks), notified),
                         options.item_bytes(),
                         options.item_bytes()),
          d_options(options),
          d_notified(std::move(notified))
    {
        build();
    }

    bool push_frame(const void* items, std::size_t count, const float* priors) override;
    std::size_t push(const void* items, std::size_t count) override;
    bool end_frame(const float* priors) override;
    std::size_t skip(std::size_t count) override;
    bool pull(frame& f) override;
    void set_channel(const bsid_model& channel) override;

    const sync_options& options() const override { return d_options; }
    drift_range window() const override { return d_window; }
    unsigned lookahead() const override { return d_setup->symbols - d_setup->outputs; }
    std::size_t symbol_bytes() const override { return d_setup->symbol_bytes(); }
    std::uint64_t links_failed() const override { return d_links_failed; }
    std::uint64_t frames_again() const override { return d_frames_again; }

    bool can_borrow() const override;
    std::size_t borrow(const void* items, std::size_t count) override;
    std::size_t borrowed() const override;
    std::size_t release_borrowed() override;
    void copy_borrowed() override;
    // Returns the input size of all slots, in bytes. If frames search, the size includes
    // one more batch: the items of unproven frames and of frames that are not yet cut.
    std::size_t input_bytes() const override;

    // Returns whether no frame can be pushed now: either every slot is in flight, or a
    // new channel has been set and takes effect only when no frame is in flight.
    bool full() const override;
    void finish() override;
    bool ready() override;
    bool wait(std::chrono::milliseconds limit) override;

private:
    static constexpr std::size_t beyond_limits = INT32_MAX;

    struct in_flight {
        std::uint64_t number;
        std::int64_t origin; // item at boundary 0 and drift 0; a guess if it is searched
        bool whole, again;   // has a complete input; is decoded again
    };
    struct batch_in_flight {
        std::vector<in_flight> frames;
        std::size_t whole = 0;
        // Range of the items that searching frames need: first to last − 1.
        std::int64_t first = INT64_MAX, last = 0;
        std::int64_t oldest = INT64_MAX; // smallest origin of a frame
        std::int64_t copied = 0;         // items first to copied − 1 are in the slot
        bool abandoned = false;

        // Resets all members but keeps the allocated memory.
        void clear()
        {
            auto memory = std::move(frames);
            memory.clear();
            *this = {};
            frames = std::move(memory);
        }
    };
    // State of decoding a stream whose frames search.
    struct search {
        search(const setup& s, std::uint64_t first, stream_results::order again)
            : predictor(s),
              results(s, first, std::move(again)),
              warmup(s.search.warmup),
              next(first)
        {
        }
        std::size_t max_ahead() const
        {
            return layout.item_capacity + 2 * predictor.items_behind();
        }

        boundary_predictor predictor;
        stream_results results;
        setup::stream_batch layout{};
        unsigned warmup;
        std::uint64_t next;      // number of the next frame to be cut
        std::uint64_t searching; // number of the first frame that searches
        bool carried = false;    // frames no longer search; see carry_frames_forward()
        bool in_place = false;   // results point into the memory of the oldest slot
        bool no_more = false;    // the stream ended and no further frame can be cut
        // Values of results.boundary_matches() and results.unproven() when
        // judge_boundary_matches() last began a new period, and the number of failed
        // matches with earlier channels.
        std::uint64_t boundary_matches = 0, failed = 0, failed_before = 0;
        batch_in_flight open;
        ring<batch_in_flight> flight;
        struct ordered {
            std::uint64_t number;
            std::vector<std::byte> metrics;
            std::int64_t origin;
        };
        std::deque<ordered> again;
    };

    // ---- all modes ----

    void build();
    bool all_pulled() override;
    void restart() override;
    void advance() override;
    std::size_t waiting() const override;
    bool can_borrow_output() const override { return !d_cutter && !d_setup->drifts; }

    // Returns the number of items of a stream that push() accepts now. The number of
    // items that wait to be cut into frames is limited, so that a caller with much input
    // does not fill the memory.
    std::size_t capacity() const;
    // Switches to the next channel once all frames of the current channel are pulled.
    void take_next();
    // Releases pulled frames, switches to a waiting channel if possible, and returns
    // whether a frame can be written to the open slot.
    bool capacity_for_frame();
    std::byte* next_input();
    void added(stream_cutter::place place);
    void send();
    // Drops the frames that have been pulled, and releases a slot once all its frames
    // have been pulled.
    void release_emitted();
    void point_to(const std::byte* out, frame& f) const;
    // Returns whether a frame's log-likelihood ratio per item exceeds lock_limit() (see
    // stream.h). For \p items, see stream_cutter::place::items.
    bool follows(const sync_status& status, std::int64_t items) const;

    // ---- frames that are pushed ----

    // Appends items of the open frame, up to the length that can be decoded; further
    // items are only counted.
    std::size_t push_part(const std::byte* items, std::size_t count);
    void add_placed(const placed_frame& place, std::size_t count);
    // Returns the number of borrowed items of the open frame that will be decoded.
    std::size_t kept_of_open() const { return d_too_long ? 0 : d_have; }
    // Returns the number of items that the open batch can still borrow. The limit is one
    // item more than a batch may have, so that a frame that is too long is detected.
    std::size_t borrowed_capacity() const;
    std::size_t take_borrowed(std::size_t count) override
    {
        return take_borrowed(count, true);
    }
    // Marks borrowed items as received. If \p of_frame is true, the items belong to the
    // open frame; otherwise they are skipped.
    std::size_t take_borrowed(std::size_t count, bool of_frame);
    void store_borrowed() override;

    // ---- streams whose frames search ----

    void begin_search();
    // Cuts all frames that can be cut, i.e. writes their input into the open slot.
    // Submits the batch when the slot is full or the latency limit has expired.
    void advance_search();
    // Cuts one more frame into the open slot, or submits the slot. Returns false if
    // neither was possible.
    bool cut_next();
    // Cuts a frame to be decoded again from the end metrics of the previous frame.
    bool cut_again();
    // Cuts a frame that the sequential forward recursion of d_cutter has reached.
    bool cut_carried();
    // Cuts a frame that will search for its beginning.
    bool cut_searching();
    // Returns the number of items received after the expected origin of the next frame to
    // be cut.
    std::size_t ahead_of_search() const;
    stream_piece* open_pieces();
    // Returns the address at which the next whole frame of the open slot is written.
    std::byte* next_whole();
    void add(const in_flight& f);
    // Copies the items of the open batch up to \p last − 1 to its slot. Copying early is
    // cheap, because items that have just been pushed are still in the processor's
    // caches.
    void copy_items(std::int64_t last);
    void send_search();
    // Drops the items that no frame still needs: neither a frame in flight, nor an
    // unproven frame, nor a frame that is not yet cut.
    void forget_unneeded();
    // Returns the oldest slot if it has finished. Polling a device for each pushed frame
    // would dominate the cost. The device is therefore polled only after a completion,
    // and once per millisecond in case a failed device does not report completions.
    const pipeline<job>::slot* finished_slot();
    // Processes the results of all finished batches. Stops early if the frames of a batch
    // can be pulled from its slot without a copy.
    void take_results();
    stream_frame
    result_of(const slot& from, const batch_in_flight& batch, std::size_t k) const;
    // Judges the boundary matches of the current period if there are at least 16. If
    // more than half failed, frames stop searching. If more than 1 % failed, with at
    // least 8 failures or 1000 matches, the warm-up is set to its maximum. A change of
    // the warm-up begins a new period, and so do more than 10000 matches.
    void judge_boundary_matches();
    // Stops searching. Starting with the first unproven frame, each frame then begins
    // with the end metrics of the previous one.
    void carry_frames_forward();
    bool no_more_frames() const;

    // Returns hooks whose wake() also sets \p notified.
    static decoder_hooks notifying(decoder_hooks hooks,
                                   std::shared_ptr<std::atomic<bool>> notified)
    {
        hooks.wake = [notified = std::move(notified), wake = std::move(hooks.wake)] {
            *notified = true;
            wake();
        };
        return hooks;
    }

    sync_options d_options;
    drift_range d_window;
    std::uint64_t d_links_failed = 0, d_frames_again = 0;
    // Options with a new channel; set while frames with the old channel are in flight.
    std::optional<sync_options> d_next;
    std::optional<stream_cutter> d_cutter; // empty in framed mode
    std::unique_ptr<search> d_search;      // nullptr unless frames search
    bool d_said_carried = false;
    const std::shared_ptr<std::atomic<bool>> d_notified;
    std::chrono::steady_clock::time_point d_asked{};
    double d_lock_limit = 0, d_log_item = 0;
    setup::placed_batch d_layout{};
    std::size_t d_items = 0; // number of items of the placed frames in the open slot
    std::size_t d_have = 0;  // number of items of the open frame
    std::vector<std::byte> d_part; // items of the open frame, unless they are borrowed
    bool d_too_long = false;       // the open frame is borrowed and too long
    std::deque<stream_cutter::place> d_places; // places of frames not yet pulled
    std::size_t d_count = 0;                   // number of frames in the open slot
    std::size_t d_emitted = 0;                 // number of pulled frames not yet released
    std::uint64_t d_number = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_DECODER_IMPL_H */
