// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests BCH codes against tables of standards and books and against the inner LDPC codes,
 * and the codes' fields against polynomial arithmetic. */

#include "field.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>

using namespace gr::gpufec;

namespace {

using exponents = std::vector<unsigned>;
using bits = std::vector<std::uint8_t>;

// Exponents of the generator's factors: EN 302 307-1, tables 6a and 6b.
const std::vector<exponents> normal_polynomials = {
    { 0, 2, 3, 5, 16 },
    { 0, 1, 4, 5, 6, 8, 16 },
    { 0, 2, 3, 4, 5, 7, 8, 9, 10, 11, 16 },
    { 0, 2, 4, 6, 9, 11, 12, 14, 16 },
    { 0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 16 },
    { 0, 2, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16 },
    { 0, 2, 5, 6, 8, 9, 10, 11, 13, 15, 16 },
    { 0, 1, 2, 5, 6, 8, 9, 12, 13, 14, 16 },
    { 0, 5, 7, 9, 10, 11, 16 },
    { 0, 1, 2, 5, 7, 8, 10, 12, 13, 14, 16 },
    { 0, 2, 3, 5, 9, 11, 12, 13, 16 },
    { 0, 1, 5, 6, 7, 9, 11, 12, 16 },
};
const std::vector<exponents> short_polynomials = {
    { 0, 1, 3, 5, 14 },
    { 0, 6, 8, 11, 14 },
    { 0, 1, 2, 6, 9, 10, 14 },
    { 0, 4, 7, 8, 10, 12, 14 },
    { 0, 2, 4, 6, 8, 9, 11, 13, 14 },
    { 0, 3, 7, 8, 9, 13, 14 },
    { 0, 2, 5, 6, 7, 10, 11, 13, 14 },
    { 0, 5, 8, 9, 10, 11, 14 },
    { 0, 1, 2, 3, 9, 10, 14 },
    { 0, 3, 6, 9, 11, 12, 14 },
    { 0, 4, 11, 12, 14 },
    { 0, 1, 2, 3, 5, 6, 7, 8, 10, 13, 14 },
};

bits product_of(const std::vector<exponents>& polynomials, unsigned count)
{
    bits product = { 1 };
    for (unsigned p = 0; p < count; ++p) {
        bits next(product.size() + polynomials[p].back());
        for (const auto e : polynomials[p]) {
            for (std::size_t i = 0; i < product.size(); ++i) {
                next[i + e] ^= product[i];
            }
        }
        product = next;
    }
    return product;
}

std::string error_of(std::uint32_t field, unsigned n, unsigned t)
{
    try {
        bch_code(field, n, t);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(Code, DvbGenerators_EqualThoseOfTheStandard)
{
    for (const auto& [rate, t] :
         { std::pair("1/2", 12u), std::pair("2/3", 10u), std::pair("8/9", 8u) }) {
        const auto code = bch_code::standard("dvbs2", "normal", rate);
        EXPECT_EQ(code.t(), t);
        EXPECT_EQ(code.generator(), product_of(normal_polynomials, t));
    }
    EXPECT_EQ(bch_code::standard("dvbs2", "short", "8/9").generator(),
              product_of(short_polynomials, 12));
    EXPECT_EQ(bch_code::standard("dvbs2x", "vl-snr medium", "1/3").generator().size(),
              12u * 15 + 1);
}

TEST(Code, EveryStandardCode_HasLengthOfLdpcMessage)
{
    unsigned count = 0;
    std::set<std::string> names;
    for (const auto& standard : bch_code::standards()) {
        for (const auto& size : bch_code::frame_sizes(standard)) {
            EXPECT_EQ(bch_code::rates(standard, size), ldpc_code::rates(standard, size));
            for (const auto& rate : bch_code::rates(standard, size)) {
                const auto code = bch_code::standard(standard, size, rate);
                SCOPED_TRACE(code.name());
                EXPECT_EQ(code.n(), ldpc_code::standard(standard, size, rate).k());
                const unsigned degree = size.find("medium") != std::string::npos  ? 15
                                        : size.find("short") != std::string::npos ? 14
                                                                                  : 16;
                EXPECT_EQ(code.n() - code.k(), degree * code.t());
                names.insert(code.name());
                ++count;
            }
        }
    }
    EXPECT_EQ(count, 76u + 21);
    EXPECT_EQ(names.size(), count);
}

TEST(Code, SmallCodes_EqualPublishedCodes)
{
    EXPECT_EQ(bch_code(0x13, 15, 1).generator(), (bits{ 1, 1, 0, 0, 1 }));
    EXPECT_EQ(bch_code(0x13, 15, 2).generator(), (bits{ 1, 0, 0, 0, 1, 0, 1, 1, 1 }));
    EXPECT_EQ(bch_code(0x13, 15, 3).generator(),
              (bits{ 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1 }));
    // The code of this field with the most parity bits is a repetition code.
    EXPECT_EQ(bch_code(0xb, 7, 3).k(), 1u);
    EXPECT_EQ(bch_code(0x13, 15, 2).name(), "bch 15 7");
}

TEST(Code, BadParameters_ErrorStatesAllowedValues)
{
    EXPECT_EQ(error_of(0x13, 16, 1),
              "n is 16: allowed values are up to 15 with this field");
    EXPECT_EQ(error_of(0x13, 15, 13), "t is 13: allowed values are 1 to 12");
    EXPECT_EQ(error_of(0x13, 15, 0), "t is 0: allowed values are 1 to 12");
    EXPECT_EQ(error_of(0x13, 8, 2),
              "n is 8: allowed values are above 8, the number of parity bits");
    for (const std::uint32_t field : { 0x0u, 0x7u, 0x1fu, 0x15u, 0x12u, 0x2002du }) {
        EXPECT_NE(error_of(field, 15, 1).find("primitive"), std::string::npos) << field;
    }
    EXPECT_THROW(bch_code::standard("wifi", "normal", "1/2"), std::invalid_argument);
    EXPECT_THROW(bch_code::standard("dvbs2", "medium", "1/2"), std::invalid_argument);
    EXPECT_THROW(bch_code::standard("dvbs2", "short", "9/10"), std::invalid_argument);
}

TEST(Field, Products_EqualPolynomialProducts)
{
    for (const std::uint32_t polynomial : { 0xbu, 0x13u, 0x402bu, 0x802du, 0x1002du }) {
        const bch::field f(polynomial);
        const auto by_hand = [&](unsigned a, unsigned b) {
            unsigned product = 0;
            for (unsigned i = 0; i < 16; ++i) {
                product ^= (b >> i & 1) ? a << i : 0;
            }
            for (unsigned i = 32; i-- > f.degree();) {
                product ^= (product >> i & 1) ? polynomial << (i - f.degree()) : 0;
            }
            return product;
        };
        const unsigned step = f.order() / 97 + 1;
        for (unsigned a = 0; a <= f.order(); a += step) {
            EXPECT_EQ(f.square(a), by_hand(a, a));
            for (unsigned b = 0; b <= f.order(); b += step) {
                EXPECT_EQ(f.multiply(a, b), by_hand(a, b));
                if (b) {
                    EXPECT_EQ(f.multiply(f.divide(a, b), b), a);
                }
            }
        }
    }
}
