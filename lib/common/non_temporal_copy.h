// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Copies of what the processor does not read again soon. */

#ifndef INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H
#define INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H

#include <cstddef>

namespace gr::gpufec {

//! Whether this processor can store a line of a cache at once.
bool stores_whole_lines();

/*! memcpy() that leaves the copy in memory alone, where a device fetches it. Lines that
 * are stored whole need not be read first, which is a third of a copy's traffic; the C
 * library does so too, but only for pieces as large as its caches. \p whole_lines only
 * where they can be stored. */
void copy_past_caches(std::byte* to,
                      const std::byte* from,
                      std::size_t count,
                      bool whole_lines = stores_whole_lines());

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_COPY_PAST_CACHES_H */
