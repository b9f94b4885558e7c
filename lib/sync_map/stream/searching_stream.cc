// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a stream whose frames search for their beginnings: cuts frames, then checks
 * that each frame began where the previous frame ended. */

#include "decoder_impl.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

void sync_decoder_impl::begin_search()
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
            d_search->again.push_back(
                { number, { before.metrics, before.metrics + bytes }, before.origin });
            d_deadline.start();
        });
    d_search->layout = d_setup->stream_input(d_batch);
    d_search->results.reserve(d_batch);
    d_search->failed_before = failed;
    // The first frames do not search, because too few symbols precede them.
    const auto N = d_setup->outputs;
    d_search->searching = d_number + (s.max_warmup + N - 1) / N;
}

void sync_decoder_impl::advance_search()
{
    while (cut_next()) {
    }
    if (d_count > 0 && (send_now() || d_next) && d_pipeline->filling()) {
        send_search();
    }
}

bool sync_decoder_impl::cut_next()
{
    release_emitted();
    take_next();
    if (!d_search || !d_pipeline->filling()) {
        return false;
    }
    auto& s = *d_search;
    if (!s.again.empty()) {
        return cut_again();
    }
    // Limits the number of frames that wait for proof.
    if (d_next || s.results.size() > 2 * d_batch + 64) {
        return false;
    }
    return s.carried || s.next < s.searching ? cut_carried() : cut_searching();
}

bool sync_decoder_impl::cut_again()
{
    auto& s = *d_search;
    if (s.open.whole == s.layout.max_whole) {
        send_search();
        return true;
    }
    const auto order = std::move(s.again.front());
    s.again.pop_front();
    ++d_frames_again;
    const auto at = d_cutter->write({ order.metrics.data(), order.origin }, next_whole());
    add({ order.number, at.origin, true, true });
    return true;
}

bool sync_decoder_impl::cut_carried()
{
    auto& s = *d_search;
    if (!d_cutter->ready()) {
        return false;
    }
    if (s.open.whole == s.layout.max_whole) {
        send_search();
        return true;
    }
    const auto at = d_cutter->write(next_whole());
    add({ s.next++, at.origin, true, false });
    if (s.next == s.searching) {
        s.predictor.begin(s.next, d_cutter->origin());
    }
    return true;
}

bool sync_decoder_impl::cut_searching()
{
    auto& s = *d_search;
    const auto before = s.predictor.items_before(), behind = s.predictor.items_behind();
    const auto there = d_cutter->received();
    const bool finished = d_cutter->finished();
    // All items that a search may read must have arrived, so that the result does not
    // depend on when the frame is cut.
    const auto radius = d_setup->search.radius;
    if (s.no_more ||
        (!finished && s.predictor.expected(s.next) + radius + behind > there)) {
        return false;
    }
    const auto guess = s.predictor.guess(s.next, *d_cutter);
    if (guess + behind > there) {
        if (!finished) {
            return false;
        }
        // The last frame is decoded only if deletions can explain all missing items.
        const auto origin = s.predictor.find(guess, *d_cutter);
        s.no_more = origin >= there ||
                    origin + d_options.code.frame_bits() + d_window.first > there;
        if (s.no_more) {
            return false;
        }
    }
    const auto first =
        std::min(s.open.first, std::max(guess - before, d_cutter->first_item()));
    const auto last = std::max(s.open.last, guess + behind);
    if (d_count > 0 && last - first > std::int64_t(s.layout.item_capacity)) {
        send_search();
        return true;
    }
    if (first < s.open.first) {
        s.open.first = first;
        s.open.copied = 0;
    }
    s.open.last = last;
    if (!d_cutter->store().borrowing()) {
        copy_items(std::min(last, there));
    }
    open_pieces()[d_count].whole = -1;
    add({ s.next++, guess, false, false });
    return true;
}

std::size_t sync_decoder_impl::ahead_of_search() const
{
    const auto& s = *d_search;
    const auto next = s.carried || s.next < s.searching ? d_cutter->origin()
                                                        : s.predictor.expected(s.next);
    return std::max<std::int64_t>(0, d_cutter->received() - next);
}

stream_piece* sync_decoder_impl::open_pieces()
{
    return reinterpret_cast<stream_piece*>(d_pipeline->filling()->input);
}

std::byte* sync_decoder_impl::next_whole()
{
    auto& s = *d_search;
    open_pieces()[d_count] = { std::int32_t(s.open.whole), 0 };
    return d_pipeline->filling()->input + s.layout.whole_at +
           s.open.whole++ * d_setup->input_bytes();
}

void sync_decoder_impl::add(const in_flight& f)
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

void sync_decoder_impl::copy_items(std::int64_t last)
{
    auto& open = d_search->open;
    auto* const to = d_pipeline->filling()->input + d_search->layout.items_at;
    const auto from = std::max(open.copied, open.first);
    d_cutter->copy(from, last, to + (from - open.first) * d_setup->item_bytes());
    open.copied = last;
}

