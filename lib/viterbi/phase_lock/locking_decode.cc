// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The part of the decoder with phase search that decodes, checks the lock, and outputs
 * the bits up to the stage to which the checks have confirmed the lock. locking.h defines
 * the terms. */

#include "locking.h"

namespace gr::gpufec {

using namespace viterbi;

namespace {

// Number of stages at the beginning of a segment in which checks have short distances.
constexpr std::uint64_t young = 1u << 16;
// Number of values that stay buffered before the stage to which the lock is confirmed.
constexpr std::uint64_t retained = 1024;
constexpr std::size_t chunk = 1u << 14; // number of bytes per pull

} // namespace

bool locking_viterbi_decoder::decode()
{
    const bool fed = feed();
    const bool collected = collect();
    if (d_state != state::locked) {
        return true;
    }
    const bool checked = d_until == never ? check() : reach_end();
    if (d_state != state::locked) {
        return true;
    }
    if (d_until == never && all_collected() && segment().stages == segment().collected) {
        d_output.close(segment().stages);
        d_input.drop_before(d_input.end());
        d_ended = true;
        d_state = state::searching;
        return true;
    }
    return fed || collected || checked;
}

// Pushes buffered values to the inner decoder. If no more input follows, finishes the
// inner decoder after the last value. Returns whether there was progress.
bool locking_viterbi_decoder::feed()
{
    bool some = d_input.feed(d_until == never ? never : values_until_end(), d_finishing);
    if (d_until == never) {
        d_input.pass();
    }
    if (d_finishing && segment().start + d_input.fed() >= d_input.end() &&
        !d_inner_finished) {
        d_decoder->finish();
        d_inner_finished = some = true;
    }
    return some;
}

bool locking_viterbi_decoder::collect()
{
    return layout().stream() ? collect_batches() : collect_frames();
}

// Collects decoded batches of a stream and checks the lock. A batch stays in its slot
// until its confirmed bits are pulled. The few remaining bits are then copied.
bool locking_viterbi_decoder::collect_batches()
{
    for (bool some = false;; some = true) {
        if (!d_output.has_batch()) {
            if (d_output.full()) {
                return some;
            }
            const auto batch = d_decoder->oldest();
            collect_statistics();
            if (!batch) {
                return some;
            }
            d_output.begin_batch(*batch);
            if (!batch->full && batch->value > d_input.cut()) {
                d_finely_until = batch->end;
            }
            some = true;
        }
        if (d_until == never) {
            check();
            if (d_state != state::locked) {
                return true;
            }
        }
        if (d_output.available()) {
            return some;
        }
        release_batch();
    }
}

void locking_viterbi_decoder::release_batch()
{
    if (d_output.has_batch()) {
        const auto end = segment().batch->value;
        d_output.end_batch(needed());
        d_input.release_batch(end);
    }
}

bool locking_viterbi_decoder::collect_frames()
{
    bool some = false;
    d_part.resize(chunk);
    while (!d_output.full()) {
        const auto n = d_decoder->pull(packed_bits(d_part));
        collect_statistics();
        if (n == 0) {
            break;
        }
        some = true;
        for (std::size_t i = 0; i < n;) {
            const auto m = std::min(n - i, layout().bytes() - d_frame.size());
            d_frame.insert(d_frame.end(), &d_part[i], &d_part[i] + m);
            i += m;
            if (d_frame.size() == layout().bytes()) {
                d_output.collected_frame(d_frame.data(), needed());
                d_frame.clear();
            }
        }
    }
    return some;
}

void locking_viterbi_decoder::collect_statistics()
{
    if (const auto made = d_decoder->status()) {
        d_statistics = moved(*made);
    }
    for (batch_statistics made; d_decoder->take_stream_statistics(made);) {
        add_stream_statistics(moved(made));
    }
}

viterbi_decoder::batch_statistics
locking_viterbi_decoder::moved(batch_statistics made) const
{
    made.first_bit += segment().first_bit;
    made.first_byte += segment().first_byte;
    return made;
}

// Runs the checks whose stages are decoded, up to the first one that fails. At the end of
// the stream, also checks the lock at the last decoded stage. Returns whether there was a
// check.
bool locking_viterbi_decoder::check()
{
    bool some = false;
    for (;;) {
        auto& s = segment();
        auto target = next_check();
        const bool last = s.collected < target && all_collected();
        if (last) {
            target = s.collected;
        }
        if (s.collected < target || s.stages == target) {
            return some;
        }
        some = true;
        const auto* made = s.batch ? s.batch->error_counts_of(target) : nullptr;
        auto checks = made && !last ? checks_from(target) : 1;
        while (!d_monitor.judge(s, target, d_values, made)) {
            d_checked = target;
            if (--checks == 0) {
                break;
            }
            target += d_long_stretch;
            ++made;
        }
        const bool lost = checks > 0;
        const auto clear =
            last && !lost ? target : std::min(d_monitor.clear(), d_checked);
        s.stages = std::max(s.stages, whole(s, clear));
        drop_checked(clear);
        if (lost) {
            doubt(target);
            return true;
        }
    }
}

// Returns the number of checks from stage `target` to the end of the batch, for which the
// device has counted sign errors. Returns 1 if the current stretch differs from the
// stretch of the device's counts.
std::uint64_t locking_viterbi_decoder::checks_from(std::uint64_t target) const
{
    const auto& s = segment();
    const bool regular = s.batch->every == d_long_stretch && !checks_finely();
    return regular ? (std::min(s.collected, s.batch->end) - target) / d_long_stretch + 1
                   : 1;
}

// Drops the values before stage `clear`, to which the lock is confirmed. The last
// `retained` values before that stage are not dropped, because another lock may begin in
// them.
void locking_viterbi_decoder::drop_checked(std::uint64_t clear)
{
    const auto value = segment().value_of(clear);
    d_input.drop_before(value - std::min(value, retained));
}

// Returns the stage of the next check. The stretch is short at the beginning of a
// segment, and in batches that were cut short for low latency. All other checks are at
// multiples of the long stretch, counted from the first frame; in a stream, from the
// beginning of the segment. The device counts sign errors at the same stages of a stream.
std::uint64_t locking_viterbi_decoder::next_check() const
{
    const auto lead = segment().lead;
    return checks_finely()
               ? d_checked + d_stretch
               : lead + ((d_checked - lead) / d_long_stretch + 1) * d_long_stretch;
}

bool locking_viterbi_decoder::checks_finely() const
{
    return d_checked < segment().lead + young || d_checked < d_finely_until;
}

// Restarts the search after the check at stage `target` has failed.
void locking_viterbi_decoder::doubt(std::uint64_t target)
{
    const auto& s = segment();
    d_lost_stage = std::max(s.stages, d_monitor.lost_stage());
    d_lost_target = target;
    d_input.rebuffer();
    release_batch();
    d_judged = s.value_of(target + overlap());
    d_next_window = s.value_of(d_lost_stage);
    d_windows = 0;
    d_search.forget();
    d_state = state::doubting;
}

// Returns the number of code values that are needed to decode the segment to its end,
// stage d_until.
std::uint64_t locking_viterbi_decoder::values_until_end() const
{
    const auto D = d_decoder->decode_length();
    return layout().stream() ? code().values((d_until + D - 1) / D * D + overlap())
                             : code().values(d_until);
}

// Makes the bits before the segment's end available as output, and begins the next
// segment there. If the stream ends first, the segment ends with the last decoded stage.
// Returns false if more stages of the segment remain to be decoded.
bool locking_viterbi_decoder::reach_end()
{
    auto& s = segment();
    const bool last = all_collected();
    if (d_input.fed() >= values_until_end()) {
        d_decoder->flush();
    }
    s.stages = std::max(s.stages, std::min(s.collected, d_until));
    if (s.stages < d_until && !last) {
        return false;
    }
    const auto next = *std::exchange(d_next, {});
    end_segment(s.stages, next.known);
    release_batch();
    begin(next);
    return true;
}

} // namespace gr::gpufec
