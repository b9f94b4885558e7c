// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols of a frame become LLRs, deinterleaved, by tables. */

#ifndef INCLUDED_GPUFEC_DEMAP_DEMAPPER_H
#define INCLUDED_GPUFEC_DEMAP_DEMAPPER_H

#include "rule.h"
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gr::gpufec::demap {

//! What became of a frame.
struct demapped {
    int level;       //!< Es/N0 that it was demapped with
    unsigned passes; //!< that it took
};

/*!
 * \brief The plain demapper, symbol by symbol: what the fast ones must equal.
 *
 * \param m its constellation
 * \param how LLRs are made
 * \param format of the symbols
 * \param symbols of one frame
 * \param frame_bits of it, which its symbols have and at most fill up
 * \param level of Es/N0; estimated: from the frame
 * \param llr written: \p frame_bits, in steps_per_nat, in the order of the code
 */
demapped reference_demap(const model& m,
                         method how,
                         symbol_format format,
                         const void* symbols,
                         std::uint32_t frame_bits,
                         int level,
                         std::int8_t* llr);

//! Cells of a constellation at a level, all of them.
struct cell_table {
    std::vector<std::int8_t> line;     //!< of one part, where that is enough
    std::vector<std::uint64_t> llr;    //!< else: a byte for each bit, the first lowest
    std::vector<std::uint16_t> errors; //!< where the constellation refines
};

//! A constellation's tables of the last levels; any threads may ask.
class cell_tables
{
public:
    cell_tables(const constellation& c, method how)
        : d_model(make_model(c)), d_method(how)
    {
    }

    const model& points() const { return d_model; }
    method how() const { return d_method; }
    //! Null if there is no memory for it.
    std::shared_ptr<const cell_table> of(int level);

private:
    const model d_model;
    const method d_method;
    std::mutex d_mutex;
    std::deque<std::pair<int, std::shared_ptr<const cell_table>>> d_last; // newest first
};

//! Demaps one frame after the other, of any constellations.
class demapper
{
public:
    explicit demapper(symbol_format format) : d_format(format) {}

    //! Takes the memory for frames of up to so many symbols, which needs none then.
    void reserve(std::size_t symbols)
    {
        d_parts.reserve(2 * symbols);
        d_cells.reserve(2 * symbols);
    }

    //! As reference_demap(). Where there is no memory for a table it takes its time.
    demapped demap(cell_tables& tables,
                   const void* symbols,
                   std::uint32_t frame_bits,
                   int level,
                   std::int8_t* llr);

private:
    moments to_integers(const void* symbols, std::size_t count);
    void to_cells(const cell_rule& rule);
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
    std::vector<std::int16_t> d_parts;
    std::vector<std::uint8_t> d_cells;
};

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_DEMAPPER_H */
