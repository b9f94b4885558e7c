// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernel that reduces long polynomials over GF(2). The source of the
 * kernel is compiled once for each instruction set. */

#ifndef INCLUDED_GPUFEC_BCH_CPU_KERNELS_H
#define INCLUDED_GPUFEC_BCH_CPU_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::bch {

//! Constants for fold(): words[i] is x^(448 − 64 i) modulo the generator, with its most
//! significant word first.
struct fold_constants {
    std::uint64_t words[4][3];
};

struct kernels {
    /*!
     * \brief Multiplies \p sum by x^256 and adds 32 bytes, \p count times. The result is
     * equal modulo the generator, but not fully reduced.
     *
     * \p sum has 256 bits, most significant word first. The function is nullptr in
     * variants for instruction sets without carry-less multiplication.
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
namespace pmull {
extern const kernels all;
}

} // namespace gr::gpufec::bch

#endif /* INCLUDED_GPUFEC_BCH_CPU_KERNELS_H */
