// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Page-aligned host memory, which a device can pin. */

#ifndef INCLUDED_GPUFEC_COMMON_HOST_MEMORY_H
#define INCLUDED_GPUFEC_COMMON_HOST_MEMORY_H

#include <unistd.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace gr::gpufec {

//! Returns the size of the machine's memory in bytes.
inline std::size_t physical_memory()
{
    return std::size_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

//! Owner of page-aligned memory that is filled with zeros.
//! \throws std::bad_alloc if the memory cannot be allocated or is larger than
//! physical_memory()
class host_memory
{
public:
    explicit host_memory(std::size_t bytes) : d_bytes(bytes)
    {
        if (bytes == 0) {
            return;
        }
        // Linux may grant more memory than exists and kill the process that uses it.
        if (bytes > physical_memory()) {
            throw std::bad_alloc();
        }
        // 4 KiB on x86-64; 4, 16 or 64 KiB on 64-bit Arm.
        const auto page = std::size_t(sysconf(_SC_PAGESIZE));
        const std::size_t whole = (bytes + page - 1) / page * page;
        d_data.reset(static_cast<std::byte*>(std::aligned_alloc(page, whole)));
        if (!d_data) {
            throw std::bad_alloc();
        }
        std::memset(d_data.get(), 0, whole);
    }

    std::byte* data() const { return d_data.get(); }
    std::size_t size() const { return d_bytes; }

private:
    struct deleter {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::unique_ptr<std::byte, deleter> d_data;
    std::size_t d_bytes;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_HOST_MEMORY_H */
