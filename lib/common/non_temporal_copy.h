// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies with non-temporal stores, for data that the processor does not read again soon.
 */

#ifndef INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H
#define INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H

#include <cstddef>

namespace gr::gpufec {

//! Returns whether this processor stores a whole cache line with one instruction.
bool stores_whole_lines();

/*! Copies like memcpy(), but past the caches, for a device to read. A non-temporal store
 * does not read its line first, which saves a third of the memory traffic; the C library
 * uses them only for copies larger than the caches. \p whole_lines requires
 * stores_whole_lines(). */
void copy_past_caches(std::byte* to,
                      const std::byte* from,
                      std::size_t count,
                      bool whole_lines = stores_whole_lines());

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_NON_TEMPORAL_COPY_H */
