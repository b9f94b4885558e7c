// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols of a frame become LLRs, deinterleaved, by tables. */

#ifndef INCLUDED_GPUFEC_DEMAP_DEMAPPER_H
#define INCLUDED_GPUFEC_DEMAP_DEMAPPER_H

#include "rule.h"
#include <deque>
#include <memory>
#include <utility>

namespace gr::gpufec::demap {

//! What became of a frame.
struct demapped {
    int level;       //!< Es/N0 that it was demapped with
    unsigned passes; //!< that it took
};

/*!
 * \brief The plain demapper, symbol by symbol: what the fast one must equal.
 *
 * \param symbols of one frame, in the format
 * \param level of Es/N0; nothing: estimated from the frame
 * \param llr written: bits times count, in steps_per_nat, in the order of the code
 */
demapped reference_demap(const constellation& c,
                         method how,
                         symbol_format format,
                         const void* symbols,
                         std::size_t count,
                         std::optional<int> level,
                         std::int8_t* llr);

//! Demaps one frame after the other; keeps the tables of the last levels.
class demapper
{
public:
    demapper(const constellation& c, method how, symbol_format format);

    //! As reference_demap().
    demapped demap(const void* symbols,
                   std::size_t count,
                   std::optional<int> level,
                   std::int8_t* llr);

    const constellation& points() const { return d_constellation; }

private:
    struct table;

    const table& table_of(int level);
    moments to_integers(const void* symbols, std::size_t count);
    std::uint64_t
    look_up(const table& t, const cell_rule& rule, std::size_t count, std::int8_t* llr);

    const constellation d_constellation;
    const method d_method;
    const symbol_format d_format;
    std::deque<std::shared_ptr<const table>> d_tables; // the last used one first
    std::vector<std::int16_t> d_parts;
    std::vector<std::uint8_t> d_cells;
};

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_DEMAPPER_H */
