// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Stores the decoded bits of segments until they are pulled, and maps stages to output
 * items. Frames are pulled without their tails. locking.h defines stream value, lock and
 * segment. */

#include "common/packed_bits.h"
#include "lock_output.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

std::uint64_t frame_layout::item(std::uint64_t stage, bool packed) const
{
    if (stream()) {
        return packed ? stage / 8 : stage;
    }
    const auto bit = std::min<std::uint64_t>(stage % stages(), bits - 1);
    return stage / stages() * (packed ? bytes() : bits) + (packed ? bit / 8 : bit);
}

std::uint64_t frame_layout::items(std::uint64_t count, bool packed) const
{
    return stream() ? items_of(count, packed)
                    : count / stages() * (packed ? bytes() : bits);
}

void lock_segment::reserve_stages(std::uint64_t end)
{
    const auto needed = (end - base + 7) / 8 + reencoder::slack;
    if (bytes.size() < needed) {
        bytes.resize(needed);
    }
}

void lock_segment::keep(std::uint64_t end)
{
    if (!batch || end <= copied_end) {
        return;
    }
    end = std::min((end + 7) / 8 * 8, batch->end);
    reserve_stages(end);
    std::memcpy(&bytes[(copied_end - base) / 8],
                batch->bits + (copied_end - batch->first) / 8,
                (end - copied_end + 7) / 8);
    copied_end = end;
}

lock_segment::place lock_segment::bits(std::uint64_t first, std::uint64_t end)
{
    if (batch && first >= batch->first && end + 8 * reencoder::slack <= batch->end) {
        return { batch->bits, std::size_t(first - batch->first) };
    }
    keep(end);
    return { bytes.data(), std::size_t(first - base) };
}

lock_segment::place lock_segment::from(std::uint64_t stage, std::uint64_t& end) const
{
    if (stage < copied_end) {
        end = copied_end;
        return { bytes.data(), std::size_t(stage - base) };
    }
    end = batch->end;
    return { batch->bits, std::size_t(stage - batch->first) };
}

void lock_output::clear()
{
    d_segments.clear();
    d_pulling = 0;
    d_total_bits = d_total_bytes = 0;
}

lock_segment&
lock_output::open(const hypothesis& h, std::uint64_t start, std::uint64_t lead)
{
    lock_segment s{ &h, start, lead, lead, lead };
    s.base = lead / 8 * 8;
    s.copied_end = lead;
    s.first_bit = d_total_bits;
    s.first_byte = d_total_bytes;
    d_segments.push_back(std::move(s));
    while (d_segments.size() > max_segments && d_segments.front().closed &&
           d_pulling > 0) {
        d_segments.pop_front();
        --d_pulling;
    }
    return last();
}

void lock_output::close(std::uint64_t stages)
{
    auto& s = last();
    s.stages = std::max(s.stages, stages);
    s.closed = true;
    d_total_bits = s.first_bit + d_layout.items(s.stages - s.lead, false);
    d_total_bytes = s.first_byte + d_layout.items(s.stages - s.lead, true);
}

void lock_output::begin_batch(const watched_decoder::decoded_batch& batch)
{
    auto& s = last();
    s.batch = batch;
    s.collected = batch.end;
}

void lock_output::end_batch(std::uint64_t needed)
{
    auto& s = last();
    const auto from = needed_from(s, needed);
    if (from >= s.copied_end) { // no copied bit is needed any longer
        s.base = s.copied_end = from;
    }
    s.keep(s.batch->end);
    s.batch.reset();
    trim(s, from);
}

void lock_output::collected_frame(const std::uint8_t* frame, std::uint64_t needed)
{
    auto& s = last();
    const auto bit = s.collected - s.base;
    s.reserve_stages(s.collected + d_layout.stages());
    bit_writer to(&s.bytes[bit / 8], bit % 8, s.bytes.data() + s.bytes.size());
    unsigned left = d_layout.bits;
    for (; left >= 8; left -= 8) {
        to.put(*frame++, 8);
    }
    to.put(left ? *frame >> (8 - left) : 0, left);
    to.put(0, d_layout.tail);
    to.finish();
    s.copied_end = s.collected += d_layout.stages();
    trim(s, needed_from(s, needed));
}

bool lock_output::full() const
{
    const auto& s = last();
    return s.collected >= stage_of_item(s, s.emitted) + 8 * max_emitted;
}

std::uint64_t lock_output::needed_from(const lock_segment& s, std::uint64_t needed) const
{
    // Retains 64 more bits, because re-encoding from a stage on needs the K−1 bits before
    // that stage.
    needed = std::min({ needed, s.stages, stage_of_item(s, s.emitted) });
    return std::max(s.base, (needed - std::min<std::uint64_t>(needed, 64)) / 8 * 8);
}

