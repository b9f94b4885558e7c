// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the states of frame_tracker, which are search, lock and fly-wheel. */

#include "frame_tracker.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::gpufec::framing {

namespace {

// Returns the number of wrong signs that a marker of soft values may have. Fewer than 1
// in 500 random positions pass this limit, so that few positions need soft values.
unsigned wrong_signs(unsigned bits)
{
    unsigned errors = 0;
    while (2 * chance_of_marker(bits, errors + 1) <= 0.002) {
        ++errors;
    }
    return errors;
}

} // namespace

frame_tracker::frame_tracker(const options& options,
                             prepare_function prepare,
                             prepared_function prepared,
                             check_function check,
                             take_function take,
                             ccsds_counts& counts,
                             const std::string& variant)
    : d_options(options),
      d_period(options.marker.bits + options.frame_bits),
      d_tolerated(tolerance(options.marker,
                            d_period,
                            2 * unsigned(options.orientations.size()),
                            options.false_alarm)),
      d_hard_search(options.marker, d_tolerated.search, variant),
      d_soft_search(options.marker, wrong_signs(options.marker.bits), variant),
      d_prepare(std::move(prepare)),
      d_located(std::move(prepared)),
      d_check(std::move(check)),
      d_take(std::move(take)),
      d_counts(counts)
{
}

void frame_tracker::restart()
{
    d_locked = false;
    d_at = d_end = d_wait = d_prepared_end = d_exact = d_spacing = d_other_period = 0;
    d_misses = d_bad = 0;
    d_prepared = 0;
    d_checked.reset();
}

std::uint64_t frame_tracker::needed() const { return d_at - std::min(d_at, d_period); }

void frame_tracker::run(const received_bits& bits, bool ended)
{
    if (bits.end() < d_wait && !ended) {
        return;
    }
    d_wait = 0;
    while (d_locked ? track(bits, ended) : search(bits, ended)) {
    }
}

// Returns the number of wrong bits in a marker of hard bits, or the equivalent number for
// soft values.
unsigned frame_tracker::errors(double correlation) const
{
    return std::lround(d_options.marker.bits * (1 - std::abs(correlation)) / 2);
}

located_frame frame_tracker::at(const received_bits& bits,
                                std::uint64_t position,
                                unsigned orientation) const
{
    const auto c =
        bits.correlation(d_options.orientations[orientation], position, d_options.marker);
    return { position, orientation, c < 0, c, errors(c) <= d_tolerated.track };
}

located_frame frame_tracker::located(const received_bits& bits,
                                     const located_frame& expected) const
{
    auto found = at(bits, expected.position, expected.orientation);
    if (!found.marker_found) {
        found.inverted = expected.inverted;
    }
    return found;
}

// Passes the available frames to d_prepare, except those passed in earlier calls.
void frame_tracker::prepare(const received_bits& bits)
{
    if (d_options.ahead < 2 || d_at < d_prepared_end) {
        return;
    }
    const auto count =
        std::min<std::uint64_t>((bits.end() - d_at) / d_period, d_options.ahead);
    d_prepared = count > 1 ? count : 0;
    d_prepared_end = d_at + count * d_period;
    if (count > 1) {
        d_prepare(expected_place(), count);
    }
}

// Returns the frame at d_at as far as it is known before its marker is located.
located_frame frame_tracker::expected_place() const
{
    auto frame = d_last;
    frame.position = d_at;
    return frame;
}

// Returns the frame that is expected at d_at.
located_frame frame_tracker::expected(const received_bits& bits)
{
    prepare(bits);
    if (d_prepared == 0) {
        return located(bits, expected_place());
    }
    auto frame = d_located(d_prepared - (d_prepared_end - d_at) / d_period);
    if (!frame.marker_found) {
        frame.inverted = d_last.inverted; // of the last frame before this one
    }
    return frame;
}

// Returns the first marker with a tolerated number of errors whose position is at least
// `from` and less than `end`.
std::optional<located_frame> frame_tracker::next(const received_bits& bits,
                                                 std::uint64_t from,
                                                 std::uint64_t end) const
{
    constexpr std::size_t chunk = 4096;
    std::uint8_t bytes[chunk / 8 + 8];
    const auto& search = bits.has_soft() ? d_soft_search : d_hard_search;
    for (auto start = from / 8 * 8; start < end; start += chunk) {
        std::optional<located_frame> first;
        auto limit = std::size_t(std::min<std::uint64_t>(end - start, chunk));
        for (unsigned o = 0; o < d_options.orientations.size(); ++o) {
            const auto count = (limit + d_options.marker.bits - 1 + 7) / 8;
            bits.read_bytes(d_options.orientations[o], start, count, bytes);
            const auto position = std::size_t(std::max(from, start) - start);
            search.find(bytes, position, limit, [&](std::size_t hit) {
                const auto found = at(bits, start + hit, o);
                if (errors(found.correlation) > d_tolerated.search) {
                    return false;
                }
                first = found;
                limit = hit; // a marker in another orientation must begin earlier
                return true;
            });
        }
        if (first) {
            return first;
        }
    }
    return std::nullopt;
}

