/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The CUDA decoder, as a program without CUDA headers sees it. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_H

#include "batch.h"
#include <memory>

namespace gr {
namespace gpufec {

/*!
 * \brief Decodes batches of up to \p frames frames, \p slots of them in flight.
 *
 * \p frames 0: chosen from the device.
 * \throws std::runtime_error that says what is missing: a device, or memory, or an
 *         algorithm that the CPU alone has
 */
std::unique_ptr<sync_batch_decoder>
make_cuda_decoder(const sync_plan& plan, std::size_t frames, unsigned slots, int device);

//! Where the time of a batch goes on the device; medians, in ms.
struct cuda_sync_times {
    double copy_in_ms, kernels_ms, copy_out_ms;
    std::size_t device_bytes; //!< memory of a slot
};

//! Decodes one batch \p rounds times, alone on the device, for benchmarks.
cuda_sync_times measure_cuda_sync(const sync_plan& plan,
                                  std::size_t frames,
                                  const sync_batch_decoder::buffers& memory,
                                  int device,
                                  unsigned rounds);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_H */
