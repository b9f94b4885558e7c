// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "code_tables.h"
#include "pipeline/refuse.h"
#include "tables.h"
#include <algorithm>
#include <numeric>

namespace gr::gpufec {

using namespace ldpc;

namespace {

constexpr unsigned group = 360; // EN 302 307-1, 5.3.2

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
    auto t = std::make_shared<tables>();
    t->name = "dvbs2 " + frame_size + " " + rate;
    t->n = frame_size == "normal" ? 64800 : 16200;
    t->checks = t->n - table.k;
    t->q = t->checks / group;

    const auto* next = table.addresses;
    for (unsigned g = 0; g < table.k / group; ++g) {
        const unsigned count = *next++;
        t->addresses.emplace_back(next, next + count);
        next += count;
    }

    // A circulant has the same place in all checks of a layer.
    std::vector<std::vector<std::uint32_t>> rows(t->checks);
    for (unsigned g = 0; g < table.k / group; ++g) {
        for (const unsigned x : t->addresses[g]) {
            for (unsigned m = 0; m < group; ++m) {
                rows[(x + m * t->q) % t->checks].push_back(g * group + m);
            }
        }
    }
    t->begin.push_back(0);
    for (unsigned c = 0; c < t->checks; ++c) {
        t->bits.insert(t->bits.end(), rows[c].begin(), rows[c].end());
        if (c > 0) {
            t->bits.push_back(table.k + c - 1);
        }
        t->bits.push_back(table.k + c);
        t->begin.push_back(t->bits.size());
    }
    t->complete();
    return ldpc_code(std::move(t));
}

std::vector<std::string> ldpc_code::dvbs2_rates(const std::string& frame_size)
{
    std::vector<std::string> rates;
    for (const auto& t : tables_of(frame_size)) {
        rates.emplace_back(t.rate);
    }
    return rates;
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

    k = n - std::min(n, checks);
    if (triangular) {
        form = encoding_form::triangular;
        message.resize(k);
        std::iota(message.begin(), message.end(), 0);
    } else if (std::uint64_t(n) * checks <= max_elimination) {
        eliminate();
    }
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
unsigned ldpc_code::q() const { return d_tables->q; }

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