// Returns whether the next marker is at its expected place and no better marker overlaps
// the marker at `position`. The bits of all these markers must be available. A marker
// that is read in another orientation resembles itself shifted by one bit: the marker of
// AR4JA then differs in only 11 of 64 bits.
bool frame_tracker::confirmed(const received_bits& bits, const located_frame& frame) const
{
    const auto second = at(bits, frame.position + d_period, frame.orientation);
    if (second.inverted != frame.inverted ||
        errors(second.correlation) > d_tolerated.search) {
        return false;
    }
    for (unsigned o = 0; o < d_options.orientations.size(); ++o) {
        for (unsigned shift = 1; shift < d_options.marker.bits; ++shift) {
            const auto other = at(bits, frame.position + shift, o);
            if (std::abs(other.correlation) > std::abs(frame.correlation)) {
                return false;
            }
        }
    }
    return true;
}

frame_check frame_tracker::check(const located_frame& frame)
{
    if (!d_checked || !same_place(*d_checked, frame)) {
        d_result = d_check(frame);
        d_checked = frame;
    }
    return d_result;
}

// Decodes a frame and returns whether the frame is correct. \c wait means that the answer
// depends on bits that are not available yet.
frame_tracker::judgement
frame_tracker::judge(const received_bits& bits, bool ended, const located_frame& frame)
{
    const auto result = check(frame);
    if (result != frame_check::corrected) {
        return result == frame_check::good  ? judgement::good
               : result == frame_check::bad ? judgement::bad
                                            : judgement::none;
    }
    const auto n = d_options.marker.bits;
    const auto next = frame.position + d_period;
    const auto available = [&](std::uint64_t end) {
        d_wait = bits.end() < end && !ended ? end : 0;
        return d_wait == 0;
    };
    if (!available(next + n)) {
        return judgement::wait;
    }
    if (bits.end() < next + n) {
        return judgement::good;
    }
    const auto following = at(bits, next, frame.orientation);
    if (following.marker_found) {
        // If the sign changes soon after a marker, the decoder may decode the complement
        // of the frame.
        return following.inverted == frame.inverted ? judgement::good : judgement::bad;
    }
    const auto reach = std::uint64_t(d_options.shift) * d_options.max_shift;
    if (!available(next + reach + n)) {
        return judgement::wait;
    }
    for (auto from = next - reach; from <= next + reach; from += d_options.shift) {
        if (from + n <= bits.end() &&
            errors(at(bits, from, frame.orientation).correlation) <= d_tolerated.search) {
            return judgement::bad;
        }
    }
    return judgement::good;
}

void frame_tracker::take(const located_frame& frame, judgement result)
{
    check(frame); // another frame may have been checked last
    d_take(frame,
           result == judgement::good  ? frame_check::good
           : result == judgement::bad ? frame_check::bad
                                      : frame_check::none);
    d_bad = result == judgement::bad ? d_bad + 1 : 0;
    d_last = frame;
    d_at = d_end = frame.position + d_period;
}

void frame_tracker::lock(const located_frame& frame, judgement result)
{
    d_locked = true;
    d_misses = 0;
    d_bad = d_options.flywheel;
    d_prepared_end = d_exact = d_spacing = d_other_period = 0;
    take(frame, result);
}

// Records the distances of markers without errors.
void frame_tracker::note_period(const located_frame& frame)
{
    if (errors(frame.correlation) > 0) {
        return;
    }
    const auto spacing = frame.position - std::exchange(d_exact, frame.position);
    if (std::exchange(d_spacing, spacing) == spacing && spacing % d_period != 0) {
        d_other_period = spacing;
    }
}

