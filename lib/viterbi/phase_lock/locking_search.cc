// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The part of the decoder with phase search that searches for a hypothesis, and begins
 * and ends segments. locking.h defines the terms. */

#include "locking.h"

namespace gr::gpufec {

using namespace viterbi;

namespace {

// A failed check may mean only that the signal has faded. The lock therefore ends only
// when the search finds another hypothesis or other frame boundaries, or when the search
// finds nothing in this number of windows or before the stream ends.
constexpr unsigned windows_of_doubt = 3;
// The next lock may begin up to this many stream values before the stage at which the
// previous lock was lost.
constexpr std::uint64_t older = 256;
constexpr std::size_t max_changes = 1u << 16;

} // namespace

// Searches the next windows or, once a hypothesis for frames is found, the frames'
// boundaries. Returns false if the search needs more input, or if the stream has ended.
bool locking_viterbi_decoder::search()
{
    if (d_ended) {
        return false;
    }
    if (d_unframed) {
        return find_frames();
    }
    const auto end = d_input.end();
    const auto window = d_search.window(), stride = d_search.stride();
    std::size_t windows = 0;
    if (end >= d_next_window + window) {
        windows = 1 + (end - d_next_window - window) / stride;
        windows = std::min(windows, d_search.windows_at_once());
    } else if (d_finishing) {
        // No more input follows, so the last window may be incomplete.
        windows = end > d_next_window ? 1 : 0;
        if (windows == 0) {
            if (d_state == state::doubting) {
                abandon();
            }
            drop_unlocked(end);
            d_ended = true;
            return true;
        }
    }
    if (d_state == state::doubting) {
        windows = std::min<std::size_t>(windows, windows_of_doubt - d_windows);
    }
    if (windows == 0) {
        return false;
    }
    if (const auto found = d_search.search(d_input.buffered(), d_next_window, windows)) {
        if (!layout().stream()) {
            d_unframed = found;
            d_frames = 2;
            return true;
        }
        take(*found, {});
        return true;
    }
    missed(windows);
    return true;
}

// Searches for frame boundaries. After each failure, one more frame is examined. Returns
// false if more input is needed first.
bool locking_viterbi_decoder::find_frames()
{
    const auto& found = *d_unframed;
    const auto& readings = d_search.alike(found.index);
    while (d_frames <= frame_finder::max_frames) {
        const auto needed = found.begins + d_finder->values(readings.front(), d_frames);
        if (needed > d_input.end()) {
            if (!d_finishing) {
                return false;
            }
            break;
        }
        const auto place =
            d_finder->find(d_input.buffered(), readings, found.begins, d_frames);
        if (place) {
            auto with = *std::exchange(d_unframed, {});
            with.looked_at = std::max(with.looked_at, needed);
            take(with, place);
            return true;
        }
        ++d_frames;
    }
    // No boundaries were found. The input may have ended, the signal may be a stream or
    // have frames of another length, or several positions may fit equally well. The
    // search continues with the next window.
    d_next_window = found.looked_at - d_search.window();
    d_unframed.reset();
    d_search.forget();
    missed(1);
    return true;
}

void locking_viterbi_decoder::missed(std::size_t windows)
{
    d_windows += windows;
    d_next_window += windows * d_search.stride();
    if (d_state != state::doubting) {
        forget_before(d_next_window);
    } else if (d_windows >= windows_of_doubt) {
        abandon();
    }
}

// Drops the values that are more than lock_memory values before stream value `window`,
// the beginning of a search window.
void locking_viterbi_decoder::forget_before(std::uint64_t window)
{
    const auto keep = window - std::min<std::uint64_t>(window, d_options.lock_memory);
    drop_unlocked(std::min(keep, d_input.end()));
}

void locking_viterbi_decoder::drop_unlocked(std::uint64_t value)
{
    if (value > d_input.first()) {
        d_now.dropped += value - d_input.first();
        d_input.drop_before(value);
    }
}

// Ends a lock that failed a check and was not found again.
void locking_viterbi_decoder::abandon()
{
    const auto looked_at = d_next_window + d_search.window() - d_search.stride();
    // All bits before the failed check are output, in whole frames. The lock may have
    // been lost earlier, but the signal may also only have become weak before its end.
    end_segment(whole(segment(), d_lost_target), std::min(d_input.end(), looked_at) - 1);
    d_input.drop_before(segment().value_of(d_lost_stage));
    d_state = state::searching;
    d_decoder->reset();
}

// Locks to a hypothesis that the search found. Decides from which stream value on the
// hypothesis is used, and whether buffered values before it are decoded with the previous
// lock.
void locking_viterbi_decoder::take(const phase_search::found& found,
                                   const std::optional<frame_finder::place>& frames)
{
    const auto known = std::min(d_input.end(), std::max(d_judged, found.looked_at)) - 1;
    d_search.forget();
    if (d_state == state::doubting) {
        auto& s = segment();
        d_state = state::locked;
        const auto same = d_before->index == found.index;
        if (same && (!frames || same_frames(s, *frames))) {
            // The signal had only faded, so the lock continues.
            d_monitor.resume(found.error_rate, stages_before(s, found.begins));
            return;
        }
        const auto lost = s.value_of(d_lost_stage);
        const auto value = d_search.change_point(
            d_input.buffered(),
            *d_before,
            found,
            std::max(d_input.first(), lost - std::min(lost, older)));
        d_until = std::max(d_lost_stage, stages_before(s, value));
        d_next = start{ found, value, known };
        return;
    }
    // The output is reproducible, because the values to drop depend on the window in
    // which the hypothesis was found, not on the number of windows per call.
    forget_before(found.looked_at - d_search.window());
    const start next{ found, d_input.first(), known, frames };
    if (d_before && d_before->index != found.index) {
        // The buffer may begin with a part of the previous lock's signal that is too weak
        // to be found by the search.
        const auto value =
            d_search.change_point(d_input.buffered(), *d_before, found, next.value);
        if (value > next.value) {
            auto again = found;
            again.index = d_before->index;
            again.chance = d_before->chance;
            begin({ again, next.value, known, d_before_frames });
            d_until = whole(segment(), stages_before(segment(), value));
            d_next = start{ found, value, known, frames };
            return;
        }
    }
    begin(next);
}

// Returns the number of stages of segment `s` before stream value `value`.
std::uint64_t locking_viterbi_decoder::stages_before(const lock_segment& s,
                                                     std::uint64_t value)
{
    return s.code().stages(std::max(value, s.start) - s.start);
}

// Rounds a number of stages of segment `s` down to the end of a frame.
std::uint64_t locking_viterbi_decoder::whole(const lock_segment& s,
                                             std::uint64_t stages) const
{
    const auto T = layout().stages();
    return s.lead + (std::max(stages, s.lead) - s.lead) / T * T;
}

// Returns the number of stages from stream value `start` to the next beginning of a
// frame; `frames` is the known beginning of one frame.
std::uint64_t locking_viterbi_decoder::lead_of(const frame_finder::place& frames,
                                               std::uint64_t start) const
{
    const auto& code = frames.reading->code();
    const auto T = layout().stages();
    return (start < frames.start
                ? frames.stage + code.stages(frames.start - start)
                : frames.stage + T - code.stages(start - frames.start) % T) %
           T;
}

bool locking_viterbi_decoder::same_frames(const lock_segment& s,
                                          const frame_finder::place& frames) const
{
    return s.reading == frames.reading && s.lead == lead_of(frames, s.start);
}

// Begins a segment: drops the values before it, prepares its decoder and output, and
// reports the lock.
void locking_viterbi_decoder::begin(const start& from)
{
    const auto& h = from.frames ? *from.frames->reading : reading(from.found.index);
    const auto first = h.start(from.value);
    d_now.dropped += first - std::min(first, from.value);
    d_input.drop_before(first);
    open(h.which());
    const auto lead = from.frames ? lead_of(*from.frames, first) : 0;
    d_output.open(h, first, lead);
    d_input.begin(h, first, h.code().values(lead));
    d_checked = lead;
    d_frame.clear();
    d_before_frames = from.frames;
    d_before = { from.found.index, from.found.chance };
    d_until = never;
    d_monitor.begin(d_search.encoder(h.which()),
                    from.found.error_rate,
                    from.found.chance,
                    stages_before(segment(), from.found.begins));
    d_state = state::locked;

    auto& now = d_now;
    now.locked = true;
    now.first_value = segment().value_of(segment().lead);
    now.known_value = from.known;
    now.preset = d_plan.preset_of(h.which());
    now.code = d_plan.codes[h.which()].to_string();
    const auto n = h.code().values_per_period();
    const bool symbols = d_options.lock_constellation != "bpsk";
    now.pair_phase =
        first % (h.code().period() == 1 && !symbols ? h.code().outputs() : 2);
    now.puncturing_phase = h.code().period() == 1 ? 0 : first % n;
    now.rotation = 90 * h.quarter_turns();
    now.swapped = h.swapped() != (symbols && d_options.lock_first_item == "q");
    now.half_symbol = h.arrangement() >= hypothesis::order::half;
    now.inverted = h.inverted();
    now.error_rate = from.found.error_rate;
    now.chance_error_rate = from.found.chance;
    ++now.locks;
    note_change();
}

void locking_viterbi_decoder::end_segment(std::uint64_t stages, std::uint64_t known)
{
    d_output.close(stages);
    while (!d_stream_statistics.empty() &&
           d_stream_statistics.back().first_bit >= d_output.total_bits()) {
        d_stream_statistics.pop_back();
    }
    d_now.locked = false;
    d_now.first_value = segment().value_of(segment().stages);
    d_now.known_value = known;
    note_change();
}

void locking_viterbi_decoder::note_change()
{
    d_now.first_bit = d_output.total_bits();
    d_now.first_byte = d_output.total_bytes();
    d_changes.push_back(d_now);
    if (d_changes.size() > max_changes) {
        d_changes.pop_front(); // the caller does not read the changes
    }
}

} // namespace gr::gpufec
