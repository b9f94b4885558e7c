// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoders that options ask for. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H
#define INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H

#include "cpu.h"
#include "job.h"
#include "pipeline/make_decoders.h"

namespace gr::gpufec::sync_map {

//! \throws std::runtime_error if CUDA is asked for and cannot be had
inline made_decoders<job> make_sync_decoders(const setup& setup,
                                             const sync_options& options)
{
    // A stream's frames come one after the other, so large batches only make it wait.
    const bool choose = options.batch == 0 && options.mode == sync_mode::stream;
    return make_decoders<job>(
        options.where,
        options.devices,
        choose ? 64 : options.batch,
        [&](std::size_t frames, int device) {
            return make_cuda(setup, frames, options.slots, device);
        },
        [&] {
            return make_cpu(setup,
                            options.batch ? options.batch
                                          : cpu_batch(setup, options.threads),
                            options.threads);
        });
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_BACKENDS_H */
