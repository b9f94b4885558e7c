// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernel that aligns and derandomises the bits of a frame. Its
 * source is compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_FRAMING_RANDOMISER_KERNELS_H
#define INCLUDED_GPUFEC_FRAMING_RANDOMISER_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::framing {

struct randomiser_kernels {
    /*!
     * \brief Copies packed bits and XORs their bytes with a sequence and a mask.
     *
     * \param from \p count + 1 bytes
     * \param shift index of the first bit in the first byte, 0 to 7
     * \param count number of bytes to write
     * \param sequence \p count bytes
     * \param mask XORed with each byte
     */
    void (*copy)(const std::uint8_t* from,
                 unsigned shift,
                 std::size_t count,
                 const std::uint8_t* sequence,
                 std::uint8_t mask,
                 std::uint8_t* to);
};

namespace baseline {
extern const randomiser_kernels randomiser;
}
namespace avx2 {
extern const randomiser_kernels randomiser;
}
namespace avx512 {
extern const randomiser_kernels randomiser;
}

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_RANDOMISER_KERNELS_H */
