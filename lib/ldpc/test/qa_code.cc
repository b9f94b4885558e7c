// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests LDPC codes: sizes and edges of the DVB-S2 codes, their codewords against gr-dtv's
 * encoder, the orders of layers, and valid and invalid alist files. */

#include "ldpc/model/chain_order.h"
#include "ldpc/model/layer_plan.h"
#include "ldpc/model/reference.h"
#include "qa_support.h"
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

struct known_code {
    const char* size;
    const char* rate;
    unsigned k, q;
    //! FNV-1a hash of the packed codeword to which gr-dtv's dvb_ldpc_bb encodes
    //! message().
    std::uint64_t hash;
};

const known_code known_codes[] = {
    { "normal", "1/4", 16200, 135, 0x3d8b545586dd806b },
    { "normal", "1/3", 21600, 120, 0x8893a6bfaf446e5e },
    { "normal", "2/5", 25920, 108, 0x5ef3a554c49413d8 },
    { "normal", "1/2", 32400, 90, 0xf0d44c12e07ac90d },
    { "normal", "3/5", 38880, 72, 0x6bb1fdff12c3b3bb },
    { "normal", "2/3", 43200, 60, 0x47b04847eb42a630 },
    { "normal", "3/4", 48600, 45, 0x720246989c7a3526 },
    { "normal", "4/5", 51840, 36, 0x8b57d375af53da02 },
    { "normal", "5/6", 54000, 30, 0xeb85d95aa545fe23 },
    { "normal", "8/9", 57600, 20, 0x41be0b514f4358bd },
    { "normal", "9/10", 58320, 18, 0x9b2efc19279688a2 },
    { "short", "1/4", 3240, 36, 0xadd4a930ddcd725a },
    { "short", "1/3", 5400, 30, 0x424a1ace967c4909 },
    { "short", "2/5", 6480, 27, 0x2a18c5e88a3a2347 },
    { "short", "1/2", 7200, 25, 0xd3577d08094d9d81 },
    { "short", "3/5", 9720, 18, 0x892a77c4d7215716 },
    { "short", "2/3", 10800, 15, 0xc439b0ac35aa64b0 },
    { "short", "3/4", 11880, 12, 0x9db56241c0e322ca },
    { "short", "4/5", 12600, 10, 0xf5e152091dbdb2a3 },
    { "short", "5/6", 13320, 8, 0x9fa643e7062a0a2b },
    { "short", "8/9", 14400, 5, 0xf0fe14d38f3cddde },
};

std::vector<std::uint8_t> message(unsigned k)
{
    std::vector<std::uint8_t> bits;
    std::uint32_t x = 1;
    for (unsigned i = 0; i < k; ++i) {
        x = x * 1664525u + 1013904223u;
        bits.push_back(x >> 31);
    }
    return bits;
}

std::uint64_t fnv(const std::vector<std::uint8_t>& bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const auto b : bytes) {
        hash = (hash ^ b) * 0x100000001b3u;
    }
    return hash;
}

