// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The shared memory of a card that tests and benchmarks stand in for. */

#ifndef INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H
#define INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace gr::gpufec::cuda {

//! Bytes of shared memory.
struct shared_memory_limits {
    std::size_t per_block = 0; //!< 0: those of the real device
    std::size_t per_multiprocessor = 0;

    //! Returns the blocks of \p shared bytes that a multiprocessor holds, at least one.
    std::size_t blocks(std::size_t shared) const
    {
        constexpr std::size_t reserved = 1024; // per block, from capability 8.0 on
        return std::max<std::size_t>(1, per_multiprocessor / (shared + reserved));
    }
};

//! Returns the limits of a card with GPUFEC_CARD_SHARED_KB kilobytes per block, as this
//! environment variable says: 64 (RTX 20), 99 (RTX 30 to 50), 163 (Orin, A100) or other.
inline shared_memory_limits limited_card()
{
    static const shared_memory_limits limits = [] {
        const char* const text = std::getenv("GPUFEC_CARD_SHARED_KB");
        const auto kilobytes = std::size_t(text ? std::atoi(text) : 0);
        // Blocks may not use one kilobyte of each multiprocessor.
        return shared_memory_limits{ kilobytes << 10,
                                     kilobytes ? (kilobytes + 1) << 10 : 0 };
    }();
    return limits;
}

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H */
