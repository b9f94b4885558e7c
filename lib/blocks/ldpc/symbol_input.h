// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Constellation and Es/N0 of the symbols that an LDPC decoder receives. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_SYMBOL_INPUT_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_SYMBOL_INPUT_H

#include "common/refuse.h"
#include "demap/constellation.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Checks the parameter esn0_db.
//! \throws std::invalid_argument
inline void check_esn0_db(double esn0_db)
{
    require(esn0_db >= -10 && esn0_db <= 30, "esn0_db", esn0_db, "-10 to 30 dB");
}

class symbol_input
{
public:
    /*!
     * \param all constellations that frames may have; all[0] is the first frame's
     * \param esn0_db Es/N0 of the frames in dB; NaN if it is estimated from each frame
     */
    symbol_input(const std::vector<ldpc_constellation>& all, double esn0_db)
        : d_first_esn0_db(esn0_db)
    {
        for (const auto& c : all) {
            d_all.push_back(
                { c, demap::make_constellation(c.name, c.rate, c.frame_size) });
        }
    }

    //! Returns the index of a constellation; nothing if it is unknown.
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
    //! Checks that a constellation is known.
    //! \throws std::invalid_argument
    void require_one(const ldpc_constellation& wanted) const
    {
        if (!find(wanted)) {
            demap::refuse_constellation(wanted.name, wanted.rate, wanted.frame_size);
        }
    }
    //! Sets the constellation of the frames that follow.
    void select(unsigned index) { d_selected = index; }
    const std::string& constellation() const { return d_all[d_selected].what.name; }
    const std::string& first() const { return d_all[0].what.name; }

    //! Returns the index within the frame of \p bits sent bits of the bit that becomes
    //! label bit 0 of \p symbol.
    std::size_t bit_of(std::size_t symbol, std::size_t bits) const
    {
        const auto& c = d_all[d_selected].points;
        const auto count = (bits + c.bits - 1) / c.bits; // symbols, not counting dummies
        return c.bits == 2 ? 2 * symbol : c.columns[0] * count + symbol / c.spreading;
    }

    bool level_is_given() const { return !std::isnan(d_first_esn0_db); }
    double first_esn0_db() const { return d_first_esn0_db; }

    //! Prepares for another stream.
    void restart() { d_selected = 0; }

private:
    struct entry {
        ldpc_constellation what;
        demap::constellation points;
    };
    std::vector<entry> d_all;
    unsigned d_selected = 0;
    const double d_first_esn0_db;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_SYMBOL_INPUT_H */
