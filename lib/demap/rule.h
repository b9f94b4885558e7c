// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The arithmetic of demapping, shared by the reference, the fast demapper and the CUDA
 * kernels. All three must produce the same bits, so this file calls no library function
 * whose rounding may differ, and it is compiled without fused multiply-add.
 *
 * The "parts" of a symbol are its real and imaginary parts. A "level" is an Es/N0 in
 * steps of 1/4 dB.
 * 1. The scale of a frame is a power of two that converts the parts of symbols to
 *    integers. The scale is derived from the upper quartile of the symbols' energies.
 *    Symbols with more than five times that energy are outliers. Outliers and zeros are
 *    erased: they are left out of all sums, and their LLRs are 0.
 * 2. The power of the frame is the mean squared magnitude of the integer symbols. Unless
 *    the level is given, a first estimate results from the mean squares and the mean
 *    fourth powers. The sums are exact. The frame is divided into frame_parts parts with
 *    sums of their own, which reveal fading.
 * 3. The parts of symbols are scaled to a mean signal energy of 1 and quantised to 8
 *    bits. Each symbol thus lies in one cell of a grid of 256 by 256.
 * 4. The LLRs of a symbol are those of its cell's centre.
 * 5. For constellations with several radii, each cell also has an expected noise energy.
 *    If the mean over the frame contradicts an estimated level, another pass repeats
 *    steps 3 and 4 with another level.
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
    float32, //!< pairs of floats
    int16,   //!< pairs of int16
    int8     //!< pairs of int8
};

//! Returns the size of a symbol in bytes.
std::size_t symbol_bytes(symbol_format format);

enum class method {
    max_log, //!< uses the nearest constellation point for each value of a bit
    log_map  //!< uses all constellation points
};

//! Quantisation steps of an LLR per nat.
constexpr int steps_per_nat = 4;
//! LLRs are limited to 15 nats. At rates 2/3 to 4/5 an int8 LDPC decoder limits messages
//! to 10 nats, so two checks could not correct a wrong bit with an LLR above 20 nats.
constexpr int max_steps = 15 * steps_per_nat;
//! Levels of Es/N0, in steps of 1/4 dB from −10 to 30 dB.
constexpr int first_level = -40, last_level = 120, levels = last_level - first_level + 1;
//! Value for a level that the demapper estimates from the frame.
constexpr int estimated = last_level + 1;
//! Returns the level nearest to an Es/N0 in dB. A value that is not finite counts as
//! 0 dB.
int level_of(double esn0_db);
//! Returns the Es/N0 of a level as a ratio.
double ratio_of(int level);

constexpr unsigned max_bits = 8, max_points = 1u << max_bits;
constexpr unsigned side = 256; //!< cells per side of the grid, of which 255 are used

//! A constellation and its parameters at each level.
struct model {
    std::uint32_t bits, points;
    std::uint32_t column[max_bits];
    double kurtosis;
    double i[max_points], q[max_points];
    double ratio[levels]; //!< Es/N0 as a power ratio
    double width[levels]; //!< width of a cell in units of the RMS signal amplitude
    //! Values of ratio_of_moments() halfway between successive levels.
    double threshold[levels - 1];

    //! Returns whether each part of a symbol carries one bit (QPSK). A bit's LLR then
    //! depends on one coordinate of the cell.
    GPUFEC_DEMAP_BOTH bool is_line() const { return bits == 2; }
    //! Returns whether further passes refine an estimated level, because the points have
    //! several radii.
    GPUFEC_DEMAP_BOTH bool refines() const { return kurtosis > 1.001; }
    //! Returns the number of symbols of a frame. The last symbol may have unused bits.
    GPUFEC_DEMAP_BOTH std::uint32_t symbols(std::uint32_t frame_bits) const
    {
        return (frame_bits + bits - 1) / bits;
    }
    //! Returns the index in the codeword, before interleaving, of bit \p b of symbol \p
    //! s. The frame has \p count symbols.
    GPUFEC_DEMAP_BOTH std::uint32_t
    place(std::uint32_t s, std::uint32_t b, std::uint32_t count) const
    {
        return is_line() ? 2 * s + b : column[b] * count + s;
    }
};

model make_model(const constellation& c);

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

} // namespace detail

//! Rounds to the nearest integer, ties to even, for magnitudes up to 2^22.
GPUFEC_DEMAP_BOTH inline float nearest(float x)
{
    return (x + 12582912.0f) - 12582912.0f;
}

