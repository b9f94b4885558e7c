// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests codes of standards, base matrices, and positions that are not sent. */

#include "ldpc/model/layer_plan.h"
#include "ldpc/model/reference.h"
#include "qa_support.h"
#include <gnuradio/gpufec/ldpc.h>
#include <map>
#include <numeric>
#include <set>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

std::vector<std::uint8_t> encoded(const ldpc_code& code, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::uint8_t> message(code.k()), word(code.n());
    for (auto& bit : message) {
        bit = random() >> 31;
    }
    ldpc_encoder_kernel(code).encode(message.data(), word.data());
    for (unsigned i = 0; i < code.k(); ++i) {
        EXPECT_EQ(word[code.message_positions()[i]], message[i]) << code.name();
    }
    return word;
}

void expect_codeword(const ldpc_code& code, const std::vector<std::uint8_t>& word)
{
    EXPECT_EQ(reference::violated_checks(code, word), 0u) << code.name();
    for (const auto position : code.shortened()) {
        EXPECT_EQ(word[position], 0) << code.name();
    }
}

bool same_matrix(const ldpc_code& a, const ldpc_code& b)
{
    if (a.n() != b.n() || a.checks() != b.checks()) {
        return false;
    }
    for (unsigned c = 0; c < a.checks(); ++c) {
        if (std::set<std::uint32_t>(a.check(c).begin(), a.check(c).end()) !=
            std::set<std::uint32_t>(b.check(c).begin(), b.check(c).end())) {
            return false;
        }
    }
    return true;
}

ldpc_code base_matrix(const std::string& text)
{
    std::istringstream stream(text);
    return ldpc_code::from_base_matrix(stream, "test");
}

// Returns the message of the std::invalid_argument that \p action throws, or "".
template <class Action>
std::string refusal(Action&& action)
{
    try {
        action();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

void expect_refused(const std::string& text, const std::string& reason)
{
    const auto got = refusal([&] { base_matrix(text); });
    EXPECT_NE(got.find(reason), std::string::npos)
        << "\"" << got << "\" is the error for " << text;
}

} // namespace

TEST(ldpc_standards, StandardCodes_HaveKnownSizes)
{
    struct {
        const char *standard, *size, *rate;
        unsigned n, k, sent, checks;
        std::size_t edges;
    } const known[] = {
        { "wifi", "648", "1/2", 648, 324, 648, 324, 27 * 88 },
        { "wifi", "1944", "5/6", 1944, 1620, 1944, 324, 81 * 79 },
        { "ccsds_c2", "8160", "7/8", 8176, 7136, 8160, 1022, 32704 },
        { "ccsds_ar4ja", "1024", "1/2", 2560, 1024, 2048, 1536, 15 * 512 },
        { "ccsds_ar4ja", "16384", "1/2", 40960, 16384, 32768, 24576, 15 * 8192 },
        { "ccsds_ar4ja", "4096", "2/3", 7168, 4096, 6144, 3072, 23 * 1024 },
        { "ccsds_ar4ja", "1024", "4/5", 1408, 1024, 1280, 384, 39 * 128 },
        { "ccsds_tc", "128", "1/2", 128, 64, 128, 64, 32 * 16 },
        { "ccsds_tc", "512", "1/2", 512, 256, 512, 256, 32 * 64 },
        { "nr", "bg1 z384", "1/3", 26112, 8448, 25344, 17664, 316 * 384 },
        { "nr", "bg1 z384", "22/24", 9984, 8448, 9216, 1536, 76 * 384 },
        { "nr", "bg1 z384", "22/28", 11520, 8448, 10752, 3072, 103 * 384 },
        { "nr", "bg2 z2", "1/5", 104, 20, 100, 84, 197 * 2 },
        { "dvbs2x", "normal", "154/180", 64800, 55440, 64800, 9360, 0 },
        { "dvbs2x", "medium", "1/5", 32400, 6480, 32400, 25920, 0 },
        { "dvbs2x", "vl-snr normal", "2/9", 64800, 14400, 61560, 50400, 0 },
        { "dvbs2x", "vl-snr medium", "1/5", 32400, 5840, 30780, 25920, 0 },
        { "dvbs2x", "vl-snr short sf2", "1/5", 16200, 2680, 15390, 12960, 0 },
        { "dvbs2x", "vl-snr short", "1/3", 16200, 5400, 14976, 10800, 0 },
        { "dvbt2", "normal", "2/3", 64800, 43200, 64800, 21600, 0 },
    };
    for (const auto& k : known) {
        const auto code = ldpc_code::standard(k.standard, k.size, k.rate);
        SCOPED_TRACE(code.name());
        EXPECT_EQ(code.n(), k.n);
        EXPECT_EQ(code.k(), k.k);
        EXPECT_EQ(code.sent(), k.sent);
        EXPECT_EQ(code.checks(), k.checks);
        if (k.edges) {
            EXPECT_EQ(code.edges(), k.edges);
        }
    }
}

TEST(ldpc_standards, EveryCode_EncodesToCodewords)
{
    for (const auto& standard : ldpc_code::standards()) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            const auto rates = ldpc_code::rates(standard, size);
            for (const auto& rate : rates) {
                // For NR, only the lowest and the highest rate are tested: the whole
                // graph, and its fewest rows.
                if (standard == "nr" && rate != rates.front() && rate != rates.back()) {
                    continue;
                }
                const auto code = ldpc_code::standard(standard, size, rate);
                EXPECT_EQ(code.name(), standard + " " + size + " " + rate);
                ASSERT_TRUE(code.can_encode()) << code.name();
                EXPECT_GT(code.lifting(), 1u) << code.name();
                expect_codeword(code, encoded(code, 1));
            }
        }
    }
}

