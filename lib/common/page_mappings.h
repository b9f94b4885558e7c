// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Other pages in the place of those that a device, which is given up, may still write. */

#ifndef INCLUDED_GPUFEC_PIPELINE_OTHER_PAGES_H
#define INCLUDED_GPUFEC_PIPELINE_OTHER_PAGES_H

#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstring>

namespace gr::gpufec {

//! Whether devices go on with the old pages: some of those behind other processors than
//! these read the processor's page tables, and follow the exchange.
#if defined(__x86_64__)
constexpr bool pages_can_be_replaced = true;
#else
constexpr bool pages_can_be_replaced = false;
#endif

/*! Replaces the pages of a ring of \p bytes, which are mapped twice, one mapping behind
 * the other; says whether it could. What the ring holds stays as it is, and may be read
 * meanwhile, but not written. The old pages are left to the device that has locked them.
 */
inline bool put_other_pages(char* ring, std::size_t bytes)
{
    const int file = memfd_create("gpufec_ring", MFD_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const auto map = [&](char* at, int flags) {
        return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
    };
    bool done = false;
    void* const fresh = ftruncate(file, off_t(bytes)) == 0 ? map(nullptr, 0) : MAP_FAILED;
    if (fresh != MAP_FAILED) {
        std::memcpy(fresh, ring, bytes);
        munmap(fresh, bytes);
        done = map(ring, MAP_FIXED) == ring && map(ring + bytes, MAP_FIXED) != MAP_FAILED;
    }
    close(file);
    return done;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_OTHER_PAGES_H */
