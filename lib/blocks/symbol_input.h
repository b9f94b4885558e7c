// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols on their way to an LDPC decoder: gathered by frames, and demapped. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H
#define INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H

#include "demap/demapper.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

class symbol_input
{
public:
    /*!
     * \param esn0_db of the frames; nothing: each frame's own
     * \throws std::invalid_argument if the constellation has no MODCOD of the rate
     */
    symbol_input(demap::symbol_format format,
                 demap::method how,
                 const std::string& constellation,
                 const std::string& rate,
                 std::optional<double> esn0_db);

    static constexpr float llr_scale = demap::steps_per_nat;

    //! Of the frames to come. \throws std::invalid_argument if there is no such MODCOD
    void select(const std::string& constellation, const std::string& rate);
    const std::string& constellation() const { return d_name; }
    bool level_is_given() const { return d_level.has_value(); }
    void set_esn0_db(double db) { d_level = demap::level_of(db); }

    //! Symbols of a frame of so many bits.
    std::size_t symbols(std::size_t bits) const;
    //! Those of the open frame.
    std::size_t have() const { return d_have; }
    //! The first bit of its code that a symbol of a frame has.
    std::size_t bit_of(std::size_t symbol, std::size_t bits) const;

    //! Takes symbols of one frame of \p bits; at its end its LLRs are there.
    void take(const std::byte* items, std::size_t count, std::size_t bits);
    void drop() { d_have = 0; }

    //! LLRs that have not gone on.
    const std::int8_t* llr() const { return d_llr.data() + d_gone; }
    std::size_t left() const { return d_llr.size() - d_gone; }
    void went(std::size_t count) { d_gone += count; }

    //! Another stream begins, with the first constellation.
    void restart(const std::string& rate);

private:
    const demap::symbol_format d_format;
    const demap::method d_method;
    const std::string d_first_name;
    std::optional<int> d_first_level, d_level;
    std::string d_name;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<demap::demapper>>
        d_demappers;
    demap::demapper* d_selected = nullptr;
    std::vector<std::byte> d_items; // of the open frame
    std::size_t d_have = 0;
    std::optional<int> d_frame_level; // of it
    std::vector<std::int8_t> d_llr;
    std::size_t d_gone = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYMBOL_INPUT_H */
