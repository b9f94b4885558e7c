// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the message positions of codes from files, the warning for files that look like
 * generator matrices, and variants of the file format. */

#include "ldpc/model/reference.h"
#include "qa_support.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

using positions = std::vector<std::uint32_t>;
using matrix = std::vector<std::vector<std::uint8_t>>;

ldpc_code from_alist(const std::string& alist)
{
    std::istringstream text(alist);
    return ldpc_code::from_alist(text, "test");
}

matrix matrix_of(const ldpc_code& code)
{
    matrix h(code.checks(), std::vector<std::uint8_t>(code.n(), 0));
    for (unsigned c = 0; c < code.checks(); ++c) {
        for (const auto bit : code.check(c)) {
            h[c][bit] = 1;
        }
    }
    return h;
}

std::string alist_of(const matrix& h)
{
    std::ostringstream sizes, of_bits, of_checks;
    unsigned most_of_bit = 0, most_of_check = 0;
    for (std::size_t b = 0; b < h[0].size(); ++b) {
        unsigned ones = 0;
        for (std::size_t c = 0; c < h.size(); ++c) {
            if (h[c][b]) {
                of_bits << c + 1 << ' ';
                ++ones;
            }
        }
        of_bits << '\n';
        sizes << ones << ' ';
        most_of_bit = std::max(most_of_bit, ones);
    }
    sizes << '\n';
    for (const auto& row : h) {
        const unsigned ones = std::count(row.begin(), row.end(), 1);
        for (std::size_t b = 0; b < row.size(); ++b) {
            if (row[b]) {
                of_checks << b + 1 << ' ';
            }
        }
        of_checks << '\n';
        sizes << ones << ' ';
        most_of_check = std::max(most_of_check, ones);
    }
    std::ostringstream text;
    text << h[0].size() << ' ' << h.size() << '\n'
         << most_of_bit << ' ' << most_of_check << '\n'
         << sizes.str() << '\n'
         << of_bits.str() << of_checks.str();
    return text.str();
}

// Returns [I P] if \p in_front, else [P I]. \p ones is the fraction of ones in P.
matrix with_identity(unsigned rows, unsigned columns, bool in_front, double ones)
{
    std::mt19937 random(rows + columns);
    std::bernoulli_distribution one(ones);
    matrix g(rows, std::vector<std::uint8_t>(columns, 0));
    for (unsigned r = 0; r < rows; ++r) {
        for (auto& bit : g[r]) {
            bit = one(random);
        }
        for (unsigned i = 0; i < rows; ++i) {
            g[r][in_front ? i : columns - rows + i] = i == r;
        }
    }
    return g;
}

// Expects that random messages are encoded to codewords with the message at the code's
// positions.
void expect_encodes(const ldpc_code& code)
{
    ASSERT_EQ(code.message_positions().size(), code.k());
    std::mt19937 random(code.n());
    const ldpc_encoder_kernel encoder(code);
    for (unsigned trial = 0; trial < 5; ++trial) {
        std::vector<std::uint8_t> message(code.k()), word(code.n());
        for (auto& bit : message) {
            bit = random() >> 31;
        }
        encoder.encode(message.data(), word.data());
        EXPECT_EQ(reference::violated_checks(code, word), 0u);
        for (unsigned i = 0; i < code.k(); ++i) {
            EXPECT_EQ(word[code.message_positions()[i]], message[i]) << i;
        }
        std::vector<std::uint8_t> sent(code.sent()), packed((code.sent() + 7) / 8);
        encoder.send(word.data(), sent.data());
        encoder.encode_packed(qa::pack(message, code.k()).data(), packed.data());
        EXPECT_EQ(packed, qa::pack(sent, code.sent()));
    }
}

