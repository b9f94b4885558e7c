// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Demappers convert the symbols of a frame to deinterleaved LLRs: the reference symbol by
 * symbol, the fast demapper by table look-up. */

#ifndef INCLUDED_GPUFEC_DEMAP_DEMAPPER_H
#define INCLUDED_GPUFEC_DEMAP_DEMAPPER_H

#include "rule.h"
#include <complex>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gr::gpufec::demap {

//! Converts \p count symbols of a format to complex floats in \p to. \p symbols may have
//! any alignment. Values that are not finite become 0.
void read_symbols(const void* symbols,
                  std::size_t count,
                  symbol_format format,
                  std::vector<std::complex<float>>& to);

//! Result of demapping a frame.
struct demapped {
    int level;       //!< level of Es/N0 in the last pass, see level_of()
    unsigned passes; //!< number of passes over the frame, see max_passes
};

/*!
 * \brief Demaps a frame symbol by symbol, without tables, as a reference for demapper.
 *
 * \param m the constellation
 * \param how method of computing LLRs
 * \param format format of the symbols
 * \param symbols the symbols of one frame
 * \param frame_bits number of bits of the frame; further bits of the last symbol are
 *        ignored
 * \param level level of Es/N0, or `estimated` to derive the level from the frame
 * \param llr result: \p frame_bits LLRs in the order of the code, with steps_per_nat
 *        steps per nat
 */
demapped reference_demap(const model& m,
                         method how,
                         symbol_format format,
                         const void* symbols,
                         std::uint32_t frame_bits,
                         int level,
                         std::int8_t* llr);

//! LLRs of all cells (squares of the I/Q plane, see rule.h) of a constellation at a level
//! of Es/N0.
struct cell_table {
    //! If model::is_line(): LLRs, indexed by coordinate modulo 256.
    std::vector<std::int8_t> line;
    //! If not model::is_line(): LLRs, indexed by cell_index(). An element has the LLRs of
    //! a cell, one per byte; the LLR of the first bit is in the lowest byte.
    std::vector<std::uint64_t> llr;
    //! If model::refines(): cell::error, indexed by cell_index().
    std::vector<std::uint16_t> errors;
};

//! Tables of a constellation for recently used levels. Several threads may use one
//! object.
class cell_tables
{
public:
    cell_tables(const constellation& c, method how)
        : d_model(make_model(c)), d_method(how)
    {
    }

    const model& points() const { return d_model; }
    method how() const { return d_method; }
    //! Returns the table of a level, or nullptr if no memory can be allocated for it.
    std::shared_ptr<const cell_table> of(int level);

private:
    const model d_model;
    const method d_method;
    std::mutex d_mutex;
    // Levels and their tables, the most recently used first.
    std::deque<std::pair<int, std::shared_ptr<const cell_table>>> d_last;
};

//! Fast demapper for frames of any constellation, one frame at a time.
class demapper
{
public:
    explicit demapper(symbol_format format)
        : d_format(format), d_classes(energy_classes::count)
    {
    }

    //! Allocates memory for frames of up to \p symbols symbols.
    void reserve(std::size_t symbols)
    {
        d_parts.reserve(2 * symbols);
        d_cells.reserve(2 * symbols);
    }

    //! Produces the same result as reference_demap(). If no memory can be allocated for a
    //! table, the LLRs of each symbol are computed, which is slow.
    demapped demap(cell_tables& tables,
                   const void* symbols,
                   std::uint32_t frame_bits,
                   int level,
                   std::int8_t* llr);

private:
    template <class Part>
    integer_rule find_scale(const Part* parts, std::uint32_t count);
    frame_moments to_integers(const void* symbols, std::uint32_t count);
    void to_cells(const frame_moments& sums, double fading, const model& m, int level);
    std::uint64_t make_cells(const model& m,
                             method how,
                             int level,
                             std::uint32_t frame_bits,
                             std::int8_t* llr) const;
    std::uint64_t look_up(const model& m,
                          const cell_table& table,
                          std::uint32_t frame_bits,
                          std::int8_t* llr) const;

    const symbol_format d_format;
    // Number of sampled symbols in each class of energies.
    std::vector<std::uint32_t> d_classes;
    // Real and imaginary parts of symbols as integers; `erased` if a symbol is erased.
    std::vector<std::int16_t> d_parts;
    std::vector<std::uint8_t> d_cells;
};

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_DEMAPPER_H */
