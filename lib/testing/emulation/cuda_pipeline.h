// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Emulation of asynchronous copies to shared memory. No copy is carried out before its
 * thread waits for the copy, so that tests detect a missing wait. */

#ifndef INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_PIPELINE_H
#define INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_PIPELINE_H

#include <cstddef>

void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes);
inline void __pipeline_commit() {}
//! Completes all copies of the calling thread. CUDA's function may leave the copies of
//! the latest \p batches commits in flight.
void __pipeline_wait_prior(int batches);

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_CUDA_PIPELINE_H */
