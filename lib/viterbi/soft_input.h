/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Soft values as they lie in a batch's input, whatever their format. */

#ifndef INCLUDED_GPUFEC_VITERBI_SOFT_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_SOFT_INPUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gr {
namespace gpufec {

//! Soft value \p index of packed bytes (two each, the first high) or int8; −8 reads −7,
//! and −128 is left to the reader.
inline std::int8_t soft_value(const std::byte* input, std::size_t index, bool packed4)
{
    if (!packed4) {
        return std::int8_t(input[index]);
    }
    const auto pair = std::uint8_t(input[index / 2]);
    const int nibble = std::int8_t(index % 2 ? pair << 4 : pair & 0xf0) >> 4;
    return std::max(nibble, -7);
}

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_VITERBI_SOFT_INPUT_H */