void sync_decoder_impl::send_search()
{
    auto& s = *d_search;
    auto& open = s.open;
    job j{ d_count, open.whole, 0, s.warmup };
    const auto* input = d_pipeline->filling()->input;
    if (open.whole < d_count) {
        j.items = open.last - open.first;
        // Borrowed memory does not have the erasures after the end of the stream, so a
        // batch that needs erasures is copied to the slot.
        j.borrowed = d_cutter->store().borrowing() && open.last <= d_cutter->received();
        if (j.borrowed) {
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

void sync_decoder_impl::forget_unneeded()
{
    auto& s = *d_search;
    auto oldest = s.carried || s.next < s.searching ? d_cutter->origin()
                                                    : s.predictor.expected(s.next);
    oldest = std::min(oldest, s.open.oldest);
    for (std::size_t i = 0; i < s.flight.size(); ++i) {
        oldest = std::min(oldest, s.flight[i].oldest);
    }
    if (s.results.size() > 0) {
        oldest = std::min(oldest, s.results.front().origin);
    }
    d_cutter->forget(oldest - s.predictor.items_before() - d_setup->search.most);
}

const pipeline<job>::slot* sync_decoder_impl::finished_slot()
{
    using clock = std::chrono::steady_clock;
    const auto now = clock::now();
    if (!d_notified->exchange(false) && now - d_asked < std::chrono::milliseconds(1)) {
        return nullptr;
    }
    d_asked = now;
    const auto* const slot = d_pipeline->ready();
    if (slot) {
        *d_notified = true; // the next batch may have finished too
    }
    return slot;
}

void sync_decoder_impl::take_results()
{
    auto& s = *d_search;
    while (!s.in_place) {
        const auto* const slot = finished_slot();
        if (!slot) {
            return;
        }
        const auto& batch = s.flight.front();
        s.flight.pop(); // `batch` stays valid until another element is added
        const bool alone = s.results.size() == 0;
        bool again = false;
        for (std::size_t k = 0; !batch.abandoned && k < batch.frames.size(); ++k) {
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
        judge_boundary_matches();
    }
}

stream_frame sync_decoder_impl::result_of(const slot& from,
                                          const batch_in_flight& batch,
                                          std::size_t k) const
{
    const auto& f = batch.frames[k];
    stream_frame r;
    r.number = f.number;
    r.output = from.output + k * d_setup->output_bytes();
    r.status = reinterpret_cast<const sync_status*>(from.status)[k];
    r.origin = f.origin;
    if (!f.whole) {
        boundary_match_header boundary_match;
        std::memcpy(&boundary_match,
                    r.output + d_setup->boundary_matches_at(),
                    sizeof(boundary_match));
        r.origin = batch.first + boundary_match.origin;
        r.compared = boundary_match.compared;
        r.to_previous = boundary_match.to_previous;
    }
    const auto items = d_cutter->place_of(r.origin).items;
    r.locked = r.status.valid && follows(r.status, std::max<std::int64_t>(1, items));
    return r;
}

void sync_decoder_impl::judge_boundary_matches()
{
    auto& s = *d_search;
    d_links_failed = s.failed_before + s.results.failed();
    const auto boundary_matches = s.results.boundary_matches() - s.boundary_matches;
    const auto failed = s.results.unproven() - s.failed;
    if (s.carried || boundary_matches < 16) {
        return;
    }
    const auto most = d_setup->search.max_warmup;
    if (2 * failed > boundary_matches) {
        carry_frames_forward();
    } else if (s.warmup < most && 100 * failed > boundary_matches &&
               (boundary_matches >= 1000 || failed >= 8)) {
        s.warmup = most;
        s.boundary_matches += boundary_matches;
        s.failed += failed;
    } else if (boundary_matches > 10000) {
        s.boundary_matches += boundary_matches;
        s.failed += failed;
    }
}

void sync_decoder_impl::carry_frames_forward()
{
    auto& s = *d_search;
    if (const auto* const ends = s.results.abandon()) {
        d_cutter->go_on(*ends);
    }
    s.carried = true;
    s.next = s.results.next();
    s.again.clear();
    s.open.clear();
    d_count = 0;
    for (std::size_t i = 0; i < s.flight.size(); ++i) {
        s.flight[i].abandoned = true;
    }
    if (!std::exchange(d_said_carried, true)) {
        log(log_level::warning,
            "the beginnings of most frames cannot be estimated independently: one thread "
            "decodes one frame after the other");
    }
}

bool sync_decoder_impl::no_more_frames() const
{
    const auto& s = *d_search;
    return s.carried || s.next < s.searching ? d_cutter->done() : s.no_more;
}

} // namespace gr::gpufec
