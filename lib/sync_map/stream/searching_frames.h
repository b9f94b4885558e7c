// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream whose frames search for their beginnings. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEARCHING_FRAMES_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEARCHING_FRAMES_H

#include "boundary_predictor.h"
#include "ring_queue.h"
#include "stream_engine.h"
#include "stream_results.h"
#include <chrono>
#include <deque>
#include <vector>

namespace gr::gpufec {

//! Engine that cuts frames at predicted places, and then checks that each frame began
//! where the previous frame ended.
class searching_frames : public stream_engine
{
public:
    explicit searching_frames(sync_decoder_impl& decoder);

    void advance() override;
    std::size_t waiting() const override { return d_open.frames.size() + d_again.size(); }
    bool idle() const override { return waiting() == 0 && d_results.size() == 0; }
    bool decoded() const override { return d_results.proven() > 0; }
    bool ready() override;
    bool pull(sync_decoder::frame& f) override;
    void release_emitted() override;
    bool ended() override;
    std::size_t ahead() const override;
    std::size_t more_ahead() const override
    {
        return d_layout.item_capacity + 2 * d_predictor.items_behind();
    }
    bool can_borrow() const override { return true; }
    // Drops the items that no frame still needs: neither a frame in flight, nor an
    // unproven frame, nor a frame that is not yet cut.
    void forget_unneeded() override;
    // Drops the unproven frames, which the cutter then cuts again.
    void follow_proven() override;

private:
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
    struct ordered {
        std::uint64_t number;
        std::vector<std::byte> metrics;
        std::int64_t origin;
    };

    // Cuts one more frame into the open slot, or submits the slot. Returns false if
    // neither was possible.
    bool cut_next();
    // Cuts a frame to be decoded again from the end metrics of the previous frame.
    bool cut_again();
    // Cuts a frame that the sequential forward recursion of d_cutter has reached.
    bool cut_carried();
    // Cuts a frame that will search for its beginning.
    bool cut_searching();
    // Returns whether the next frame to be cut begins where the forward recursion ends.
    bool carries() const { return d_carried || d_next < d_searching; }
    // Returns the origin of the next frame to be cut, as far as it is known.
    std::int64_t next_origin() const;
    stream_piece* open_pieces();
    // Returns the address at which the next whole frame of the open slot is written.
    std::byte* next_whole();
    void add(const in_flight& f);
    // Copies the items of the open batch up to \p last − 1 to its slot. Copying early is
    // cheap, because items that have just been pushed are still in the processor's
    // caches.
    void copy_items(std::int64_t last);
    void send();
    // Returns the oldest slot if it has finished. Polling a device for each pushed frame
    // would dominate the cost. The device is therefore polled only after a completion,
    // and once per millisecond in case a failed device does not report completions.
    const pipeline<job>::slot* finished_slot();
    // Processes the results of all finished batches. Stops early if the frames of a batch
    // can be pulled from its slot without a copy.
    void take_results();
    stream_frame result_of(const pipeline<job>::slot& from,
                           const batch_in_flight& batch,
                           std::size_t k) const;
    // Judges the boundary matches of the current period if there are at least 16. If
    // more than half failed, frames stop searching. If more than 1 % failed, with at
    // least 8 failures or 1000 matches, the warm-up is set to its maximum. A change of
    // the warm-up begins a new period, and so do more than 10000 matches.
    void judge_boundary_matches();
    // Stops searching. Starting with the first unproven frame, each frame then begins
    // with the end metrics of the previous one.
    void carry_frames_forward();

    const setup d_setup;
    boundary_predictor d_predictor;
    stream_results d_results;
    setup::stream_batch d_layout;
    unsigned d_warmup;
    std::uint64_t d_next;      // number of the next frame to be cut
    std::uint64_t d_searching; // number of the first frame that searches
    bool d_carried = false;    // frames no longer search; see carry_frames_forward()
    bool d_in_place = false;   // results point into the memory of the oldest slot
    bool d_no_more = false;    // the stream ended and no further frame can be cut
    bool d_emitted = false;    // the oldest result has been pulled
    // Values of d_results.boundary_matches() and d_results.unproven() when
    // judge_boundary_matches() last began a new period, and the number of failed matches
    // with earlier channels.
    std::uint64_t d_boundary_matches = 0, d_failed = 0, d_failed_before;
    batch_in_flight d_open;
    ring<batch_in_flight> d_flight;
    std::deque<ordered> d_again; // frames to be decoded again
    std::chrono::steady_clock::time_point d_asked{};
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_SEARCHING_FRAMES_H */