// Encodes messages that have a single 1. Their parity bits are rows of the generator
// matrix in CCSDS 131.0-B, which lists them as hexadecimal digits after one padding bit.
TEST(ldpc_standards, CcsdsC2_EncodesByGeneratorOfTheStandard)
{
    struct {
        unsigned block;
        const char* parity[2];
    } const known[] = {
        { 8,
          { "0008B4E899E5F7E692BDCE69CE3FAD997183CFAEB2785D0C3D9CAE510316D4BD"
            "65A2A06CBA7F4E4C4A80839ACA81012343648EEA8DBBA2464A68E115AB3F4034",
            "5B7FE6808A10EA42FEF0ED9B41920F82023085C106FBBC1F56B567A14257021B"
            "C5FDA60CBA05B08FAD6DC3B0410295884C7CCDE0E56347D649DE6DDCEEB0C95E" } },
        { 13,
          { "7273E8342918E097B1C1F5FEF32A150AEF5E11184782B5BD5A1D8071E94578B0"
            "AC722D7BF49E8C78D391294371FFBA7B88FABF8CC03A62B940CE60D669DFB7B6",
            "087EA12042793307045B283D7305E93D8F74725034E77D25D3FF043ADC5F8B5B"
            "186DB70A968A816835EFB575952EAE7EA4E76DF0D5F097590E1A2A978025573E" } },
    };
    const auto code = ldpc_code::standard("ccsds_c2", "8160", "7/8");
    const ldpc_encoder_kernel encoder(code);
    for (const auto& k : known) {
        std::vector<std::uint8_t> message(code.k(), 0), word(code.n()), sent(code.sent());
        message[511 * k.block - 18] = 1;
        encoder.encode(message.data(), word.data());
        for (unsigned p : { 0, 1 }) {
            std::string hex;
            for (int i = -1; i < 511; i += 4) {
                unsigned digit = 0;
                for (int b = i; b < i + 4; ++b) {
                    digit = 2 * digit + (b < 0 ? 0 : word[7154 + 511 * p + b]);
                }
                hex += "0123456789ABCDEF"[digit];
            }
            EXPECT_EQ(hex, k.parity[p]);
        }
        encoder.send(word.data(), sent.data());
        EXPECT_EQ(std::vector(word.begin() + 18, word.end()),
                  std::vector(sent.begin(), sent.end() - 2));
        EXPECT_EQ(sent[8158] + sent[8159], 0);
    }
}

