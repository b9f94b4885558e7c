// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How fast the batch decoders are by themselves: from filled slots to decoded slots, and
 * on the device alone. */

#ifndef INCLUDED_GPUFEC_LDPC_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LDPC_SLOT_BENCHMARK_H

#include "ldpc/job.h"
#include "pipeline/pipeline.h"

namespace gr::gpufec::ldpc {

class slot_benchmark
{
public:
    //! \p items, channel values of some frames of the only code, fill the slots, over and
    //! over. \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    slot_benchmark(const ldpc_options& options, const std::vector<std::byte>& items);

    //! Frames a second from page-locked slots to page-locked slots, over \p duration
    //! seconds: transfers included, filling and emptying slots not.
    double host_to_host(double duration);

    //! Seconds from the submission of one batch to its completion, alone on the device.
    double latency();

    //! CUDA only: medians of \p rounds batches, alone on the device.
    cuda_times device_times(unsigned rounds);

    //! Mean iterations of the frames that fill a slot.
    double iterations() const { return d_iterations; }
    bool on_cuda() const { return d_pipeline.active().backend() == "cuda"; }
    //! Frames a batch.
    std::size_t frames() const { return d_job.codewords; }

private:
    void fill(std::byte* input);

    const ldpc_options d_options;
    const setup d_setup;
    const std::vector<std::byte>& d_items;
    job d_job;
    double d_iterations = 0;
    pipeline<job> d_pipeline;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_SLOT_BENCHMARK_H */