template <class Rule>
std::string refusal(const ldpc_code& code, const Rule& rule)
{
    try {
        code.with_message_positions(rule);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

// Returns the message positions that gr-fec's documentation of cldpc defines, by
// elimination in a dense matrix with exchanges of rows and columns.
positions by_moving_columns(matrix h)
{
    positions columns(h[0].size());
    std::iota(columns.begin(), columns.end(), 0);
    std::size_t diagonal = 0, rows = h.size();
    while (diagonal < rows) {
        const auto& row = h[diagonal];
        const auto pivot = std::find(row.begin() + diagonal, row.end(), 1) - row.begin();
        if (pivot == long(row.size())) {
            std::rotate(h.begin() + diagonal, h.begin() + diagonal + 1, h.end());
            --rows;
            continue;
        }
        std::swap(columns[diagonal], columns[pivot]);
        for (auto& r : h) {
            std::swap(r[diagonal], r[pivot]);
        }
        for (std::size_t r = 0; r < h.size(); ++r) {
            for (std::size_t c = 0; r != diagonal && h[r][diagonal] && c < row.size();
                 ++c) {
                // The column of the diagonal comes last, because the condition of the
                // loop reads it.
                const auto at = (diagonal + 1 + c) % row.size();
                h[r][at] ^= h[diagonal][at];
            }
        }
        ++diagonal;
    }
    return { columns.begin() + diagonal, columns.end() };
}

// Returns a regular code whose first five checks occur twice, with the sum of two checks
// as another check.
ldpc_code redundant_code(unsigned seed)
{
    auto h = matrix_of(qa::regular_code(96, 48, seed));
    const matrix again(h.begin(), h.begin() + 5);
    h.insert(h.begin() + 7, again.begin(), again.end());
    h.push_back(h[20]);
    for (std::size_t i = 0; i < h[0].size(); ++i) {
        h.back()[i] ^= h[21][i];
    }
    return from_alist(alist_of(h));
}

const std::string hamming = "7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n"
                            "1 0 0\n2 0 0\n1 2 0\n3 0 0\n1 3 0\n2 3 0\n1 2 3\n"
                            "1 3 5 7\n2 3 6 7\n4 5 6 7\n";

} // namespace

TEST(ldpc_positions, GrFecEncoderRule_SelectsPositionsOfGrFec)
{
    for (unsigned seed = 1; seed < 20; ++seed) {
        for (const auto& code : { qa::regular_code(96, 48, seed),
                                  redundant_code(seed),
                                  from_alist(hamming) }) {
            const auto there = code.with_message_positions("gr_fec_ldpc_encoder");
            EXPECT_EQ(there.message_positions(), by_moving_columns(matrix_of(code)));
            EXPECT_EQ(there.k(), code.k());
            expect_encodes(there);
        }
    }
}

TEST(ldpc_positions, FirstAndLastRules_SelectEndsOfCodeword)
{
    const auto code = from_alist(alist_of(with_identity(30, 60, true, 0.2)));
    const auto last = code.with_message_positions("last");
    positions expected(30);
    std::iota(expected.begin(), expected.end(), 30);
    EXPECT_EQ(last.message_positions(), expected);
    expect_encodes(last);
    const auto other = from_alist(alist_of(with_identity(30, 60, false, 0.2)));
    const auto first = other.with_message_positions("first");
    EXPECT_TRUE(first.systematic_prefix());
    expect_encodes(first);
    // Shortened bits do not belong to the message.
    const auto shortened = last.with_positions({ 3 }, { 31, 40 });
    expected.erase(std::remove_if(expected.begin(),
                                  expected.end(),
                                  [](auto p) { return p == 31 || p == 40; }),
                   expected.end());
    EXPECT_EQ(shortened.message_positions(), expected);
    expect_encodes(shortened);
    // "systematic" restores the default.
    EXPECT_EQ(last.with_message_positions("systematic").message_positions(),
              code.message_positions());
}

TEST(ldpc_positions, ListOfFreeBits_IsAcceptedAsMessagePositions)
{
    std::mt19937 random(4);
    for (const auto& code : { qa::regular_code(504, 252, 7),
                              redundant_code(2),
                              ldpc_code::standard("wifi", "648", "5/6"),
                              ldpc_code::standard("nr", "bg2 z8", "1/5"),
                              ldpc_code::standard("ccsds_c2", "8160", "7/8") }) {
        SCOPED_TRACE(code.name());
        auto list = code.message_positions();
        std::shuffle(list.begin(), list.end(), random);
        const auto there = code.with_message_positions(list);
        EXPECT_EQ(there.message_positions(), list);
        EXPECT_FALSE(there.systematic_prefix());
        expect_encodes(there);
        // Circulants and unsent positions do not change.
        EXPECT_EQ(there.lifting(), code.lifting());
        EXPECT_EQ(there.sent_positions(), code.sent_positions());
    }
}

TEST(ldpc_positions, ListOfShortenedCode_KeepsItsOrder)
{
    const auto listed =
        from_alist(hamming).with_message_positions(positions{ 5, 1, 3, 6 });
    const auto shortened = listed.with_positions({}, { 1 });
    EXPECT_EQ(shortened.message_positions(), (positions{ 5, 3, 6 }));
    expect_encodes(shortened);
}

TEST(ldpc_positions, MatrixTooLargeToEliminate_AcceptsLists)
{
    const auto code = ldpc_code::dvbs2("short", "1/4");
    ASSERT_GT(std::uint64_t(code.n()) * code.checks(), ldpc_code::max_elimination);
    auto list = code.message_positions();
    std::reverse(list.begin(), list.end());
    expect_encodes(code.with_message_positions(list));
    EXPECT_EQ(code.with_message_positions("first").message_positions(),
              code.message_positions());
    // A list with parity bits of the chain does not determine all bits.
    list[7] = 16199;
    list[8] = 16198;
    EXPECT_NE(refusal(code, list).find("message_positions is a list of 3240"),
              std::string::npos)
        << refusal(code, list);
}

TEST(ldpc_positions, DependentMessagePosition_ErrorNamesPosition)
{
    const auto code = from_alist(hamming);
    // Bits 0, 2, 4 and 6 form a check, so that any three of these bits determine the
    // fourth.
    EXPECT_EQ(refusal(code, positions{ 0, 2, 4, 6 }),
              "message_positions is a list of 4: entry 3, position 6, cannot be a "
              "message bit of test: the preceding entries determine this bit");
    EXPECT_EQ(refusal(code, positions{ 6, 4, 2, 0 }),
              "message_positions is a list of 4: entry 3, position 0, cannot be a "
              "message bit of test: the preceding entries determine this bit");
    EXPECT_EQ(refusal(code, positions{ 0, 2, 4, 7 }),
              "message_positions[3] is 7: allowed values are 0 to 6");
    EXPECT_EQ(refusal(code, positions{ 0, 2, 0, 5 }),
              "message_positions[2] is 0: the position is already in the list");
    EXPECT_EQ(
        refusal(code, positions{ 0, 2, 5 }),
        "message_positions is a list of 3: test has K = 4 message bits, but there are "
        "3 positions for them");
    EXPECT_EQ(refusal(code, "gap"),
              "message_positions is \"gap\": allowed values are systematic, first, last, "
              "gr_fec_ldpc_encoder and lists of positions");
    // Tries all 35 sets of four bits. Every set that is accepted must encode.
    unsigned refused = 0;
    for (unsigned set = 0; set < 128; ++set) {
        positions list;
        for (unsigned i = 0; i < 7; ++i) {
            if (set >> i & 1) {
                list.push_back(i);
            }
        }
        if (list.size() == 4 && refusal(code, list).empty()) {
            expect_encodes(code.with_message_positions(list));
        } else {
            refused += list.size() == 4;
        }
    }
    EXPECT_EQ(refused, 7u); // the words of weight 4 in the dual code
    const auto triangular = from_alist(alist_of(with_identity(4, 9, false, 0.0)));
    EXPECT_NE(refusal(triangular, "last").find("\"last\": entry 1, position 5,"),
              std::string::npos)
        << refusal(triangular, "last");
}

TEST(ldpc_positions, MessageBitOfPosition_IsAtOrBeforePosition)
{
    const auto code = from_alist(hamming);
    const positions list{ 5, 1, 3, 6 };
    const auto there = code.with_message_positions(list);
    const unsigned expected[] = { 0, 1, 1, 2, 2, 0, 3 };
    for (unsigned i = 0; i < 7; ++i) {
        EXPECT_EQ(there.message_bit(i), expected[i]) << i;
        const auto& before = code.message_positions(); // in ascending order
        unsigned bit = 0;
        for (unsigned j = 0; j < before.size(); ++j) {
            bit = before[j] <= i ? j : bit;
        }
        EXPECT_EQ(code.message_bit(i), bit) << i;
    }
}

TEST(ldpc_positions, GeneratorMatrix_CausesWarning)
{
    const std::pair<unsigned, unsigned> sizes[] = {
        { 58, 100 }, { 91, 174 }, { 40, 200 }, { 324, 648 }, { 200, 240 }
    };
    for (const auto& [k, n] : sizes) {
        for (const double ones : { 0.36, 0.5 }) {
            const auto code = from_alist(alist_of(with_identity(k, n, true, ones)));
            EXPECT_EQ(
                code.warning().find("test looks like a generator matrix [I P] of K = " +
                                    std::to_string(k)),
                0u)
                << code.warning();
            // A code keeps its warning when its positions change.
            EXPECT_EQ(code.with_positions({ 1 }, {}).warning(), code.warning());
            EXPECT_EQ(code.with_message_positions("last").warning(), code.warning());
        }
    }
}

TEST(ldpc_positions, ParityCheckMatrix_CausesNoWarning)
{
    unsigned codes = 0;
    const auto expect_none = [&](const std::string& alist) {
        ++codes;
        EXPECT_EQ(from_alist(alist).warning(), "") << alist.substr(0, 40);
    };
    for (const auto& standard : ldpc_code::standards()) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            // A few sizes of NR and AR4JA suffice, because the degrees are the same for
            // all sizes.
            if ((standard == "nr" && size != "bg1 z2" && size != "bg2 z2" &&
                 size != "bg1 z16" && size != "bg2 z52") ||
                (standard == "ccsds_ar4ja" && size != "1024")) {
                continue;
            }
            for (const auto& rate : ldpc_code::rates(standard, size)) {
                expect_none(qa::alist_of(ldpc_code::standard(standard, size, rate)));
            }
        }
    }
    expect_none(hamming);
    for (unsigned seed = 1; seed < 10; ++seed) {
        expect_none(qa::regular_alist(96, 48, seed));
        expect_none(qa::regular_alist(96, 80, seed));
        expect_none(qa::regular_alist(2048, 384, seed));
    }
    // Low-density generator matrices: an identity matrix beside columns with few ones.
    for (const unsigned m : { 8u, 20u, 50u, 500u }) {
        for (const bool in_front : { true, false }) {
            expect_none(
                alist_of(with_identity(m, 2 * m, in_front, std::min(0.5, 5.0 / m))));
            expect_none(
                alist_of(with_identity(m, 5 * m, in_front, std::min(0.5, 4.0 / m))));
        }
    }
    // Repeat-accumulate codes, whose parity bits form a closed or an open chain.
    for (const unsigned m : { 16u, 100u, 400u }) {
        for (const bool closed : { true, false }) {
            auto h = with_identity(m, 2 * m, false, 4.0 / m);
            for (unsigned c = closed ? 0 : 1; c < m; ++c) {
                h[c][m + (c + m - 1) % m] = 1;
            }
            expect_none(alist_of(h));
        }
    }
    // The parity-check matrices of codes with dense generator matrices.
    for (const unsigned k : { 20u, 58u, 91u, 324u }) {
        expect_none(alist_of(with_identity(k, 2 * k, false, 0.5)));
    }
    // Dense systematic block codes with few checks.
    expect_none(alist_of(with_identity(4, 15, true, 0.5)));
    expect_none(alist_of(with_identity(12, 24, true, 0.6)));
    expect_none(alist_of(with_identity(18, 63, false, 0.5)));
    EXPECT_GT(codes, 150u);
}

