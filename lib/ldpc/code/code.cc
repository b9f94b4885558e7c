// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "code_tables.h"
#include "parity_solver.h"
#include "pipeline/refuse.h"
#include "tables.h"
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace gr::gpufec {

using namespace ldpc;

namespace {

constexpr unsigned group = 360; // EN 302 307-1, 5.3.2
// Bits that a parity_solver finds from a dense matrix: 1 GiB · 2^-7 for it.
constexpr std::size_t most_put_off = 8192;

const std::vector<dvbs2_table>& tables_of(const std::string& frame_size)
{
    if (frame_size == "normal") {
        return dvbs2_normal_tables();
    }
    if (frame_size == "short") {
        return dvbs2_short_tables();
    }
    refuse("frame_size", '"' + frame_size + '"', "allowed are normal and short");
}

const dvbs2_table& table_of(const std::string& frame_size, const std::string& rate)
{
    std::string known;
    for (const auto& t : tables_of(frame_size)) {
        if (rate == t.rate) {
            return t;
        }
        known += (known.empty() ? "" : ", ") + std::string(t.rate);
    }
    refuse(
        "rate", '"' + rate + '"', "allowed with " + frame_size + " frames are " + known);
}

} // namespace

ldpc_code::ldpc_code(std::shared_ptr<const tables> t) : d_tables(std::move(t)) {}

ldpc_code ldpc_code::dvbs2(const std::string& frame_size, const std::string& rate)
{
    const auto& table = table_of(frame_size, rate);
    return ldpc_code(dvb_tables("dvbs2 " + frame_size + " " + rate,
                                frame_size == "normal" ? 64800 : 16200,
                                table.k,
                                table.addresses));
}

std::vector<std::string> ldpc_code::dvbs2_rates(const std::string& frame_size)
{
    std::vector<std::string> rates;
    for (const auto& t : tables_of(frame_size)) {
        rates.emplace_back(t.rate);
    }
    return rates;
}

std::shared_ptr<ldpc_code_access::tables> ldpc::dvb_tables(const std::string& name,
                                                           unsigned n,
                                                           unsigned k,
                                                           const std::uint16_t* addresses)
{
    auto t = std::make_shared<ldpc_code_access::tables>();
    t->name = name;
    t->lifting = group;
    t->chain = true;
    const unsigned columns = k / group, q = (n - k) / group;
    t->rows = q;
    for (unsigned g = 0; g < columns; ++g) {
        const unsigned count = *addresses++;
        for (unsigned i = 0; i < count; ++i) {
            const unsigned x = *addresses++;
            t->circulants.push_back({ x % q, g, (group - x / q) % group });
        }
    }
    t->expand(columns);
    t->complete();
    return t;
}

std::shared_ptr<ldpc_code::tables> ldpc_code::tables::copy() const
{
    auto t = std::make_shared<tables>();
    t->name = name;
    t->n = n;
    t->checks = checks;
    t->begin = begin;
    t->bits = bits;
    t->lifting = lifting;
    t->rows = rows;
    t->chain = chain;
    t->circulants = circulants;
    t->addresses = addresses;
    t->punctured = punctured;
    t->shortened = shortened;
    t->fill_at_end = fill_at_end;
    t->known_systematic = known_systematic;
    t->extra_checks = extra_checks;
    t->tuning = tuning;
    return t;
}

// A circulant has the same place in all checks of a row.
void ldpc_code::tables::expand(unsigned columns)
{
    const unsigned message_bits = columns * lifting;
    // In the order of the addresses, where there are such.
    std::sort(circulants.begin(), circulants.end(), [this](const auto& a, const auto& b) {
        const auto place = [this](const auto& c) {
            return std::make_tuple(c.row, c.column, (lifting - c.shift) % lifting);
        };
        return place(a) < place(b);
    });
    checks = rows * lifting;
    n = message_bits + (chain ? checks : 0);
    std::vector<std::size_t> first(rows + 1, 0);
    for (const auto& c : circulants) {
        ++first[c.row + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    const auto add_circulants = [this, &first](unsigned row, unsigned j) {
        for (auto i = first[row]; i < first[row + 1]; ++i) {
            const auto& c = circulants[i];
            bits.push_back(c.column * lifting + (j + c.shift) % lifting);
        }
    };
    begin.assign(1, 0);
    bits.clear();
    bits.reserve(circulants.size() * lifting + (chain ? 2 * checks : 0));
    for (unsigned c = 0; c < checks; ++c) {
        if (chain) {
            add_circulants(c % rows, c / rows);
            if (c > 0) {
                bits.push_back(message_bits + c - 1);
            }
            bits.push_back(message_bits + c);
        } else {
            add_circulants(c / lifting, c % lifting);
        }
        begin.push_back(bits.size());
    }
    addresses.clear();
    if (chain && lifting == group && checks <= 65536) {
        addresses.resize(columns);
        for (const auto& c : circulants) {
            addresses[c.column].push_back((group - c.shift) % group * rows + c.row);
        }
        for (auto& a : addresses) {
            std::sort(a.begin(), a.end());
        }
    }
}

void ldpc_code::tables::complete()
{
    std::vector<unsigned> degree(n, 0);
    bool triangular = checks < n;
    for (unsigned c = 0; c < checks; ++c) {
        largest_check_degree = std::max(largest_check_degree, begin[c + 1] - begin[c]);
        std::uint32_t largest = 0;
        for (auto e = begin[c]; e < begin[c + 1]; ++e) {
            ++degree[bits[e]];
            largest = std::max(largest, bits[e]);
        }
        triangular &= largest == n - checks + c;
    }
    largest_bit_degree = *std::max_element(degree.begin(), degree.end());
    list_sent();
    choose_form(triangular);
}

void ldpc_code::tables::list_sent()
{
    sent.clear();
    if (punctured.empty() && shortened.empty() && fill_at_end == 0) {
        return;
    }
    std::vector<bool> kept(n, true);
    for (const auto* const list : { &punctured, &shortened }) {
        for (const auto position : *list) {
            kept[position] = false;
        }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        if (kept[i]) {
            sent.push_back(i);
        }
    }
    sent.insert(sent.end(), fill_at_end, fill);
}

void ldpc_code::tables::choose_form(bool triangular)
{
    const unsigned prefix = n - std::min(n, checks);
    const bool in_front = shortened.empty() || shortened.back() < prefix;
    const auto message_in_front = [&] {
        for (std::uint32_t i = 0; i < prefix; ++i) {
            if (!std::binary_search(shortened.begin(), shortened.end(), i)) {
                message.push_back(i);
            }
        }
        k = message.size();
    };
    form = encoding_form::unknown;
    if (in_front && (triangular || known_systematic)) {
        message_in_front();
        form = triangular ? encoding_form::triangular : encoding_form::solved;
    } else if (std::uint64_t(n) * checks <= max_elimination) {
        eliminate();
    } else {
        // Tried now, since a decoder must know whether there is a message.
        k = prefix;
        if (in_front && prefix > 0) {
            try {
                solver();
                message_in_front();
                form = encoding_form::solved;
            } catch (const std::invalid_argument&) {
            }
        }
    }
}

const parity_solver& ldpc_code::tables::solver() const
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    if (!d_solver) {
        std::vector<std::vector<std::uint32_t>> rows_of(checks);
        for (unsigned c = 0; c < checks; ++c) {
            rows_of[c].assign(bits.begin() + begin[c], bits.begin() + begin[c + 1]);
        }
        rows_of.insert(rows_of.end(), extra_checks.begin(), extra_checks.end());
        std::vector<std::uint32_t> unknown(checks);
        std::iota(unknown.begin(), unknown.end(), n - checks);
        auto made = parity_solver::make(n, rows_of, unknown, most_put_off);
        if (!made) {
            refuse("code",
                   name,
                   "its last " + std::to_string(checks) +
                       " bits do not follow from the others");
        }
        d_solver = std::make_shared<const parity_solver>(std::move(*made));
    }
    return *d_solver;
}

const std::string& ldpc_code::name() const { return d_tables->name; }
unsigned ldpc_code::n() const { return d_tables->n; }
unsigned ldpc_code::k() const { return d_tables->k; }
unsigned ldpc_code::checks() const { return d_tables->checks; }
std::size_t ldpc_code::edges() const { return d_tables->bits.size(); }
unsigned ldpc_code::largest_check_degree() const
{
    return d_tables->largest_check_degree;
}
unsigned ldpc_code::largest_bit_degree() const { return d_tables->largest_bit_degree; }
unsigned ldpc_code::lifting() const { return d_tables->lifting; }
unsigned ldpc_code::q() const { return d_tables->chain ? d_tables->rows : 0; }

unsigned ldpc_code::sent() const
{
    const auto& s = d_tables->sent;
    return s.empty() ? d_tables->n : unsigned(s.size());
}

const std::vector<std::uint32_t>& ldpc_code::sent_positions() const
{
    return d_tables->sent;
}

const std::vector<std::uint32_t>& ldpc_code::punctured() const
{
    return d_tables->punctured;
}

const std::vector<std::uint32_t>& ldpc_code::shortened() const
{
    return d_tables->shortened;
}

const std::vector<ldpc_code::circulant>& ldpc_code::circulants() const
{
    return d_tables->circulants;
}

ldpc_code::bits_view ldpc_code::check(unsigned c) const
{
    const auto* bits = d_tables->bits.data();
    return { bits + d_tables->begin[c], bits + d_tables->begin[c + 1] };
}

bool ldpc_code::can_encode() const { return d_tables->form != encoding_form::unknown; }

bool ldpc_code::systematic_prefix() const
{
    const auto& m = d_tables->message;
    return can_encode() && (m.empty() || m.back() + 1 == m.size());
}

const std::vector<std::uint32_t>& ldpc_code::message_positions() const
{
    return d_tables->message;
}

const std::vector<std::vector<std::uint16_t>>& ldpc_code::addresses() const
{
    return d_tables->addresses;
}

} // namespace gr::gpufec
