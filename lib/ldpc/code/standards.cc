// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes the codes of standards from the names of standard, frame size and rate, and lists
 * these names. */

#include "code_tables.h"
#include "common/refuse.h"
#include "ldpc/code/tables/tables.h"
#include <algorithm>

namespace gr::gpufec {

using namespace ldpc;

namespace {

using tables = ldpc_code_access::tables;

std::string standard_named(const std::string& name)
{
    return known_name("standard", name, ldpc_code::standards());
}

std::string size_named(const std::string& standard, const std::string& name)
{
    const auto sizes = ldpc_code::frame_sizes(standard);
    const auto allowed = "allowed values with " + standard + " are";
    if (standard == "nr" && !find_name(name, sizes)) {
        refuse("frame_size",
               '"' + name + '"',
               allowed + " bg1 and bg2 with z and a lifting size, such as \"bg1 z384\"");
    }
    return known_name("frame_size", name, sizes, allowed);
}

std::string
rate_named(const std::string& standard, const std::string& size, const std::string& name)
{
    return known_name("rate",
                      name,
                      ldpc_code::rates(standard, size),
                      "allowed values with " + standard + " " + size + " are",
                      "ldpc_code.rates(\"" + standard + "\", \"" + size + "\")");
}

// Offsets of 1/4 to 1 nat, 2 to 4 steps per nat and limits of 31 and 63 steps were
// compared in int8 with 25 iterations; see the table "offsets" in
// bench/results/ldpc/ldpc-standards-h200.json. For each of 25 codes, these values have
// the fewest frame errors in up to 8448 frames, or at most 10 more than the fewest. The
// normalization was not varied.
constexpr code_tuning circulants_tuning{ 0.5, 0.8, 4, 31 };
constexpr code_tuning c2_tuning{ 2.0 / 3, 0.8, 3, 31 };
// For these codes of DVB-S2X, an offset of 1/3 nat replaces the offset of their rate, 1/4
// nat. At the ideal Es/N0, short VL-SNR frames of rate 4/15 have 43 errors in 300 frames
// with 1/4 nat and 2 errors with 1/3 nat (vlsnr-offset-1-3-epyc in
// bench/results/ldpc/dvbs2-error-rates.json).
constexpr code_tuning larger_offset_tuning{ 1.0 / 3, 0.8, 3, 31 };
constexpr const char* larger_offset_codes[] = { "dvbs2x normal 13/45",
                                                "dvbs2x short 4/15",
                                                "dvbs2x short 14/45" };

// Returns \p count positions, beginning with \p first, at distances of \p period.
std::vector<std::uint32_t> every(unsigned period, unsigned first, unsigned count)
{
    std::vector<std::uint32_t> positions;
    for (unsigned i = 0; i < count; ++i) {
        positions.push_back(first + i * period);
    }
    return positions;
}

// The VL-SNR modes of EN 302 307-2, tables 18a and 19a.
struct vlsnr_mode {
    const char *size, *rate;
    const char *standard, *of_size, *of_rate; // names of the mother code
    unsigned shortened, period, punctured;
};
const vlsnr_mode vlsnr_modes[] = {
    { "vl-snr normal", "2/9", "dvbs2x", "normal", "2/9", 0, 15, 3240 },
    { "vl-snr medium", "1/5", "dvbs2x", "medium", "1/5", 640, 25, 980 },
    { "vl-snr medium", "11/45", "dvbs2x", "medium", "11/45", 0, 15, 1620 },
    { "vl-snr medium", "1/3", "dvbs2x", "medium", "1/3", 0, 13, 1620 },
    { "vl-snr short sf2", "1/5", "dvbs2", "short", "1/4", 560, 30, 250 },
    { "vl-snr short sf2", "11/45", "dvbs2x", "short", "11/45", 0, 15, 810 },
    { "vl-snr short", "1/5", "dvbs2", "short", "1/4", 0, 10, 1224 },
    { "vl-snr short", "4/15", "dvbs2x", "short", "4/15", 0, 8, 1224 },
    { "vl-snr short", "1/3", "dvbs2", "short", "1/3", 0, 8, 1224 },
};

const std::vector<dvbs2_table>* dvb_tables_of(const std::string& standard,
                                              const std::string& size)
{
    if (standard == "dvbs2x") {
        return size == "normal"   ? &dvbs2x_normal_tables()
               : size == "medium" ? &dvbs2x_medium_tables()
               : size == "short"  ? &dvbs2x_short_tables()
                                  : nullptr;
    }
    if (standard == "dvbt2") {
        return size == "normal"  ? &dvbt2_normal_tables()
               : size == "short" ? &dvbt2_short_tables()
                                 : nullptr;
    }
    return nullptr;
}

unsigned dvb_bits(const std::string& size)
{
    return size == "normal" ? 64800 : size == "medium" ? 32400 : 16200;
}

ldpc_code
dvb_code(const std::string& standard, const std::string& size, const std::string& rate)
{
    const auto name = standard + " " + size + " " + rate;
    for (const auto& mode : vlsnr_modes) {
        if (standard == "dvbs2x" && size == mode.size && rate == mode.rate) {
            const auto whole =
                ldpc_code::standard(mode.standard, mode.of_size, mode.of_rate);
            auto t = ldpc_code_access::of(whole).copy();
            t->name = name;
            t->shortened = every(1, 0, mode.shortened);
            t->punctured = every(mode.period, whole.k(), mode.punctured);
            t->complete();
            return ldpc_code_access::make(std::move(t));
        }
    }
    for (const auto& table : *dvb_tables_of(standard, size)) {
        if (rate == table.rate) {
            auto t = dvb_tables(name, dvb_bits(size), table.k, table.addresses);
            if (std::count(std::begin(larger_offset_codes),
                           std::end(larger_offset_codes),
                           name)) {
                t->tuning = larger_offset_tuning;
            }
            return ldpc_code_access::make(std::move(t));
        }
    }
    const auto same = ldpc_code::dvbs2(size, rate); // also used by DVB-S2X and DVB-T2
    auto t = ldpc_code_access::of(same).copy();
    t->name = name;
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

ldpc_code wifi_code(const std::string& size, const std::string& rate)
{
    const auto& all = wifi_tables();
    const auto& table = *std::find_if(all.begin(), all.end(), [&](const auto& t) {
        return std::to_string(t.n) == size && rate == t.rate;
    });
    constexpr unsigned columns = 24;
    auto t = std::make_shared<tables>();
    t->name = "wifi " + size + " " + rate;
    t->lifting = table.n / columns;
    t->rows = table.rows;
    t->known_systematic = true;
    t->tuning = circulants_tuning;
    for (unsigned i = 0; i < table.rows * columns; ++i) {
        if (table.shifts[i] >= 0) {
            t->circulants.push_back(
                { i / columns, i % columns, std::uint32_t(table.shifts[i]) });
        }
    }
    t->expand(columns);
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

// The lifting sizes of TS 38.212 table 5.3.2-1 are a · 2^j, with one set of shifts for
// each a.
constexpr unsigned nr_bases[] = { 2, 3, 5, 7, 9, 11, 13, 15 };
constexpr unsigned nr_largest = 384;

// Returns the index in nr_bases of the set of shifts for a lifting size, or 8 if there is
// no such size.
unsigned nr_set(unsigned lifting)
{
    for (unsigned set = 0; set < 8; ++set) {
        for (unsigned z = nr_bases[set]; z <= nr_largest; z *= 2) {
            if (z == lifting) {
                return set;
            }
        }
    }
    return 8;
}

struct nr_size {
    unsigned graph, lifting;
};
std::optional<nr_size> nr_size_of(const std::string& size)
{
    for (unsigned graph : { 1, 2 }) {
        const auto front = "bg" + std::to_string(graph) + " z";
        if (size.compare(0, front.size(), front) == 0) {
            const auto digits = size.substr(front.size());
            if (!digits.empty() && digits.size() <= 3 &&
                digits.find_first_not_of("0123456789") == digits.npos &&
                digits[0] != '0' && nr_set(std::stoul(digits)) < 8) {
                return nr_size{ graph, unsigned(std::stoul(digits)) };
            }
        }
    }
    return {};
}

// Returns the number of base-graph columns whose bits are sent if the code has the first
// \p rows rows of base graph \p g. The bits of the first two columns are not sent.
unsigned nr_sent(const nr_table& g, unsigned rows) { return g.message + rows - 2; }

ldpc_code nr_code(const std::string& size, const std::string& rate)
{
    const auto s = *nr_size_of(size);
    const auto g = nr_graph(s.graph);
    const auto end = rate == "1/3" || rate == "1/5"
                         ? nr_sent(g, g.rows)
                         : std::stoul(rate.substr(rate.find('/') + 1));
    auto t = std::make_shared<tables>();
    t->name = "nr " + size + " " + rate;
    t->lifting = s.lifting;
    t->rows = end - g.message + 2;
    t->known_systematic = true;
    const auto set = nr_set(s.lifting);
    for (unsigned i = 0; i < g.entries; ++i) {
        const auto* const e = g.entry + 10 * i;
        if (e[0] < t->rows) {
            t->circulants.push_back({ e[0], e[1], e[2 + set] % s.lifting });
        }
    }
    t->punctured = every(1, 0, 2 * s.lifting);
    t->tuning = circulants_tuning;
    t->expand(g.message + t->rows);
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

// Returns the C2 code of CCSDS 131.0-B, 7.3. Its codewords have 8176 bits. The first 18
// bits are zeros that are not sent; two fill bits are sent after the last bit.
ldpc_code c2_code()
{
    constexpr unsigned lifting = 511, rows = 2, columns = 16, message = 14;
    auto t = std::make_shared<tables>();
    t->name = "ccsds_c2 8160 7/8";
    t->lifting = lifting;
    t->rows = rows;
    for (unsigned r = 0; r < rows; ++r) {
        for (unsigned c = 0; c < columns; ++c) {
            for (unsigned i : { 0, 1 }) {
                t->circulants.push_back({ r, c, c2_shift(r, c, i) });
            }
        }
    }
    t->expand(columns);
    t->known_systematic = true;
    // The matrix has 1022 checks of rank 1020, so that the message does not determine two
    // of the parity bits. Two further checks, from the generator matrix, determine them.
    for (unsigned p = 0; p < columns - message; ++p) {
        std::vector<std::uint32_t> sum;
        for (unsigned c = 0; c < columns; ++c) {
            if (c < message ? c2_is_odd(c, p) : c == message + p) {
                for (unsigned i = 0; i < lifting; ++i) {
                    sum.push_back(c * lifting + i);
                }
            }
        }
        t->extra_checks.push_back(sum);
    }
    t->shortened = every(1, 0, 18);
    t->fill_at_end = 2;
    t->tuning = c2_tuning;
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

// Returns an AR4JA code of CCSDS 131.0-B, 7.4. The standard's matrix has blocks of M × M
// bits: zeros, an identity, a permutation, or a sum of these. A permutation of M bits
// consists of four circulants of size M / 4, which are the circulants of the code.
ldpc_code ar4ja_code(const std::string& size, const std::string& rate)
{
    struct block {
        unsigned row, column;      // block row and column in the part that is common to
                                   // all rates
        std::vector<int> permuted; // the summands of the block: −1 for the identity,
                                   // k − 1 for the standard's permutation k
    };
    static const std::vector<block> common = {
        { 0, 2, { -1 } },   { 0, 4, { -1, 0 } },   { 1, 0, { -1 } }, { 1, 1, { -1 } },
        { 1, 3, { -1 } },   { 1, 4, { 1, 2, 3 } }, { 2, 0, { -1 } }, { 2, 1, { 4, 5 } },
        { 2, 3, { 6, 7 } }, { 2, 4, { -1 } },
    };
    const unsigned pairs = rate == "1/2" ? 0 : rate == "2/3" ? 1 : 3;
    const unsigned before = 2 * pairs; // block columns before the common part
    const unsigned k = std::stoul(size), M = k / (before + 2), z = M / 4;
    unsigned log = 0;
    while (128u << log < M) {
        ++log;
    }
    auto t = std::make_shared<tables>();
    t->name = "ccsds_ar4ja " + size + " " + rate;
    t->lifting = z;
    t->rows = 3 * 4;
    const auto add = [&](unsigned row, unsigned column, int k) {
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned to = k < 0 ? j : (ar4ja_theta(k) + j) % 4;
            const unsigned shift = k < 0 ? 0 : ar4ja_phi(j, k, log) % z;
            t->circulants.push_back({ 4 * row + j, 4 * column + to, shift });
        }
    };
    for (const auto& b : common) {
        for (const auto k : b.permuted) {
            add(b.row, before + b.column, k);
        }
    }
    for (unsigned p = 0; p < pairs; ++p) {
        const unsigned column = before - 2 * (p + 1);
        const int k = 8 + 6 * p;
        for (int i = 0; i < 3; ++i) {
            add(1, column, k + i);
            add(2, column + 1, k + 3 + i);
        }
        add(1, column + 1, -1);
        add(2, column, -1);
    }
    t->known_systematic = true;
    t->tuning = circulants_tuning;
    const unsigned columns = 4 * (before + 5);
    t->punctured = every(1, (columns - 4) * z, M);
    t->expand(columns);
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

ldpc_code telecommand_code(const std::string& size)
{
    constexpr unsigned rows = 4, columns = 8;
    const auto n = unsigned(std::stoul(size));
    auto t = std::make_shared<tables>();
    t->name = "ccsds_tc " + size + " 1/2";
    t->lifting = n / columns;
    t->rows = rows;
    const auto& circulants = telecommand_circulants(n);
    for (std::size_t i = 0; i < std::size(circulants); i += 3) {
        t->circulants.push_back({ circulants[i], circulants[i + 1], circulants[i + 2] });
    }
    t->known_systematic = true;
    t->tuning = circulants_tuning;
    t->expand(columns);
    t->complete();
    return ldpc_code_access::make(std::move(t));
}

} // namespace

std::vector<std::string> ldpc_code::standards()
{
    return { "dvbs2",       "dvbs2x",   "dvbt2", "ccsds_c2",
             "ccsds_ar4ja", "ccsds_tc", "wifi",  "nr" };
}

std::vector<std::string> ldpc_code::frame_sizes(const std::string& name)
{
    const auto standard = standard_named(name);
    if (standard == "dvbs2" || standard == "dvbt2") {
        return { "normal", "short" };
    }
    if (standard == "dvbs2x") {
        return { "normal",        "medium",       "short",           "vl-snr normal",
                 "vl-snr medium", "vl-snr short", "vl-snr short sf2" };
    }
    if (standard == "ccsds_c2") {
        return { "8160" };
    }
    if (standard == "ccsds_ar4ja") {
        return { "1024", "4096", "16384" };
    }
    if (standard == "ccsds_tc") {
        return { "128", "512" };
    }
    if (standard == "wifi") {
        return { "648", "1296", "1944" };
    }
    std::vector<std::string> sizes; // frame sizes of NR
    for (const char* graph : { "bg1 z", "bg2 z" }) {
        for (unsigned z = 2; z <= nr_largest; ++z) {
            if (nr_set(z) < 8) {
                sizes.push_back(graph + std::to_string(z));
            }
        }
    }
    return sizes;
}

std::vector<std::string> ldpc_code::rates(const std::string& standard_name,
                                          const std::string& size_name)
{
    const auto standard = standard_named(standard_name);
    const auto frame_size = size_named(standard, size_name);
    if (standard == "dvbs2") {
        return dvbs2_rates(frame_size);
    }
    if (standard == "dvbt2") {
        if (frame_size == "normal") {
            return { "1/2", "3/5", "2/3", "3/4", "4/5", "5/6" };
        }
        return { "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6" };
    }
    if (standard == "ccsds_c2") {
        return { "7/8" };
    }
    if (standard == "ccsds_ar4ja") {
        return { "1/2", "2/3", "4/5" };
    }
    if (standard == "ccsds_tc") {
        return { "1/2" };
    }
    if (standard == "wifi") {
        return { "1/2", "2/3", "3/4", "5/6" };
    }
    std::vector<std::string> rates;
    if (standard == "nr") {
        const unsigned graph = nr_size_of(frame_size)->graph;
        const auto g = nr_graph(graph);
        rates.push_back(graph == 1 ? "1/3" : "1/5");
        for (unsigned rows = g.rows; rows >= 4; --rows) {
            rates.push_back(std::to_string(g.message) + "/" +
                            std::to_string(nr_sent(g, rows)));
        }
        return rates;
    }
    for (const auto& mode : vlsnr_modes) {
        if (frame_size == mode.size) {
            rates.emplace_back(mode.rate);
        }
    }
    if (rates.empty()) {
        for (const auto& table : *dvb_tables_of(standard, frame_size)) {
            rates.emplace_back(table.rate);
        }
        if (frame_size != "medium") { // S2X includes the codes of S2
            const auto more = dvbs2_rates(frame_size);
            rates.insert(rates.end(), more.begin(), more.end());
        }
    }
    return rates;
}

ldpc_code ldpc_code::standard(const std::string& standard_name,
                              const std::string& size_name,
                              const std::string& rate_name)
{
    const auto standard = standard_named(standard_name);
    if (standard == "dvbs2") {
        return dvbs2(size_name, rate_name);
    }
    const auto frame_size = size_named(standard, size_name);
    const auto rate = rate_named(standard, frame_size, rate_name);
    if (standard == "wifi") {
        return wifi_code(frame_size, rate);
    }
    if (standard == "nr") {
        return nr_code(frame_size, rate);
    }
    if (standard == "ccsds_c2") {
        return c2_code();
    }
    if (standard == "ccsds_ar4ja") {
        return ar4ja_code(frame_size, rate);
    }
    if (standard == "ccsds_tc") {
        return telecommand_code(frame_size);
    }
    return dvb_code(standard, frame_size, rate);
}

} // namespace gr::gpufec
