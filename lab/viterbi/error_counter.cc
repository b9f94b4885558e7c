// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts bit errors and error events, and tests how events are distributed. */

#include "simulation.h"
#include <algorithm>
#include <cmath>
#include <cstring>

#include <boost/math/special_functions/gamma.hpp>

namespace gr::gpufec::viterbi {

error_counter::error_counter(unsigned gap, unsigned frame_bits, unsigned positions)
    : d_gap(gap), d_frame_bits(frame_bits), d_events_at(positions)
{
}

void error_counter::compare(const std::uint8_t* sent,
                            const std::uint8_t* decoded,
                            std::size_t count)
{
    // One memcmp() compares this number of bits, because most bits are correct.
    constexpr std::size_t stride = 256;
    for (std::size_t first = 0; first < count; first += stride) {
        const auto n = std::min(stride, count - first);
        if (std::memcmp(sent + first, decoded + first, n) == 0) {
            continue;
        }
        for (auto i = first; i < first + n; ++i) {
            if (sent[i] != decoded[i]) {
                wrong_bit(d_bits + i);
            }
        }
    }
    d_bits += count;
}

void error_counter::add(std::uint64_t count,
                        const std::uint64_t* wrong,
                        const std::uint64_t* wrong_end,
                        std::uint64_t first)
{
    for (; wrong != wrong_end; ++wrong) {
        wrong_bit(d_bits + (*wrong - first));
    }
    d_bits += count;
}

void error_counter::wrong_bit(std::uint64_t index)
{
    const auto in_frame = d_frame_bits ? index % d_frame_bits : index;
    const bool first_of_frame = d_frame_bits && d_wrong_frame != index / d_frame_bits + 1;
    if (d_last_error == 0 || first_of_frame || index - (d_last_error - 1) > d_gap + 1) {
        d_squares += double(d_event_size) * d_event_size;
        d_event_size = 0;
        ++d_events;
        ++d_events_at[in_frame % d_events_at.size()];
    }
    ++d_errors;
    ++d_event_size;
    d_last_error = index + 1;
    if (first_of_frame) {
        d_wrong_frame = index / d_frame_bits + 1;
        ++d_frame_errors;
    }
}

double error_counter::confidence() const
{
    const double squares = d_squares + double(d_event_size) * d_event_size;
    return d_bits ? 1.96 * std::sqrt(squares) / d_bits : 0;
}

position_test test_positions(const error_counter& counter, unsigned frame_bits)
{
    const auto& at = counter.events_at();
    const std::size_t positions = at.size();
    // For each position in a parallel block, the number of blocks per frame that contain
    // the position. The last block of a frame may be shorter.
    std::vector<double> blocks(positions, 1);
    double total = positions;
    if (frame_bits) {
        for (std::size_t p = 0; p < positions; ++p) {
            blocks[p] = frame_bits / positions + (p < frame_bits % positions);
        }
        total = frame_bits;
    }
    // About 20 events per bin suffice for the statistic to follow the chi-square law.
    const auto bins = std::min<std::size_t>(
        { 32, positions, std::max<std::size_t>(2, counter.events() / 20) });
    position_test test;
    test.events.resize(bins);
    test.expected.resize(bins);
    for (std::size_t p = 0; p < positions; ++p) {
        test.events[p * bins / positions] += at[p];
        test.expected[p * bins / positions] += counter.events() * blocks[p] / total;
    }
    unsigned used = 0;
    for (std::size_t b = 0; b < bins; ++b) {
        if (test.expected[b] > 0) {
            const double excess = test.events[b] - test.expected[b];
            test.chi_square += excess * excess / test.expected[b];
            ++used;
        }
    }
    if (used > 1) {
        test.degrees = used - 1;
        test.p_value = boost::math::gamma_q(test.degrees / 2.0, test.chi_square / 2);
    }
    return test;
}

} // namespace gr::gpufec::viterbi
