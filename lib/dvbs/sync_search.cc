// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts the errors of sync bytes in a sliding window, for all positions of frames. */

#include "sync_search.h"
#include <algorithm>

namespace gr::gpufec::dvbs {

namespace {

constexpr unsigned window_frames = sync_search::window_frames;

std::uint8_t count_ones(std::uint8_t bits)
{
    bits = bits - (bits >> 1 & 0x55);
    bits = (bits & 0x33) + (bits >> 2 & 0x33);
    return (bits + (bits >> 4)) & 0x0f;
}

} // namespace

sync_search::sync_search(unsigned max_errors)
    : d_max_errors(max_errors),
      d_errors(window_frames * frame_places),
      d_sums(frame_places)
{
}

void sync_search::restart()
{
    std::fill(d_errors.begin(), d_errors.end(), 0);
    std::fill(d_sums.begin(), d_sums.end(), 0);
    d_oldest = d_frames = 0;
}

std::optional<sync_search::alignment> sync_search::add(const std::uint8_t* bytes,
                                                       std::uint64_t first)
{
    auto* errors = &d_errors[d_oldest * frame_places];
    auto* sums = d_sums.data();
    for (unsigned kind = 0; kind < additive_sequence::kinds; ++kind) {
        std::uint8_t sent[frame_bytes + 1];
        std::copy_n(bytes, sizeof sent, sent);
        additive_sequence(kind, false).add(8 * first, sizeof sent, sent);
        for (unsigned bit = 0; bit < 8; ++bit) {
            for (std::size_t b = 0; b < frame_bytes; ++b) {
                const std::uint8_t byte = sent[b] << bit | sent[b + 1] >> (8 - bit);
                const auto now = count_ones(byte ^ sync_byte);
                sums[b] += now - errors[b];
                errors[b] = now;
            }
            errors += frame_bytes;
            sums += frame_bytes;
        }
    }
    d_oldest = (d_oldest + 1) % window_frames;
    d_frames = std::min(d_frames + 1, window_frames);
    return d_frames < window_frames ? std::nullopt
                                    : best(first - (window_frames - 1) * frame_bytes);
}

// Returns the best hypothesis that fits the window, whose first byte has index `first`.
std::optional<sync_search::alignment> sync_search::best(std::uint64_t first) const
{
    // A window has at most two inverted sync bytes, so the sum of a hypothesis that fits
    // is at most 16 + d_max_errors or, if the bits are inverted, at least 96 − 16 −
    // d_max_errors.
    const std::uint8_t below = 17 + d_max_errors;
    const std::uint8_t inner = 8 * window_frames + 1 - 2 * below;
    const auto possible = [&](std::size_t place) {
        return std::uint8_t(d_sums[place] - below) >= inner;
    };
    std::optional<alignment> found;
    for (std::size_t row = 0; row < frame_places; row += frame_bytes) {
        std::uint8_t any = 0;
        for (std::size_t b = 0; b < frame_bytes; ++b) {
            any |= possible(row + b);
        }
        for (std::size_t b = 0; any && b < frame_bytes; ++b) {
            if (possible(row + b)) {
                judge(row + b, first, found);
            }
        }
    }
    return found;
}

// Replaces `best` by the best hypothesis for a place if that hypothesis fits and has
// fewer errors.
void sync_search::judge(std::size_t place,
                        std::uint64_t first,
                        std::optional<alignment>& best) const
{
    const auto row = place / frame_bytes, byte = place % frame_bytes;
    for (const bool complemented : { false, true }) {
        unsigned plain_errors[window_frames], sum = 0;
        for (unsigned f = 0; f < window_frames; ++f) {
            const auto ring = (d_oldest + f) % window_frames;
            const unsigned differing = d_errors[ring * frame_places + place];
            plain_errors[f] = complemented ? 8 - differing : differing;
            sum += plain_errors[f];
        }
        for (unsigned inverted = 0; inverted < group_packets; ++inverted) {
            auto total = sum;
            bool fits = true;
            for (unsigned f = inverted; f < window_frames; f += group_packets) {
                const auto errors = 8 - plain_errors[f];
                total += errors - plain_errors[f];
                fits &= errors <= max_inverted_errors;
            }
            if (fits && total < (best ? best->errors : d_max_errors + 1)) {
                best = { 8 * (first + byte) + row % 8,
                         (group_packets - inverted) % group_packets,
                         additive_sequence(unsigned(row / 8), complemented),
                         total };
            }
        }
    }
}

} // namespace gr::gpufec::dvbs