// Drops the bits before stage `from` once they fill max_emitted bytes. Bits are dropped
// rarely, because dropping moves all remaining bits.
void lock_output::trim(lock_segment& s, std::uint64_t from)
{
    const auto bytes = (from - s.base) / 8;
    if (bytes >= max_emitted) {
        const auto there = (s.copied_end - s.base + 7) / 8;
        std::memmove(s.bytes.data(), s.bytes.data() + bytes, there - bytes);
        s.base = from;
    }
}

std::uint64_t lock_output::ready(const lock_segment& s, bool packed) const
{
    const auto stages = s.stages - s.lead;
    const auto items = d_layout.stream() && packed && !s.closed
                           ? stages / 8 // the last byte may be incomplete
                           : d_layout.items(stages, packed);
    return items - std::min(items, s.emitted);
}

std::uint64_t lock_output::stage_of_item(const lock_segment& s, std::uint64_t item) const
{
    if (d_layout.stream()) {
        return s.lead + item * (d_packed ? 8 : 1);
    }
    const auto per_frame = d_packed ? d_layout.bytes() : d_layout.bits;
    return s.lead + item / per_frame * d_layout.stages() +
           item % per_frame * (d_packed ? 8 : 1);
}

bool lock_output::available()
{
    for (; d_pulling < d_segments.size(); ++d_pulling) {
        auto& s = d_segments[d_pulling];
        if (!s.closed || ready(s, d_packed) > 0) {
            return ready(s, d_packed) > 0;
        }
        s.bytes = {};
    }
    d_pulling -= !d_segments.empty();
    return false;
}

std::size_t lock_output::pull(bit_span out)
{
    d_packed = out.packed;
    if (!available()) {
        return 0;
    }
    auto& s = d_segments[d_pulling];
    const auto n = std::min<std::uint64_t>(out.size(), ready(s, d_packed));
    if (!d_packed) {
        copy_bits(s, n, out.data());
    } else if (d_layout.stream()) {
        copy_stream_bytes(s, n, out.data());
    } else {
        copy_frame_bytes(s, n, out.data());
    }
    s.emitted += n;
    return n;
}

void lock_output::copy_bits(const lock_segment& s, std::size_t n, std::uint8_t* out) const
{
    for (std::size_t i = 0; i < n;) {
        const auto stage = stage_of_item(s, s.emitted + i);
        std::uint64_t end = 0;
        const auto at = s.from(stage, end);
        const auto left = d_layout.stream()
                              ? end - stage
                              : d_layout.bits - (s.emitted + i) % d_layout.bits;
        const auto m = std::min<std::uint64_t>(n - i, left);
        unpack_bits(at.bits, at.first, m, out + i);
        i += m;
    }
}

void lock_output::copy_stream_bytes(const lock_segment& s,
                                    std::size_t n,
                                    std::uint8_t* out) const
{
    for (std::size_t i = 0; i < n;) {
        const auto stage = stage_of_item(s, s.emitted + i);
        std::uint64_t end = 0;
        const auto at = s.from(stage, end);
        const auto m = std::min<std::size_t>(n - i, (end - stage + 7) / 8);
        std::memcpy(out + i, at.bits + at.first / 8, m);
        i += m;
    }
}

void lock_output::copy_frame_bytes(const lock_segment& s,
                                   std::size_t n,
                                   std::uint8_t* out) const
{
    for (std::size_t i = 0; i < n; ++i) {
        const auto bit = stage_of_item(s, s.emitted + i) - s.base;
        const auto left = d_layout.bits - (s.emitted + i) % d_layout.bytes() * 8;
        const auto two = unsigned(s.bytes[bit / 8]) << 8 | s.bytes[bit / 8 + 1];
        const auto byte = two >> (8 - bit % 8) & 0xff;
        out[i] = left < 8 ? byte & 0xff << (8 - left) : byte;
    }
}

std::uint64_t lock_output::item_of(std::uint64_t value, bool packed) const
{
    auto end = packed ? d_total_bytes : d_total_bits;
    for (auto s = d_segments.rbegin(); s != d_segments.rend(); ++s) {
        const auto first = packed ? s->first_byte : s->first_bit;
        if (value >= s->start) {
            const auto stage = std::max(s->code().stage_of(value - s->start), s->lead);
            if (stage < s->stages || !s->closed) {
                return first + d_layout.item(stage - s->lead, packed);
            }
            return std::min(end, first + d_layout.items(s->stages - s->lead, packed));
        }
        end = first;
    }
    return end;
}

} // namespace gr::gpufec::viterbi
