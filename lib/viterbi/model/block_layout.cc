// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Chooses decision depth and length of parallel blocks, checks the ranges of parameters,
 * and finds the positions of soft values in a puncturing period. */

#include "block_layout.h"
#include "common/refuse.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::gpufec::viterbi {

namespace {

constexpr unsigned max_frame_bits = 1u << 24;
constexpr unsigned max_decode_length = 1u << 16;
constexpr unsigned max_overlap = 1u << 12;

unsigned round_up(unsigned x, unsigned unit) { return (x + unit - 1) / unit * unit; }

unsigned default_overlap(const conv_code& code)
{
    const double memory = code.constraint_length() - 1;
    // From K=8 on, measurements with the factor 16/3 show more errors at the ends of
    // blocks than elsewhere.
    const double factor = code.constraint_length() > 7 ? 6 : 16.0 / 3;
    return round_up(std::ceil(factor * memory / (1 - std::min(code.rate(), 0.95)) - 1e-9),
                    4);
}

unsigned default_decode_length(unsigned overlap)
{
    unsigned length = 128;
    while (length < 10 * overlap && length < 2048) {
        length *= 2;
    }
    return length;
}

void check_range(
    const char* name, unsigned value, unsigned low, unsigned high, unsigned unit)
{
    if (value < low || value > high || value % unit != 0) {
        throw std::invalid_argument(
            std::string(name) + " is " + std::to_string(value) +
            ": allowed values are 0 and " +
            (unit > 1 ? "multiples of " + std::to_string(unit) + " from " : "") +
            std::to_string(low) + " to " + std::to_string(high));
    }
}

} // namespace

std::uint32_t sent_stages(const conv_code& code, termination ends, unsigned frame_bits)
{
    return frame_bits +
           (ends == termination::terminated ? code.constraint_length() - 1 : 0);
}

void check_frame_bits(const conv_code& code, termination ends, unsigned frame_bits)
{
    const auto kind = "with termination \"" + std::string(termination_name(ends)) + '"';
    if (ends == termination::streaming) {
        require(frame_bits == 0, "frame_bits", frame_bits, "0 " + kind);
        return;
    }
    const unsigned min_frame_bits =
        ends == termination::tailbiting ? code.constraint_length() - 1 : 1;
    require(frame_bits >= min_frame_bits && frame_bits <= max_frame_bits,
            "frame_bits",
            frame_bits,
            std::to_string(min_frame_bits) + " to " + std::to_string(max_frame_bits) +
                " information bits per frame " + kind);
}

block_layout make_block_layout(const conv_code& code,
                               termination ends,
                               unsigned frame_bits,
                               unsigned decode_length,
                               unsigned overlap)
{
    check_frame_bits(code, ends, frame_bits);
    const unsigned memory = code.constraint_length() - 1;
    if (overlap != 0) {
        check_range("overlap", overlap, memory, max_overlap, 1);
    }
    if (decode_length != 0) {
        check_range("decode_length", decode_length, 32, max_decode_length, 32);
    }

    block_layout plan{};
    plan.termination = ends;
    plan.overlap = overlap ? overlap : default_overlap(code);
    plan.decode_length =
        decode_length ? decode_length : default_decode_length(plan.overlap);
    plan.window = plan.decode_length + 2 * plan.overlap;
    plan.blocks_per_frame = 1;
    if (plan.streaming()) {
        return plan;
    }

    plan.frame_bits = frame_bits;
    plan.frame_values = code.values(sent_stages(code, ends, frame_bits));
    plan.frame_stages =
        ends == termination::tailbiting ? frame_bits : frame_bits + memory;
    if (decode_length == 0) {
        const auto blocks = std::max(1u, frame_bits / plan.decode_length);
        plan.decode_length = round_up((frame_bits + blocks - 1) / blocks, 32);
    }
    plan.blocks_per_frame = (frame_bits + plan.decode_length - 1) / plan.decode_length;
    plan.window = std::min(plan.decode_length, frame_bits) + 2 * plan.overlap;
    if (ends != termination::tailbiting) {
        plan.window = plan.blocks_per_frame == 1
                          ? plan.frame_stages
                          : std::min(plan.window, plan.frame_stages);
    }
    return plan;
}

value_map make_value_map(const conv_code& code)
{
    value_map map{};
    map.period = code.period();
    map.values_per_period = code.values_per_period();
    map.outputs = code.outputs();
    std::int16_t next = 0;
    for (unsigned stage = 0; stage < code.period(); ++stage) {
        for (unsigned r = 0; r < code.outputs(); ++r) {
            map.position[stage * code.outputs() + r] =
                code.sent(stage, r) ? next++ : std::int16_t(-1);
        }
    }
    return map;
}

} // namespace gr::gpufec::viterbi