TEST(ldpc_positions, CommentsPaddingAndLineEnds_AreIgnored)
{
    const auto plain = qa::regular_alist(96, 48, 3);
    const auto known = from_alist(plain);
    const auto each_line = [&](auto&& change) {
        std::istringstream lines(plain);
        std::string text;
        unsigned number = 0;
        for (std::string line; std::getline(lines, line); ++number) {
            text += change(number, line);
        }
        return text;
    };
    const std::string others[] = {
        each_line([](unsigned, const std::string& l) { return l + "\r\n"; }),
        each_line([](unsigned, const std::string& l) { return "\t" + l + "  \t\n"; }),
        each_line([](unsigned, const std::string& l) { return l + "\n\n"; }),
        each_line([](unsigned i, const std::string& l) {
            return (i % 40 ? "" : " # part " + std::to_string(i) + "\n") + l + "\n";
        }),
        // A file in the form that AFF3CT writes: no padding, and a comment at the end.
        qa::alist_of(known) +
            "\n# Positions of the information bits in the codewords:\n2\n5 7\n",
    };
    for (const auto& text : others) {
        const auto code = from_alist(text);
        EXPECT_EQ(matrix_of(code), matrix_of(known)) << text.substr(0, 60);
        // A code can also be read from a file. The first word of the file shows its
        // format.
        const auto path = ::testing::TempDir() + "gpufec_positions.alist";
        std::ofstream(path, std::ios::binary) << text;
        EXPECT_EQ(matrix_of(ldpc_code::from_file(path)), matrix_of(known));
        std::remove(path.c_str());
    }
}
