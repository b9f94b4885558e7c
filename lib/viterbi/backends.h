// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoders that options ask for. */

#ifndef INCLUDED_GPUFEC_VITERBI_BACKENDS_H
#define INCLUDED_GPUFEC_VITERBI_BACKENDS_H

#include "job.h"
#include "pipeline/make_decoders.h"
#include <gnuradio/gpufec/viterbi.h>

namespace gr::gpufec::viterbi {

//! \throws std::runtime_error if CUDA is asked for and cannot be had
inline made_decoders<job> make_viterbi_decoders(const setup& setup,
                                                const viterbi_options& options)
{
    const std::size_t unit = setup.plan.blocks_per_frame;
    const auto whole_frames = (options.batch + unit - 1) / unit * unit;
    return make_decoders<job>(
        options.where,
        options.devices,
        whole_frames,
        [&](std::size_t blocks, int device) {
            return make_cuda(setup, blocks, options.slots, device, options.cuda_kernel);
        },
        [&] {
            return make_cpu(setup,
                            whole_frames ? whole_frames
                                         : cpu_batch(setup, options.threads),
                            options.threads);
        });
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_BACKENDS_H */
