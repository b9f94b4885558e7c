// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How fast the batch decoders are by themselves: from filled slots to decoded slots, and
 * on the device alone. */

#ifndef INCLUDED_GPUFEC_VITERBI_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_VITERBI_SLOT_BENCHMARK_H

#include "pipeline/pipeline.h"
#include "viterbi/job.h"
#include <vector>

namespace gr::gpufec::viterbi {

class slot_benchmark
{
public:
    //! \p items of int8 or packed4 values fill the slots, over and over.
    slot_benchmark(const viterbi_options& options, const std::vector<std::byte>& items);

    //! Decoded bits a second from page-locked slots to page-locked slots, over \p
    //! duration seconds: transfers included, filling and emptying slots not.
    double host_to_host(double duration);

    //! Seconds from the submission of one batch to its completion, alone on the device.
    double latency();

    //! CUDA only: medians of \p rounds batches, alone on each device; all devices at
    //! once.
    std::vector<cuda_times> device_times(unsigned rounds);

    bool on_cuda() const { return d_pipeline.active().backend() == "cuda"; }
    //! Decoded bits a batch.
    double bits() const;
    const viterbi::job& batch_job() const { return d_job; }

private:
    void fill(std::byte* input, std::size_t bytes) const;

    const viterbi_options d_options;
    const setup d_setup;
    const std::vector<std::byte>& d_items;
    pipeline<job> d_pipeline;
    job d_job;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_SLOT_BENCHMARK_H */
