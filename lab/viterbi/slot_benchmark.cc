// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "lab/slot_timer.h"
#include "slot_benchmark.h"
#include "viterbi/backends.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

slot_benchmark::slot_benchmark(const viterbi_options& options,
                               const std::vector<std::byte>& items)
    : d_options(options),
      d_setup(options.code,
              make_block_plan(options.code,
                              options.ends,
                              options.frame_bits,
                              options.decode_length,
                              options.overlap),
              options.format == soft_format::packed4),
      d_items(items),
      d_pipeline(make_viterbi_decoders(d_setup, options).decoders, options.slots, {})
{
    const auto limits = d_pipeline.active().limits();
    d_job.blocks = limits.pieces;
    const auto& plan = d_setup.plan;
    if (plan.streaming()) {
        d_job.values =
            d_setup.code.values(limits.pieces * plan.decode_length + plan.overlap);
    }
    for (unsigned i = 0; i < options.slots * options.devices.size(); ++i) {
        fill(d_pipeline.filling()->input, limits.input_bytes);
        d_pipeline.submit(d_job);
    }
    d_pipeline.drain();
}

void slot_benchmark::fill(std::byte* input, std::size_t bytes) const
{
    for (std::size_t at = 0; at < bytes; at += d_items.size()) {
        std::memcpy(input + at, d_items.data(), std::min(d_items.size(), bytes - at));
    }
}

double slot_benchmark::bits() const
{
    const auto& plan = d_setup.plan;
    return plan.streaming()
               ? double(d_job.blocks) * plan.decode_length
               : double(d_job.blocks) / plan.blocks_per_frame * plan.frame_bits;
}

double slot_benchmark::host_to_host(double duration)
{
    return slot_timer<job>(d_pipeline, d_job).rate(duration) * bits();
}

double slot_benchmark::latency() { return slot_timer<job>(d_pipeline, d_job).latency(); }

std::vector<cuda_times> slot_benchmark::device_times(unsigned rounds)
{
    // A slot of the pipeline: its memory is page-locked.
    const auto* const slot = d_pipeline.filling();
    return measure_cuda(d_setup,
                        d_job,
                        { slot->input, slot->output, slot->status },
                        d_options.devices,
                        d_options.cuda_kernel,
                        rounds);
}

} // namespace gr::gpufec::viterbi
