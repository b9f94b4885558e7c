// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Properties of a card that tests and benchmarks pretend to have: the size of the shared
 * memory, and unified memory of the device and the host. */

#ifndef INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H
#define INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace gr::gpufec::cuda {

//! Limits of shared memory, in bytes.
struct shared_memory_limits {
    std::size_t per_block = 0; //!< 0: the limits are those of the real device
    std::size_t per_multiprocessor = 0;

    //! Returns the number of thread blocks that fit on a multiprocessor, at least one,
    //! if each uses \p shared bytes of shared memory.
    std::size_t blocks(std::size_t shared) const
    {
        // CUDA reserves this number of bytes per block. Compute capability 7.5 reserves
        // none, so the result may then be one block too small.
        constexpr std::size_t reserved = 1024;
        return std::max<std::size_t>(1, per_multiprocessor / (shared + reserved));
    }
};

//! Returns the limits of the card that the environment variable GPUFEC_CARD_SHARED_KB
//! describes. The value of the variable is the shared memory in KiB that a thread block
//! can use, such as 64 (RTX 20), 99 (RTX 30 to 50) or 163 (Orin, A100). Without the
//! variable, per_block is 0.
inline shared_memory_limits limited_card()
{
    static const shared_memory_limits limits = [] {
        const char* const text = std::getenv("GPUFEC_CARD_SHARED_KB");
        const auto kilobytes = std::size_t(text ? std::atoi(text) : 0);
        // A block can use the shared memory of a multiprocessor except 1 KiB.
        return shared_memory_limits{ kilobytes << 10,
                                     kilobytes ? (kilobytes + 1) << 10 : 0 };
    }();
    return limits;
}

//! Returns the environment variable GPUFEC_CARD_UNIFIED, which makes the device an
//! integrated one whose kernels can access pinned host memory ("pinned", Jetson) or all
//! host memory ("all", GB10). "" if the variable is not set. Reads it at each call.
inline std::string unified_card()
{
    const char* const text = std::getenv("GPUFEC_CARD_UNIFIED");
    return text ? text : "";
}

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H */
