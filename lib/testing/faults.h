// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fault injection: makes calls of the CUDA runtime fail, and work on streams hang, on
 * emulated devices (emulation/) or on a real device. */

#ifndef INCLUDED_GPUFEC_TESTING_FAULTS_H
#define INCLUDED_GPUFEC_TESTING_FAULTS_H

#include <cuda_runtime.h>
#include <cstddef>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace cuda {
namespace faults {

//! Resets the count of calls and lets all calls succeed. If work hangs already, that work
//! and newly enqueued work hang until release().
void begin();

//! Makes call number \p call, counted from 0 since begin(), fail with \p error and, if
//! \p for_good, all later calls too.
void fail(std::size_t call, cudaError_t error, bool for_good);

//! Makes work on streams hang if call number \p call or a later call enqueues it. Calls
//! are counted from 0 since begin().
void hang(std::size_t call);

// The next two functions count only calls of \c name that follow them, from 0. hang()
// affects work that is enqueued by call number \c call of \c name and by all later calls.
// Numbers among all calls are not reproducible, because the number of state queries
// varies.
void fail(const char* name, std::size_t call, cudaError_t error, bool for_good = false);
void hang(const char* name, std::size_t call);

//! Lets hanging work continue, waits until it is finished, and makes no further work
//! hang.
void release();

//! Returns the names of the calls since begin().
std::vector<std::string> calls();

//! Returns the name of the first call since begin() that was made to fail, or "".
std::string failed();

//! Returns whether any call since begin() would have waited for hanging work for ever.
bool waited_for_ever();

// The replacements of the CUDA runtime (emulation/runtime.cc, intercepted_runtime.cu)
// call the following functions.

//! Counts a call and returns the error it must return, or success.
cudaError_t next(const char* name);

//! Returns whether newly enqueued work must hang.
bool hanging();

//! Records that a call would have waited for hanging work for ever.
void wait_for_ever();

} // namespace faults
} // namespace cuda
} // namespace gr::gpufec

// Returns from the calling function, which replaces a function of the CUDA runtime, with
// the error of call(name) if the call must fail.
#define RETURN_IF_FAULT(name)          \
    do {                               \
        const auto error = call(name); \
        if (error != cudaSuccess) {    \
            return error;              \
        }                              \
    } while (false)

#endif /* INCLUDED_GPUFEC_TESTING_FAULTS_H */