// Encodes messages that have a single 1, the first of each circulant. Their parity bits
// are rows of the generator matrix in CCSDS 231.0-B, section 4. Cyclic shifts of the
// blocks of these rows are the other rows.
TEST(ldpc_standards, TelecommandCodes_EncodeByGeneratorsOfTheStandard)
{
    const std::map<unsigned, std::vector<std::string>> known = {
        { 128,
          { "0E69166BEF4C0BC2",
            "7766137EBB248418",
            "C480FEB9CD53A713",
            "4EAA22FA465EEA11" } },
        { 512,
          { "1D21794A22761FAE59945014257E130D74D60540037940142DADEB9CA25EF12E",
            "60E0B6623C5CE5124D2C81ECC7F469AB20678DBFB7523ECE2B54B906A9DBE98C",
            "F6739BCF54273E77167BDA120C6C47744C071EFF5E32A7593138670C095C39B5",
            "28706BD0453002582DAB85F05B9201D08DFDEE2D9D84CA88B371FAE63A4EB07E" } },
    };
    for (const auto& [n, rows] : known) {
        const auto code = ldpc_code::standard("ccsds_tc", std::to_string(n), "1/2");
        const ldpc_encoder_kernel encoder(code);
        const auto k = code.k(), lifting = n / 8;
        for (unsigned bit = 0; bit < k; ++bit) {
            std::vector<std::uint8_t> message(k, 0), word(n);
            message[bit] = 1;
            encoder.encode(message.data(), word.data());
            const auto shift = bit % lifting;
            for (unsigned p = 0; p < k; ++p) {
                const auto from = p / lifting * lifting + (p + lifting - shift) % lifting;
                const auto digit = rows[bit / lifting].substr(from / 4, 1);
                EXPECT_EQ(word[k + p],
                          std::stoi(digit, nullptr, 16) >> (3 - from % 4) & 1)
                    << n << ": row " << bit << ", parity bit " << p;
            }
        }
    }
}

// The checks of the telecommand codes are linearly independent, and no two checks have
// two bits in common, so that the girth is 6 or more.
TEST(ldpc_standards, TelecommandCodes_HaveNoShortCycles)
{
    for (const char* size : { "128", "512" }) {
        const auto code = ldpc_code::standard("ccsds_tc", size, "1/2");
        EXPECT_EQ(code.k(), code.n() - code.checks());
        EXPECT_TRUE(code.systematic_prefix());
        for (unsigned a = 0; a < code.checks(); ++a) {
            EXPECT_EQ(code.check(a).size(), 8u);
            const std::set<std::uint32_t> bits(code.check(a).begin(),
                                               code.check(a).end());
            for (unsigned b = 0; b < a; ++b) {
                unsigned common = 0;
                for (const auto bit : code.check(b)) {
                    common += unsigned(bits.count(bit));
                }
                EXPECT_LE(common, 1u) << size << ": checks " << a << " and " << b;
            }
        }
    }
}

// The code (128, 64) has a minimum distance of 14. The test encodes all messages with one
// to four ones, because at least one of their codewords has this weight.
TEST(ldpc_standards, ShortTelecommandCode_HasMinimumDistance14)
{
    const ldpc_encoder_kernel encoder(ldpc_code::standard("ccsds_tc", "128", "1/2"));
    std::vector<std::uint64_t> parity(65, 0); // parity bits of the message with a single
                                              // one; index 64 is the all-zero message
    for (unsigned bit = 0; bit < 64; ++bit) {
        std::uint8_t message[8] = {}, word[16];
        message[bit / 8] = std::uint8_t(0x80 >> bit % 8);
        encoder.encode_packed(message, word);
        for (unsigned i = 8; i < 16; ++i) {
            parity[bit] = parity[bit] << 8 | word[i];
        }
    }
    int minimum = 128;
    for (unsigned a = 0; a < 64; ++a) {
        for (unsigned b = a + 1; b <= 64; ++b) {
            for (unsigned c = std::min(b + 1, 64u); c <= 64; ++c) {
                for (unsigned d = std::min(c + 1, 64u); d <= 64; ++d) {
                    const int ones = 1 + (b < 64) + (c < 64) + (d < 64);
                    const auto sum = parity[a] ^ parity[b] ^ parity[c] ^ parity[d];
                    minimum = std::min(minimum, ones + __builtin_popcountll(sum));
                }
            }
        }
    }
    EXPECT_EQ(minimum, 14);
}

