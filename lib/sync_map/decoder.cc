// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How frames, pushed or cut from a stream, become a batch, and decoded frames leave it.
 */

#include "frame_guide.h"
#include "pipeline/stream_decoder.h"
#include "room.h"
#include "stream.h"
#include "stream_results.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace gr::gpufec {

using namespace sync_map;

class sync_decoder::impl : public stream_decoder<room>
{
public:
    impl(const sync_options& options, decoder_hooks hooks)
        : impl(options, std::move(hooks), std::make_shared<std::atomic<bool>>(true))
    {
    }
    impl(const sync_options& options,
         decoder_hooks hooks,
         std::shared_ptr<std::atomic<bool>> told)
        : stream_decoder(options,
                         telling(std::move(hooks), told),
                         options.item_bytes(),
                         options.item_bytes()),
          d_options(options),
          d_told(std::move(told))
    {
        build();
    }

    bool push_frame(const void* items, std::size_t count, const float* priors)
    {
        if (!room_for_frame()) {
            return false;
        }
        if (!d_setup->placed) {
            write_framed(*d_setup, items, count, priors, next_input());
            added({ 0, std::int64_t(count) });
            return true;
        }
        const auto length = length_of_frame(*d_setup, count);
        const auto kept = length > 0 ? count : 0;
        if (d_items + kept > d_layout.most_items) {
            send();
            if (!room_for_frame()) {
                return false;
            }
        }
        if (kept > 0) {
            const auto size = d_setup->item_bytes();
            std::memcpy(d_pipeline->filling()->input + d_layout.items_at + d_items * size,
                        items,
                        kept * size);
        }
        add_placed({ length, std::uint32_t(d_items) }, count);
        return true;
    }

    std::size_t push(const void* items, std::size_t count)
    {
        if (!d_cutter) {
            return push_part(static_cast<const std::byte*>(items), count);
        }
        if (d_next || room() < count) {
            advance();
        }
        const auto n = std::min(count, room());
        d_cutter->push(items, n);
        advance();
        return n;
    }

    bool end_frame(const float* priors)
    {
        if (!lending()) {
            const bool whole = d_part.size() == d_have * d_setup->item_bytes();
            if (!push_frame(d_part.data(), whole ? d_have : beyond_limits, priors)) {
                return false;
            }
            d_part.clear();
            d_have = 0;
            return true;
        }
        if (!room_for_frame()) {
            return false;
        }
        const auto at = d_input.end() - d_input.first() - kept_of_open();
        const auto count = std::exchange(d_have, 0);
        const auto length =
            std::exchange(d_too_long, false) ? -1 : length_of_frame(*d_setup, count);
        add_placed({ length, std::uint32_t(length > 0 ? at : 0) }, count);
        return true;
    }

    std::size_t skip(std::size_t count)
    {
        return lending() ? take_lent(count, false) : count;
    }

    bool can_lend() const override
    {
        const bool begun =
            d_cutter ? d_cutter->received() > 0 : d_have + d_count + d_number > 0;
        return (d_cutter ? bool(d_search) : d_setup->placed) && !begun &&
               d_pipeline->empty() && stream_decoder::can_lend();
    }
    std::size_t lend(const void* items, std::size_t count) override
    {
        if (!d_cutter) {
            return stream_decoder::lend(items, count);
        }
        if (d_next) {
            advance();
        }
        const auto before = lent();
        const auto n = std::min(count - before, room());
        d_cutter->store().lend(static_cast<const std::byte*>(items), before + n);
        advance();
        return n;
    }
    std::size_t lent() const override
    {
        return d_cutter ? d_cutter->store().lent() : stream_decoder::lent();
    }
    std::size_t take_back() override
    {
        if (!d_cutter) {
            return stream_decoder::take_back();
        }
        if (!d_cutter->store().lending()) {
            return 0;
        }
        if (done()) {
            d_cutter->forget(d_cutter->received());
        } else if (d_search) {
            forget_unneeded();
        }
        return d_cutter->store().take_back();
    }
    void end_lending() override
    {
        if (!d_cutter) {
            stream_decoder::end_lending();
        } else if (d_cutter->store().lending()) {
            d_pipeline->settle([](const slot&) {});
            d_cutter->store().end_lending();
        }
    }
    // Frames that wait for proof, and what is cut next, keep items of one batch more.
    std::size_t input_bytes() const override
    {
        const auto slots = d_pipeline->slots();
        return stream_decoder::input_bytes() / slots * (slots + (d_search ? 1 : 0));
    }

