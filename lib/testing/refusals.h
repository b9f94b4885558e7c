// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes allocations and starts of threads fail. The program that links refusals.cc uses
 * its malloc() or operator new, and its pthread_create(). */

#ifndef INCLUDED_GPUFEC_TESTING_REFUSALS_H
#define INCLUDED_GPUFEC_TESTING_REFUSALS_H

#include <atomic>

namespace gr::gpufec::qa::refusals {

//! Number of allocations that succeed before one fails; negative: none fails.
extern std::atomic<long> allocations_left;
//! Number of threads that start before one does not; negative: all start.
extern std::atomic<long> threads_left;
//! Whether all further allocations and threads fail too.
extern std::atomic<bool> all_fail;

//! Number of allocations so far.
extern std::atomic<long> allocations;
//! Number of threads started so far.
extern std::atomic<long> threads;

} // namespace gr::gpufec::qa::refusals

#endif /* INCLUDED_GPUFEC_TESTING_REFUSALS_H */