std::string error_of(const std::string& alist)
{
    try {
        std::istringstream text(alist);
        ldpc_code::from_alist(text, "test");
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

// A (7, 4) Hamming code.
const std::string hamming = "7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n"
                            "1 0 0\n2 0 0\n1 2 0\n3 0 0\n1 3 0\n2 3 0\n1 2 3\n"
                            "1 3 5 7\n2 3 6 7\n4 5 6 7\n";

} // namespace

TEST(ldpc_code, DvbS2Codes_EncodeAsGrDtv)
{
    for (const auto& known : known_codes) {
        SCOPED_TRACE(std::string(known.size) + " " + known.rate);
        const auto code = ldpc_code::dvbs2(known.size, known.rate);
        EXPECT_EQ(code.k(), known.k);
        EXPECT_EQ(code.q(), known.q);
        EXPECT_TRUE(code.systematic_prefix());
        std::vector<std::uint8_t> codeword(code.n());
        ldpc_encoder_kernel(code).encode(message(code.k()).data(), codeword.data());
        EXPECT_EQ(fnv(qa::pack(codeword, code.n())), known.hash);
        EXPECT_EQ(reference::violated_checks(code, codeword), 0u);
        std::vector<std::uint8_t> packed(code.n() / 8);
        ldpc_encoder_kernel(code).encode_packed(
            qa::pack(message(code.k()), code.k()).data(), packed.data());
        EXPECT_EQ(fnv(packed), known.hash);
    }
    EXPECT_EQ(ldpc_code::dvbs2_rates("normal").size(), 11u);
    EXPECT_EQ(ldpc_code::dvbs2_rates("short").size(), 10u);
}

TEST(ldpc_code, DvbS2Codes_HaveExpectedEdgesAndRounds)
{
    // For each code: the number of edges, the number of layers that contain a bit more
    // than once, and the largest number of rounds of a layer.
    const std::map<std::string, std::array<unsigned, 3>> expected{
        { "normal 1/4", { 194399, 3, 1 } },   { "normal 1/3", { 215999, 13, 1 } },
        { "normal 2/5", { 233279, 8, 1 } },   { "normal 1/2", { 226799, 8, 1 } },
        { "normal 3/5", { 285119, 30, 2 } },  { "normal 2/3", { 215999, 10, 1 } },
        { "normal 3/4", { 226799, 20, 2 } },  { "normal 4/5", { 233279, 22, 2 } },
        { "normal 5/6", { 237599, 24, 3 } },  { "normal 8/9", { 194399, 18, 1 } },
        { "normal 9/10", { 194399, 18, 1 } }, { "short 1/4", { 48599, 4, 1 } },
    };
    for (const auto& e : expected) {
        SCOPED_TRACE(e.first);
        const auto space = e.first.find(' ');
        const auto code =
            ldpc_code::dvbs2(e.first.substr(0, space), e.first.substr(space + 1));
        const auto plan = make_layer_plan(code);
        EXPECT_EQ(code.edges(), e.second[0]);
        EXPECT_EQ(plan.layers(), code.q());
        EXPECT_EQ(plan.rounds.size() -
                      std::count(plan.rounds.begin(), plan.rounds.end(), 0),
                  e.second[1]);
        EXPECT_EQ(*std::max_element(plan.rounds.begin(), plan.rounds.end()), e.second[2]);
    }
}

// Asserts for all DVB codes that the order has each layer once. If a code has two chains,
// also asserts that they have no group of bits in common within a phase, and that the
// phases take fewer than 0.6 steps per layer.
TEST(ldpc_code, ParallelChains_ShareBitsOnlyAtTheirEnds)
{
    unsigned with_two = 0;
    for (const std::string standard : { "dvbs2", "dvbs2x", "dvbt2" }) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            for (const auto& rate : ldpc_code::rates(standard, size)) {
                const auto code = ldpc_code::standard(standard, size, rate);
                SCOPED_TRACE(code.name());
                const chain_order order(code);
                auto layers = order.layers();
                EXPECT_EQ(layers.front(), 0u);
                std::sort(layers.begin(), layers.end());
                std::vector<unsigned> all(code.q());
                std::iota(all.begin(), all.end(), 0);
                EXPECT_EQ(layers, all);
                if (order.chains() == 1) {
                    EXPECT_EQ(order.layers(), all);
                    continue;
                }
                ++with_two;
                // Groups of each layer. The numbers of the groups of parity bits follow
                // the numbers of the groups of message bits.
                const unsigned groups = code.addresses().size(), q = code.q();
                std::vector<std::set<unsigned>> of_layer(q);
                for (unsigned g = 0; g < groups; ++g) {
                    for (const auto x : code.addresses()[g]) {
                        of_layer[x % q].insert(g);
                    }
                }
                for (unsigned i = 0; i < q; ++i) {
                    of_layer[i].insert({ groups + i, groups + (i + q - 1) % q });
                }
                auto next = order.begins;
                for (const auto& p : order.phases) {
                    std::set<unsigned> of_chain[2];
                    for (unsigned c = 0; c < 2; ++c) {
                        EXPECT_GT(p[c], 0u);
                        for (unsigned i = 0; i < p[c]; ++i) {
                            const auto& l = of_layer[next[c]++];
                            of_chain[c].insert(l.begin(), l.end());
                        }
                    }
                    std::vector<unsigned> both;
                    std::set_intersection(of_chain[0].begin(),
                                          of_chain[0].end(),
                                          of_chain[1].begin(),
                                          of_chain[1].end(),
                                          std::back_inserter(both));
                    EXPECT_TRUE(both.empty()) << "group " << both.front();
                }
                EXPECT_EQ(next[0], order.begins[1]);
                EXPECT_EQ(next[1], order.begins[2]);
                unsigned steps = 0;
                for (const auto& p : order.phases) {
                    steps += std::max(p[0], p[1]);
                }
                EXPECT_LT(steps, q * 0.6);
            }
        }
    }
    EXPECT_GE(with_two, 9u);
}

TEST(ldpc_code, UnknownCode_IsRefused)
{
    EXPECT_THROW(ldpc_code::dvbs2("short", "9/10"), std::invalid_argument);
    EXPECT_THROW(ldpc_code::dvbs2("normal", "7/8"), std::invalid_argument);
    EXPECT_THROW(ldpc_code::dvbs2("medium", "1/2"), std::invalid_argument);
    EXPECT_THROW(ldpc_code::from_alist_file("no such file"), std::invalid_argument);
}

