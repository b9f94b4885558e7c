// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The BCH codes of the standards, and the construction of generator polynomials. */

#include "common/refuse.h"
#include "field.h"
#include <gnuradio/gpufec/bch.h>

namespace gr::gpufec {

struct bch_code::tables {
    std::string name;
    unsigned n, k, t;
    std::uint32_t field;
    std::vector<std::uint8_t> generator;
};

namespace {

// Primitive polynomials of the fields. In the standards' tables, each polynomial is also
// the first factor of its generators.
constexpr std::uint32_t normal_field = 0x1002d; // x^16 + x^5 + x^3 + x^2 + 1
constexpr std::uint32_t medium_field = 0x802d;  // x^15 + x^5 + x^3 + x^2 + 1
constexpr std::uint32_t short_field = 0x402b;   // x^14 + x^5 + x^3 + x + 1

struct known_code {
    const char* rate;
    unsigned n, t;
};

struct known_size {
    const char *standard, *size;
    std::uint32_t field;
    std::vector<known_code> codes;
};

const std::vector<known_size>& known_sizes()
{
    // EN 302 307-1, table 5.
    static const std::vector<known_code> s2_normal = {
        { "1/4", 16200, 12 }, { "1/3", 21600, 12 }, { "2/5", 25920, 12 },
        { "1/2", 32400, 12 }, { "3/5", 38880, 12 }, { "2/3", 43200, 10 },
        { "3/4", 48600, 12 }, { "4/5", 51840, 12 }, { "5/6", 54000, 10 },
        { "8/9", 57600, 8 },  { "9/10", 58320, 8 }
    };
    static const std::vector<known_code> s2_short = {
        { "1/4", 3240, 12 },  { "1/3", 5400, 12 },  { "2/5", 6480, 12 },
        { "1/2", 7200, 12 },  { "3/5", 9720, 12 },  { "2/3", 10800, 12 },
        { "3/4", 11880, 12 }, { "4/5", 12600, 12 }, { "5/6", 13320, 12 },
        { "8/9", 14400, 12 }
    };
    static const std::vector<known_size> sizes = {
        { "dvbs2", "normal", normal_field, s2_normal },
        { "dvbs2", "short", short_field, s2_short },
        // EN 302 307-2, table 5; for VL-SNR frames, tables 19b to 19d.
        {
            "dvbs2x",
            "normal",
            normal_field,
            { { "2/9", 14400, 12 },     { "13/45", 18720, 12 },
              { "9/20", 29160, 12 },    { "90/180", 32400, 12 },
              { "96/180", 34560, 12 },  { "11/20", 35640, 12 },
              { "100/180", 36000, 12 }, { "26/45", 37440, 12 },
              { "104/180", 37440, 12 }, { "18/30", 38880, 12 },
              { "28/45", 40320, 12 },   { "23/36", 41400, 12 },
              { "116/180", 41760, 12 }, { "20/30", 43200, 12 },
              { "124/180", 44640, 12 }, { "25/36", 45000, 12 },
              { "128/180", 46080, 12 }, { "13/18", 46800, 12 },
              { "132/180", 47520, 12 }, { "22/30", 47520, 12 },
              { "135/180", 48600, 12 }, { "7/9", 50400, 12 },
              { "140/180", 50400, 12 }, { "154/180", 55440, 12 } } },
        { "dvbs2x",
          "short",
          short_field,
          { { "11/45", 3960, 12 },
            { "4/15", 4320, 12 },
            { "14/45", 5040, 12 },
            { "7/15", 7560, 12 },
            { "8/15", 8640, 12 },
            { "26/45", 9360, 12 },
            { "32/45", 11520, 12 } } },
        { "dvbs2x", "vl-snr normal", normal_field, { { "2/9", 14400, 12 } } },
        { "dvbs2x",
          "vl-snr medium",
          medium_field,
          { { "1/5", 5840, 12 }, { "11/45", 7920, 12 }, { "1/3", 10800, 12 } } },
        { "dvbs2x",
          "vl-snr short",
          short_field,
          { { "1/5", 3240, 12 }, { "4/15", 4320, 12 }, { "1/3", 5400, 12 } } },
        { "dvbs2x",
          "vl-snr short sf2",
          short_field,
          { { "1/5", 2680, 12 }, { "11/45", 3960, 12 } } },
        // EN 302 755, table 6: the codes of DVB-S2 with rates 1/2 to 5/6 for normal
        // frames and 1/4 to 5/6 for short frames.
        { "dvbt2", "normal", normal_field, { &s2_normal[3], &s2_normal[9] } },
        { "dvbt2", "short", short_field, { &s2_short[0], &s2_short[9] } },
    };
    return sizes;
}

std::string standard_named(const std::string& name)
{
    return known_name("standard", name, bch_code::standards());
}

std::string size_named(const std::string& standard, const std::string& name)
{
    return known_name("frame_size",
                      name,
                      bch_code::frame_sizes(standard),
                      "allowed values with " + standard + " are");
}

// Returns the codes of a frame size. \p standard is a result of standards(), and
// \p frame_size is a result of frame_sizes().
known_size size_of(const std::string& standard, const std::string& frame_size)
{
    for (const auto& size : known_sizes()) {
        if (standard == size.standard && frame_size == size.size) {
            auto found = size;
            if (standard == "dvbs2x" &&
                (frame_size == "normal" || frame_size == "short")) {
                const auto more = size_of("dvbs2", frame_size).codes;
                found.codes.insert(found.codes.end(), more.begin(), more.end());
            }
            return found;
        }
    }
    throw std::logic_error(standard + " has no frame size " + frame_size);
}

// Returns the generator polynomial: the product of (x − alpha^e) over all distinct
// exponents e that are conjugate to an odd exponent up to 2t − 1.
std::vector<std::uint8_t> generator_of(const bch::field& field, unsigned t)
{
    std::vector<bool> is_root(field.order());
    for (unsigned j = 1; j < 2 * t; j += 2) {
        for (auto e = j % field.order(); !is_root[e]; e = 2 * e % field.order()) {
            is_root[e] = true;
        }
    }
    std::vector<bch::field::element> product = { 1 };
    for (unsigned e = 0; e < field.order(); ++e) {
        if (is_root[e]) {
            product.insert(product.begin(), 0);
            for (std::size_t i = 0; i + 1 < product.size(); ++i) {
                product[i] ^= field.multiply(product[i + 1], field.power(e));
            }
        }
    }
    return { product.begin(), product.end() }; // its coefficients are 0 or 1
}

} // namespace

bch_code::bch_code(std::uint32_t polynomial, unsigned n, unsigned t)
{
    const bch::field field(polynomial);
    require(n <= field.order(),
            "n",
            n,
            "up to " + std::to_string(field.order()) + " with this field");
    require(t >= 1 && t <= max_errors, "t", t, "1 to " + std::to_string(max_errors));
    auto generator = generator_of(field, t);
    const auto parity = unsigned(generator.size() - 1);
    require(parity <= max_parity,
            "t",
            t,
            "those for which the code has at most " + std::to_string(max_parity) +
                " parity bits");
    require(n > parity,
            "n",
            n,
            "above " + std::to_string(parity) + ", the number of parity bits");
    const auto name = "bch " + std::to_string(n) + " " + std::to_string(n - parity);
    d_tables = std::make_shared<tables>(
        tables{ name, n, n - parity, t, polynomial, std::move(generator) });
}

bch_code bch_code::standard(const std::string& standard_name,
                            const std::string& size_name,
                            const std::string& rate_name)
{
    const auto standard = standard_named(standard_name);
    const auto frame_size = size_named(standard, size_name);
    const auto size = size_of(standard, frame_size);
    const auto allowed = "allowed values with " + standard + " " + frame_size + " are";
    const auto& known = size.codes[index_of_name(
        "rate", rate_name, rates(standard, frame_size), allowed, "bch_code::rates()")];
    bch_code code(size.field, known.n, known.t);
    auto named = std::make_shared<tables>(*code.d_tables);
    named->name = standard + " " + frame_size + " " + known.rate;
    code.d_tables = named;
    return code;
}

std::vector<std::string> bch_code::standards() { return { "dvbs2", "dvbs2x", "dvbt2" }; }

std::vector<std::string> bch_code::frame_sizes(const std::string& name)
{
    const auto standard = standard_named(name);
    std::vector<std::string> sizes;
    for (const auto& size : known_sizes()) {
        if (standard == size.standard) {
            sizes.emplace_back(size.size);
        }
    }
    return sizes;
}

std::vector<std::string> bch_code::rates(const std::string& standard_name,
                                         const std::string& size_name)
{
    std::vector<std::string> rates;
    const auto standard = standard_named(standard_name);
    const auto size = size_of(standard, size_named(standard, size_name));
    for (const auto& code : size.codes) {
        rates.emplace_back(code.rate);
    }
    return rates;
}

const std::string& bch_code::name() const { return d_tables->name; }
unsigned bch_code::n() const { return d_tables->n; }
unsigned bch_code::k() const { return d_tables->k; }
unsigned bch_code::t() const { return d_tables->t; }
std::uint32_t bch_code::field() const { return d_tables->field; }
const std::vector<std::uint8_t>& bch_code::generator() const
{
    return d_tables->generator;
}

} // namespace gr::gpufec
