// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernel that quantises QPSK symbols. The source of the kernel is
 * compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_DEMAP_QPSK_KERNELS_H
#define INCLUDED_GPUFEC_DEMAP_QPSK_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::demap {

struct qpsk_kernels {
    //! Multiplies \p count floats by \p scale, rounds and clamps them to ±127. NaN
    //! becomes 0.
    void (*quantise)(const float* parts,
                     std::size_t count,
                     float scale,
                     std::int8_t* out);
};

namespace baseline {
extern const qpsk_kernels all;
}
namespace avx2 {
extern const qpsk_kernels all;
}
namespace avx512 {
extern const qpsk_kernels all;
}

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_QPSK_KERNELS_H */
