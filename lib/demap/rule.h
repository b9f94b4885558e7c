// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of demapping, which the plain demapper and the fast one share.
 *
 * 1. The parts of symbols become integers of 15 bits, by a power of two that the largest
 *    part of the frame decides.
 * 2. Sums of squares and of fourth powers of these, exact, give the power of the frame
 *    and, where it is not given, its Es/N0, in steps of 1/4 dB.
 * 3. The frame is brought to mean signal energy 1 and to 8 bits per part: a cell of a
 *    grid of 256 by 256.
 * 4. LLRs are those of the cell's middle.
 */

#ifndef INCLUDED_GPUFEC_DEMAP_RULE_H
#define INCLUDED_GPUFEC_DEMAP_RULE_H

#include "constellation.h"
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::gpufec::demap {

enum class symbol_format {
    float32, //!< complex floats
    int16,   //!< pairs of them
    int8
};

//! Bytes of a symbol.
std::size_t symbol_bytes(symbol_format format);

enum class method {
    max_log, //!< the nearest point of each bit value
    log_map  //!< all points
};

//! LLRs have so many steps per nat.
constexpr int steps_per_nat = 4;
//! Es/N0 goes by quarters of a dB, from −10 to 30 dB.
constexpr int first_level = -40, last_level = 120;
//! Of given Es/N0 in dB; what is not finite counts as 0.
int level_of(double esn0_db);
//! Es/N0 of a level.
double ratio_of(int level);

//! By how much a symbol's parts are multiplied to become integers; 0 for a largest
//! magnitude of 0. \p largest finite
float integer_factor(float largest);

struct moments {
    std::uint64_t squares = 0; //!< of magnitudes
    std::uint64_t fourth = 0;  //!< of their squares less 6 bits, the squares

    void add(std::int16_t i, std::int16_t q)
    {
        const auto square = std::uint32_t(i * i) + std::uint32_t(q * q);
        squares += square;
        fourth += std::uint64_t(square >> 6) * (square >> 6);
    }
};

//! Es/N0 from the moments of a frame: that of a constellation and of Gaussian noise.
int estimate_level(const moments& m, std::size_t symbols, const constellation& c);

//! To the nearest integer, to the even one of two; up to 2^22.
inline float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

inline std::int16_t integer_part(float x, float factor)
{
    return std::int16_t(nearest(x * factor));
}

//! How integers become cells.
struct cell_rule {
    float factor;
    static cell_rule
    of(const moments& m, std::size_t symbols, const constellation& c, int level);

    //! −127 to 127
    std::int32_t operator()(std::int16_t part) const
    {
        const float x = part * factor;
        return std::int32_t(nearest(x < -127 ? -127 : x > 127 ? 127 : x));
    }
};

//! The width of a cell, in parts of the mean signal amplitude.
double cell_width(const constellation& c, int level);

//! What is known of a cell.
struct cell {
    std::int8_t llr[5];  //!< of the label's bits, the first one first; positive for 0
    std::uint16_t error; //!< 4096ths: expected energy of the noise, up to 16; not of QPSK
};

cell make_cell(
    const constellation& c, int level, method how, std::int32_t i, std::int32_t q);

//! The level that the mean of the errors of \p symbols cells speaks for.
int level_of_errors(std::uint64_t errors, std::size_t symbols);

//! A frame is demapped again with what its errors say, up to so many times, if its
//! constellation has rings.
constexpr unsigned most_passes = 4;

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_RULE_H */
