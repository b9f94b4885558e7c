// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "demapper.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::demap {

namespace {

constexpr unsigned side = 256; // of the grid of cells
constexpr std::size_t most_tables = 16;

} // namespace

struct demapper::table {
    int level;
    std::vector<std::int8_t> line; // of QPSK, by one part: its bits do not mix
    // Else LLRs in the lower bytes, the error in the upper two.
    std::vector<std::uint64_t> cells;
};

demapper::demapper(const constellation& c, method how, symbol_format format)
    : d_constellation(c), d_method(how), d_format(format)
{
}

const demapper::table& demapper::table_of(int level)
{
    const auto found = std::find_if(d_tables.begin(), d_tables.end(), [&](const auto& t) {
        return t->level == level;
    });
    if (found != d_tables.end()) {
        std::rotate(d_tables.begin(), found, found + 1);
        return *d_tables.front();
    }
    auto made = std::make_shared<table>();
    made->level = level;
    if (d_constellation.bits == 2) {
        made->line.resize(side);
        for (int i = -127; i <= 127; ++i) {
            made->line[i & 255] =
                make_cell(d_constellation, level, d_method, i, 0).llr[0];
        }
    } else {
        made->cells.resize(side * side);
        for (int i = -127; i <= 127; ++i) {
            for (int q = -127; q <= 127; ++q) {
                const auto cell = make_cell(d_constellation, level, d_method, i, q);
                auto& word = made->cells[(i & 255) * side + (q & 255)];
                for (unsigned b = 0; b < d_constellation.bits; ++b) {
                    word |= std::uint64_t(std::uint8_t(cell.llr[b])) << 8 * b;
                }
                word |= std::uint64_t(cell.error) << 48;
            }
        }
    }
    d_tables.push_front(made);
    if (d_tables.size() > most_tables) {
        d_tables.pop_back();
    }
    return *d_tables.front();
}

moments demapper::to_integers(const void* symbols, std::size_t count)
{
    d_parts.resize(2 * count);
    const auto convert = [&](const auto* from, auto&& value) {
        float largest = 0;
        for (std::size_t i = 0; i < 2 * count; ++i) {
            largest = std::max(largest, std::abs(value(from[i])));
        }
        const auto factor = integer_factor(largest);
        for (std::size_t i = 0; i < 2 * count; ++i) {
            d_parts[i] = integer_part(value(from[i]), factor);
        }
    };
    if (d_format == symbol_format::float32) {
        convert(static_cast<const float*>(symbols),
                [](float x) { return std::isfinite(x) ? x : 0.0f; });
    } else if (d_format == symbol_format::int16) {
        convert(static_cast<const std::int16_t*>(symbols),
                [](std::int16_t x) { return float(x); });
    } else {
        convert(static_cast<const signed char*>(symbols),
                [](signed char x) { return float(x); });
    }
    moments m;
    for (std::size_t s = 0; s < count; ++s) {
        m.add(d_parts[2 * s], d_parts[2 * s + 1]);
    }
    return m;
}

std::uint64_t demapper::look_up(const table& t,
                                const cell_rule& rule,
                                std::size_t count,
                                std::int8_t* llr)
{
    d_cells.resize(2 * count);
    for (std::size_t i = 0; i < 2 * count; ++i) {
        d_cells[i] = std::uint8_t(rule(d_parts[i]));
    }
    if (d_constellation.bits == 2) {
        for (std::size_t i = 0; i < 2 * count; ++i) {
            llr[i] = t.line[d_cells[i]];
        }
        return 0;
    }
    std::uint64_t errors = 0;
    std::int8_t* columns[5];
    for (unsigned b = 0; b < d_constellation.bits; ++b) {
        columns[b] = llr + d_constellation.columns[b] * count;
    }
    const auto go = [&](auto bits) {
        for (std::size_t s = 0; s < count; ++s) {
            const auto word = t.cells[d_cells[2 * s] * side + d_cells[2 * s + 1]];
            for (unsigned b = 0; b < bits(); ++b) {
                columns[b][s] = std::int8_t(word >> 8 * b);
            }
            errors += word >> 48;
        }
    };
    if (d_constellation.bits == 3) {
        go(std::integral_constant<unsigned, 3>());
    } else if (d_constellation.bits == 4) {
        go(std::integral_constant<unsigned, 4>());
    } else {
        go(std::integral_constant<unsigned, 5>());
    }
    return errors;
}

demapped demapper::demap(const void* symbols,
                         std::size_t count,
                         std::optional<int> level,
                         std::int8_t* llr)
{
    const auto m = to_integers(symbols, count);
    int at = level ? *level : estimate_level(m, count, d_constellation);
    for (unsigned passes = 1;; ++passes) {
        const auto rule = cell_rule::of(m, count, d_constellation, at);
        const auto errors = look_up(table_of(at), rule, count, llr);
        const auto next = d_constellation.bits < 4 ? at : level_of_errors(errors, count);
        if (level || next == at || passes == most_passes) {
            return { at, passes };
        }
        at = next;
    }
}

} // namespace gr::gpufec::demap
