// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoders that options ask for. */

#ifndef INCLUDED_GPUFEC_LDPC_BACKENDS_H
#define INCLUDED_GPUFEC_LDPC_BACKENDS_H

#include "job.h"
#include "pipeline/make_decoders.h"

namespace gr::gpufec::ldpc {

//! \throws std::runtime_error if CUDA is asked for and cannot be had
inline made_decoders<job> make_ldpc_decoders(const setup& setup,
                                             const ldpc_options& options)
{
    return make_decoders<job>(
        options.where,
        options.devices,
        options.batch,
        [&](std::size_t codewords, int device) {
            return make_cuda(setup, codewords, options.slots, device);
        },
        [&] {
            return make_cpu(setup,
                            options.batch ? options.batch
                                          : cpu_batch(setup, options.threads),
                            options.threads);
        });
}

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_BACKENDS_H */