    // A channel that waits for frames in flight holds up those that come.
    bool full() const override
    {
        return stream_decoder::full() || (d_next && !d_cutter && !d_pipeline->empty());
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
        if (!d_search) {
            if (d_given == 0) {
                advance(); // which looks at the clock: not for each frame
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
            d_given = 1;
            return true;
        }
        const auto* slot = d_pipeline->ready();
        if (!slot) {
            return false;
        }
        const auto number = d_given++;
        f.number = d_number++;
        point_to(slot->output + number * d_setup->output_bytes(), f);
        f.in_place = slot->lent.to;
        if (f.in_place) {
            f.output = slot->lent.to + number * f.output_bytes;
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

    bool ready() override
    {
        release_given();
        if (d_search) {
            take_results();
            return d_search->results.proven() > 0;
        }
        return stream_decoder::ready();
    }
    bool done() override
    {
        release_given();
        if (d_search) {
            take_results();
            return stream_decoder::done() && no_more_frames() &&
                   d_search->results.size() == 0;
        }
        return stream_decoder::done() && (!d_cutter || d_cutter->done());
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        release_given();
        const bool there =
            (d_search && d_search->results.proven() > 0) || stream_decoder::wait(limit);
        if (there) {
            *d_told = true;
        }
        return there;
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
    std::uint64_t d_links_failed = 0, d_frames_again = 0;

private:
    static constexpr std::size_t beyond_limits = INT32_MAX;

    // A frame in flight.
    struct flying {
        std::uint64_t number;
        std::int64_t origin; // or where it is looked for
        bool whole, again;
    };
    struct flying_batch {
        std::vector<flying> frames;
        std::size_t whole = 0;
        std::int64_t first = INT64_MAX, last = 0; // items of frames that search
        std::int64_t oldest = INT64_MAX;          // where a frame begins
        std::int64_t copied = 0; // items from first to there are in the slot
        bool given_up = false;

        // As if new, with the memory that it has.
        void clear()
        {
            auto memory = std::move(frames);
            memory.clear();
            *this = {};
            frames = std::move(memory);
        }
    };
    // A stream whose frames search.
    struct search {
        search(const setup& s, std::uint64_t first, stream_results::order again)
            : guide(s),
              results(s, first, std::move(again)),
              warmup(s.search.warmup),
              next(first)
        {
        }
        std::size_t most_ahead() const
        {
            return layout.most_items + 2 * guide.items_behind();
        }

        frame_guide guide;
        stream_results results;
        setup::stream_batch layout{};
        unsigned warmup;
        std::uint64_t next;      // number of the frame that is cut next
        std::uint64_t searching; // number of the first frame that searches
        bool carried = false;    // frames do not search any more
        bool in_place = false;   // results lie in the oldest slot
        bool no_more = false;    // frames, after the end
        // What is judged begins there; of streams before this one.
        std::uint64_t links = 0, failed = 0, failed_before = 0;
        flying_batch open;
        ring<flying_batch> flight;
        struct ordered {
            std::uint64_t number;
            std::vector<std::byte> metrics;
            std::int64_t origin;
        };
        std::deque<ordered> again;
    };

    // Items that a stream takes: no more ahead than the next frames need, whatever is
    // pushed at a time.
    std::size_t room() const
    {
        const auto limit = 2 * (std::size_t(d_setup->max_items) + d_options.acquire) +
                           d_setup->window + (d_search ? d_search->most_ahead() : 0);
        const auto held = d_search ? ahead_of_search() : d_cutter->held();
        return limit - std::min(limit, held);
    }

    // Items of the frame that is open, as far as they can be decoded.
    std::size_t push_part(const std::byte* items, std::size_t count)
    {
        const std::size_t most = d_setup->max_items;
        const auto size = d_setup->item_bytes();
        const auto kept = std::min(count, most - std::min(most, d_part.size() / size));
        d_part.insert(d_part.end(), items, items + kept * size);
        d_have += count;
        return count;
    }

    void build()
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
                   "there is not the memory for the beginnings of " +
                       room::describe(*d_setup) + " allowed are smaller ones");
        }
    }

    void restart() override
    {
        d_count = d_given = d_items = 0;
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

    void begin_search()
    {
        const auto failed = d_links_failed;
        d_search.reset();
        const auto& s = d_setup->search;
        if (!s) {
            return;
        }
        d_search = std::make_unique<search>(
            *d_setup, d_number, [this](std::uint64_t number, const frame_ends& before) {
                const auto bytes = 4 * d_setup->window * d_setup->metric_bytes();
                d_search->again.push_back({ number,
                                            { before.metrics, before.metrics + bytes },
                                            before.origin });
                d_deadline.start();
            });
        d_search->layout = d_setup->stream_input(d_batch);
        d_search->results.reserve(d_batch);
        d_search->failed_before = failed;
        // The first ones have too little before them.
        const auto N = d_setup->outputs;
        d_search->searching = d_number + (s.most_warmup + N - 1) / N;
    }

    // Another channel takes over once nothing is left of the one before.
    void take_next()
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
            if (const auto* const ends = d_search->results.give_up()) {
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
            d_options = options; // which there was room for
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

    std::size_t waiting() const override
    {
        return d_count + (d_search ? d_search->again.size() : 0);
    }

    void advance() override
    {
        if (d_search) {
            return advance_search();
        }
        while (d_cutter && d_cutter->ready() && room_for_frame()) {
            added(d_cutter->write(next_input()));
        }
        if (d_count > 0 && send_now() && d_pipeline->filling()) {
            send();
        }
    }

    void send()
    {
        job j{ d_count };
        j.placed = d_setup->placed;
        j.items = d_items;
        j.lent = lending();
        const output_rows rows{ 0,
                                d_count,
                                d_setup->outputs * d_setup->symbol_bytes(),
                                d_setup->output_bytes() };
        d_count = d_items = 0;
        j.lent ? submit(j, d_input.end() - kept_of_open(), rows) : submit(j, rows);
    }

    bool can_lend_output() const override { return !d_cutter && !d_setup->drifts; }

    // ---- frames that are placed ----

    void add_placed(const placed_frame& place, std::size_t count)
    {
        auto* const table = reinterpret_cast<placed_frame*>(d_pipeline->filling()->input);
        table[d_count] = place;
        if (place.length > 0) {
            d_items = place.at + std::size_t(place.length);
        }
        added({ 0, std::int64_t(count) });
    }

    // Items of the open frame, which is lent, that it may be decoded with.
    std::size_t kept_of_open() const { return d_too_long ? 0 : d_have; }

    // One more than a batch has: a frame may turn out to be too long.
    std::size_t room_lent() const
    {
        const auto reached = std::size_t(d_input.end() - d_input.first());
        return d_layout.most_items + 1 - std::min(d_layout.most_items + 1, reached);
    }

    std::size_t take_lent(std::size_t count) override { return take_lent(count, true); }

    // What is not of a frame is passed over.
    std::size_t take_lent(std::size_t count, bool of_frame)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && room_for_frame()) {
            const auto n = std::min(count - taken, room_lent());
            if (n == 0 && d_count > 0) { // what was passed over has taken the room
                send();
                continue;
            }
            d_input.took(n);
            taken += n;
            d_have += of_frame ? n : 0;
            d_too_long |= n == 0 || d_have > d_setup->max_items;
            if (d_count == 0 && kept_of_open() == 0) {
                d_input.skip();
            }
        }
        return taken;
    }

    void keep_lent() override
    {
        const auto size = d_setup->item_bytes();
        const auto* const lent = d_input.where_lent();
        if (d_items > 0) {
            std::memcpy(
                d_pipeline->filling()->input + d_layout.items_at, lent, d_items * size);
        }
        const auto kept = kept_of_open();
        const auto* const open = lent + (d_input.end() - d_input.first() - kept) * size;
        d_part.assign(open, open + kept * size);
        d_too_long = false; // there is less of it than it has had
        d_input.skip();     // all that is needed is kept here
        d_input.end_lending([](auto, auto, auto) {});
    }

    // Gives a slot back once all its frames have been pulled and looked at.
    void release_given()
    {
        if (d_given == 0) {
            return;
        }
        if (d_search) {
            d_search->results.pop();
            d_given = 0;
            if (d_search->in_place && d_search->results.size() == 0) {
                d_search->in_place = false;
                release();
            }
            return;
        }
        const auto* slot = d_pipeline->ready();
        if (slot && d_given == slot->job.frames) {
            release();
            d_given = 0;
        }
    }

    void point_to(const std::byte* out, frame& f) const
    {
        f.output = out;
        f.output_bytes = d_setup->outputs * d_setup->symbol_bytes();
        f.first_drifts = f.last_drifts = nullptr;
        if (d_setup->drifts) {
            f.first_drifts = reinterpret_cast<const float*>(out + d_setup->drifts_at());
            f.last_drifts = f.first_drifts + d_setup->window;
        }
    }

    // ---- streams whose frames search ----

    // Cuts what can be cut, and submits what is full or due.
    void advance_search()
    {
        while (cut_next()) {
        }
        if (d_count > 0 && (send_now() || d_next) && d_pipeline->filling()) {
            send_search();
        }
    }

    // Puts one more frame into the open slot, or submits it; false if nothing is to do.
    bool cut_next()
    {
        release_given();
        take_next();
        if (!d_search || !d_pipeline->filling()) {
            return false;
        }
        auto& s = *d_search;
        if (!s.again.empty()) {
            return cut_again();
        }
        // Enough waits for proof.
        if (d_next || s.results.size() > 2 * d_batch + 64) {
            return false;
        }
        return s.carried || s.next < s.searching ? cut_carried() : cut_searching();
    }

    // A frame that begins with what the one before ends with.
    bool cut_again()
    {
        auto& s = *d_search;
        if (s.open.whole == s.layout.most_whole) {
            send_search();
            return true;
        }
        const auto order = std::move(s.again.front());
        s.again.pop_front();
        ++d_frames_again;
        const auto at =
            d_cutter->write({ order.metrics.data(), order.origin }, next_whole());
        add({ order.number, at.origin, true, true });
        return true;
    }

    bool cut_carried()
    {
        auto& s = *d_search;
        if (!d_cutter->ready()) {
            return false;
        }
        if (s.open.whole == s.layout.most_whole) {
            send_search();
            return true;
        }
        const auto at = d_cutter->write(next_whole());
        add({ s.next++, at.origin, true, false });
        if (s.next == s.searching) {
            s.guide.begin(s.next, d_cutter->origin());
        }
        return true;
    }

    bool cut_searching()
    {
        auto& s = *d_search;
        const auto before = s.guide.items_before(), behind = s.guide.items_behind();
        const auto there = d_cutter->received();
        const bool finished = d_cutter->finished();
        // All that a search may read is there, and so nothing hangs on when it is cut.
        const auto radius = d_setup->search.radius;
        if (s.no_more ||
            (!finished && s.guide.expected(s.next) + radius + behind > there)) {
            return false;
        }
        const auto guess = s.guide.guess(s.next, *d_cutter);
        if (guess + behind > there) {
            if (!finished) {
                return false;
            }
            // A frame is there if no more is missing than can have been deleted.
            const auto origin = s.guide.find(guess, *d_cutter);
            s.no_more = origin >= there ||
                        origin + d_options.code.frame_bits() + d_window.first > there;
            if (s.no_more) {
                return false;
            }
        }
        const auto first =
            std::min(s.open.first, std::max(guess - before, d_cutter->first_item()));
        const auto last = std::max(s.open.last, guess + behind);
        if (d_count > 0 && last - first > std::int64_t(s.layout.most_items)) {
            send_search();
            return true;
        }
        if (first < s.open.first) {
            s.open.first = first;
            s.open.copied = 0;
        }
        s.open.last = last;
        if (!d_cutter->store().lending()) {
            copy_items(std::min(last, there));
        }
        open_pieces()[d_count].whole = -1;
        add({ s.next++, guess, false, false });
        return true;
    }

    // Items that no frame has been cut from.
    std::size_t ahead_of_search() const
    {
        const auto& s = *d_search;
        const auto next = s.carried || s.next < s.searching ? d_cutter->origin()
                                                            : s.guide.expected(s.next);
        return std::max<std::int64_t>(0, d_cutter->received() - next);
    }

    stream_piece* open_pieces()
    {
        return reinterpret_cast<stream_piece*>(d_pipeline->filling()->input);
    }

    // Where the next whole frame of the open slot is written.
    std::byte* next_whole()
    {
        auto& s = *d_search;
        open_pieces()[d_count] = { std::int32_t(s.open.whole), 0 };
        return d_pipeline->filling()->input + s.layout.whole_at +
               s.open.whole++ * d_setup->input_bytes();
    }

    void add(const flying& f)
    {
        auto& open = d_search->open;
        open.frames.push_back(f);
        open.oldest = std::min(open.oldest, f.origin);
        ++d_count;
        d_deadline.start();
        if (d_count == d_batch) {
            send_search();
        }
    }

    // Copies items of the open batch before \p last, which are still in the caches if
    // they have just been pushed.
    void copy_items(std::int64_t last)
    {
        auto& open = d_search->open;
        auto* const to = d_pipeline->filling()->input + d_search->layout.items_at;
        const auto from = std::max(open.copied, open.first);
        d_cutter->copy(from, last, to + (from - open.first) * d_setup->item_bytes());
        open.copied = last;
    }

    void send_search()
    {
        auto& s = *d_search;
        auto& open = s.open;
        job j{ d_count, open.whole, 0, s.warmup };
        const auto* input = d_pipeline->filling()->input;
        if (open.whole < d_count) {
            j.items = open.last - open.first;
            // Items after the end of the stream are nowhere but in a slot.
            j.lent = d_cutter->store().lending() && open.last <= d_cutter->received();
            if (j.lent) {
                input = d_cutter->store().where(open.first);
            } else {
                copy_items(open.last);
            }
            for (std::size_t k = 0; k < d_count; ++k) {
                open_pieces()[k].guess = std::int32_t(open.frames[k].origin - open.first);
            }
        }
        std::swap(s.flight.add(), open);
        open.clear();
        d_count = 0;
        submit_from(j, input, {});
        forget_unneeded();
    }

    // Items that neither frames in flight nor those that wait for proof can need.
    void forget_unneeded()
    {
        auto& s = *d_search;
        auto oldest = s.carried || s.next < s.searching ? d_cutter->origin()
                                                        : s.guide.expected(s.next);
        oldest = std::min(oldest, s.open.oldest);
        for (std::size_t i = 0; i < s.flight.size(); ++i) {
            oldest = std::min(oldest, s.flight[i].oldest);
        }
        if (s.results.size() > 0) {
            oldest = std::min(oldest, s.results.front().origin);
        }
        d_cutter->forget(oldest - s.guide.items_before() - d_setup->search.most);
    }

    // Notes in \p told whenever something may have come to an end.
    static decoder_hooks telling(decoder_hooks hooks,
                                 std::shared_ptr<std::atomic<bool>> told)
    {
        hooks.wake = [told, wake = std::move(hooks.wake)] {
            *told = true;
            wake();
        };
        return hooks;
    }

    // The oldest slot if it has finished. A device that is asked for each frame that is
    // pushed costs more than the rest: it is asked when it may have come to an end, and
    // now and then, for one that fails may not tell.
    const pipeline<job>::slot* finished_slot()
    {
        using clock = std::chrono::steady_clock;
        const auto now = clock::now();
        if (!d_told->exchange(false) && now - d_asked < std::chrono::milliseconds(1)) {
            return nullptr;
        }
        d_asked = now;
        const auto* const slot = d_pipeline->ready();
        if (slot) {
            *d_told = true; // so may have the next
        }
        return slot;
    }

    // Looks at all that has been decoded, until there are frames to be given.
    void take_results()
    {
        auto& s = *d_search;
        while (!s.in_place) {
            const auto* const slot = finished_slot();
            if (!slot) {
                return;
            }
            const auto& batch = s.flight.front();
            s.flight.pop(); // whose memory stays until another is added
            const bool alone = s.results.size() == 0;
            bool again = false;
            for (std::size_t k = 0; !batch.given_up && k < batch.frames.size(); ++k) {
                const auto& f = batch.frames[k];
                const auto result = result_of(*slot, batch, k);
                f.again ? s.results.replace(result) : s.results.add(result, f.whole);
                again |= f.again;
            }
            s.results.settle();
            s.in_place = alone && !again && s.results.size() > 0 &&
                         s.results.proven() == s.results.size();
            if (!s.in_place) {
                s.results.keep();
                release();
            }
            judge_links();
        }
    }

    stream_frame
    result_of(const slot& from, const flying_batch& batch, std::size_t k) const
    {
        const auto& f = batch.frames[k];
        stream_frame r;
        r.number = f.number;
        r.output = from.output + k * d_setup->output_bytes();
        r.status = reinterpret_cast<const sync_status*>(from.status)[k];
        r.origin = f.origin;
        if (!f.whole) {
            link_header link;
            std::memcpy(&link, r.output + d_setup->links_at(), sizeof(link));
            r.origin = batch.first + link.origin;
            r.compared = link.compared;
            r.to_previous = link.to_previous;
        }
        const auto items = d_cutter->place_of(r.origin).items;
        r.locked = r.status.valid && follows(r.status, std::max<std::int64_t>(1, items));
        return r;
    }

    // Warms up for longer where many links fail, and carries frames where that is in
    // vain.
    void judge_links()
    {
        auto& s = *d_search;
        d_links_failed = s.failed_before + s.results.failed();
        const auto links = s.results.links() - s.links;
        const auto failed = s.results.unproven() - s.failed;
        if (s.carried || links < 16) {
            return;
        }
        const auto most = d_setup->search.most_warmup;
        if (2 * failed > links) {
            carry_frames();
        } else if (s.warmup < most && 100 * failed > links &&
                   (links >= 1000 || failed >= 8)) {
            s.warmup = most;
            s.links += links;
            s.failed += failed;
        } else if (links > 10000) {
            s.links += links;
            s.failed += failed;
        }
    }

    // From the first frame that is not proven on, one after the other.
    void carry_frames()
    {
        auto& s = *d_search;
        if (const auto* const ends = s.results.give_up()) {
            d_cutter->go_on(*ends);
        }
        s.carried = true;
        s.next = s.results.next();
        s.again.clear();
        s.open.clear();
        d_count = 0;
        for (std::size_t i = 0; i < s.flight.size(); ++i) {
            s.flight[i].given_up = true;
        }
        if (!std::exchange(d_said_carried, true)) {
            log(log_level::warning,
                "most frames do not find where they begin: one is carried over to the "
                "next, which one thread does");
        }
    }

    bool no_more_frames() const
    {
        const auto& s = *d_search;
        return s.carried || s.next < s.searching ? d_cutter->done() : s.no_more;
    }

    // Items that lie beyond the end of the stream say nothing either way.
    bool follows(const sync_status& status, std::int64_t items) const
    {
        return status.log_probability / items > d_lock_limit;
    }

    std::optional<sync_options> d_next; // waits for frames in flight
    std::optional<stream_cutter> d_cutter;
    std::unique_ptr<search> d_search;
    bool d_said_carried = false;
    const std::shared_ptr<std::atomic<bool>> d_told;
    std::chrono::steady_clock::time_point d_asked{};
    double d_lock_limit = 0, d_log_item = 0;
    setup::placed_batch d_layout{};
    std::size_t d_items = 0;       // that placed frames of the open slot reach over
    std::size_t d_have = 0;        // items of the frame that is open
    std::vector<std::byte> d_part; // which are lent, or here
    bool d_too_long = false;       // it is, and lent
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

bool sync_decoder::end_frame(const float* priors) { return self().end_frame(priors); }

std::size_t sync_decoder::skip(std::size_t count) { return self().skip(count); }

bool sync_decoder::pull(frame& f) { return self().pull(f); }

void sync_decoder::set_channel(const bsid_model& channel) { self().set_channel(channel); }

const sync_options& sync_decoder::options() const { return self().d_options; }
drift_range sync_decoder::window() const { return self().d_window; }

unsigned sync_decoder::lookahead() const
{
    return self().d_setup->symbols - self().d_setup->outputs;
}

std::uint64_t sync_decoder::links_failed() const { return self().d_links_failed; }
std::uint64_t sync_decoder::frames_again() const { return self().d_frames_again; }

std::size_t sync_decoder::symbol_bytes() const { return self().d_setup->symbol_bytes(); }

} // namespace gr::gpufec
