// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream whose frames search for their beginnings. */

#include "boundary_predictor.h"
#include "ring_queue.h"
#include "stream_engine.h"
#include "stream_results.h"
#include <algorithm>
#include <cstring>
#include <vector>

namespace gr::gpufec {

//! Engine that cuts frames at predicted places. After decoding, the engine checks that
//! each frame begins where the previous frame ended.
class searching_frames : public stream_engine
{
public:
    explicit searching_frames(sync_decoder_impl& decoder)
        : stream_engine(decoder),
          d_setup(*d.d_setup),
          d_predictor(d_setup),
          d_results(d_setup,
                    d.d_number,
                    [this](std::uint64_t number, const frame_ends& before) {
                        const auto bytes = 4 * d_setup.window * d_setup.metric_bytes();
                        d_again.push_back({ number,
                                            { before.metrics, before.metrics + bytes },
                                            before.origin });
                        d.d_deadline.start();
                    }),
          d_layout(d_setup.stream_input(d.d_batch)),
          d_warmup(d_setup.search.warmup),
          d_next(d.d_number),
          // The first frames do not search, because too few symbols precede them.
          d_searching(d_next + (d_setup.search.max_warmup + d_setup.outputs - 1) /
                                   d_setup.outputs),
          d_failed_before(d.d_links_failed)
    {
        d_results.reserve(d.d_batch);
    }

    void advance() override
    {
        while (cut_next()) {
        }
        if (!d_open.frames.empty() && (d.send_now() || d.d_next) && d.filling()) {
            send();
        }
    }

    std::size_t waiting() const override { return d_open.frames.size() + d_again.size(); }
    bool idle() const override { return waiting() == 0 && d_results.size() == 0; }
    bool decoded() const override { return d_results.proven() > 0; }

    bool ready() override
    {
        take_results();
        return decoded();
    }

    bool pull(sync_decoder::frame& f) override
    {
        if (!decoded()) {
            take_results();
            if (!d_again.empty()) {
                advance();
            }
            if (!decoded()) {
                return false;
            }
        }
        const auto& next = d_results.front();
        f.number = d.d_number++;
        f.status = next.status;
        f.begin = next.origin + next.status.start_drift;
        f.locked = next.locked;
        f.bound = next.bound;
        f.in_place = false;
        d.point_to(next.output, f);
        d_emitted = true;
        return true;
    }

    void release_emitted() override
    {
        if (!std::exchange(d_emitted, false)) {
            return;
        }
        d_results.pop();
        if (d_in_place && d_results.size() == 0) {
            d_in_place = false;
            d.release();
        }
    }

    bool ended() override
    {
        take_results();
        return d_results.size() == 0 && (carries() ? d_cutter.done() : d_no_more);
    }

    std::size_t ahead() const override
    {
        return std::max<std::int64_t>(0, d_cutter.received() - next_origin());
    }

    std::size_t more_ahead() const override
    {
        return d_layout.item_capacity + 2 * d_predictor.items_after();
    }

    bool can_borrow() const override { return true; }

    // Drops the items that no frame still needs: neither a frame in flight, nor an
    // unproven frame, nor a frame that is not yet cut.
    void forget_unneeded() override
    {
        auto oldest = std::min(next_origin(), d_open.oldest);
        for (std::size_t i = 0; i < d_flight.size(); ++i) {
            oldest = std::min(oldest, d_flight[i].oldest);
        }
        if (d_results.size() > 0) {
            oldest = std::min(oldest, d_results.front().origin);
        }
        d_cutter.forget(oldest - d_predictor.items_before() - d_setup.search.most);
    }

    // Drops the unproven frames, which the cutter then cuts again.
    void follow_proven() override
    {
        if (const auto* const ends = d_results.abandon()) {
            d_cutter.begin_after(*ends);
        }
    }

private:
    struct in_flight {
        std::uint64_t number;
        std::int64_t origin; // item at boundary 0 and drift 0; a guess if the frame
                             // searches for its beginning
        bool whole, again;   // whether the input is complete; whether the frame is
                             // decoded again
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
    bool cut_next()
    {
        if (!d.filling()) {
            return false;
        }
        if (!d_again.empty()) {
            return cut_again();
        }
        // Limits the number of frames that wait for proof.
        if (d.d_next || d_results.size() > 2 * d.d_batch + 64) {
            return false;
        }
        return carries() ? cut_carried() : cut_searching();
    }

    // Cuts a frame to be decoded again from the end metrics of the previous frame.
    bool cut_again()
    {
        if (d_open.whole == d_layout.max_whole) {
            send();
            return true;
        }
        const auto order = std::move(d_again.front());
        d_again.pop_front();
        ++d.d_frames_again;
        const auto at =
            d_cutter.write({ order.metrics.data(), order.origin }, next_whole());
        add({ order.number, at.origin, true, true });
        return true;
    }

