// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests Reed-Solomon codes against the generator polynomials and the dual basis that
 * standards print, and tests their fields. */

#include "field.h"
#include <gnuradio/gpufec/reed_solomon.h>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;

// Returns the parity of the message 0, …, 0, 1. Its symbols are the coefficients of the
// generator polynomial without the highest one, in descending order of powers.
bytes generator_of(const reed_solomon_code& code)
{
    bytes frame(code.n());
    frame[code.k() - 1] = 1;
    reed_solomon_encoder_kernel(code).encode(frame.data(), frame.data());
    return { frame.begin() + code.k(), frame.end() };
}

template <class Make>
std::string error_of(const Make& make)
{
    try {
        make();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::string error_of(unsigned n,
                     unsigned k,
                     unsigned field,
                     unsigned first_root = 0,
                     unsigned root_step = 1,
                     bool dual_basis = false)
{
    return error_of(
        [&] { reed_solomon_code(n, k, field, first_root, root_step, dual_basis); });
}

} // namespace

TEST(Code, StandardCodes_HaveParametersOfTheStandard)
{
    for (const auto& [name, n, k] : { std::tuple("ccsds-223", 255u, 223u),
                                      std::tuple("ccsds-239", 255u, 239u),
                                      std::tuple("ccsds-223-conventional", 255u, 223u),
                                      std::tuple("ccsds-239-conventional", 255u, 239u),
                                      std::tuple("dvb", 204u, 188u) }) {
        const auto code = reed_solomon_code::standard(name);
        EXPECT_EQ(code.name(), name);
        EXPECT_EQ(code.n(), n);
        EXPECT_EQ(code.k(), k);
        EXPECT_EQ(code.parity(), n - k);
        EXPECT_EQ(code.t(), (n - k) / 2);
        EXPECT_EQ(code.dual_basis(),
                  name == std::string("ccsds-223") || name == std::string("ccsds-239"));
    }
    EXPECT_EQ(reed_solomon_code::standards().size(), 5u);
    EXPECT_EQ(reed_solomon_code::standard("CCSDS_223").name(), "ccsds-223");
}

TEST(Code, CcsdsGenerator_EqualsThatOfTheStandard)
{
    // CCSDS 131.0-B, annex G: exponents of the coefficients of x^32 to x^16; the
    // polynomial is a palindrome.
    const unsigned exponents[] = { 0,  249, 59,  66, 4,  43,  126, 251, 97,
                                   30, 3,   213, 50, 66, 170, 5,   24 };
    const auto code = reed_solomon_code::standard("ccsds-223-conventional");
    const auto generator = generator_of(code);
    const reed_solomon::field f(code.field());
    for (unsigned i = 1; i <= 16; ++i) {
        EXPECT_EQ(f.log(generator[i - 1]), exponents[i]) << i;
        EXPECT_EQ(f.log(generator[31 - i]), exponents[i]) << i;
    }
    EXPECT_EQ(generator[31], 1);
}

TEST(Code, DvbGenerator_HasRootsOfTheStandard)
{
    // EN 300 421, 4.4.2: g(x) is the product of (x + alpha^i) for i from 0 to 15, and
    // alpha is 2.
    const auto code = reed_solomon_code::standard("dvb");
    const auto generator = generator_of(code);
    const reed_solomon::field f(0x11d);
    for (unsigned i = 0; i < 40; ++i) {
        std::uint8_t value = 1;
        for (const auto coefficient : generator) {
            value = f.multiply(value, f.power(i)) ^ coefficient;
        }
        EXPECT_EQ(value == 0, i < 16) << i;
    }
}

TEST(Code, DualBasis_EqualsMatrixOfTheStandard)
{
    // CCSDS 131.0-B, annex F: rows of the matrix that converts u_7 … u_0 to z_0 … z_7.
    const std::uint8_t rows[] = { 0x8d, 0xef, 0xec, 0x86, 0xfa, 0x99, 0xaf, 0x7b };
    const reed_solomon::basis basis(reed_solomon_code::standard("ccsds-223"));
    for (unsigned u = 0; u < 256; ++u) {
        std::uint8_t z = 0;
        for (unsigned bit = 0; bit < 8; ++bit) {
            z ^= u >> (7 - bit) & 1 ? rows[bit] : 0;
        }
        EXPECT_EQ(basis.byte[u], z);
        EXPECT_EQ(basis.element[z], u);
    }
    const reed_solomon::basis other(
        reed_solomon_code::standard("ccsds-223-conventional"));
    for (unsigned u = 0; u < 256; ++u) {
        EXPECT_EQ(other.byte[u], u);
    }
}

TEST(Code, ShortenedCode_KeepsParity)
{
    const auto code = reed_solomon_code::standard("ccsds-223").shortened(20);
    EXPECT_EQ(code.n(), 235u);
    EXPECT_EQ(code.k(), 203u);
    EXPECT_EQ(code.parity(), 32u);
    EXPECT_EQ(code.name(), "ccsds-223 shortened by 20");
    EXPECT_TRUE(code.dual_basis());
    EXPECT_EQ(reed_solomon_code::standard("dvb").shortened(0).name(), "dvb");
    EXPECT_EQ(reed_solomon_code(100, 80, 0x11d, 1, 1).name(), "rs 100 80");
    EXPECT_EQ(reed_solomon_code::standard("dvb").shortened(187).k(), 1u);
}

TEST(Code, InvalidParameters_ErrorNamesParameter)
{
    EXPECT_EQ(error_of(256, 200, 0x187), "n is 256: allowed values are 2 to 255");
    EXPECT_EQ(error_of(255, 0, 0x187), "k is 0: allowed values are 1 to n - 1 = 254");
    EXPECT_EQ(error_of(255, 255, 0x187), "k is 255: allowed values are 1 to n - 1 = 254");
    EXPECT_EQ(error_of(255, 190, 0x187),
              "k is 190: allowed values are those with up to 64 parity symbols");
    EXPECT_EQ(error_of(255, 223, 0x187, 255),
              "first_root is 255: allowed values are 0 to 254");
    EXPECT_EQ(
        error_of(255, 223, 0x187, 0, 5),
        "root_step is 5: allowed values are 1 to 254 without a common divisor with 255");
    EXPECT_EQ(error_of(255, 223, 0x11d, 112, 11, true),
              "field is 285: allowed values are 391 (0x187) with the dual basis");
    for (const unsigned field : { 0u, 0x13u, 0x11bu, 0x100u, 0x1002du }) {
        EXPECT_NE(error_of(255, 223, field).find("primitive"), std::string::npos)
            << field;
    }
    const auto dvb = reed_solomon_code::standard("dvb");
    EXPECT_EQ(error_of([&] { dvb.shortened(188); }),
              "virtual_fill is 188: allowed values are 0 to k - 1 = 187");
    EXPECT_EQ(error_of([&] { reed_solomon_encoder_kernel(dvb, 0); }),
              "interleaving is 0: allowed values are 1 to 16");
    EXPECT_EQ(error_of([&] { reed_solomon_decoder_kernel(dvb, 17); }),
              "interleaving is 17: allowed values are 1 to 16");
    EXPECT_NE(error_of([&] { reed_solomon_decoder_kernel(dvb, 1, "mmx"); }), "");
    EXPECT_NE(
        error_of([] { reed_solomon_code::standard("ccsds"); }).find("code is \"ccsds\""),
        std::string::npos);
}

TEST(Field, Products_EqualPolynomialProducts)
{
    for (const unsigned polynomial : { 0x187u, 0x11du }) {
        const reed_solomon::field f(polynomial);
        for (unsigned a = 0; a < 256; ++a) {
            for (unsigned b = 0; b < 256; ++b) {
                unsigned product = 0;
                for (unsigned i = 0; i < 8; ++i) {
                    product ^= (b >> i & 1) ? a << i : 0;
                }
                for (unsigned i = 16; i-- > 8;) {
                    product ^= (product >> i & 1) ? polynomial << (i - 8) : 0;
                }
                ASSERT_EQ(f.multiply(a, b), product);
            }
            if (a) {
                ASSERT_EQ(f.multiply(a, f.inverse(a)), 1);
            }
        }
        EXPECT_EQ(f.power(-1), f.inverse(2));
    }
}
