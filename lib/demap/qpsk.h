// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Soft values of a stream of QPSK symbols of any amplitude. */

#ifndef INCLUDED_GPUFEC_DEMAP_QPSK_H
#define INCLUDED_GPUFEC_DEMAP_QPSK_H

#include "qpsk_kernels.h"
#include "rule.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::gpufec::demap {

/*!
 * \brief Quantiser of QPSK symbols to int8 soft values in the order I, Q.
 *
 * The real and imaginary parts of the symbols are scaled so that the mean of their
 * magnitudes is mean_magnitude. A window of symbols is scaled by the mean of the previous
 * window. Windows have 1, 2, 4 and so on up to max_window symbols, counted from the
 * beginning of the stream, so that the result does not depend on how the stream is
 * divided into calls. For speed, the mean is computed from the first max_measured symbols
 * of a window, without zeros. Magnitudes are limited to 256 times the previous mean. The
 * first symbol becomes two zeros, because no mean is known yet. NaN becomes 0, and
 * infinities saturate at ±127.
 */
class qpsk_quantiser
{
public:
    static constexpr int mean_magnitude = 32;
    static constexpr unsigned max_window = 1024;
    static constexpr unsigned max_measured = 256;

    //! \param format format of the symbols
    //! \param variant one of cpu_variants(), or "" for the best variant
    explicit qpsk_quantiser(symbol_format format, const std::string& variant = "");

    //! Converts \p count symbols to 2 · \p count soft values.
    void convert(const void* symbols, std::size_t count, std::int8_t* out);
    //! Starts a new stream.
    void restart();

private:
    template <class Part>
    void convert_all(const Part* parts, std::size_t count, std::int8_t* out);
    template <class Part>
    void quantise(const Part* parts, std::size_t count, std::int8_t* out) const;
    template <class Part>
    void measure(const Part* parts, std::size_t count);

    const symbol_format d_format;
    const qpsk_kernels& d_kernels;
    float d_level = 0;     // mean magnitude in the previous window, or 0
    unsigned d_window = 1; // number of symbols in the current window
    unsigned d_have = 0;   // number of converted symbols in the current window
    // Sum of the magnitudes that the mean includes, and number of summands.
    double d_sum = 0;
    unsigned d_summands = 0;
};

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_QPSK_H */
