/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The batch decoders that options ask for. */

#ifndef INCLUDED_GPUFEC_LDPC_BACKENDS_H
#define INCLUDED_GPUFEC_LDPC_BACKENDS_H

#include "job.h"
#include "pipeline/make_decoders.h"

namespace gr {
namespace gpufec {

//! \throws std::runtime_error if CUDA is asked for and cannot be had
inline made_decoders<ldpc_job> make_ldpc_decoders(const ldpc_setup& setup,
                                                  const ldpc_options& options)
{
    return make_decoders<ldpc_job>(
        options.where,
        options.devices,
        options.batch,
        [&](std::size_t codewords, int device) {
            return make_cuda_ldpc(setup, codewords, options.slots, device);
        },
        [&] {
            return make_cpu_ldpc(setup,
                                 options.batch ? options.batch
                                               : cpu_ldpc_batch(setup, options.threads),
                                 options.threads);
        });
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_BACKENDS_H */
