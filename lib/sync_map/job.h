// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A batch of frames, and the decoders that take it. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_JOB_H
#define INCLUDED_GPUFEC_SYNC_MAP_JOB_H

#include "frame.h"
#include <memory>
#include <string>

namespace gr::gpufec::sync_map {

struct job {
    std::size_t frames = 0;
};

//! Frames enough for full lanes on every thread.
std::size_t cpu_batch(const setup& setup, unsigned threads);

//! \p kernels names a variant of the kernels, or is "" for the best.
std::unique_ptr<batch_decoder<job>> make_cpu(const setup& setup,
                                             std::size_t frames,
                                             unsigned threads,
                                             const std::string& kernels = "");

/*!
 * \brief Decodes batches of up to \p frames frames, \p slots of them in flight.
 *
 * \p frames 0: chosen from the device.
 * \throws std::runtime_error that says what is missing: a device, or memory, or an
 *         algorithm that the CPU alone has
 */
std::unique_ptr<batch_decoder<job>>
make_cuda(const setup& setup, std::size_t frames, unsigned slots, int device);

//! Where the time of a batch goes on the device; medians, in ms.
struct cuda_times {
    double copy_in_ms, kernels_ms, copy_out_ms;
    std::size_t device_bytes; //!< memory of a slot
};

//! Decodes one batch \p rounds times, alone on the device, for benchmarks.
cuda_times measure_cuda(const setup& setup,
                        std::size_t frames,
                        const batch_memory& memory,
                        int device,
                        unsigned rounds);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_JOB_H */
