// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the throughput and the caller's CPU time of the synchronisation decoder, in
 * stream and framed mode, and the time of each step of a stream's batch on a device. */

#include "sync_batch.h"
#include <cstring>

namespace gr::gpufec::bench {

namespace {

// Number of frames after which a stream repeats. This is more than the distance between
// anchors (frames whose beginnings are found in advance), which is at most 64 frames.
constexpr unsigned stream_period = 640;

// Returns throughput, the caller's CPU time per frame, and the number of wrong symbols.
json measure_decoder(double p,
                     sync_mode mode,
                     sync_precision precision,
                     backend where,
                     unsigned frames,
                     unsigned batch_frames = 0)
{
    const code_size c{ 10, 32, 210 };
    batch b(c, p, with(linear, precision), stream_period);
    b.options.mode = mode;
    b.options.backend = where;
    b.options.batch = batch_frames;
    json entry = describe(c, p, with(linear, precision), sync_map::make_setup(b.options));
    const auto decoder = sync_decoder::make(b.options);
    std::size_t pulled = 0, wrong = 0, locked = 0;
    double bound = 0;
    const auto pull = [&] {
        sync_decoder::frame f;
        while (decoder->pull(f)) {
            const auto* const symbols = static_cast<const std::uint8_t*>(f.output);
            const auto& message = b.data.messages[pulled++ % b.data.messages.size()];
            unsigned differ = 0;
            for (unsigned i = 0; i < c.N; ++i) {
                differ += symbols[i] != message[i];
            }
            wrong += differ;
            locked += f.locked;
            bound = std::max(bound, f.bound);
        }
    };
    const auto begin = std::chrono::steady_clock::now();
    const double caller = caller_seconds();
    push_frames(*decoder, b.data, mode, frames, pull);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const double mbit = frames * information_bits(c) / 1e6;
    const double caller_s = caller_seconds() - caller;
    entry.add("mode", mode == sync_mode::stream ? "stream" : "framed")
        .add("frames", frames)
        .add("backend", decoder->active_backend())
        .add("batch", decoder->batch())
        .add("mbit_per_s", mbit / taken.count())
        .add("caller_us_per_frame", caller_s / frames * 1e6)
        .add("caller_mbit_per_s", mbit / caller_s);
    if (mode == sync_mode::stream) {
        entry.add("locked", locked)
            .add("largest_bound", bound)
            .add("links_failed", double(decoder->links_failed()))
            .add("frames_again", double(decoder->frames_again()));
    }
    return entry.add("checked",
                     json::object()
                         .add("frames", pulled)
                         .add("wrong_symbols", wrong)
                         .add("symbols", pulled * c.N));
}

// Measures the time of each step in which a device decodes a batch of a stream.
json measure_stream_steps(double p, sync_precision precision, unsigned frames)
{
    const code_size c{ 10, 32, 210 };
    batch b(c, p, with(linear, precision), stream_period);
    b.options.mode = sync_mode::stream;
    const auto setup = sync_map::make_setup(b.options);
    json entry = describe(c, p, with(linear, precision), setup);
    entry.add("frames", frames).add("warmup", setup.search.warmup);
    try {
        const auto decoder = sync_map::traits::make_cuda(setup, frames, 1, 0);
        const auto limits = decoder->limits();
        const auto layout = setup.stream_input(frames);
        const host_memory in(limits.input_bytes), out(limits.output_bytes),
            status(limits.status_bytes);
        auto* const pieces = reinterpret_cast<sync_map::stream_piece*>(in.data());
        std::size_t at = 0;
        for (unsigned f = 0; f < frames; ++f) {
            pieces[f] = { -1, std::int32_t(at) };
            const auto& items = b.data.received[f % b.data.received.size()];
            std::memcpy(in.data() + layout.items_at + at, items.data(), items.size());
            at += items.size();
        }
        const auto steps = decoder->time_steps({ frames, 0, at, setup.search.warmup },
                                               { in.data(), out.data(), status.data() },
                                               rounds);
        const auto starts_ms = step_ms(steps, "starts");
        const auto boundary_matches_ms = step_ms(steps, "links");
        const auto kernels_ms = step_ms(steps, "kernels"); // includes the two steps above
        const double kbit = frames * information_bits(c) / 1e3;
        entry.add("starts_ms", starts_ms)
            .add("frames_ms", kernels_ms - starts_ms - boundary_matches_ms)
            .add("links_ms", boundary_matches_ms)
            .add("kernels_ms", kernels_ms)
            .add("in_ms", step_ms(steps, "copy_in"))
            .add("out_ms", step_ms(steps, "copy_out"))
            .add("mbit_per_s", kbit / kernels_ms)
            .add("device_mib", limits.device_bytes / 1048576.0);
    } catch (const std::exception& error) {
        entry.add("error", error.what());
    }
    return entry;
}

} // namespace

json streams(backend where)
{
    json all = json::array();
    const bool cuda = where == backend::cuda;
    for (const double p : { 1e-3, 1e-2, 1e-1 }) {
        const unsigned frames = (p < 5e-3 ? 160 : p < 0.05 ? 64 : 48) * (cuda ? 1024 : 8);
        for (const auto precision :
             { sync_precision::float32, sync_precision::float64 }) {
            for (const auto mode : { sync_mode::stream, sync_mode::framed }) {
                all.add(measure_decoder(p, mode, precision, where, frames));
            }
            if (cuda) {
                all.add(measure_stream_steps(p, precision, 12672));
            }
        }
    }
    return all;
}

} // namespace gr::gpufec::bench