    // Cuts a frame that the sequential forward recursion of d_cutter has reached.
    bool cut_carried()
    {
        if (!d_cutter.ready()) {
            return false;
        }
        if (d_open.whole == d_layout.max_whole) {
            send();
            return true;
        }
        const auto at = d_cutter.write(next_whole());
        add({ d_next++, at.origin, true, false });
        if (d_next == d_searching) {
            d_predictor.begin(d_next, d_cutter.origin());
        }
        return true;
    }

    // Cuts a frame that will search for its beginning.
    bool cut_searching()
    {
        const auto before = d_predictor.items_before();
        const auto behind = d_predictor.items_after();
        const auto there = d_cutter.received();
        const bool finished = d_cutter.finished();
        // All items that a search may read must have arrived, so that the result does not
        // depend on when the frame is cut.
        const auto radius = d_setup.search.radius;
        if (d_no_more ||
            (!finished && d_predictor.expected(d_next) + radius + behind > there)) {
            return false;
        }
        const auto guess = d_predictor.guess(d_next, d_cutter);
        if (guess + behind > there) {
            if (!finished) {
                return false;
            }
            // The last frame is decoded only if deletions can explain all missing items.
            const auto origin = d_predictor.find(guess, d_cutter);
            d_no_more = origin >= there ||
                        origin + d.d_options.code.frame_bits() + d.d_window.first > there;
            if (d_no_more) {
                return false;
            }
        }
        const auto first =
            std::min(d_open.first, std::max(guess - before, d_cutter.first_item()));
        const auto last = std::max(d_open.last, guess + behind);
        if (!d_open.frames.empty() &&
            last - first > std::int64_t(d_layout.item_capacity)) {
            send();
            return true;
        }
        if (first < d_open.first) {
            d_open.first = first;
            d_open.copied = 0;
        }
        d_open.last = last;
        if (!d_cutter.store().borrowing()) {
            copy_items(std::min(last, there));
        }
        open_pieces()[d_open.frames.size()].whole = -1;
        add({ d_next++, guess, false, false });
        return true;
    }

    // Returns whether the next frame to be cut begins where the forward recursion ends.
    bool carries() const { return d_carried || d_next < d_searching; }

    // Returns the origin of the next frame to be cut, or a guess of that origin.
    std::int64_t next_origin() const
    {
        return carries() ? d_cutter.origin() : d_predictor.expected(d_next);
    }

    stream_piece* open_pieces()
    {
        return reinterpret_cast<stream_piece*>(d.filling()->input);
    }

    // Returns the address at which the next whole frame of the open slot is written.
    std::byte* next_whole()
    {
        open_pieces()[d_open.frames.size()] = { std::int32_t(d_open.whole), 0 };
        return d.filling()->input + d_layout.whole_at +
               d_open.whole++ * d_setup.input_bytes();
    }

    void add(const in_flight& f)
    {
        d_open.frames.push_back(f);
        d_open.oldest = std::min(d_open.oldest, f.origin);
        d.d_deadline.start();
        if (d_open.frames.size() == d.d_batch) {
            send();
        }
    }

    // Copies the items of the open batch up to \p last − 1 to its slot. Copying early is
    // cheap, because items that have just been pushed are still in the processor's
    // caches.
    void copy_items(std::int64_t last)
    {
        auto* const to = d.filling()->input + d_layout.items_at;
        const auto from = std::max(d_open.copied, d_open.first);
        d_cutter.copy(from, last, to + (from - d_open.first) * d_setup.item_bytes());
        d_open.copied = last;
    }

    void send()
    {
        job j{ d_open.frames.size(), d_open.whole, 0, d_warmup };
        const auto* input = d.filling()->input;
        if (d_open.whole < d_open.frames.size()) {
            j.items = d_open.last - d_open.first;
            // Borrowed memory does not have the erasures after the end of the stream, so
            // a batch that needs erasures is copied to the slot.
            j.borrowed =
                d_cutter.store().borrowing() && d_open.last <= d_cutter.received();
            if (j.borrowed) {
                input = d_cutter.store().where(d_open.first);
            } else {
                copy_items(d_open.last);
            }
            for (std::size_t k = 0; k < d_open.frames.size(); ++k) {
                open_pieces()[k].guess =
                    std::int32_t(d_open.frames[k].origin - d_open.first);
            }
        }
        std::swap(d_flight.add(), d_open);
        d_open.clear();
        d.submit_from(j, input, {});
        forget_unneeded();
    }

    // Returns the oldest slot if it has finished. Polling a device for each pushed frame
    // would dominate the cost. The device is therefore polled only after a completion,
    // and once per millisecond in case a failed device does not report completions.
    const pipeline<job>::slot* finished_slot()
    {
        using clock = std::chrono::steady_clock;
        const auto now = clock::now();
        if (!d.d_notified->exchange(false) &&
            now - d_asked < std::chrono::milliseconds(1)) {
            return nullptr;
        }
        d_asked = now;
        const auto* const slot = d.d_pipeline->ready();
        if (slot) {
            *d.d_notified = true; // the next batch may have finished too
        }
        return slot;
    }

