// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Demaps π/2-BPSK by conversion to QPSK, and maps bits to π/2-BPSK. */

#include "vlsnr.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::demap {

namespace {

double energy(std::complex<float> s)
{
    return double(s.real()) * s.real() + double(s.imag()) * s.imag();
}

} // namespace

vlsnr_demapper::vlsnr_demapper(const constellation& c, method how, symbol_format format)
    : d_constellation(c),
      d_format(format),
      d_tables(make_constellation("qpsk", "2/9", "vl-snr normal"), how),
      d_demapper(c.bits == 1 ? symbol_format::float32 : format)
{
}

double vlsnr_demapper::demap(const void* symbols,
                             std::uint32_t frame_bits,
                             double esn0_db,
                             std::int8_t* llr)
{
    const bool bpsk = d_constellation.bits == 1;
    const double gain_db = bpsk ? 10 * std::log10(2.0 * d_constellation.spreading) : 0;
    const bool given = !std::isnan(esn0_db);
    int level = given ? level_of(esn0_db + gain_db) : estimated;
    if (bpsk) {
        read_symbols(
            symbols, d_constellation.frame_symbols(frame_bits), d_format, d_symbols);
        erase_outliers();
        const int found = make_pairs(frame_bits);
        level = given ? level : found;
        symbols = d_pairs.data();
    }
    return d_demapper.demap(d_tables, symbols, frame_bits, level, llr).level / 4.0 -
           gain_db;
}

// Erases the symbols whose energy exceeds five times the upper quartile, like
// integer_rule, so that these symbols do not distort the estimate.
void vlsnr_demapper::erase_outliers()
{
    d_energies.clear();
    d_sorted.clear();
    for (const auto s : d_symbols) {
        d_energies.push_back(energy(s));
        if (d_energies.back() > 0) {
            d_sorted.push_back(d_energies.back());
        }
    }
    if (d_sorted.empty()) {
        return;
    }
    const auto quartile = d_sorted.begin() + d_sorted.size() * 3 / 4;
    std::nth_element(d_sorted.begin(), quartile, d_sorted.end());
    for (std::size_t i = 0; i < d_symbols.size(); ++i) {
        if (d_energies[i] > 5 * *quartile) {
            d_symbols[i] = 0;
        }
    }
}

// Combines each pair of bits into a QPSK symbol. Returns the level of the QPSK symbols,
// estimated from the powers along and across the axis of the points.
int vlsnr_demapper::make_pairs(std::uint32_t frame_bits)
{
    d_pairs.assign((frame_bits + 1) / 2, 0);
    double along = 0, across = 0;
    std::size_t k = 0; // index of the symbol
    for (std::uint32_t bit = 0; bit < frame_bits; ++bit) {
        std::complex<double> sum = 0; // √2 times the sum of the symbols rotated back
        for (unsigned n = 0; n < d_constellation.spreading; ++n, ++k) {
            const double i = d_symbols[k].real(), q = d_symbols[k].imag();
            sum += k % 2 ? std::complex(q - i, -q - i) : std::complex(i + q, q - i);
        }
        along += sum.real() * sum.real();
        across += sum.imag() * sum.imag();
        auto* const parts = reinterpret_cast<float*>(&d_pairs[bit / 2]);
        parts[bit % 2] = float(sum.real());
    }
    if (!(along > across)) {
        return first_level;
    }
    return across > 0 ? level_of(10 * std::log10((along - across) / across)) : last_level;
}

std::vector<std::complex<float>> map_pi2_bpsk(const constellation& c,
                                              const std::vector<std::uint8_t>& bits)
{
    std::vector<std::complex<float>> symbols;
    for (const auto bit : bits) {
        for (unsigned n = 0; n < c.spreading; ++n) {
            const bool odd = symbols.size() % 2;
            symbols.emplace_back(c.points[bit] * (odd ? std::complex(0.0, 1.0) : 1.0));
        }
    }
    return symbols;
}

} // namespace gr::gpufec::demap
