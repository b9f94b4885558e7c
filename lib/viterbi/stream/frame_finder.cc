// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a section of a stream and searches it for the zeros that end frames. */

#include "frame_finder.h"
#include "viterbi/phase_lock/phase_search.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::viterbi {

namespace {

// Margin, in nats of log-likelihood ratio, by which the best frame position must exceed
// the second best.
constexpr double as_good = 10;

} // namespace

frame_finder::frame_finder(const viterbi_options& run,
                           const std::vector<conv_code>& codes,
                           unsigned frame_bits,
                           const decoder_hooks& hooks)
    : d_frame_bits(frame_bits)
{
    decoder_hooks quiet;
    quiet.log = [log = hooks.log](log_level level, const std::string& text) {
        if (level != log_level::info) {
            log(level, text);
        }
    };
    for (const auto& code : codes) {
        viterbi_options o{ code };
        static_cast<run_options&>(o) = run;
        o.termination = termination::streaming;
        o.watch = false;
        o.slots = 1;
        o.positive_bit = 0;
        // No latency limit is needed, because decode() finishes each stream.
        o.max_latency_ms = 1e9;
        d_decoders.push_back(viterbi_decoder::make(o, quiet));
    }
}

frame_finder::~frame_finder() = default;

std::uint64_t frame_finder::stages(const conv_code& code) const
{
    return d_frame_bits + code.constraint_length() - 1;
}

// Returns the number of stages with unreliable bits at each end of a decoded section.
unsigned frame_finder::unsettled(const hypothesis& h) const
{
    return d_decoders[h.which()]->overlap();
}

std::uint64_t frame_finder::values(const hypothesis& h, unsigned frames) const
{
    const auto& code = h.code();
    const auto K = code.constraint_length();
    return code.values(2 * unsettled(h) + frames * stages(code) + K) + h.cycle() +
           hypothesis::ahead;
}

const std::vector<std::uint8_t>& frame_finder::decode(const value_span& values,
                                                      const hypothesis& h,
                                                      std::uint64_t start,
                                                      unsigned n)
{
    d_values.resize(h.code().values(n));
    h.read(values.values,
           std::int64_t(values.first) - std::int64_t(start),
           std::int64_t(values.end - start),
           0,
           d_values.size(),
           d_values.data());
    d_bits.resize(n);
    auto& decoder = *d_decoders[h.which()];
    decoder.reset();
    std::size_t given = 0, taken = 0;
    for (bool finished = false; taken < n;) {
        given += decoder.push(span(d_values).from(given));
        if (given == d_values.size() && !finished) {
            decoder.finish();
            finished = true;
        }
        const auto got = decoder.pull(unpacked_bits(span(d_bits).from(taken)));
        taken += got;
        if (got == 0 && !decoder.ready()) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
    return d_bits;
}

std::optional<frame_finder::place>
frame_finder::find(const value_span& values,
                   const std::vector<hypothesis>& readings,
                   std::uint64_t from,
                   unsigned frames)
{
    place found{};
    double best = 0, second = 0;
    for (const auto& h : readings) {
        const auto T = stages(h.code());
        const auto tail = h.code().constraint_length() - 1;
        const auto start = h.start(from);
        const auto& bits = decode(values, h, start, 2 * unsettled(h) + frames * T + tail);
        for (std::uint64_t s = 0; s < T; ++s) {
            std::size_t ones = 0;
            for (unsigned f = 0; f < frames; ++f) {
                const auto* const at = &bits[unsettled(h) + f * T + s];
                ones += std::count(at, at + tail, std::uint8_t(1));
            }
            const auto evidence = likelihood_ratio(frames * tail, double(ones), 0.5);
            if (evidence > best) {
                second = best;
                best = evidence;
                found = { &h, start, unsettled(h) + s + tail };
            } else {
                second = std::max(second, evidence);
            }
        }
    }
    if (!found.reading) {
        return {};
    }
    const auto places = double(stages(found.reading->code()) * readings.size());
    if (best < std::log(places / false_alarm) || second > best - as_good) {
        return {};
    }
    return found;
}

} // namespace gr::gpufec::viterbi
