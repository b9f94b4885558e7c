// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes allocations and starts of threads fail. refusals.cc defines malloc() or operator
 * new, and pthread_create(), for the program that links it. */

#ifndef INCLUDED_GPUFEC_TESTING_REFUSALS_H
#define INCLUDED_GPUFEC_TESTING_REFUSALS_H

#include <atomic>

namespace gr::gpufec::qa::refusals {

//! Number of allocations that still succeed before one fails; negative: none fails.
extern std::atomic<long> allocations_left;
//! Number of threads that still start before a start fails; negative: none fails.
extern std::atomic<long> threads_left;
//! Whether all allocations after a failed one fail too, and all starts of threads after a
//! failed start.
extern std::atomic<bool> all_fail;

//! Number of allocations requested so far, refused ones included.
extern std::atomic<long> allocations;
//! Number of threads requested so far, refused ones included.
extern std::atomic<long> threads;

} // namespace gr::gpufec::qa::refusals

#endif /* INCLUDED_GPUFEC_TESTING_REFUSALS_H */
