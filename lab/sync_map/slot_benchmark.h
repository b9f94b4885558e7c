// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How fast the batch decoders are by themselves: from filled slots to decoded slots, and
 * on the device alone. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_SYNC_MAP_SLOT_BENCHMARK_H

#include "pipeline/pipeline.h"
#include "simulation.h"
#include "sync_map/job.h"
#include "sync_map/setup.h"

namespace gr::gpufec::sync_map {

class slot_benchmark
{
public:
    //! \p frames, in framed mode, fill the slots, over and over.
    //! \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    slot_benchmark(const sync_options& options,
                   const std::vector<frame_source::frame>& frames);

    //! Frames a second from page-locked slots to page-locked slots, over \p duration
    //! seconds: transfers included, filling and emptying slots not.
    double host_to_host(double duration);

    //! Seconds from the submission of one batch to its completion, alone on the device.
    double latency();

    //! CUDA only: medians of \p rounds batches, alone on the device.
    cuda_times device_times(unsigned rounds);

    bool on_cuda() const { return d_pipeline.active().backend() == "cuda"; }
    //! Frames a batch.
    std::size_t frames() const { return d_frames; }
    //! Drifts considered.
    unsigned window() const { return d_setup.window; }

private:
    void fill(const std::vector<frame_source::frame>& frames, std::byte* input);

    const sync_options d_options;
    const setup d_setup;
    pipeline<job> d_pipeline;
    const std::size_t d_frames;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_SLOT_BENCHMARK_H */
