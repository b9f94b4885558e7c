// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Asynchronous copies into shared memory: they arrive as late as they may. */

#ifndef INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_PIPELINE_H
#define INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_PIPELINE_H

#include <cstddef>

void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes);
inline void __pipeline_commit() {}
//! Waits for all of them, whatever \p batches may stay behind.
void __pipeline_wait_prior(int batches);

#endif /* INCLUDED_GPUFEC_CUDA_EMULATION_CUDA_PIPELINE_H */
