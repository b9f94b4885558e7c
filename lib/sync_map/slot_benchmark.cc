/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "backends.h"
#include "cpu.h"
#include "pipeline/slot_timer.h"
#include "slot_benchmark.h"

namespace gr {
namespace gpufec {

namespace {

sync_options framed(sync_options options)
{
    options.mode = sync_mode::framed;
    return options;
}

} // namespace

sync_slot_benchmark::sync_slot_benchmark(
    const sync_options& options, const std::vector<sync_frame_source::frame>& frames)
    : d_options(framed(options)),
      d_plan(make_plan(d_options)),
      d_pipeline(make_sync_decoders(d_plan, d_options).decoders, d_options.slots, {}),
      d_frames(d_pipeline.active().limits().pieces)
{
    for (unsigned i = 0; i < d_options.slots * d_options.devices.size(); ++i) {
        if (auto* const slot = d_pipeline.filling()) {
            fill(frames, slot->input);
            d_pipeline.submit({ d_frames });
        }
    }
    d_pipeline.drain();
}

void sync_slot_benchmark::fill(const std::vector<sync_frame_source::frame>& frames,
                               std::byte* input)
{
    const auto window = decoder_window(d_options);
    for (std::size_t f = 0; f < d_frames; ++f) {
        const auto& frame = frames[f % frames.size()];
        write_framed(d_options,
                     d_plan,
                     window,
                     frame.items.data(),
                     frame.count,
                     nullptr,
                     input + f * d_plan.input_bytes());
    }
}

double sync_slot_benchmark::host_to_host(double duration)
{
    return slot_timer<sync_job>(d_pipeline, { d_frames }).rate(duration) * d_frames;
}

double sync_slot_benchmark::latency()
{
    return slot_timer<sync_job>(d_pipeline, { d_frames }).latency();
}

cuda_sync_times sync_slot_benchmark::device_times(unsigned rounds)
{
    // A slot of the pipeline: its memory is page-locked.
    const auto* const slot = d_pipeline.filling();
    return measure_cuda_sync(d_plan,
                             d_frames,
                             { slot->input, slot->output, slot->status },
                             d_options.devices.front(),
                             rounds);
}

} // namespace gpufec
} // namespace gr
