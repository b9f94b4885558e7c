// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols on their way to an LDPC decoder: of which constellation, and their noise. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H
#define INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H

#include "demap/constellation.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

class symbol_input
{
public:
    /*!
     * \param all that frames may be of, beginning with the first frame's
     * \param esn0_db of the frames; NaN: each frame's own
     */
    symbol_input(const std::vector<ldpc_constellation>& all, double esn0_db)
        : d_first_esn0_db(esn0_db), d_esn0_db(esn0_db)
    {
        for (const auto& c : all) {
            d_all.push_back(
                { c, demap::make_constellation(c.name, c.rate, c.frame_size) });
        }
    }

    //! The index of a constellation among all.
    std::optional<unsigned> find(const ldpc_constellation& wanted) const
    {
        for (unsigned i = 0; i < d_all.size(); ++i) {
            const auto& c = d_all[i].what;
            if (c.name == wanted.name && c.rate == wanted.rate &&
                c.frame_size == wanted.frame_size) {
                return i;
            }
        }
        return {};
    }
    //! \throws std::invalid_argument if it is not among all
    void require_one(const ldpc_constellation& wanted) const
    {
        if (!find(wanted)) {
            demap::refuse_constellation(wanted.name, wanted.rate, wanted.frame_size);
        }
    }
    //! Of the frames to come.
    void select(unsigned index) { d_selected = index; }
    const std::string& constellation() const { return d_all[d_selected].what.name; }
    const std::string& first() const { return d_all[0].what.name; }

    //! Symbols of a frame of so many bits.
    std::size_t symbols(std::size_t bits) const
    {
        const auto each = d_all[d_selected].points.bits;
        return (bits + each - 1) / each;
    }
    //! The first bit of its code that a symbol of a frame has.
    std::size_t bit_of(std::size_t symbol, std::size_t bits) const
    {
        const auto& c = d_all[d_selected].points;
        return c.bits == 2 ? 2 * symbol : c.columns[0] * symbols(bits) + symbol;
    }

    bool level_is_given() const { return !std::isnan(d_first_esn0_db); }
    void set_esn0_db(double esn0_db) { d_esn0_db = esn0_db; }
    double esn0_db() const { return d_esn0_db; }

    //! Another stream begins.
    void restart()
    {
        d_selected = 0;
        d_esn0_db = d_first_esn0_db;
    }

private:
    struct entry {
        ldpc_constellation what;
        demap::constellation points;
    };
    std::vector<entry> d_all;
    unsigned d_selected = 0;
    const double d_first_esn0_db;
    double d_esn0_db;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H */
