// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of demapping, which the plain demapper, the fast one and CUDA's kernels
 * share: to the last bit, so nothing here calls a function whose last bit is a library's
 * own, and nothing is contracted.
 *
 * 1. The parts of symbols become integers of 15 bits, by a power of two that the largest
 *    part of the frame decides.
 * 2. Sums of squares and of fourth powers of these, exact, give the power of the frame
 *    and, where it is not given, a first guess at its Es/N0, in steps of 1/4 dB.
 * 3. The frame is brought to mean signal energy 1 and to 8 bits per part: a cell of a
 *    grid of 256 by 256.
 * 4. LLRs are those of the cell's middle.
 * 5. Of constellations with rings, cells also say what noise is expected of them. Where
 *    that of the frame is not what its Es/N0 stands for, 3 and 4 are repeated with
 *    another.
 */

#ifndef INCLUDED_GPUFEC_DEMAP_RULE_H
#define INCLUDED_GPUFEC_DEMAP_RULE_H

#include "constellation.h"
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#ifdef __CUDACC__
#define GPUFEC_DEMAP_BOTH __host__ __device__
#else
#define GPUFEC_DEMAP_BOTH
#endif

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
constexpr int first_level = -40, last_level = 120, levels = last_level - first_level + 1;
//! In place of a level: the frame's own.
constexpr int estimated = last_level + 1;
//! Of given Es/N0 in dB; what is not finite counts as 0.
int level_of(double esn0_db);
//! Es/N0 of a level.
double ratio_of(int level);

constexpr unsigned most_bits = 8, most_points = 1u << most_bits;
constexpr unsigned side = 256; //!< of the grid of cells, of which 255 are in use

//! A constellation as cells are made of it, and what goes with each level.
struct model {
    std::uint32_t bits, points;
    std::uint32_t column[most_bits];
    double kurtosis;
    double i[most_points], q[most_points];
    double ratio[levels];         //!< Es/N0
    double width[levels];         //!< of a cell, in parts of the mean signal amplitude
    double threshold[levels - 1]; //!< Es/N0 between a level and the next

    //! Whether each part has a bit of its own, with no more than a line of cells.
    GPUFEC_DEMAP_BOTH bool is_line() const { return bits == 2; }
    //! Whether a frame is demapped again with what its errors say: if it has rings.
    GPUFEC_DEMAP_BOTH bool refines() const { return kurtosis > 1.001; }
    //! Symbols of a frame of so many bits; the last one may be filled up.
    GPUFEC_DEMAP_BOTH std::uint32_t symbols(std::uint32_t frame_bits) const
    {
        return (frame_bits + bits - 1) / bits;
    }
    //! Where bit \p b of symbol \p s of \p count lies in its frame.
    GPUFEC_DEMAP_BOTH std::uint32_t
    place(std::uint32_t s, std::uint32_t b, std::uint32_t count) const
    {
        return is_line() ? 2 * s + b : column[b] * count + s;
    }
};

model make_model(const constellation& c);

//! By how much a symbol's parts are multiplied to become integers; 0 for a largest
//! magnitude of 0. \p largest finite
GPUFEC_DEMAP_BOTH inline float integer_factor(float largest)
{
    if (!(largest > 0)) {
        return 0;
    }
    std::uint32_t bits;
    std::memcpy(&bits, &largest, sizeof(bits));
    int exponent = int(bits >> 23) - 126; // largest < 2^exponent
    for (auto b = bits; b < 1u << 23; b <<= 1) {
        --exponent; // of what is not normalised
    }
    // So that 2^14 and less is the largest part.
    const int shift = 14 - exponent;
    bits = std::uint32_t(127 + (shift < -120 ? -120 : shift > 120 ? 120 : shift)) << 23;
    float factor;
    std::memcpy(&factor, &bits, sizeof(factor));
    return factor;
}

struct moments {
    std::uint64_t squares = 0; //!< of magnitudes
    std::uint64_t fourth = 0;  //!< of their squares less 6 bits, the squares

    GPUFEC_DEMAP_BOTH void add(std::int16_t i, std::int16_t q)
    {
        const auto square = std::uint32_t(i * i) + std::uint32_t(q * q);
        squares += square;
        fourth += std::uint64_t(square >> 6) * (square >> 6);
    }
};

