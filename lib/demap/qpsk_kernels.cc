// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Quantises QPSK symbols. The loop is vectorised for each instruction set. */

#include "qpsk_kernels.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::demap {
namespace GPUFEC_ISA {

namespace {

void quantise(const float* __restrict__ parts,
              std::size_t count,
              float scale,
              std::int8_t* __restrict__ out)
{
    for (std::size_t i = 0; i < count; ++i) {
        const float part = parts[i] * scale;
        const float number = part == part ? part : 0;
        const float value = std::min(std::max(number, -127.0f), 127.0f);
        out[i] = std::int8_t(int(value + std::copysign(0.5f, value)));
    }
}

} // namespace

extern const qpsk_kernels all;
const qpsk_kernels all = { quantise };

} // namespace GPUFEC_ISA
} // namespace gr::gpufec::demap
