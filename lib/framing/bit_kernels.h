// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernels that compare a marker with packed bits at every bit, and
 * that align and derandomise the bits of a frame. Their source is compiled once for each
 * instruction set. */

#ifndef INCLUDED_GPUFEC_FRAMING_BIT_KERNELS_H
#define INCLUDED_GPUFEC_FRAMING_BIT_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::gpufec::framing {

struct bit_kernels {
    //! The number of words that find() accepts is a multiple of this number.
    static constexpr std::size_t granularity = 8;

    /*!
     * \brief Finds a marker or its inverse at any bit.
     *
     * \param words packed bits in \p count + 1 words, the first bit most significant
     * \param count number of words whose bits are tried as first bits of a marker, a
     *        multiple of granularity
     * \param marker one word for each bit of the marker, all of whose bits equal that bit
     * \param bits length of the marker, 16, 32 or 64
     * \param errors maximum number of wrong bits
     * \param hits \p count words; a bit is set if the marker begins there
     */
    void (*find)(const std::uint64_t* words,
                 std::size_t count,
                 const std::uint64_t* marker,
                 unsigned bits,
                 unsigned errors,
                 std::uint64_t* hits);

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
extern const bit_kernels all;
}
namespace avx2 {
extern const bit_kernels all;
}
namespace avx512 {
extern const bit_kernels all;
}

//! Returns the kernels for an instruction set, as in cpu_variant().
const bit_kernels& bit_kernels_of(const std::string& variant);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_BIT_KERNELS_H */