//! Returns \p x, or 0 if \p x is infinite or NaN.
GPUFEC_DEMAP_BOTH inline float value_of(float x) { return x - x == 0 ? x : 0.0f; }
GPUFEC_DEMAP_BOTH inline float value_of(std::int16_t x) { return x; }
GPUFEC_DEMAP_BOTH inline float value_of(std::int8_t x) { return x; }

//! Sample of at most 2048 symbols, which sets the scale of a frame. The sample has one
//! symbol of each \c stretch consecutive symbols, at a pseudorandom position, so that a
//! periodic interferer cannot hit all samples.
struct scale_samples {
    std::uint32_t stretch, count;

    GPUFEC_DEMAP_BOTH explicit scale_samples(std::uint32_t symbols)
        : stretch((symbols + 2047) / 2048), count((symbols + stretch - 1) / stretch)
    {
    }
    //! Returns the index of the symbol of sample \p n. The index may be beyond the end of
    //! the frame; such a sample is left out.
    GPUFEC_DEMAP_BOTH std::uint32_t operator()(std::uint32_t n) const
    {
        return n * stretch + (n * 2654435761u >> 16) % stretch; // Knuth's hash
    }
};

//! Classes of symbol energies for a histogram, four per octave; class 0 is energy 0.
struct energy_classes {
    // Exponent and two bits of mantissa of the smallest square of a float, 2^-298.
    static constexpr std::uint32_t first = (1023 - 298) << 2;
    static constexpr std::uint32_t count = ((1023 + 257) << 2) - first + 1;

    GPUFEC_DEMAP_BOTH static std::uint32_t of(float i, float q)
    {
        // The products are exact, so fused multiply-add cannot change the sum's rounding.
        const double energy = double(i) * i + double(q) * q;
        return energy > 0 ? std::uint32_t(detail::bits_of(energy) >> 50) - first + 1 : 0;
    }
    //! Returns the lowest energy of a class.
    GPUFEC_DEMAP_BOTH static double begin(std::uint32_t c)
    {
        return detail::with_bits(std::uint64_t(c - 1 + first) << 50);
    }
};

//! Returns whether a class contains the upper quartile of \p all samples. The class has
//! \p here samples, and \p before samples are below it.
GPUFEC_DEMAP_BOTH inline bool
has_quartile(std::uint32_t before, std::uint32_t here, std::uint32_t all)
{
    return 4 * before < 3 * all && 4 * (before + here) >= 3 * all;
}

//! The rule that converts symbols of a frame to integers and finds outliers.
struct integer_rule {
    float factor = 0;          //!< scale that converts parts to integers
    std::uint32_t largest = 0; //!< energy, after scaling, above which a symbol is erased

    //! Derives the rule from class \p c, which holds the upper quartile of \p all
    //! samples: \p here samples lie in the class, and \p before samples lie below it.
    GPUFEC_DEMAP_BOTH static integer_rule
    of(std::uint32_t c, std::uint32_t before, std::uint32_t here, std::uint32_t all)
    {
        const double begin = energy_classes::begin(c);
        const double part = (0.75 * all - before) / here;
        const double quartile = begin + (energy_classes::begin(c + 1) - begin) * part;
        // Noise alone exceeds this energy in 1 symbol of 1000. Erasing such symbols costs
        // QPSK 1/4 0.006 dB (docs/decisions/2026-11-25-level-of-symbols.md).
        const double most = 5 * quartile;
        // Scaled parts of symbols of up to this energy are within ±2^14.
        const int octave =
            int(detail::bits_of(most) >> 52) - 1023; // most < 2^(octave + 1)
        const int shift = 14 - ((octave + 2) >> 1);
        const int within = shift < -120 ? -120 : shift > 120 ? 120 : shift;
        const double scale = detail::with_bits(std::uint64_t(1023 + within) << 52);
        return { float(scale), std::uint32_t(most * scale * scale) };
    }

    GPUFEC_DEMAP_BOTH std::int16_t operator()(float part) const
    {
        const float x = part * factor;
        return std::int16_t(nearest(x < -32767 ? -32767 : x > 32767 ? 32767 : x));
    }
    GPUFEC_DEMAP_BOTH static std::uint32_t energy(std::int16_t i, std::int16_t q)
    {
        return std::uint32_t(i * i) + std::uint32_t(q * q);
    }
    //! Returns whether a symbol of this energy is erased, because it is an outlier or 0.
    //! Zeros occur when a receiver blanks interference.
    GPUFEC_DEMAP_BOTH bool erases(std::uint32_t energy) const
    {
        return energy - 1 >= largest;
    }
};

//! Sums over symbols that are not erased.
struct moments {
    std::uint64_t squares = 0; //!< sum of squared magnitudes
    std::uint64_t fourth = 0;  //!< sum of floor(squared magnitude / 64)²
    std::uint32_t symbols = 0;