// Returns the frame before the first frame of a lock if the code confirms it. The marker
// of this frame has more errors than the search tolerates. Such markers are frequent at
// the beginning of a stream, because a Viterbi decoder does not know the encoder's first
// state.
std::optional<located_frame> frame_tracker::before(const received_bits& bits,
                                                   const located_frame& frame)
{
    if (frame.position < std::max(bits.begin(), d_end) + d_period) {
        return std::nullopt;
    }
    auto earlier = at(bits, frame.position - d_period, frame.orientation);
    if (!earlier.marker_found) {
        earlier.inverted = frame.inverted;
    }
    const bool good = earlier.inverted == frame.inverted &&
                      judge(bits, true, earlier) == judgement::good;
    return good ? std::make_optional(earlier) : std::nullopt;
}

// Searches for a frame from d_at on. Returns whether the state changed.
bool frame_tracker::search(const received_bits& bits, bool ended)
{
    const auto end =
        bits.end() - std::min<std::uint64_t>(bits.end(), d_options.marker.bits - 1);
    const auto found = next(bits, d_at, end);
    if (!found) {
        d_at = std::max(d_at, end);
        return false;
    }
    const auto frame_end = found->position + d_period;
    d_at = found->position;
    const auto confirmed_end = frame_end + d_options.marker.bits;
    auto result = judgement::bad;
    if (bits.end() >= frame_end) {
        result = judge(bits, ended, *found);
    } else if (!ended) {
        d_wait = frame_end;
        return false;
    } else {
        ++d_counts.cut;
    }
    if (result == judgement::wait) {
        return false;
    }
    const bool good = result == judgement::good;
    if (!good && bits.end() < confirmed_end && !ended) {
        d_wait = confirmed_end;
        return false;
    }
    if (good || (bits.end() >= confirmed_end && confirmed(bits, *found))) {
        ++d_counts.locks;
        if (const auto earlier = before(bits, *found)) {
            d_counts.missed += !earlier->marker_found;
            lock(*earlier, judgement::good);
        } else {
            lock(*found, result);
        }
    } else {
        ++d_counts.unconfirmed;
        note_period(*found);
        d_at = found->position + 1;
    }
    return true;
}

// Searches for a frame that replaces the expected one.
frame_tracker::rivals frame_tracker::find_rival(const received_bits& bits,
                                                bool ended,
                                                const located_frame& expected)
{
    const auto n = d_options.marker.bits;
    auto from = std::max(bits.begin(), d_at - std::min(d_at, d_period - 1));
    while (const auto rival = next(bits, from, d_at + d_period - n + 1)) {
        from = rival->position + 1;
        if (same_place(*rival, expected)) {
            continue;
        }
        // A marker at the end of a rival confirms it only if the expected frame's own
        // marker is missing.
        const auto end = rival->position + d_period;
        const auto confirmed_end = expected.marker_found ? end : end + n;
        const auto result =
            bits.end() >= end ? judge(bits, ended, *rival) : judgement::bad;
        if (result == judgement::wait) {
            return rivals::wait;
        }
        if (result == judgement::good ||
            (!expected.marker_found && bits.end() >= confirmed_end &&
             confirmed(bits, *rival))) {
            ++d_counts.slips;
            lock(*rival, result);
            return rivals::found;
        }
        if (bits.end() < confirmed_end && !ended) {
            d_wait = bits.end() < end ? end : confirmed_end;
            return rivals::wait;
        }
    }
    return rivals::none;
}

// Outputs the frame at d_at, or a frame that replaces it. Returns whether the state
// changed.
bool frame_tracker::track(const received_bits& bits, bool ended)
{
    if (bits.end() < d_at + d_period) {
        if (!ended) {
            d_wait = d_at + d_period;
            return false;
        }
        // After a slip by lost bits, a whole frame may begin before d_at.
        d_locked = false;
        d_at = std::max(bits.begin(), d_last.position + 1);
        return true;
    }
    const auto expected = this->expected(bits);
    const auto result = judge(bits, ended, expected);
    if (result == judgement::wait) {
        return false;
    }
    // A frame whose marker is missing may be a shifted codeword.
    if (!expected.marker_found ||
        (result == judgement::bad && d_bad >= d_options.flywheel)) {
        const auto found = find_rival(bits, ended, expected);
        if (found != rivals::none) {
            return found == rivals::found;
        }
    }
    const bool kept = expected.marker_found || result == judgement::good;
    d_misses = kept ? 0 : d_misses + 1;
    if (d_misses > d_options.flywheel) {
        ++d_counts.losses;
        d_locked = false;
        // find_rival() has searched the earlier positions.
        d_at += d_period - d_options.marker.bits + 1;
        return true;
    }
    d_counts.missed += !expected.marker_found;
    take(expected, result);
    return true;
}

} // namespace gr::gpufec::framing
