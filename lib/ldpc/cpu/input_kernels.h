// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the kernels that quantise channel values. Their source is compiled
 * once for each instruction set. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_INPUT_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CPU_INPUT_KERNELS_H

#include "common/cpu_variant.h"
#include <cstddef>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace input {

//! Multiplies values by a factor and clamps them to ±limit. Integer results are rounded,
//! ties to even. NaN and −0 become 0. The lowest byte (−128, or 0 in offset binary)
//! counts as −127.
template <class From, class To>
using converter =
    void (*)(const From* from, std::size_t count, float factor, float limit, To* to);

//! The converters from one type. Limits must fit in the type of the result.
template <class From>
struct converters {
    converter<From, std::int8_t> to_int8;
    converter<From, std::int16_t> to_int16;
    converter<From, float> to_float;
};

struct kernels {
    converters<std::int8_t> bytes;
    converters<float> floats;
    //! Converters of offset binary, in which 128 represents 0.
    converters<std::uint8_t> offset_bytes;
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

compiled_variants<kernels> variants();

} // namespace input
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_INPUT_KERNELS_H */
