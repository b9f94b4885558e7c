// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Long polynomials over GF(2) made short, for the instructions of several processors. */

#ifndef INCLUDED_GPUFEC_BCH_CPU_KERNELS_H
#define INCLUDED_GPUFEC_BCH_CPU_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::bch {

//! x^(256 + 64 i) modulo the generator, i from 3 down to 0; most significant word first.
struct fold_constants {
    std::uint64_t words[4][3];
};

struct kernels {
    /*!
     * \brief \p sum times x^256, plus 32 bytes, \p count times over, up to multiples of
     * the generator.
     *
     * \p sum is 256 bits, most significant word first. Null where there is no
     * multiplication without carries.
     */
    void (*fold)(const std::uint8_t* bytes,
                 std::size_t count,
                 std::uint64_t sum[4],
                 const fold_constants& constants);
};

namespace baseline {
extern const kernels all;
}
namespace avx2 {
extern const kernels all;
}

} // namespace gr::gpufec::bch

#endif /* INCLUDED_GPUFEC_BCH_CPU_KERNELS_H */