    GPUFEC_DEMAP_BOTH void add(std::uint32_t energy)
    {
        squares += energy;
        fourth += std::uint64_t(energy >> 6) * (energy >> 6);
        ++symbols;
    }
};

//! Number of parts into which a frame is divided. The last parts may be shorter or empty.
constexpr std::uint32_t frame_parts = 16;
GPUFEC_DEMAP_BOTH inline std::uint32_t part_length(std::uint32_t symbols)
{
    return (symbols + frame_parts - 1) / frame_parts;
}

//! Moments of each part of a frame.
struct frame_moments {
    moments part[frame_parts];

    GPUFEC_DEMAP_BOTH moments whole() const
    {
        moments sum;
        for (const auto& p : part) {
            sum.squares += p.squares;
            sum.fourth += p.fourth;
            sum.symbols += p.symbols;
        }
        return sum;
    }

    //! Returns the variance of the power between the parts of the frame, relative to the
    //! square of the mean power. Returns 0 if the variance is below five times its value
    //! by chance plus 0.03 (17 % rms, or 3 dB of slow fading).
    GPUFEC_DEMAP_BOTH double fading() const
    {
        const auto sum = whole();
        if (sum.symbols == 0) {
            return 0;
        }
        const double power = double(sum.squares) / sum.symbols;
        double scatter = 0;
        std::uint32_t filled = 0;
        for (const auto& p : part) {
            if (p.symbols > 0) {
                scatter += double(p.squares) * double(p.squares) / p.symbols;
                ++filled;
            }
        }
        const double square = power * power;
        const double relative = scatter / sum.symbols / square - 1;
        // Symbol energies have the relative variance `spread`. Without fading, the
        // expected value of `relative` is therefore `random`.
        const double spread = double(sum.fourth) * 4096 / sum.symbols / square - 1;
        const double random = (filled - 1) * spread / sum.symbols;
        return relative > 5 * random + 0.03 ? relative - random : 0;
    }
};