TEST(ldpc_standards, DvbS2x_IncludesCodesOfDvbS2)
{
    for (const char* size : { "normal", "short" }) {
        const auto rates = ldpc_code::rates("dvbs2x", size);
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            EXPECT_EQ(std::count(rates.begin(), rates.end(), rate), 1) << rate;
            const auto code = ldpc_code::standard("dvbs2x", size, rate);
            EXPECT_EQ(code.name(), std::string("dvbs2x ") + size + ' ' + rate);
            EXPECT_TRUE(same_matrix(code, ldpc_code::dvbs2(size, rate))) << rate;
        }
    }
    const auto medium = ldpc_code::rates("dvbs2x", "medium");
    EXPECT_EQ(medium.size(), 3u);
}

TEST(ldpc_standards, UnknownName_IsRefused)
{
    const auto of = [](const char* standard, const char* size, const char* rate) {
        return refusal([=] { ldpc_code::standard(standard, size, rate); });
    };
    EXPECT_EQ(
        of("dvb-s3", "normal", "1/2"),
        "standard is \"dvb-s3\": allowed values are dvbs2, dvbs2x, dvbt2, ccsds_c2, "
        "ccsds_ar4ja, ccsds_tc, wifi and nr");
    EXPECT_EQ(
        of("wifi", "normal", "1/2"),
        "frame_size is \"normal\": allowed values with wifi are 648, 1296 and 1944");
    EXPECT_EQ(of("wifi", "648", "7/8"),
              "rate is \"7/8\": allowed values with wifi 648 are 1/2, 2/3, 3/4 and 5/6");
    for (const char* size :
         { "bg1 z17", "bg3 z2", "bg1 z0", "bg1z2", "bg1 z", "bg1 z9999" }) {
        EXPECT_NE(of("nr", size, "1/3").find("allowed values with nr are bg1 and bg2"),
                  std::string::npos)
            << size;
    }
    EXPECT_NE(of("nr", "bg1 z384", "22/23"), "");
    EXPECT_NE(of("nr", "bg2 z384", "1/3"), "");
    EXPECT_NE(of("dvbs2x", "vl-snr short", "2/9"), "");
    EXPECT_NE(of("dvbs2", "medium", "1/2"), "");
}

TEST(ldpc_base_matrix, ValidText_IsRead)
{
    const auto code = base_matrix("# a small one\n\nlifting 4\n0 1 -1 0\n"
                                  "-1 2,3 0 1 # two in a block\npunctured 3 8-9\n"
                                  "shortened 0\n");
    EXPECT_EQ(code.n(), 16u);
    EXPECT_EQ(code.checks(), 8u);
    EXPECT_EQ(code.edges(), 4u * 7);
    EXPECT_EQ(code.lifting(), 4u);
    EXPECT_EQ(code.sent(), 12u);
    EXPECT_EQ(code.punctured(), (std::vector<std::uint32_t>{ 3, 8, 9 }));
    EXPECT_EQ(code.shortened(), (std::vector<std::uint32_t>{ 0 }));
    const std::set<std::uint32_t> bits(code.check(5).begin(), code.check(5).end());
    EXPECT_EQ(bits, (std::set<std::uint32_t>{ 4 + 3, 4 + 0, 8 + 1, 12 + 2 }));
    expect_codeword(code, encoded(code, 3));
}

TEST(ldpc_base_matrix, WrittenMatrix_IsReadBackUnchanged)
{
    const ldpc_code codes[] = {
        ldpc_code::standard("wifi", "1296", "2/3"),
        ldpc_code::standard("nr", "bg2 z9", "10/30"),
        ldpc_code::standard("ccsds_ar4ja", "1024", "4/5"),
        ldpc_code::standard("dvbs2", "short", "5/6"),
        ldpc_code::standard("dvbs2x", "vl-snr short sf2", "1/5"),
    };
    for (const auto& code : codes) {
        std::ostringstream text;
        code.write_base_matrix(text);
        const auto read = base_matrix(text.str());
        EXPECT_TRUE(same_matrix(read, code)) << code.name();
        EXPECT_EQ(read.lifting(), code.lifting());
        EXPECT_EQ(read.q(), code.q());
        EXPECT_EQ(read.addresses(), code.addresses());
        EXPECT_EQ(read.punctured(), code.punctured());
        EXPECT_EQ(read.shortened(), code.shortened());
        EXPECT_EQ(read.k(), code.k());
        EXPECT_EQ(encoded(read, 5), encoded(code, 5));
    }
}

