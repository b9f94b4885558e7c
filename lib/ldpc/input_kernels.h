/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The conversion of channel values to steps of one byte, compiled once for each
 * instruction set. */

#ifndef INCLUDED_GPUFEC_LDPC_INPUT_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_INPUT_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace gr {
namespace gpufec {
namespace ldpc_input {

//! Values times a factor, within ±limit (at most 127), rounded, ties to even. NaN becomes
//! 0; −128 counts as −127.
struct kernels {
    void (*of_bytes)(const std::int8_t* from,
                     std::size_t count,
                     float factor,
                     float limit,
                     std::int8_t* to);
    void (*of_floats)(
        const float* from, std::size_t count, float factor, float limit, std::int8_t* to);
};

namespace baseline {
extern const kernels all;
}
namespace avx2 {
extern const kernels all;
}
namespace avx512 {
extern const kernels all;
}

//! Those of an instruction set of cpu_ldpc_instruction_sets().
const kernels& kernels_of(const std::string& instruction_set);

} // namespace ldpc_input
} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_INPUT_KERNELS_H */