    // Processes the results of all finished batches. Stops early if the frames of a batch
    // can be pulled from its slot without a copy.
    void take_results()
    {
        while (!d_in_place) {
            const auto* const slot = finished_slot();
            if (!slot) {
                return;
            }
            const auto& batch = d_flight.front();
            d_flight.pop(); // `batch` remains valid until another element is added
            const bool alone = d_results.size() == 0;
            bool again = false;
            for (std::size_t k = 0; !batch.abandoned && k < batch.frames.size(); ++k) {
                const auto& f = batch.frames[k];
                const auto result = result_of(*slot, batch, k);
                f.again ? d_results.replace(result) : d_results.add(result, f.whole);
                again |= f.again;
            }
            d_results.compare_boundaries();
            d_in_place = alone && !again && d_results.size() > 0 &&
                         d_results.proven() == d_results.size();
            if (!d_in_place) {
                d_results.keep();
                d.release();
            }
            judge_boundary_matches();
        }
    }

    stream_frame result_of(const pipeline<job>::slot& from,
                           const batch_in_flight& batch,
                           std::size_t k) const
    {
        const auto& f = batch.frames[k];
        stream_frame r;
        r.number = f.number;
        r.output = from.output + k * d_setup.output_bytes();
        r.status = reinterpret_cast<const sync_status*>(from.status)[k];
        r.origin = f.origin;
        if (!f.whole) {
            boundary_match_header boundary_match;
            std::memcpy(&boundary_match,
                        r.output + d_setup.boundary_matches_at(),
                        sizeof(boundary_match));
            r.origin = batch.first + boundary_match.origin;
            r.compared = boundary_match.compared;
            r.to_previous = boundary_match.to_previous;
        }
        const auto items = d_cutter.place_of(r.origin).items;
        r.locked = r.status.valid && follows(r.status, std::max<std::int64_t>(1, items));
        return r;
    }

    // Counts failed boundary matches over periods. In a period of 16 matches or more,
    // frames stop searching if more than half of the matches failed. The warm-up is set
    // to its maximum if more than 1 % failed and the period has 8 failures or 1000
    // matches. A period ends when the warm-up changes or after 10000 matches.
    void judge_boundary_matches()
    {
        d.d_links_failed = d_failed_before + d_results.failed();
        const auto boundary_matches = d_results.boundary_matches() - d_boundary_matches;
        const auto failed = d_results.unproven() - d_failed;
        if (d_carried || boundary_matches < 16) {
            return;
        }
        const auto most = d_setup.search.max_warmup;
        if (2 * failed > boundary_matches) {
            carry_frames_forward();
        } else if (d_warmup < most && 100 * failed > boundary_matches &&
                   (boundary_matches >= 1000 || failed >= 8)) {
            d_warmup = most;
            d_boundary_matches += boundary_matches;
            d_failed += failed;
        } else if (boundary_matches > 10000) {
            d_boundary_matches += boundary_matches;
            d_failed += failed;
        }
    }

    // Stops searching. Starting with the first unproven frame, each frame then begins
    // with the end metrics of the previous frame.
    void carry_frames_forward()
    {
        follow_proven();
        d_carried = true;
        d_next = d_results.next();
        d_again.clear();
        d_open.clear();
        for (std::size_t i = 0; i < d_flight.size(); ++i) {
            d_flight[i].abandoned = true;
        }
        if (!std::exchange(d.d_reported_sequential, true)) {
            d.log(log_level::warning,
                  "the beginnings of most frames cannot be estimated independently: one "
                  "thread decodes the frames one after the other");
        }
    }

    const setup d_setup;
    boundary_predictor d_predictor;
    stream_results d_results;
    setup::stream_batch d_layout;
    unsigned d_warmup;
    std::uint64_t d_next;      // number of the next frame to be cut
    std::uint64_t d_searching; // number of the first frame that searches
    bool d_carried = false;    // whether carry_frames_forward() has been called
    bool d_in_place = false;   // whether results point into the memory of the oldest slot
    bool d_no_more = false; // whether the stream ended and no frame can be cut any more
    bool d_emitted = false; // whether the oldest result has been pulled
    // Values of d_results.boundary_matches() and d_results.unproven() when
    // judge_boundary_matches() last began a new period, and the number of failed matches
    // with earlier channels.
    std::uint64_t d_boundary_matches = 0, d_failed = 0, d_failed_before;
    batch_in_flight d_open;
    ring<batch_in_flight> d_flight;
    std::deque<ordered> d_again; // frames to be decoded again
    std::chrono::steady_clock::time_point d_asked{};
};

std::unique_ptr<stream_engine> make_searching_frames(sync_decoder_impl& decoder)
{
    return std::make_unique<searching_frames>(decoder);
}

} // namespace gr::gpufec
