// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fault injection: makes calls of the CUDA runtime fail and work on streams hang, in
 * tests over the emulation or over a real device. */

#ifndef INCLUDED_GPUFEC_TESTING_FAULTS_H
#define INCLUDED_GPUFEC_TESTING_FAULTS_H

#include <cuda_runtime.h>
#include <cstddef>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace cuda {
namespace faults {

//! Resets the count of calls and lets all calls succeed.
void begin();

//! Makes call number \p call fail with \p error, and with \p for_good all after it.
void fail(std::size_t call, cudaError_t error, bool for_good);

//! Makes the work hang that call number \p call and those after it put on streams.
void hang(std::size_t call);

// The same with \p call counted among the calls of one name. The number of state queries
// may differ between runs, and with it the numbers of all calls.
void fail(const char* name, std::size_t call, cudaError_t error);
void hang(const char* name, std::size_t call);

//! Lets work that hangs continue, and makes no more hang.
void release();

//! Returns the names of the calls since begin().
std::vector<std::string> calls();

//! Returns the name of the first call that failed, or "".
std::string failed();

//! Returns whether a call was made that would wait for work that hangs.
bool waited_for_ever();

// The following functions are for the emulation and the interception.

//! Counts a call and returns the error it must return, or success.
cudaError_t next(const char* name);

//! Returns whether work put on streams must hang.
bool hanging();

//! Records a call that would wait for work that hangs.
void wait_for_ever();

} // namespace faults
} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_FAULTS_H */