TEST(ldpc_code, AlistOfHammingCode_EncodesToCodewords)
{
    std::istringstream text(hamming);
    const auto code = ldpc_code::from_alist(text, "hamming");
    EXPECT_EQ(code.n(), 7u);
    EXPECT_EQ(code.k(), 4u);
    EXPECT_EQ(code.edges(), 12u);
    EXPECT_EQ(code.largest_bit_degree(), 3u);
    // All 16 words are distinct, carry their message and satisfy every check.
    std::set<std::vector<std::uint8_t>> words;
    const ldpc_encoder_kernel encoder(code);
    for (unsigned m = 0; m < 16; ++m) {
        const std::vector<std::uint8_t> bits{ std::uint8_t(m & 1),
                                              std::uint8_t(m >> 1 & 1),
                                              std::uint8_t(m >> 2 & 1),
                                              std::uint8_t(m >> 3) };
        std::vector<std::uint8_t> word(7);
        encoder.encode(bits.data(), word.data());
        EXPECT_EQ(reference::violated_checks(code, word), 0u);
        for (unsigned i = 0; i < 4; ++i) {
            EXPECT_EQ(word[code.message_positions()[i]], bits[i]);
        }
        std::vector<std::uint8_t> packed(1);
        encoder.encode_packed(qa::pack(bits, 4).data(), packed.data());
        EXPECT_EQ(packed, qa::pack(word, 7));
        words.insert(word);
    }
    EXPECT_EQ(words.size(), 16u);
}

TEST(ldpc_code, RedundantChecks_DoNotReduceMessage)
{
    // The third check is the sum of the others.
    std::istringstream text(
        "4 3\n2 2\n1 2 2 1\n2 2 2\n1 0\n1 2\n2 3\n3 0\n1 2\n2 3\n3 4\n");
    EXPECT_EQ(ldpc_code::from_alist(text, "chain").k(), 1u);
    std::istringstream twice("3 2\n2 2\n2 2 0\n2 2\n1 2\n1 2\n0 0\n1 2\n1 2\n");
    EXPECT_EQ(ldpc_code::from_alist(twice, "twice").k(), 2u);
}

TEST(ldpc_code, InvalidAlist_IsRefusedWithLineNumber)
{
    const auto replaced = [](const std::string& from, const std::string& to) {
        auto text = hamming;
        return text.replace(text.find(from), from.size(), to);
    };
    const std::pair<std::string, const char*> bad[] = {
        { "", "line 1" },
        { "7 x\n", "line 1" },
        { replaced("7 3", "0 3"), "line 1" },
        { replaced("7 3", "999999999 999999999"), "line 1" },
        { replaced("7 3", "4000000000 3"), "line 1" },
        { replaced("7 3", "-7 3"), "line 1" },
        { replaced("7 3\n", "7 3 1\n"), "line 1" },
        { replaced("\n3 4", "\n9 4"), "line 2" },
        { replaced("\n3 4", "\n3 99999"), "line 2" },
        { replaced("1 1 2 1 2 2 3", "1 1 2 1 2 2 4"), "line 3" },
        { replaced("1 1 2 1 2 2 3", "1 1 2 1\n2 2 3 3"),
          "more than 7 numbers for the bit degrees" },
        { replaced("4 4 4", "4 4 3"), "line 4" },
        { replaced("1 2 0\n3", "1 1 0\n3"), "line 7" },
        { replaced("1 2 0\n3", "1 4 0\n3"), "line 7" },
        { replaced("1 2 0\n3", "1 0 0\n3"), "line 7" },
        { replaced("2 3 6 7", "2 3 5 7"), "line 13" },
        { replaced("2 3 6 7", "2 3 8 7"), "line 13" },
    };
    for (const auto& b : bad) {
        EXPECT_NE(error_of(b.first).find(b.second), std::string::npos)
            << b.first << "\n"
            << error_of(b.first);
    }
    for (std::size_t size = 0; size + 9 < hamming.size(); ++size) {
        EXPECT_NE(error_of(hamming.substr(0, size)), "") << size;
    }
}

// An endless stream of repeated bytes, like a device or a pipe.
class endless : public std::streambuf
{
public:
    explicit endless(std::string bytes) : d_bytes(std::move(bytes)) { underflow(); }
    std::size_t emitted_bytes() const { return d_emitted; }

protected:
    int_type underflow() override
    {
        d_emitted += d_bytes.size();
        setg(d_bytes.data(), d_bytes.data(), d_bytes.data() + d_bytes.size());
        return traits_type::to_int_type(d_bytes[0]);
    }

private:
    std::string d_bytes;
    std::size_t d_emitted = 0;
};

