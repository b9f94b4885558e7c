/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The batch decoders that options ask for. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H
#define INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H

#include "cpu.h"
#include "cuda.h"
#include "pipeline/make_decoders.h"

namespace gr {
namespace gpufec {

//! \throws std::runtime_error if CUDA is asked for and cannot be had
inline made_decoders<sync_job> make_sync_decoders(const sync_plan& plan,
                                                  const sync_options& options)
{
    // A stream's frames come one after the other, so large batches only make it wait.
    const bool choose = options.batch == 0 && options.mode == sync_mode::stream;
    return make_decoders<sync_job>(
        options.where,
        options.devices,
        choose ? 64 : options.batch,
        [&](std::size_t frames, int device) {
            return make_cuda_decoder(plan, frames, options.slots, device);
        },
        [&] {
            return make_cpu_decoder(plan,
                                    options.batch ? options.batch
                                                  : cpu_sync_batch(plan, options.threads),
                                    options.threads);
        });
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H */