TEST(ldpc_base_matrix, CirculantsInAlist_AreFound)
{
    struct {
        const char *standard, *size, *rate;
        unsigned lifting, q;
    } const known[] = {
        { "wifi", "648", "1/2", 27, 0 },
        { "ccsds_ar4ja", "1024", "2/3", 64, 0 },
        { "dvbs2", "short", "8/9", 360, 5 },
    };
    for (const auto& k : known) {
        const auto code = ldpc_code::standard(k.standard, k.size, k.rate);
        std::istringstream text(qa::alist_of(code));
        const auto plain = ldpc_code::from_alist(text, "alist");
        EXPECT_EQ(plain.lifting(), 0u);
        const auto found = plain.with_circulants();
        EXPECT_EQ(found.lifting(), k.lifting) << code.name();
        EXPECT_EQ(found.q(), k.q);
        EXPECT_TRUE(same_matrix(found, code)) << code.name();
        EXPECT_TRUE(same_matrix(plain.with_circulants(k.lifting), code));
        EXPECT_EQ(
            refusal([&] { plain.with_circulants(7); }).find("lifting is 7: it does"), 0u);
    }
    EXPECT_EQ(refusal([] { qa::regular_code(504, 252, 7).with_circulants(); }),
              "code is regular: it does not consist of circulants of size 2 or more");
    EXPECT_EQ(refusal([] { qa::regular_code(504, 252, 7).with_circulants(6); }),
              "code is regular: it does not consist of circulants of size 6");
}

TEST(ldpc_base_matrix, BadText_IsRefusedWithLineNumber)
{
    expect_refused("", "code_file is test: line 1: the first words must be \"lifting\"");
    expect_refused("lifting\n0 0\n", "line 1: the first words must be \"lifting\"");
    expect_refused("lifting 0\n0 0\n", "line 1: the lifting size is \"0\"");
    expect_refused("lifting x\n", "line 1: the lifting size is \"x\"");
    expect_refused("lifting 9999999\n", "line 1: the lifting size is \"9999999\"");
    expect_refused("lifting 4\n", "the matrix has no rows");
    expect_refused("lifting 4\n0 4\n",
                   "line 2: a shift of block 2 is \"4\": allowed values are 0 to 3");
    expect_refused("lifting 4\n0 -2\n", "line 2: a shift of block 2 is \"-2\"");
    expect_refused("lifting 4\n0 1,1\n", "line 2: block 2 has the shift 1 twice");
    expect_refused("lifting 4\n0 1,\n", "line 2: a shift of block 2 is \"\"");
    expect_refused("lifting 4\n0 1\n\n0 1 2\n",
                   "line 4: the row has 3 blocks, but the rows before it have 2");
    expect_refused("lifting 4\n0 1\npunctured 1 x\n", "line 3: a position is \"x\"");
    expect_refused("lifting 4\n0 1\npunctured 5-3\n",
                   "line 3: the last position of a range is \"3\"");
    expect_refused("lifting 4\n0 1\npunctured 8\n",
                   "punctured is 8: test has positions 0 to 7");
    expect_refused("lifting 1000000\n0 1\n", "the matrix has 2000000 bits");
    EXPECT_NE(refusal([] { ldpc_code::from_file("no such file"); }), "");
    EXPECT_NE(refusal([] { ldpc_code::from_file("/dev/zero"); }), "");
    EXPECT_NE(refusal([] {
                  std::ostringstream text;
                  qa::regular_code(504, 252, 7).write_base_matrix(text);
              }),
              "");
}