//! Returns the level nearest in dB to an Es/N0 that ratio_of_moments() has estimated.
GPUFEC_DEMAP_BOTH inline int level_of_ratio(double ratio, const model& m)
{
    // Thresholds with an index below low are below the ratio; thresholds with an index of
    // high or more are not.
    int low = 0, high = levels - 1;
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

//! First level (24 dB) of the search for constellations of dense_points points or more.
//! The moments of these constellations depend more on the choice of symbols than on the
//! noise. The search begins at a high level, because expected noise energies reveal a
//! level that is too high.
constexpr int dense_start = 4 * 24;
constexpr unsigned dense_points = 128;

//! Returns the signal-to-noise ratio that the second and fourth moments of magnitudes
//! imply for a constellation in Gaussian noise. \p fading is frame_moments::fading(). The
//! result is negative if there is no such ratio, and 1e9 without noise.
GPUFEC_DEMAP_BOTH inline double
ratio_of_moments(double second, double fourth, double kurtosis, double fading)
{
    const double square = second * second;
    const double signal_squared =
        (2 * square - fourth + kurtosis * fading * square) / (2 - kurtosis);
    if (!(signal_squared > 0)) {
        return -1;
    }
    const double signal = std::sqrt(signal_squared);
    const double noise = second - signal;
    return noise > 0 ? signal / noise : 1e9;
}

GPUFEC_DEMAP_BOTH inline int
estimate_level(const frame_moments& sums, double fading, const model& m)
{
    if (m.points >= dense_points) {
        return dense_start;
    }
    const auto all = sums.whole();
    if (all.symbols == 0) {
        return first_level;
    }
    return level_of_ratio(ratio_of_moments(double(all.squares) / all.symbols,
                                           double(all.fourth) * 4096 / all.symbols,
                                           m.kurtosis,
                                           fading),
                          m);
}

//! The rule that converts integers to coordinates of cells. Each part of a fading frame
//! has its own rule.
struct cell_rule {
    float factor = 0; //!< scale of integers; 0 if symbols are erased, because the
                      //!< signal power is below 1/16 of the frame's mean

    GPUFEC_DEMAP_BOTH static cell_rule of(const frame_moments& sums,
                                          std::uint32_t part,
                                          double fading,
                                          const model& m,
                                          int level)
    {
        const auto all = sums.whole();
        const auto& own = sums.part[part];
        if (all.symbols == 0) {
            return {};
        }
        const double power = double(all.squares) / all.symbols;
        const double ratio = m.ratio[level - first_level];
        const double signal = power * ratio / (1 + ratio);
        const double width = m.width[level - first_level];
        if (!(fading > 0)) {
            return { float(1 / (std::sqrt(signal) * width)) };
        }
        const double noise = power / (1 + ratio);
        const double here = own.symbols ? double(own.squares) / own.symbols - noise : 0;
        if (here < signal / 16) {
            return {};
        }
        // If all points have one radius, LLRs are proportional to the amplitude in this
        // part of the frame. Otherwise the symbols must be scaled to the points' radii.
        return { float((m.refines() ? 1 / std::sqrt(here) : std::sqrt(here) / signal) /
                       width) };
    }

    //! Returns a cell coordinate, −127 to 127.
    GPUFEC_DEMAP_BOTH std::int32_t operator()(std::int16_t part) const
    {
        const float x = part * factor;
        return std::int32_t(nearest(x < -127 ? -127 : x > 127 ? 127 : x));
    }
};

GPUFEC_DEMAP_BOTH inline unsigned cell_index(std::int32_t i, std::int32_t q)
{
    return unsigned(i & 255) * side + unsigned(q & 255);
}

//! LLRs and expected noise energy of a symbol in a cell.
struct cell {
    std::int8_t llr[max_bits]; //!< one LLR per bit of the label; positive means 0
    std::uint16_t
        error; //!< if refines(): expected noise energy times 4096, at most 65535
};

namespace detail {

//! Returns e^x for x from −700 to 0, with relative error 1e-14.
GPUFEC_DEMAP_BOTH inline double exponential(double x)
{
    constexpr double log2e = 1.44269504088896340736;
    constexpr double ln2_high = 0.693147180369123816490; // upper 32 bits
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const auto power = int(x * log2e - 0.5); // truncation rounds to nearest here
    const double r = (x - power * ln2_high) - power * ln2_low;
    // Taylor series with coefficients 1/k!, k from 13 to 0.
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

//! Returns the natural logarithm of a normal x above 0, with error 1e-13.
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
    const double within = x < -max_steps ? -max_steps : x > max_steps ? max_steps : x;
    constexpr double whole = 6755399441055744.0; // a double of this size has no fraction
    return std::int8_t((within + whole) - whole);
}

} // namespace detail

//! If is_line(): returns the LLR of the bit that a symbol's part with this cell
//! coordinate carries.
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
    const auto exponent = [&](unsigned label) { // logarithm of a point's likelihood
        const double dx = x - m.i[label], dy = y - m.q[label];
        return -(dx * dx + dy * dy) * ratio;
    };
    double most[max_bits][2], best = -1e300;
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
    double sum[max_bits][2] = {}, weight = 0, error = 0;
    // Points with smaller exponents have no noticeable effect on the expected noise
    // energy, or on LLRs below the limit.
    const double threshold = best - (log_map ? 40 : 20);
    for (unsigned label = 0; label < m.points && (log_map || m.refines()); ++label) {
        const double e = exponent(label);
        if (e < threshold) {
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
        // The limit keeps outliers from dominating the sum. In Gaussian noise, 1 symbol
        // in 400 exceeds the limit.
        const double energy = error / weight, most = 6 / ratio;
        const double mean = 4096 * (energy < most ? energy : most) + 0.5;
        made.error = mean < 65535 ? std::uint16_t(mean) : 65535;
    }
    return made;
}

//! Largest number of passes over a frame, each at one level, if refines().
constexpr unsigned max_passes = 6;

//! Search for the level whose noise energy equals the mean cell::error of the frame.
struct level_search {
    std::int32_t level = 0;   //!< level of the current pass
    std::uint32_t passes = 0; //!< number of passes begun
    std::int32_t level_before = 0;
    double excess_before = 0;

    GPUFEC_DEMAP_BOTH void begin(int first)
    {
        level = first;
        passes = 1;
    }

    //! Sets the level of the next pass. \p errors is the sum of cell::error in this pass
    //! over \p symbols symbols that are not erased. Returns false if the search has
    //! ended.
    GPUFEC_DEMAP_BOTH bool go_on(std::uint64_t errors, std::uint32_t symbols)
    {
        constexpr double per_neper = 17.371779276130073; // levels: 40 / ln 10
        // Estimates the number of levels by which the level is too low. The correct level
        // is further away, because cell::error depends on the assumed level.
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
        constexpr double whole =
            6755399441055744.0; // a double of this size has no fraction
        const int rounded = int((level + step + whole) - whole);
        const int next = rounded < first_level  ? first_level
                         : rounded > last_level ? last_level
                                                : rounded;
        if (next == level || passes == max_passes) {
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
