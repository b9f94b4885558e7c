// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces pages of memory, because an abandoned device may still write to the old
 * pages. */

#ifndef INCLUDED_GPUFEC_COMMON_PAGE_MAPPINGS_H
#define INCLUDED_GPUFEC_COMMON_PAGE_MAPPINGS_H

#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstring>

namespace gr::gpufec {

//! Whether a device that has pinned a ring's pages keeps writing to these pages after
//! put_other_pages(). On architectures other than x86-64 a device may use the processor's
//! page tables, so the device would write to the new pages.
#if defined(__x86_64__)
constexpr bool pages_can_be_replaced = true;
#else
constexpr bool pages_can_be_replaced = false;
#endif

/*! Replaces pages by pages with the same contents, and returns whether that succeeded.
 * The \p bytes bytes at \p memory are mapped \p mappings times, one mapping after the
 * other; GNU Radio maps a ring buffer twice. During the call other threads may read the
 * memory but not write to it. A device that has pinned the old pages continues to use
 * them.
 */
inline bool put_other_pages(char* memory, std::size_t bytes, unsigned mappings)
{
    if (bytes % std::size_t(sysconf(_SC_PAGESIZE)) != 0) {
        return false; // the last page may hold other data
    }
    const int file = memfd_create("gpufec_output", MFD_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const auto map = [&](char* at, int flags) {
        return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
    };
    bool done = false;
    void* const fresh = ftruncate(file, off_t(bytes)) == 0 ? map(nullptr, 0) : MAP_FAILED;
    if (fresh != MAP_FAILED) {
        std::memcpy(fresh, memory, bytes);
        munmap(fresh, bytes);
        done = true;
        for (unsigned i = 0; i < mappings; ++i) {
            done = done && map(memory + i * bytes, MAP_FIXED) != MAP_FAILED;
        }
    }
    close(file);
    return done;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_PAGE_MAPPINGS_H */
