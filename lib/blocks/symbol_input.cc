// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "symbol_input.h"
#include <cstring>

namespace gr::gpufec {

symbol_input::symbol_input(demap::symbol_format format,
                           demap::method how,
                           const std::string& constellation,
                           const std::string& rate,
                           std::optional<double> esn0_db)
    : d_format(format), d_method(how), d_first_name(constellation)
{
    if (esn0_db) {
        set_esn0_db(*esn0_db);
    }
    d_first_level = d_level;
    select(constellation, rate);
}

void symbol_input::select(const std::string& constellation, const std::string& rate)
{
    auto& demapper = d_demappers[{ constellation, rate }];
    if (!demapper) {
        demapper = std::make_unique<demap::demapper>(
            demap::make_constellation(constellation, rate), d_method, d_format);
    }
    d_selected = demapper.get();
    d_name = constellation;
}

std::size_t symbol_input::symbols(std::size_t bits) const
{
    return bits / d_selected->points().bits;
}

std::size_t symbol_input::bit_of(std::size_t symbol, std::size_t bits) const
{
    const auto& c = d_selected->points();
    return c.bits == 2 ? 2 * symbol : c.columns[0] * symbols(bits) + symbol;
}

void symbol_input::take(const std::byte* items, std::size_t count, std::size_t bits)
{
    const auto size = demap::symbol_bytes(d_format);
    const auto whole = symbols(bits);
    if (d_have == 0) {
        d_frame_level = d_level;
    }
    const auto* frame = items;
    if (count < whole) {
        d_items.resize(whole * size);
        std::memcpy(d_items.data() + d_have * size, items, count * size);
        frame = d_items.data();
    }
    d_have += count;
    if (d_have == whole) {
        d_llr.resize(bits);
        d_gone = 0;
        d_selected->demap(frame, whole, d_frame_level, d_llr.data());
        d_have = 0;
    }
}

void symbol_input::restart(const std::string& rate)
{
    select(d_first_name, rate);
    d_level = d_first_level;
    d_have = 0;
    d_llr.clear();
    d_gone = 0;
}

} // namespace gr::gpufec