//! The level nearest to an Es/N0, in dB.
GPUFEC_DEMAP_BOTH inline int level_of_ratio(double ratio, const model& m)
{
    int low = 0, high = levels - 1; // thresholds below and not below
    while (low < high) {
        const int middle = (low + high) / 2;
        if (m.threshold[middle] < ratio) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return first_level + low;
}

//! Where the search begins for a constellation so dense that the moments of a frame say
//! more of its symbols than of their noise; from above, where its errors are plain.
constexpr int dense_start = 4 * 24;
constexpr unsigned dense_points = 128;

//! From the moments of a frame: that of a constellation and of Gaussian noise.
GPUFEC_DEMAP_BOTH inline int
estimate_level(const moments& sums, std::uint32_t symbols, const model& m)
{
    if (m.points >= dense_points) {
        return dense_start;
    }
    const double second = double(sums.squares) / symbols;
    const double fourth = double(sums.fourth) * 4096 / symbols;
    const double signal_squared = (2 * second * second - fourth) / (2 - m.kurtosis);
    if (!(signal_squared > 0)) {
        return first_level;
    }
    const double signal = std::sqrt(signal_squared);
    const double noise = second - signal;
    return noise > 0 ? level_of_ratio(signal / noise, m) : last_level;
}

//! To the nearest integer, to the even one of two; up to 2^22.
GPUFEC_DEMAP_BOTH inline float nearest(float x)
{
    return (x + 12582912.0f) - 12582912.0f;
}

GPUFEC_DEMAP_BOTH inline std::int16_t integer_part(float x, float factor)
{
    return std::int16_t(nearest(x * factor));
}

//! What a part counts for: nothing if it is no number.
GPUFEC_DEMAP_BOTH inline float value_of(float x)
{
    return x - x == 0 ? x : 0.0f; // infinities too
}
GPUFEC_DEMAP_BOTH inline float value_of(std::int16_t x) { return x; }
GPUFEC_DEMAP_BOTH inline float value_of(std::int8_t x) { return x; }

//! How integers become cells.
struct cell_rule {
    float factor;

    GPUFEC_DEMAP_BOTH static cell_rule
    of(const moments& sums, std::uint32_t symbols, const model& m, int level)
    {
        const double power = double(sums.squares) / symbols;
        const double ratio = m.ratio[level - first_level];
        const double amplitude = std::sqrt(power * ratio / (1 + ratio));
        return { amplitude > 0 ? float(1 / (amplitude * m.width[level - first_level]))
                               : 0 };
    }

    //! −127 to 127
    GPUFEC_DEMAP_BOTH std::int32_t operator()(std::int16_t part) const
    {
        const float x = part * factor;
        return std::int32_t(nearest(x < -127 ? -127 : x > 127 ? 127 : x));
    }
};

//! Of the grid, by the numbers of its cell.
GPUFEC_DEMAP_BOTH inline unsigned cell_index(std::int32_t i, std::int32_t q)
{
    return unsigned(i & 255) * side + unsigned(q & 255);
}

//! What is known of a cell.
struct cell {
    std::int8_t llr[most_bits]; //!< of the label's bits, the first first; positive for 0
    std::uint16_t error; //!< 4096ths: expected energy of the noise, up to 16; not of QPSK
};

namespace detail {

GPUFEC_DEMAP_BOTH inline double with_bits(std::uint64_t bits)
{
    double x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}
GPUFEC_DEMAP_BOTH inline std::uint64_t bits_of(double x)
{
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
}

//! e^x for x from −700 to 0, to 1e-14 of it.
GPUFEC_DEMAP_BOTH inline double exponential(double x)
{
    constexpr double log2e = 1.44269504088896340736;
    constexpr double ln2_high = 0.693147180369123816490; // 32 bits of it
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const auto power = int(x * log2e - 0.5); // towards 0, which is the nearest
    const double r = (x - power * ln2_high) - power * ln2_low;
    // 1/k!, from 13 to 0
    double sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    return sum * with_bits(std::uint64_t(1023 + power) << 52);
}

//! The natural logarithm of a normal x above 0, to 1e-13.
GPUFEC_DEMAP_BOTH inline double logarithm(double x)
{
    constexpr double ln2 = 0.693147180559945309417;
    const auto bits = bits_of(x);
    int power = int(bits >> 52) - 1023;
    double m = with_bits((bits & 0xfffffffffffffu) | std::uint64_t(1023) << 52);
    if (m > 1.4142135623730951) {
        m /= 2;
        ++power;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 1.0 / 19;
    sum = sum * square + 1.0 / 17;
    sum = sum * square + 1.0 / 15;
    sum = sum * square + 1.0 / 13;
    sum = sum * square + 1.0 / 11;
    sum = sum * square + 1.0 / 9;
    sum = sum * square + 1.0 / 7;
    sum = sum * square + 1.0 / 5;
    sum = sum * square + 1.0 / 3;
    sum = sum * square + 1;
    return power * ln2 + 2 * s * sum;
}

GPUFEC_DEMAP_BOTH inline std::int8_t llr_steps(double llr)
{
    const double x = llr * steps_per_nat;
    const double within = x < -127 ? -127 : x > 127 ? 127 : x;
    constexpr double whole = 6755399441055744.0; // no fraction beyond
    return std::int8_t((within + whole) - whole);
}

} // namespace detail

//! Of a cell of a line: what \p part says of its bit.
GPUFEC_DEMAP_BOTH inline std::int8_t
make_line_cell(const model& m, int level, std::int32_t part)
{
    const int at = level - first_level;
    return detail::llr_steps(2.8284271247461903 * part * m.width[at] * m.ratio[at]);
}

GPUFEC_DEMAP_BOTH inline cell
make_cell(const model& m, int level, method how, std::int32_t i, std::int32_t q)
{
    cell made{};
    if (m.is_line()) {
        made.llr[0] = make_line_cell(m, level, i);
        made.llr[1] = make_line_cell(m, level, q);
        return made;
    }
    const double width = m.width[level - first_level],
                 ratio = m.ratio[level - first_level];
    const double x = i * width, y = q * width;
    const auto exponent = [&](unsigned label) { // of the point's likelihood
        const double dx = x - m.i[label], dy = y - m.q[label];
        return -(dx * dx + dy * dy) * ratio;
    };
    double most[most_bits][2], best = -1e300;
    for (unsigned b = 0; b < m.bits; ++b) {
        most[b][0] = most[b][1] = -1e300;
    }
    for (unsigned label = 0; label < m.points; ++label) {
        const double e = exponent(label);
        best = e > best ? e : best;
        for (unsigned b = 0; b < m.bits; ++b) {
            auto& at = most[b][label >> (m.bits - 1 - b) & 1];
            at = e > at ? e : at;
        }
    }
    const bool log_map = how == method::log_map;
    double sum[most_bits][2] = {}, weight = 0, error = 0;
    // What is less adds nothing to errors, or is beyond what LLRs can say.
    const double least = best - (log_map ? 40 : 20);
    for (unsigned label = 0; label < m.points && (log_map || m.refines()); ++label) {
        const double e = exponent(label);
        if (e < least) {
            continue;
        }
        const double w = detail::exponential(e - best);
        weight += w;
        error -= w * e / ratio;
        for (unsigned b = 0; b < m.bits && log_map; ++b) {
            sum[b][label >> (m.bits - 1 - b) & 1] += w;
        }
    }
    for (unsigned b = 0; b < m.bits; ++b) {
        double llr = most[b][0] - most[b][1];
        if (sum[b][0] > 0 && sum[b][1] > 0) {
            llr = detail::logarithm(sum[b][0] / sum[b][1]);
        }
        made.llr[b] = detail::llr_steps(llr);
    }
    if (m.refines()) {
        const double mean = 4096 * error / weight + 0.5;
        made.error = mean < 65535 ? std::uint16_t(mean) : 65535;
    }
    return made;
}

//! Passes over a frame at most, of constellations with rings.
constexpr unsigned most_passes = 6;

//! The Es/N0 of a frame, as the passes over it find it: where the errors that it has are
//! those that its level stands for.
struct level_search {
    std::int32_t level = 0;   //!< of the pass that is made
    std::uint32_t passes = 0; //!< begun
    std::int32_t level_before = 0;
    double excess_before = 0;

    GPUFEC_DEMAP_BOTH void begin(int first)
    {
        level = first;
        passes = 1;
    }

    //! After a pass with the errors of so many cells: whether there is another.
    GPUFEC_DEMAP_BOTH bool go_on(std::uint64_t errors, std::uint32_t symbols)
    {
        constexpr double per_neper = 17.371779276130073; // levels: 40 / ln 10
        // By how much they speak for a higher level. It grows by less than a level with
        // each level that lacks: what is expected of a cell follows what is assumed.
        const double excess =
            (errors == 0
                 ? double(last_level)
                 : per_neper * detail::logarithm(4096.0 * symbols / double(errors))) -
            level;
        double step = excess < 0 ? 2 * excess : excess;
        if (passes > 1) {
            const double slope = (excess - excess_before) / (level - level_before);
            step = excess / (slope > -0.15 ? 0.15 : slope < -1 ? 1 : -slope);
        }
        constexpr double whole = 6755399441055744.0; // no fraction beyond
        const int rounded = int((level + step + whole) - whole);
        const int next = rounded < first_level  ? first_level
                         : rounded > last_level ? last_level
                                                : rounded;
        if (next == level || passes == most_passes) {
            return false;
        }
        level_before = level;
        excess_before = excess;
        level = next;
        ++passes;
        return true;
    }
};

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_RULE_H */
