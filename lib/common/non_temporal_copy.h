// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies with non-temporal stores, for data that the processor will not read soon. */

#ifndef INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H
#define INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H

#include <cstddef>

namespace gr::gpufec {

//! Returns whether this processor can store a whole cache line with one instruction
//! (AVX-512).
bool stores_whole_lines();

/*! Copies like memcpy(). On x86-64, copies of 16 KiB or more use non-temporal stores,
 * because a device, not the processor, reads the copy. An ordinary store loads the cache
 * line first; without this load, the copy causes a third less memory traffic. The C
 * library uses non-temporal stores only for copies larger than the caches.
 * \param whole_lines whether to store whole cache lines; true is allowed only if
 *        stores_whole_lines() returns true */
void copy_past_caches(std::byte* to,
                      const std::byte* from,
                      std::size_t count,
                      bool whole_lines = stores_whole_lines());

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H */
