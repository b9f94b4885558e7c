// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "lab/slot_timer.h"
#include "ldpc/backends.h"
#include "ldpc/frame_batch.h"
#include "ldpc/input_format.h"
#include "slot_benchmark.h"

namespace gr::gpufec::ldpc {

slot_benchmark::slot_benchmark(const ldpc_options& options,
                               const std::vector<std::byte>& items)
    : d_options(options),
      d_setup(make_setup(options)),
      d_items(items),
      d_pipeline(make_ldpc_decoders(d_setup, options).decoders, options.slots, {})
{
    for (unsigned i = 0; i < options.slots * options.devices.size(); ++i) {
        if (auto* const slot = d_pipeline.filling()) {
            fill(slot->input);
            d_pipeline.submit(d_job);
        }
    }
    while (!d_pipeline.wait(std::chrono::milliseconds(100))) {
    }
    const auto* const status =
        reinterpret_cast<const frame_status*>(d_pipeline.ready()->status);
    for (std::size_t f = 0; f < frames(); ++f) {
        d_iterations += double(status[f].iterations) / frames();
    }
    d_pipeline.drain();
}

void slot_benchmark::fill(std::byte* input)
{
    const auto& code = d_setup.codes[0];
    const input_format format(d_setup.rule(code), d_options.format, d_options.llr_scale);
    const auto item_bytes = d_options.format == llr_format::int8 ? 1 : sizeof(float);
    const auto given = d_items.size() / item_bytes / code.n();
    frame_batch batch(d_setup, d_pipeline.active().limits());
    for (std::size_t f = 0; !batch.full(); ++f) {
        format.convert(
            d_items.data(), f % given * code.n(), code.n(), input + batch.add(0));
    }
    d_job = batch.make_job(input);
}

double slot_benchmark::host_to_host(double duration)
{
    return slot_timer<job>(d_pipeline, d_job).rate(duration) * frames();
}

double slot_benchmark::latency() { return slot_timer<job>(d_pipeline, d_job).latency(); }

cuda_times slot_benchmark::device_times(unsigned rounds)
{
    // A slot of the pipeline: its memory is page-locked.
    const auto* const slot = d_pipeline.filling();
    return measure_cuda(d_setup,
                        d_job,
                        { slot->input, slot->output, slot->status },
                        d_options.devices.front(),
                        rounds);
}

} // namespace gr::gpufec::ldpc
