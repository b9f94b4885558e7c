// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the codes of DVB-S2, and derives the tables of any code from its circulants or
 * checks. */

#include "code_tables.h"
#include "common/refuse.h"
#include "ldpc/code/tables/tables.h"
#include "parity_solver.h"
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace gr::gpufec {

using namespace ldpc;

namespace {

constexpr unsigned group = 360; // number of bits per group: EN 302 307-1, 5.3.2
// Largest number of bits that a parity_solver may find from a dense matrix. A matrix of
// this size occupies 8 MiB.
constexpr std::size_t max_put_off = 8192;

bool is_normal(const std::string& frame_size)
{
    return choose<bool>(
        "frame_size", frame_size, { { "normal", true }, { "short", false } });
}

const std::vector<dvbs2_table>& tables_of(bool normal)
{
    return normal ? dvbs2_normal_tables() : dvbs2_short_tables();
}

} // namespace

ldpc_code::ldpc_code(std::shared_ptr<const tables> t) : d_tables(std::move(t)) {}

ldpc_code ldpc_code::dvbs2(const std::string& frame_size, const std::string& rate)
{
    const bool normal = is_normal(frame_size);
    const std::string size = normal ? "normal" : "short";
    const auto& table =
        tables_of(normal)[index_of_name("rate",
                                        rate,
                                        dvbs2_rates(size),
                                        "allowed values with " + size + " frames are",
                                        "ldpc_code.dvbs2_rates(\"" + size + "\")")];
    return ldpc_code(dvb_tables("dvbs2 " + size + " " + table.rate,
                                normal ? 64800 : 16200,
                                table.k,
                                table.addresses));
}

std::vector<std::string> ldpc_code::dvbs2_rates(const std::string& frame_size)
{
    std::vector<std::string> rates;
    for (const auto& t : tables_of(is_normal(frame_size))) {
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
    t->warning = warning;
    t->placement = placement;
    t->listed = listed;
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

// Expands circulants to checks. In all checks of a row, the bit of a given circulant has
// the same index within the check.
void ldpc_code::tables::expand(unsigned columns)
{
    const unsigned message_bits = columns * lifting;
    // Within a row and column, circulants have the order of the addresses in the DVB
    // standards' tables.
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
    if (placement != message_place::systematic) {
        place_message();
    }
    message_in_front = true;
    for (std::size_t i = 0; i < message.size(); ++i) {
        message_in_front &= message[i] == i;
    }
    if (!std::is_sorted(message.begin(), message.end())) {
        by_position.resize(message.size());
        std::iota(by_position.begin(), by_position.end(), 0);
        std::sort(by_position.begin(), by_position.end(), [this](auto a, auto b) {
            return message[a] < message[b];
        });
    }
}

void ldpc_code::tables::list_sent()
{
    sent.clear();
    if (punctured.empty() && shortened.empty() && fill_at_end == 0) {
        return;
    }
    std::vector<bool> is_sent(n, true);
    for (const auto* const list : { &punctured, &shortened }) {
        for (const auto position : *list) {
            is_sent[position] = false;
        }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        if (is_sent[i]) {
            sent.push_back(i);
        }
    }
    sent.insert(sent.end(), fill_at_end, fill);
}

void ldpc_code::tables::choose_form(bool triangular)
{
    const unsigned prefix = n - std::min(n, checks);
    const bool in_front = shortened.empty() || shortened.back() < prefix;
    const auto put_in_front = [&] {
        message = all_but({});
        message.erase(message.begin(), message.end() - (prefix - shortened.size()));
        std::reverse(message.begin(), message.end());
        k = message.size();
    };
    form = encoding_form::unknown;
    if (in_front && (triangular || known_systematic)) {
        put_in_front();
        form = triangular ? encoding_form::triangular : encoding_form::solved;
    } else if (std::uint64_t(n) * checks <= max_elimination) {
        eliminate(all_but({}));
    } else {
        // The solver is made now, because decoders test whether message positions exist.
        k = prefix - std::min<std::size_t>(prefix, shortened.size());
        if (in_front && k > 0) {
            put_in_front();
            try {
                solver();
                form = encoding_form::solved;
            } catch (const std::invalid_argument&) {
                message.clear();
            }
        }
    }
}

std::vector<std::uint32_t>
ldpc_code::tables::all_but(const std::vector<std::uint32_t>& some) const
{
    std::vector<bool> left_out(n, false);
    for (const auto* const list : { &some, &shortened }) {
        for (const auto position : *list) {
            left_out[position] = true;
        }
    }
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = n; i-- > 0;) {
        if (!left_out[i]) {
            others.push_back(i);
        }
    }
    return others;
}

// Returns the message positions of the rule \c placement, without shortened positions.
// place_message() tests whether the bits at these positions determine the codeword.
std::vector<std::uint32_t> ldpc_code::tables::wanted_positions() const
{
    std::vector<std::uint32_t> wanted;
    if (placement == message_place::listed ||
        placement == message_place::gr_fec_ldpc_encoder) {
        wanted = placement == message_place::listed ? listed : gr_fec_positions();
        wanted.erase(std::remove_if(wanted.begin(),
                                    wanted.end(),
                                    [this](auto position) {
                                        return std::binary_search(
                                            shortened.begin(), shortened.end(), position);
                                    }),
                     wanted.end());
        return wanted;
    }
    wanted = all_but({});
    std::reverse(wanted.begin(), wanted.end());
    const auto size = std::min<std::size_t>(k, wanted.size());
    if (placement == message_place::first) {
        wanted.resize(size);
    } else {
        wanted.erase(wanted.begin(), wanted.end() - size);
    }
    return wanted;
}

// Moves the message from its default positions, which determine K, to the requested
// positions.
void ldpc_code::tables::place_message()
{
    const auto wanted = wanted_positions();
    const auto value = placement == message_place::first  ? "\"first\""
                       : placement == message_place::last ? "\"last\""
                       : placement == message_place::gr_fec_ldpc_encoder
                           ? "\"gr_fec_ldpc_encoder\""
                           : "a list of " + std::to_string(wanted.size());
    if (wanted.size() != k) {
        refuse("message_positions",
               value,
               name + " has K = " + std::to_string(k) + " message bits, but there are " +
                   std::to_string(wanted.size()) + " positions for them");
    }
    if (wanted == message) {
        return;
    }
    auto order = all_but(wanted);
    if (std::uint64_t(n) * checks > max_elimination) {
        d_solver.reset();
        message = wanted;
        form = encoding_form::solved;
        try {
            solver();
        } catch (const std::invalid_argument& e) {
            refuse("message_positions", value, e.what());
        }
        return;
    }
    order.insert(order.end(), wanted.rbegin(), wanted.rend());
    eliminate(order);
    if (message != wanted) {
        const auto fault = std::find_if(wanted.begin(), wanted.end(), [&](auto position) {
            return std::find(message.begin(), message.end(), position) == message.end();
        });
        refuse("message_positions",
               value,
               "entry " + std::to_string(fault - wanted.begin()) + ", position " +
                   std::to_string(*fault) + ", cannot be a message bit of " + name +
                   ": the preceding entries determine this bit");
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
        const auto unknown = all_but(message);
        auto made = parity_solver::make(n, rows_of, unknown, max_put_off);
        if (!made) {
            refuse("code",
                   name,
                   "the message does not determine its " +
                       std::to_string(unknown.size()) + " parity bits");
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
    return can_encode() && d_tables->message_in_front;
}

const std::vector<std::uint32_t>& ldpc_code::message_positions() const
{
    return d_tables->message;
}

unsigned ldpc_code::message_bit(std::uint32_t position) const
{
    const auto& message = d_tables->message;
    const auto& order = d_tables->by_position;
    if (order.empty()) {
        const auto next = std::upper_bound(message.begin(), message.end(), position);
        return next == message.begin() ? 0 : next - message.begin() - 1;
    }
    const auto next =
        std::upper_bound(order.begin(), order.end(), position, [&](auto value, auto bit) {
            return value < message[bit];
        });
    return next == order.begin() ? 0 : *std::prev(next);
}

const std::string& ldpc_code::warning() const { return d_tables->warning; }

const std::vector<std::vector<std::uint16_t>>& ldpc_code::addresses() const
{
    return d_tables->addresses;
}

} // namespace gr::gpufec
