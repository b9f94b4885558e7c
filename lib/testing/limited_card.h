// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Properties of a card that tests and benchmarks simulate: the size of the shared memory,
 * the compute capability, and unified memory of the device and the host. */

#ifndef INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H
#define INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace gr::gpufec::cuda {

//! Limits of a card. A member of 0 selects the limit of the real device. The CUDA C++
//! Programming Guide lists the limits per compute capability.
struct card_limits {
    std::size_t shared_per_block = 0; //!< bytes of shared memory
    std::size_t shared_per_multiprocessor = 0;
    int major = 0, minor = 0; //!< compute capability

    bool limits_shared_memory() const { return shared_per_block > 0; }
    bool has_capability() const { return major > 0; }

    //! Returns the maximum number of threads per multiprocessor; 0 without a capability.
    int threads_per_multiprocessor() const
    {
        const bool server = (major == 8 && minor == 0) || major == 9 || major == 10;
        return !has_capability() ? 0 : major == 7 ? 1024 : server ? 2048 : 1536;
    }

    //! Returns the number of thread blocks that fit on a multiprocessor, at least one,
    //! if each has \p threads threads and \p shared bytes of shared memory.
    std::size_t blocks(std::size_t shared, std::size_t threads) const
    {
        // CUDA reserves this number of bytes per block, from compute capability 8.0 on.
        const std::size_t reserved = major == 7 ? 0 : 1024;
        std::size_t most = ~std::size_t(0);
        if (limits_shared_memory() && shared + reserved > 0) {
            most = shared_per_multiprocessor / (shared + reserved);
        }
        if (has_capability()) { // the limit counts whole warps
            most =
                std::min(most, threads_per_multiprocessor() / ((threads + 31) / 32 * 32));
        }
        return std::max<std::size_t>(1, most);
    }
};

//! Returns the limits of the card that environment variables describe.
//! GPUFEC_CARD_CAPABILITY is its compute capability, such as 7.5. GPUFEC_CARD_SHARED_KB
//! is the shared memory in KiB that a thread block can use, by default that of the
//! compute capability: 64 (RTX 20), 99 (RTX 30 to 50), 163 (Orin, A100) or 227.
inline card_limits limited_card()
{
    static const card_limits limits = [] {
        card_limits card;
        std::size_t kilobytes = 0;
        if (const char* const capability = std::getenv("GPUFEC_CARD_CAPABILITY")) {
            std::sscanf(capability, "%d.%d", &card.major, &card.minor);
            const bool a100_or_orin = card.minor == 0 || card.minor == 7;
            kilobytes = card.major == 7    ? 64
                        : card.major == 8  ? a100_or_orin ? 163 : 99
                        : card.major >= 12 ? 99
                                           : 227;
        }
        if (const char* const text = std::getenv("GPUFEC_CARD_SHARED_KB")) {
            kilobytes = std::size_t(std::atoi(text));
        }
        // From compute capability 8.0 on, a block can use the shared memory of a
        // multiprocessor except 1 KiB.
        card.shared_per_block = kilobytes << 10;
        card.shared_per_multiprocessor =
            kilobytes ? (kilobytes + (card.major == 7 ? 0 : 1)) << 10 : 0;
        return card;
    }();
    return limits;
}

//! Returns the environment variable GPUFEC_CARD_UNIFIED, which makes the device report
//! that it shares the host's memory and that kernels can access pinned host memory
//! ("pinned", Jetson) or all host memory ("all", GB10). Returns "" if the variable is not
//! set. Reads the variable at each call.
inline std::string unified_card()
{
    const char* const text = std::getenv("GPUFEC_CARD_UNIFIED");
    return text ? text : "";
}

} // namespace gr::gpufec::cuda

#endif /* INCLUDED_GPUFEC_TESTING_LIMITED_CARD_H */
