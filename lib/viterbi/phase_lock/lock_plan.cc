// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks the options of a phase search and derives its codes and frames. */

#include "common/ranges.h"
#include "lock_plan.h"
#include "phase_search.h"
#include "viterbi/stream/decoder_impl.h"
#include <algorithm>

namespace gr::gpufec::viterbi {

namespace {

std::vector<conv_code> codes_of(const viterbi_options& o)
{
    std::vector<conv_code> codes{ o.code };
    for (const auto& name : o.lock_presets) {
        const auto code = conv_code::preset(name);
        if (std::none_of(codes.begin(), codes.end(), [&](const conv_code& c) {
                return c.to_string() == code.to_string();
            })) {
            codes.push_back(code);
        }
    }
    return codes;
}

std::vector<conv_code> as_received(std::vector<conv_code> codes, unsigned positive_bit)
{
    for (auto& code : codes) {
        code = positive_bit ? code.opposite() : code;
    }
    return codes;
}

frame_layout layout_of(const viterbi_options& o)
{
    return o.termination == termination::streaming
               ? frame_layout{}
               : frame_layout{ o.frame_bits, o.code.constraint_length() - 1 };
}

const viterbi_options& checked(const viterbi_options& o)
{
    require(o.termination == termination::streaming ||
                o.termination == termination::terminated,
            "lock",
            "\"auto\"",
            "\"off\", unless termination is \"streaming\" or \"terminated\", because "
            "other frames have no known bits at their ends");
    for (const auto& name : o.lock_presets) {
        const auto ends = find_conv_preset(name).termination;
        require(ends == termination::streaming || ends == o.termination,
                "lock_presets",
                '"' + name + '"',
                std::string("presets with termination streaming or ") +
                    termination_name(o.termination) + "; this preset has " +
                    termination_name(ends));
    }
    if (o.termination == termination::terminated) {
        require(o.frame_bits >= 1 && o.frame_bits <= 1u << 24,
                "frame_bits",
                o.frame_bits,
                "1 to 16777216");
    }
    require(o.lock_memory >= 10000 && o.lock_memory <= 1000000000,
            "lock_memory",
            o.lock_memory,
            "10000 to 1000000000");
    require(o.lock_first_item == "i" || o.lock_first_item == "q",
            "lock_first_item",
            '"' + o.lock_first_item + '"',
            "i and q");
    require_above_0("soft_scale", o.soft_scale);
    check_positive_bit(o.positive_bit);
    return o;
}

} // namespace

lock_plan::lock_plan(const viterbi_options& options)
    : codes(codes_of(checked(options))),
      received(as_received(codes, options.positive_bit)),
      layout(layout_of(options)),
      d_preset(options.lock_preset),
      d_presets(options.lock_presets)
{
    if (!layout.stream()) {
        check_frames(options);
    }
}

// Throws std::invalid_argument unless a frame of each code has whole puncturing periods
// and whole input items, and lock_memory is at least the number of values in 24 frames.
// Frames without gaps form one code sequence only if they consist of whole periods.
void lock_plan::check_frames(const viterbi_options& o) const
{
    for (const auto& code : codes) {
        const auto stages = o.frame_bits + code.constraint_length() - 1;
        if (stages % code.period() != 0) {
            refuse("lock",
                   "\"auto\"",
                   "frames of " + code.to_string() +
                       ", with their tails, must have whole puncturing periods");
        }
        if (code.values(stages) % 2 != 0 && o.format == soft_format::packed4) {
            refuse("soft_input",
                   "\"packed4\"",
                   "with lock \"auto\", each frame must have an even number of values");
        }
    }
    require(o.lock_memory >= values_of(24),
            "lock_memory",
            o.lock_memory,
            std::to_string(values_of(24)) + " to 1000000000, to hold 24 frames");
}

std::uint64_t lock_plan::values_of(std::uint64_t frames) const
{
    std::uint64_t most = 0;
    for (const auto& code : codes) {
        most = std::max(most, code.values(layout.stages()));
    }
    return layout.stream() ? 0 : frames * most;
}

// Returns max_stages for a stream. For frames, returns the number of stages of 12 frames,
// rounded down to a multiple of 32, but at least 512 and at most max_stages.
unsigned lock_plan::window_stages() const
{
    return layout.stream() ? phase_search::max_stages
                           : std::clamp<std::uint64_t>(layout.stages() * 12 / 32 * 32,
                                                       512,
                                                       phase_search::max_stages);
}

std::string lock_plan::preset_of(unsigned which) const
{
    if (which == 0 && !d_preset.empty()) {
        return d_preset;
    }
    for (const auto& name : d_presets) {
        if (conv_code::preset(name).to_string() == codes[which].to_string()) {
            return name;
        }
    }
    return "";
}

} // namespace gr::gpufec::viterbi
