// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The fast demapper, and the tables in which it looks up the LLRs of cells (squares of
 * the I/Q plane, see rule.h). */

#include "demapper.h"
#include <type_traits>
#include <algorithm>
#include <cstring>
#include <new>

namespace gr::gpufec::demap {

namespace {

constexpr std::size_t max_tables = 16;

// Values that stand for the real and imaginary parts, and for the cell coordinates, of
// erased symbols. Other parts are integers within ±32767, and other coordinates are
// within ±127.
constexpr std::int16_t erased = -32768;
constexpr std::uint8_t erased_cell = 128; // coordinate at which tables hold zeros

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

template <class Part>
void read(const void* symbols, std::vector<std::complex<float>>& to)
{
    for (std::size_t i = 0; i < to.size(); ++i) {
        Part parts[2];
        std::memcpy(parts,
                    static_cast<const std::byte*>(symbols) + i * sizeof parts,
                    sizeof parts);
        to[i] = { value_of(parts[0]), value_of(parts[1]) };
    }
}

} // namespace

void read_symbols(const void* symbols,
                  std::size_t count,
                  symbol_format format,
                  std::vector<std::complex<float>>& to)
{
    to.resize(count);
    switch (format) {
    case symbol_format::float32:
        return read<float>(symbols, to);
    case symbol_format::int16:
        return read<std::int16_t>(symbols, to);
    default:
        return read<std::int8_t>(symbols, to);
    }
}

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
        if (d_last.size() > max_tables) {
            d_last.pop_back();
        }
    }
    return d_last.front().second;
}

template <class Part>
integer_rule demapper::find_scale(const Part* parts, std::uint32_t count)
{
    std::fill(d_classes.begin(), d_classes.end(), 0);
    const scale_samples samples(count);
    std::uint32_t all = 0;
    for (std::uint32_t n = 0; n < samples.count; ++n) {
        const auto s = samples(n);
        if (s < count) {
            const auto c =
                energy_classes::of(value_of(parts[2 * s]), value_of(parts[2 * s + 1]));
            ++d_classes[c];
            all += c > 0;
        }
    }
    std::uint32_t before = 0;
    for (std::uint32_t c = 1; c < energy_classes::count; ++c) {
        if (has_quartile(before, d_classes[c], all)) {
            return integer_rule::of(c, before, d_classes[c], all);
        }
        before += d_classes[c];
    }
    return {};
}

frame_moments demapper::to_integers(const void* symbols, std::uint32_t count)
{
    d_parts.resize(2 * std::size_t(count));
    integer_rule rule;
    const auto convert = [&](const auto* from) {
        rule = find_scale(from, count);
        // A local copy of the rule cannot alias the stores, so the loop vectorises.
        const auto own = rule;
        auto* const to = d_parts.data();
        for (std::size_t i = 0; i < 2 * std::size_t(count); ++i) {
            to[i] = own(value_of(from[i]));
        }
    };
    if (d_format == symbol_format::float32) {
        convert(static_cast<const float*>(symbols));
    } else if (d_format == symbol_format::int16) {
        convert(static_cast<const std::int16_t*>(symbols));
    } else {
        convert(static_cast<const std::int8_t*>(symbols));
    }
    frame_moments sums;
    const auto length = part_length(count);
    for (std::uint32_t first = 0; first < count; first += length) {
        auto& part = sums.part[first / length];
        const auto end = std::min(first + length, count);
        std::uint32_t symbols = 0;
        std::uint64_t squares = 0, fourth = 0;
        auto* const parts = d_parts.data();
        for (auto s = first; s < end; ++s) { // branch-free, so that the loop vectorises
            const auto energy = integer_rule::energy(parts[2 * s], parts[2 * s + 1]);
            const bool erases = rule.erases(energy);
            const std::uint32_t counted = erases ? 0 : energy;
            squares += counted;
            fourth += std::uint64_t(counted >> 6) * (counted >> 6);
            symbols += !erases;
            parts[2 * s] = erases ? erased : parts[2 * s];
            parts[2 * s + 1] = erases ? erased : parts[2 * s + 1];
        }
        part = { squares, fourth, symbols };
    }
    return sums;
}

void demapper::to_cells(const frame_moments& sums,
                        double fading,
                        const model& m,
                        int level)
{
    const auto count = d_parts.size();
    d_cells.resize(count);
    const auto length = 2 * std::size_t(part_length(std::uint32_t(count / 2)));
    for (std::size_t first = 0; first < count; first += length) {
        const auto rule =
            cell_rule::of(sums, std::uint32_t(first / length), fading, m, level);
        const auto end = std::min(first + length, count);
        const bool none = rule.factor == 0;
        const auto* const from = d_parts.data();
        auto* const to = d_cells.data();
        for (auto i = first; i < end; ++i) {
            const auto cell = std::uint8_t(rule(from[i]));
            to[i] = (from[i] == erased) | none ? erased_cell : cell;
        }
    }
}

// Computes the LLRs of each symbol without a table. Returns the sum of cell::error over
// all symbols.
std::uint64_t demapper::make_cells(const model& m,
                                   method how,
                                   int level,
                                   std::uint32_t frame_bits,
                                   std::int8_t* llr) const
{
    const auto count = m.symbols(frame_bits);
    std::uint64_t errors = 0;
    for (std::uint32_t s = 0; s < count; ++s) {
        const auto i = d_cells[2 * s], q = d_cells[2 * s + 1];
        const auto made = i == erased_cell
                              ? cell{}
                              : make_cell(m, level, how, std::int8_t(i), std::int8_t(q));
        errors += made.error;
        for (unsigned b = 0; b < m.bits; ++b) {
            const auto place = m.place(s, b, count);
            if (place < frame_bits) {
                llr[place] = made.llr[b];
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
    std::int8_t* columns[max_bits] = {};
    std::uint32_t lengths[max_bits] = {}; // the last column may be shorter
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
    const auto fading = sums.fading();
    const auto counted = sums.whole().symbols;
    level_search search;
    search.begin(level == estimated ? estimate_level(sums, fading, m) : level);
    for (;;) {
        to_cells(sums, fading, m, search.level);
        const auto table = tables.of(search.level);
        const auto errors =
            table ? look_up(m, *table, frame_bits, llr)
                  : make_cells(m, tables.how(), search.level, frame_bits, llr);
        if (level != estimated || !m.refines() || !search.go_on(errors, counted)) {
            return { search.level, search.passes };
        }
    }
}

} // namespace gr::gpufec::demap