TEST(ldpc_positions, InvalidPositions_AreRefused)
{
    const auto code = ldpc_code::standard("wifi", "648", "1/2");
    using list = std::vector<std::uint32_t>;
    const auto of = [&](const list& punctured, const list& shortened) {
        return refusal([&] { code.with_positions(punctured, shortened); });
    };
    EXPECT_EQ(of({ 648 }, {}), "punctured is 648: wifi 648 1/2 has positions 0 to 647");
    EXPECT_EQ(of({}, { 5, 5 }), "shortened is 5: the position is already in shortened");
    EXPECT_EQ(of({ 7 }, { 7 }), "shortened is 7: the position is already in punctured");
    list all(648);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_NE(of(all, {}).find("no bit would be sent"), std::string::npos);
    const auto nr = ldpc_code::standard("nr", "bg2 z4", "1/5");
    EXPECT_EQ(refusal([&] { nr.with_positions({ 3 }, {}); }),
              "punctured is 3: the position is already punctured by the code");
}

// Random messages are encoded to codewords, even if parity positions are shortened.
TEST(ldpc_positions, PuncturedAndShortenedCode_EncodesToCodewords)
{
    std::istringstream text(qa::alist_of(qa::regular_code(120, 60, 3)));
    const auto whole = ldpc_code::from_alist(text, "whole");
    for (unsigned seed = 1; seed < 6; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::uint32_t> order(whole.n());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const std::vector<std::uint32_t> punctured(order.begin(), order.begin() + 7);
        const std::vector<std::uint32_t> shortened(order.begin() + 7, order.begin() + 20);
        const auto code = whole.with_positions(punctured, shortened);
        EXPECT_EQ(code.sent(), whole.n() - 20);
        EXPECT_LE(code.k() + 13, whole.k() + 13);
        EXPECT_GE(code.k() + 13, whole.k());
        expect_codeword(code, encoded(code, seed));
    }
}

// Only the sent bits of each codeword are pushed, all at once or in parts.
TEST(ldpc_positions, FramesWithUnsentBits_DecodeToMessages)
{
    const ldpc_code codes[] = {
        ldpc_code::standard("nr", "bg1 z8", "22/30"),
        ldpc_code::standard("ccsds_c2", "8160", "7/8"),
        ldpc_code::standard("ccsds_ar4ja", "1024", "1/2"),
        ldpc_code::standard("dvbs2x", "vl-snr short sf2", "1/5"),
        ldpc_code::standard("wifi", "648", "1/2").with_positions({ 400 }, { 10, 11 }),
    };
    for (const auto& code : codes) {
        const ldpc_encoder_kernel encoder(code);
        std::mt19937 random(9);
        std::vector<std::uint8_t> messages, word(code.n()), sent(code.sent());
        std::vector<std::int8_t> values;
        constexpr unsigned frames = 5;
        for (unsigned f = 0; f < frames; ++f) {
            std::vector<std::uint8_t> message(code.k());
            for (auto& bit : message) {
                bit = random() >> 31;
            }
            encoder.encode(message.data(), word.data());
            encoder.send(word.data(), sent.data());
            std::vector<std::uint8_t> packed((code.k() + 7) / 8),
                twice((code.sent() + 7) / 8);
            for (unsigned i = 0; i < code.k(); ++i) {
                packed[i / 8] |= message[i] << (7 - i % 8);
            }
            encoder.encode_packed(packed.data(), twice.data());
            for (unsigned i = 0; i < code.sent(); ++i) {
                ASSERT_EQ(twice[i / 8] >> (7 - i % 8) & 1, sent[i]);
                values.push_back(sent[i] ? -10 : 10);
            }
            messages.insert(messages.end(), message.begin(), message.end());
        }
        for (const std::size_t piece : { std::size_t(977), values.size() }) {
            ldpc_options options;
            options.codes = { code };
            options.backend = backend::cpu;
            const auto decoder = ldpc_decoder::make(options);
            std::vector<std::uint8_t> bits(messages.size());
            std::size_t in = 0, out = 0;
            while (!decoder->done()) {
                if (in < values.size()) {
                    in += decoder->push(
                        { &values[in], std::min(piece, values.size() - in) });
                } else {
                    decoder->finish();
                }
                out += decoder->pull(unpacked_bits(span(bits).from(out)));
            }
            EXPECT_EQ(out, bits.size()) << code.name();
            EXPECT_EQ(bits, messages) << code.name();
        }
    }
}
