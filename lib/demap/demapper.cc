// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "demapper.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <new>

namespace gr::gpufec::demap {

namespace {

constexpr std::size_t most_tables = 16;

cell_table make_table(const model& m, method how, int level)
{
    cell_table made;
    if (m.is_line()) {
        made.line.resize(side);
        for (int i = -127; i <= 127; ++i) {
            made.line[i & 255] = make_line_cell(m, level, i);
        }
        return made;
    }
    made.llr.resize(side * side);
    made.errors.resize(m.refines() ? side * side : 0);
    for (int i = -127; i <= 127; ++i) {
        for (int q = -127; q <= 127; ++q) {
            const auto cell = make_cell(m, level, how, i, q);
            const auto at = cell_index(i, q);
            for (unsigned b = 0; b < m.bits; ++b) {
                made.llr[at] |= std::uint64_t(std::uint8_t(cell.llr[b])) << 8 * b;
            }
            if (m.refines()) {
                made.errors[at] = cell.error;
            }
        }
    }
    return made;
}

} // namespace

std::shared_ptr<const cell_table> cell_tables::of(int level)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    const auto found = std::find_if(
        d_last.begin(), d_last.end(), [&](const auto& t) { return t.first == level; });
    if (found != d_last.end()) {
        std::rotate(d_last.begin(), found, found + 1);
    } else {
        try {
            d_last.emplace_front(
                level,
                std::make_shared<const cell_table>(make_table(d_model, d_method, level)));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        if (d_last.size() > most_tables) {
            d_last.pop_back();
        }
    }
    return d_last.front().second;
}

moments demapper::to_integers(const void* symbols, std::size_t count)
{
    d_parts.resize(2 * count);
    const auto convert = [&](const auto* from) {
        float largest = 0;
        for (std::size_t i = 0; i < 2 * count; ++i) {
            largest = std::max(largest, std::abs(value_of(from[i])));
        }
        const auto factor = integer_factor(largest);
        for (std::size_t i = 0; i < 2 * count; ++i) {
            d_parts[i] = integer_part(value_of(from[i]), factor);
        }
    };
    if (d_format == symbol_format::float32) {
        convert(static_cast<const float*>(symbols));
    } else if (d_format == symbol_format::int16) {
        convert(static_cast<const std::int16_t*>(symbols));
    } else {
        convert(static_cast<const std::int8_t*>(symbols));
    }
    moments m;
    for (std::size_t s = 0; s < count; ++s) {
        m.add(d_parts[2 * s], d_parts[2 * s + 1]);
    }
    return m;
}

void demapper::to_cells(const cell_rule& rule)
{
    const auto count = d_parts.size();
    d_cells.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        d_cells[i] = std::uint8_t(rule(d_parts[i]));
    }
}

// Each by itself.
std::uint64_t demapper::make_cells(const model& m,
                                   method how,
                                   int level,
                                   std::uint32_t frame_bits,
                                   std::int8_t* llr) const
{
    const auto count = m.symbols(frame_bits);
    std::uint64_t errors = 0;
    for (std::uint32_t s = 0; s < count; ++s) {
        const auto cell = make_cell(
            m, level, how, std::int8_t(d_cells[2 * s]), std::int8_t(d_cells[2 * s + 1]));
        errors += cell.error;
        for (unsigned b = 0; b < m.bits; ++b) {
            const auto place = m.place(s, b, count);
            if (place < frame_bits) {
                llr[place] = cell.llr[b];
            }
        }
    }
    return errors;
}

std::uint64_t demapper::look_up(const model& m,
                                const cell_table& table,
                                std::uint32_t frame_bits,
                                std::int8_t* llr) const
{
    const auto count = m.symbols(frame_bits);
    if (m.is_line()) {
        for (std::uint32_t i = 0; i < frame_bits; ++i) {
            llr[i] = table.line[d_cells[i]];
        }
        return 0;
    }
    std::int8_t* columns[most_bits] = {};
    std::uint32_t lengths[most_bits] = {}; // the last one's may be less
    for (unsigned b = 0; b < m.bits; ++b) {
        const auto first = m.place(0, b, count);
        columns[b] = llr + first;
        lengths[b] = std::min(count, frame_bits - first);
    }
    const auto shortest = *std::min_element(lengths, lengths + m.bits);
    std::uint64_t errors = 0;
    const auto go = [&](auto bits) {
        for (std::uint32_t s = 0; s < shortest; ++s) {
            const auto word = table.llr[d_cells[2 * s] * side + d_cells[2 * s + 1]];
            for (unsigned b = 0; b < bits(); ++b) {
                columns[b][s] = std::int8_t(word >> 8 * b);
            }
        }
    };
    switch (m.bits) {
    case 3:
        go(std::integral_constant<unsigned, 3>());
        break;
    case 4:
        go(std::integral_constant<unsigned, 4>());
        break;
    case 5:
        go(std::integral_constant<unsigned, 5>());
        break;
    default:
        go([&] { return m.bits; });
    }
    for (auto s = shortest; s < count; ++s) {
        const auto word = table.llr[d_cells[2 * s] * side + d_cells[2 * s + 1]];
        for (unsigned b = 0; b < m.bits; ++b) {
            if (s < lengths[b]) {
                columns[b][s] = std::int8_t(word >> 8 * b);
            }
        }
    }
    if (m.refines()) {
        for (std::uint32_t s = 0; s < count; ++s) {
            errors += table.errors[d_cells[2 * s] * side + d_cells[2 * s + 1]];
        }
    }
    return errors;
}

demapped demapper::demap(cell_tables& tables,
                         const void* symbols,
                         std::uint32_t frame_bits,
                         int level,
                         std::int8_t* llr)
{
    const auto& m = tables.points();
    const auto count = m.symbols(frame_bits);
    const auto sums = to_integers(symbols, count);
    level_search search;
    search.begin(level == estimated ? estimate_level(sums, count, m) : level);
    for (;;) {
        to_cells(cell_rule::of(sums, count, m, search.level));
        const auto table = tables.of(search.level);
        const auto errors =
            table ? look_up(m, *table, frame_bits, llr)
                  : make_cells(m, tables.how(), search.level, frame_bits, llr);
        if (level != estimated || !m.refines() || !search.go_on(errors, count)) {
            return { search.level, search.passes };
        }
    }
}

} // namespace gr::gpufec::demap