TEST(ldpc_code, EndlessText_IsRefused)
{
    for (const auto& bytes : { std::string(4096, '\0'),
                               std::string(4096, '\n'),
                               std::string(4096, ' '),
                               std::string(4096, '7') }) {
        endless source(bytes);
        std::istream text(&source);
        try {
            ldpc_code::from_alist(text, "endless");
            ADD_FAILURE() << "an endless file was accepted";
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find("code_file is endless"),
                      std::string::npos);
        }
        EXPECT_LE(source.emitted_bytes(), std::size_t(80) << 20);
    }
    EXPECT_THROW(ldpc_code::from_alist_file("/dev/zero"), std::invalid_argument);
}

TEST(ldpc_code, UnprintableText_ErrorIsPrintable)
{
    const auto text = error_of("7 \xff\x1b[31m\xc3\n");
    EXPECT_NE(text.find("\"\\xff\\x1b[31m\\xc3\""), std::string::npos) << text;
    EXPECT_NE(error_of("7 h\u00e9\n").find("h\u00e9"), std::string::npos);
    // The error quotes only the start of the text, which here ends within a UTF-8
    // character.
    const auto cut = error_of("7 1234567890123456789\u00e9\n");
    EXPECT_NE(cut.find("\\xc3"), std::string::npos) << cut;
}

TEST(ldpc_code, BlankOrZeroLine_IsReadAsEmptyList)
{
    // The reader must not go back in the stream, which may be a pipe.
    for (const char* empty : { "\n", "0\n", " \r\n" }) {
        std::istringstream text("3 2\n1 2\n1 1 0\n2 0\n1\n1\n" + std::string(empty) +
                                "1 2\n" + empty);
        const auto code = ldpc_code::from_alist(text, "empty");
        EXPECT_EQ(code.check(0).size(), 2u);
        EXPECT_EQ(code.check(1).size(), 0u);
        EXPECT_EQ(code.k(), 2u);
    }
}

// Asserts the number of layers and of barriers, and that layers of more edges come first.
TEST(ldpc_code, LayersOfBaseMatrix_HaveDescendingDegreesAndFewBarriers)
{
    struct {
        const char *standard, *size, *rate;
        unsigned layers, waits;
    } const expected[] = {
        { "nr", "bg1 z384", "1/3", 46, 30 },
        { "nr", "bg2 z52", "1/5", 42, 26 },
        { "nr", "bg1 z384", "22/24", 4, 3 },
        { "wifi", "1944", "1/2", 12, 11 },
    };
    for (const auto& e : expected) {
        const auto code = ldpc_code::standard(e.standard, e.size, e.rate);
        SCOPED_TRACE(code.name());
        const auto plan = make_layer_plan(code);
        ASSERT_EQ(plan.layers(), e.layers);
        unsigned waits = 0;
        std::set<unsigned> used; // columns of the base matrix in use since the last
                                 // barrier
        std::size_t before = plan.edges.size();
        for (unsigned l = 0; l < e.layers; ++l) {
            const auto first = plan.edge_begin[plan.layer_begin[l]];
            const auto last = plan.edge_begin[plan.layer_begin[l] + 1];
            EXPECT_LE(last - first, before);
            before = last - first;
            std::set<unsigned> columns;
            for (auto i = first; i < last; ++i) {
                columns.insert(plan.edges[i].bit / code.lifting());
            }
            if (std::any_of(columns.begin(), columns.end(), [&used](auto c) {
                    return used.count(c) > 0;
                })) {
                ++waits;
                used.clear();
            }
            used.insert(columns.begin(), columns.end());
        }
        EXPECT_EQ(waits, e.waits);
    }
}

TEST(ldpc_code, CodeWithoutMessageBits_HasNoEncoder)
{
    std::istringstream text("2 2\n1 1\n1 1\n1 1\n1\n2\n1\n2\n");
    const auto code = ldpc_code::from_alist(text, "full rank");
    EXPECT_EQ(code.k(), 0u);
    try {
        ldpc_encoder_kernel encoder(code);
        ADD_FAILURE() << "a code without message bits has an encoder";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()),
                  "K of code full rank is 0: allowed values are 1 or more");
    }
}

TEST(ldpc_code, RandomCode_EncodesToCodewords)
{
    const auto code = qa::regular_code(504, 252, 7);
    EXPECT_GE(code.k(), 252u);
    std::mt19937 random(3);
    const auto sent = qa::transmit(code, 10, random);
    EXPECT_EQ(reference::violated_checks(code, sent.codeword), 0u);
    // In this code, no bit occurs twice in a layer.
    const auto plan = make_layer_plan(code);
    EXPECT_EQ(std::count(plan.rounds.begin(), plan.rounds.end(), 0), long(plan.layers()));
    EXPECT_EQ(plan.edges.size(), code.edges());
}
