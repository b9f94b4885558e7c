// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernel that compares a marker with packed bits at every bit. Its
 * source is compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_FRAMING_MARKER_KERNELS_H
#define INCLUDED_GPUFEC_FRAMING_MARKER_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::framing {

struct marker_kernels {
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
};

namespace baseline {
extern const marker_kernels all;
}
namespace avx2 {
extern const marker_kernels all;
}
namespace avx512 {
extern const marker_kernels all;
}

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_MARKER_KERNELS_H */
