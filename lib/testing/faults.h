// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Calls of the CUDA runtime that fail, and work that does not end, on purpose. For tests
 * alone, over the emulation or over a real device. */

#ifndef INCLUDED_GPUFEC_CUDA_FAULTS_H
#define INCLUDED_GPUFEC_CUDA_FAULTS_H

#include <cuda_runtime.h>
#include <cstddef>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace cuda {
namespace faults {

//! Counts calls from 0 on again, and lets all of them pass.
void begin();

//! Call number \p call fails with \p error, and with \p for_good all that follow.
void fail(std::size_t call, cudaError_t error, bool for_good);

//! What call number \p call and those after it put on streams does not begin.
void hang(std::size_t call);

// Both, counting calls of one name alone: how often a device is asked for its state may
// differ between runs, and with it the numbers of all others.
void fail(const char* name, std::size_t call, cudaError_t error);
void hang(const char* name, std::size_t call);

//! What hangs goes on, and no more does.
void release();

//! The calls since begin(), by name.
std::vector<std::string> calls();

//! The call that failed first, or "".
std::string failed();

//! Whether a call was made that waits for what does not end.
bool waited_for_ever();

// What follows is for the layers below a decoder.

//! To be asked by each call: the error that it returns, or success.
cudaError_t next(const char* name);

//! Whether what is put on streams is not to begin.
bool hanging();

//! To be said by a call that would wait for what does not end.
void wait_for_ever();

} // namespace faults
} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_FAULTS_H */
