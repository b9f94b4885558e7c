// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "lab/slot_timer.h"
#include "slot_benchmark.h"
#include "sync_map/backends.h"
#include "sync_map/cpu.h"

namespace gr::gpufec::sync_map {

namespace {

sync_options framed(sync_options options)
{
    options.mode = sync_mode::framed;
    return options;
}

} // namespace

slot_benchmark::slot_benchmark(const sync_options& options,
                               const std::vector<frame_source::frame>& frames)
    : d_options(framed(options)),
      d_setup(make_setup(d_options)),
      d_pipeline(make_sync_decoders(d_setup, d_options).decoders, d_options.slots, {}),
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

void slot_benchmark::fill(const std::vector<frame_source::frame>& frames,
                          std::byte* input)
{
    const auto window = decoder_window(d_options);
    for (std::size_t f = 0; f < d_frames; ++f) {
        const auto& frame = frames[f % frames.size()];
        write_framed(d_options,
                     d_setup,
                     window,
                     frame.items.data(),
                     frame.count,
                     nullptr,
                     input + f * d_setup.input_bytes());
    }
}

double slot_benchmark::host_to_host(double duration)
{
    return slot_timer<job>(d_pipeline, { d_frames }).rate(duration) * d_frames;
}

double slot_benchmark::latency()
{
    return slot_timer<job>(d_pipeline, { d_frames }).latency();
}

cuda_times slot_benchmark::device_times(unsigned rounds)
{
    // A slot of the pipeline: its memory is page-locked.
    const auto* const slot = d_pipeline.filling();
    return measure_cuda(d_setup,
                        d_frames,
                        { slot->input, slot->output, slot->status },
                        d_options.devices.front(),
                        rounds);
}

} // namespace gr::gpufec::sync_map
