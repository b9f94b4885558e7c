// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the codes, the encoder, the parallel blocks (block_layout.h), the butterfly
 * groups (pbvd_layout.h) and the reference decoder. */

#include "common/packed_bits.h"
#include "qa_support.h"
#include "viterbi/model/block_layout.h"
#include "viterbi/model/pbvd_layout.h"
#include "viterbi/model/reference.h"
#include <gnuradio/gpufec/arrays.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

namespace {

// Returns the message of the exception that a call throws, or "".
template <class Call>
std::string error_of(Call&& call)
{
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::string
code_error(int K, const std::vector<int>& polynomials, const std::string& p = "")
{
    return error_of([&] { conv_code(K, polynomials, p); });
}

TEST(conv_code, BadParameter_IsRefusedWithNameValueAndLimits)
{
    EXPECT_EQ(code_error(2, { 3, 3 }),
              "constraint_length is 2: allowed values are 3 to 9");
    EXPECT_EQ(code_error(10, { 3, 3 }),
              "constraint_length is 10: allowed values are 3 to 9");
    EXPECT_EQ(code_error(7, { 0171 }),
              "number of polynomials is 1: allowed values are 2 to 6");
    EXPECT_EQ(code_error(7, std::vector<int>(7, 0171)),
              "number of polynomials is 7: allowed values are 2 to 6");
    EXPECT_NE(code_error(7, { 0171, 0 }).find("polynomials entry is 0"),
              std::string::npos);
    EXPECT_NE(code_error(7, { 0171, 0200 }).find("200 (octal)"), std::string::npos);
    EXPECT_NE(code_error(7, { 0171, -0200 }).find("-200 (octal)"), std::string::npos);
    EXPECT_NE(code_error(7, { 0171, std::numeric_limits<int>::min() }), "");
    EXPECT_NE(code_error(7, { 0070, 0030 }).find("newest"), std::string::npos);
    EXPECT_NE(code_error(7, { 0170, 0130 }).find("oldest"), std::string::npos);
}

TEST(conv_code, DecimalPolynomials_AreRefusedWithOctalAdvice)
{
    // The decimal numbers 171 and 133 are both out of range.
    EXPECT_EQ(code_error(7, { 171, -133 }),
              "polynomials entry is 253 (octal): its magnitude must be 1 to 177 for "
              "constraint_length 7; in decimal it is 171, and the octal numbers 171,-133 "
              "were probably meant, in Python 0o171 and so on");
    EXPECT_NE(code_error(9, { 753, 561 }).find("octal numbers 753,561 were"),
              std::string::npos);
    EXPECT_NE(code_error(5, { 23, 33 }).find("octal numbers 23,33 were"),
              std::string::npos);
    for (const auto& p : std::vector<std::vector<int>>{
             { 171, 198 }, { 171, 777 }, { 171, std::numeric_limits<int>::min() } }) {
        EXPECT_NE(code_error(7, p).find("253 (octal)"), std::string::npos);
        EXPECT_EQ(code_error(7, p).find("meant"), std::string::npos);
    }
}

TEST(conv_code, ReversedOrDecimalPolynomials_CauseWarning)
{
    const auto doubt = [](int K, const std::vector<int>& p) {
        return conv_code(K, p).doubt();
    };
    EXPECT_EQ(doubt(7, { 109, 79 }),
              "polynomials are 155,117 (octal): they are those of CCSDS 1/2, 133,171, "
              "with reversed bits as in gr-fec, and are used unchanged; "
              "polynomials_from_gr_fec() reverses the bits");
    for (const auto& p : conv_presets()) {
        const auto K = p.constraint_length;
        EXPECT_EQ(doubt(K, p.polynomials), "");
        const auto reversed = polynomials_from_gr_fec(p.polynomials, K);
        EXPECT_NE(doubt(K, reversed).find("with reversed bits"), std::string::npos)
            << p.name;
        EXPECT_EQ(polynomials_from_gr_fec(reversed, K), p.polynomials);
    }
    EXPECT_EQ(doubt(7, { 0171, 0165 }), "");
    EXPECT_EQ(doubt(8, { 0155, 0355 }), "");
    // The decimal numbers 171 and 133 are in range at K=8.
    EXPECT_NE(
        doubt(8, { 171, 133 }).find("decimal numbers with the octal digits of CCSDS 1/2"),
        std::string::npos);
}

TEST(conv_code, PolynomialsOfGrFec_AreReversed)
{
    EXPECT_EQ(polynomials_from_gr_fec({ 109, 79 }), (std::vector<int>{ 0133, 0171 }));
    EXPECT_EQ(polynomials_from_gr_fec({ 79, -109 }), (std::vector<int>{ 0171, -0133 }));
    EXPECT_EQ(polynomials_from_gr_fec({ 6, 1 }, 3), (std::vector<int>{ 3, 4 }));
    for (const int wrong : { 0, 128, -128, std::numeric_limits<int>::min() }) {
        EXPECT_EQ(error_of([&] {
                      polynomials_from_gr_fec({ 79, wrong });
                  }),
                  "polynomials entry is " + std::to_string(wrong) +
                      ": its magnitude must be 1 to 127 for constraint_length 7");
    }
    EXPECT_NE(error_of([] { polynomials_from_gr_fec({ 1, 1 }, 33); }), "");
}

TEST(conv_code, InvalidPuncturing_IsRefused)
{
    const std::vector<int> p{ 0171, 0133 };
    for (const char* pattern : { "1",
                                 "1,1,1",
                                 "10,1",
                                 ",",
                                 "1,",
                                 ",1",
                                 "1x,11",
                                 "11,1 ",
                                 "00,11,",
                                 "10,10",
                                 "0,0" }) {
        EXPECT_NE(code_error(7, p, pattern).find("puncturing is \""), std::string::npos)
            << pattern;
    }
    const std::string longest(64, '1');
    EXPECT_EQ(code_error(7, p, longest + "," + longest), "");
    EXPECT_NE(code_error(7, p, longest + "1," + longest + "1"), "");
}

TEST(conv_code, PuncturedCode_CountsValuesAndStages)
{
    // The three stages of a period send 2, 1 and 1 values.
    const conv_code code(7, { 0171, 0133 }, "101,110");
    EXPECT_EQ(code.period(), 3u);
    EXPECT_EQ(code.values_per_period(), 4u);
    EXPECT_DOUBLE_EQ(code.rate(), 0.75);
    const std::uint64_t before[] = { 0, 2, 3, 4, 6, 7, 8 };
    for (unsigned s = 0; s < 7; ++s) {
        EXPECT_EQ(code.values(s), before[s]);
    }
    const std::uint64_t stages[] = { 0, 1, 1, 2, 3, 4, 4, 5, 6 };
    for (unsigned v = 0; v < 9; ++v) {
        EXPECT_EQ(code.stages(v), stages[v]) << v;
    }
    for (const auto& p : conv_presets()) {
        const conv_code c(p.constraint_length, p.polynomials, p.puncturing);
        for (std::uint64_t s = 0; s < 200; ++s) {
            EXPECT_EQ(c.stages(c.values(s)), s);
            for (auto v = c.values(s); v < c.values(s + 1); ++v) {
                EXPECT_EQ(c.stage_of(v), s);
            }
        }
    }
}

TEST(conv_code, Presets_HaveValidCodesAndSources)
{
    EXPECT_GE(conv_presets().size(), 20u);
    for (const auto& p : conv_presets()) {
        EXPECT_EQ(
            conv_code::preset(p.name).to_string(),
            conv_code(p.constraint_length, p.polynomials, p.puncturing).to_string());
        EXPECT_FALSE(p.source.empty());
        EXPECT_EQ(&find_conv_preset(p.name), &p);
    }
    EXPECT_NE(error_of([] { conv_code::preset("nonsense"); }).find("ccsds"),
              std::string::npos);
    EXPECT_NEAR(conv_code::preset("nrsc5").rate(), 0.4, 1e-12);
    EXPECT_NEAR(conv_code::preset("dvb_7_8").rate(), 0.875, 1e-12);
}

// Options made from a preset have its termination. Otherwise a tail-biting code would be
// decoded as a stream, and no error would be reported.
TEST(viterbi_options, OptionsFromPreset_HaveItsTermination)
{
    for (const auto& p : conv_presets()) {
        SCOPED_TRACE(p.name);
        viterbi_options o{ conv_code::preset(p.name) };
        EXPECT_EQ(o.termination, p.termination);
        EXPECT_EQ(o.code.opposite().default_termination(), p.termination);
        o.backend = backend::cpu;
        o.batch = 1;
        const auto error = error_of([&] { viterbi_decoder::make(o); });
        if (p.termination == termination::streaming) {
            EXPECT_EQ(error, "");
            continue;
        }
        const auto low = p.termination == termination::tailbiting ? "6" : "1";
        const auto expected = std::string("frame_bits is 0: allowed values are ") + low +
                              " to 16777216 information bits per frame with termination "
                              "\"" +
                              termination_name(p.termination) + '"';
        EXPECT_EQ(error, expected);
        EXPECT_EQ(error_of([&] { viterbi_array_decoder d(o, true); }), expected);
        o.frame_bits = 40;
        EXPECT_EQ(error_of([&] { viterbi_decoder::make(o); }), "");
    }
    const viterbi_options plain{ conv_code(7, { 0171, 0133 }) };
    EXPECT_EQ(plain.termination, termination::streaming);
}

TEST(conv_encoder_kernel, Impulse_EncodesToPolynomials)
{
    for (const auto& p : conv_presets()) {
        const unsigned K = p.constraint_length, R = p.polynomials.size();
        const conv_code code(K, p.polynomials);
        conv_encoder_kernel encoder(code, termination::streaming, 0);
        std::vector<std::uint8_t> bits(K, 0), coded(K * R);
        bits[0] = 1;
        ASSERT_EQ(encoder.encode(bits.data(), K, coded.data()), K * R);
        for (unsigned r = 0; r < R; ++r) {
            for (unsigned i = 0; i < K; ++i) {
                const unsigned tap = code.polynomial(r) >> (K - 1 - i) & 1;
                EXPECT_EQ(coded[i * R + r], tap ^ unsigned(code.inverted(r)));
            }
        }
    }
}

TEST(conv_encoder_kernel, TailBitingFrame_EndsInItsFirstState)
{
    const auto code = conv_code::preset("lte");
    const auto sent = qa::transmit(code, termination::tailbiting, 40, 40, 0, 3);
    conv_encoder_kernel streaming(code, termination::streaming, 0);
    // The frame is encoded twice in a row as a stream. The second time, the shift
    // register begins with the frame's last bits, as in a tail-biting frame.
    auto twice = sent.bits;
    twice.insert(twice.end(), sent.bits.begin(), sent.bits.end());
    std::vector<std::uint8_t> coded(80 * 3);
    streaming.encode(twice.data(), 80, coded.data());
    for (unsigned i = 0; i < 120; ++i) {
        EXPECT_EQ(coded[120 + i], sent.values[i] < 0);
    }
}

// The encoders of packed and of unpacked bits produce the same stream from chunks of any
// length. The coded bits of a chunk may begin within a byte.
TEST(conv_encoder_kernel, PackedStream_EqualsUnpackedStream)
{
    std::mt19937 random(11);
    for (const auto& p : conv_presets()) {
        SCOPED_TRACE(p.name);
        const auto code = conv_code::preset(p.name);
        constexpr std::size_t count = 3001;
        std::vector<std::uint8_t> bits(count);
        for (auto& b : bits) {
            b = random() & 1u;
        }
        conv_encoder_kernel plain(code, termination::streaming, 0), packed = plain;
        std::vector<std::uint8_t> expected(plain.coded_bits(count));
        plain.encode(bits.data(), count, expected.data());

        std::vector<std::uint8_t> coded(expected.size() / 8 + 1, 0xff);
        std::size_t taken = 0, written = 0;
        while (taken < count) {
            const auto n = std::min<std::size_t>(count - taken, random() % 200);
            std::vector<std::uint8_t> piece((n + 7) / 8);
            pack_bits(bits.data() + taken, n, piece.data());
            if (random() % 4 == 0) { // both encoders continue the same stream
                std::vector<std::uint8_t> some(packed.coded_bits(n));
                packed.encode(bits.data() + taken, n, some.data());
                for (const auto b : some) {
                    auto& to = coded[written / 8];
                    const auto shift = 7 - written % 8;
                    to = (to & ~(1u << shift)) | unsigned(b) << shift;
                    ++written;
                }
            } else {
                written += packed.encode_packed(
                    piece.data(), n, coded.data() + written / 8, written % 8);
            }
            taken += n;
        }
        ASSERT_EQ(written, expected.size());
        std::vector<std::uint8_t> unpacked(written);
        unpack_bits(coded.data(), 0, written, unpacked.data());
        EXPECT_EQ(unpacked, expected);
    }
}

TEST(conv_encoder_kernel, PackedFrames_EqualUnpackedFrames)
{
    std::mt19937 random(12);
    for (const auto& code : { conv_code(7, { 0171, -0133 }),
                              conv_code(9, { 0753, 0561 }, "110101,101011"),
                              conv_code(3, { 5, 7, 7, -5, 7, 6 }),
                              conv_code(7, { 0171, 0133 }, "1000101,1111010") }) {
        for (const auto ends : { termination::terminated,
                                 termination::truncated,
                                 termination::tailbiting }) {
            for (const unsigned F : { 8u, 9u, 63u, 64u, 65u, 71u, 128u, 1000u, 4099u }) {
                SCOPED_TRACE(code.to_string() + ", frames of " + std::to_string(F) +
                             " bits");
                std::vector<std::uint8_t> bits(F), bytes((F + 7) / 8);
                for (auto& b : bits) {
                    b = random() & 1u;
                }
                pack_bits(bits.data(), F, bytes.data());
                bytes.back() |= (1u << (8 * bytes.size() - F)) - 1; // padding is ignored
                const conv_encoder_kernel encoder(code, ends, F);
                std::vector<std::uint8_t> expected(encoder.coded_bits(F));
                encoder.encode_frame(bits.data(), expected.data());
                std::vector<std::uint8_t> packed((expected.size() + 7) / 8 + 1, 0xa5);
                EXPECT_EQ(encoder.encode_frame_packed(bytes.data(), packed.data()),
                          packed.size() - 1);
                EXPECT_EQ(packed.back(), 0xa5) << "a byte beyond the end was written";
                packed.pop_back();
                std::vector<std::uint8_t> bit_by_bit(packed.size(), 0);
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    bit_by_bit[i / 8] |= expected[i] << (7 - i % 8);
                }
                EXPECT_EQ(packed, bit_by_bit);
            }
        }
    }
}

TEST(block_layout, Defaults_DependOnCodeAndFrame)
{
    const conv_code half(7, { 0171, 0133 });
    auto plan = make_block_layout(half, termination::streaming, 0, 0, 0);
    EXPECT_EQ(plan.decode_length, 1024u);
    EXPECT_EQ(plan.overlap, 64u);
    plan =
        make_block_layout(conv_code::preset("dvb_7_8"), termination::streaming, 0, 0, 0);
    EXPECT_EQ(plan.overlap, 256u);
    EXPECT_EQ(plan.decode_length, 2048u);
    plan = make_block_layout(half, termination::terminated, 8192, 0, 0);
    EXPECT_EQ(plan.blocks_per_frame, 8u);
    plan = make_block_layout(half, termination::terminated, 1000, 0, 0);
    EXPECT_EQ(plan.blocks_per_frame, 1u);
    EXPECT_EQ(plan.window, 1006u);
}

TEST(block_layout, Windows_CoverEveryFrameOnce)
{
    const conv_code code(7, { 0171, 0133 });
    for (const auto ends :
         { termination::terminated, termination::truncated, termination::tailbiting }) {
        for (const unsigned frame : { 6u, 7u, 511u, 512u, 513u, 1023u, 1024u, 5000u }) {
            for (const unsigned D : { 0u, 32u, 512u }) {
                const auto plan = make_block_layout(code, ends, frame, D, 0);
                unsigned covered = 0;
                for (unsigned b = 0; b < plan.blocks_per_frame; ++b) {
                    const auto w = plan.at(b);
                    EXPECT_EQ(w.start + w.lead, std::int64_t(covered));
                    EXPECT_LE(w.lead + w.count, plan.window);
                    EXPECT_EQ(w.from_zero,
                              ends != termination::tailbiting && w.start == 0);
                    if (ends != termination::tailbiting) {
                        EXPECT_GE(w.start, 0);
                        EXPECT_LE(w.start + plan.window, plan.frame_stages);
                    }
                    covered += w.count;
                }
                EXPECT_EQ(covered, frame);
            }
        }
    }
}

TEST(block_layout, LengthsOutOfRange_AreRefused)
{
    const conv_code code(7, { 0171, 0133 });
    const auto error = [&](termination ends, unsigned frame, unsigned D, unsigned L) {
        return error_of([&] { make_block_layout(code, ends, frame, D, L); });
    };
    using t = termination;
    EXPECT_NE(error(t::streaming, 1, 0, 0).find("frame_bits is 1"), std::string::npos);
    EXPECT_NE(error(t::terminated, 0, 0, 0).find("frame_bits is 0"), std::string::npos);
    EXPECT_NE(error(t::tailbiting, 5, 0, 0).find("frame_bits is 5"), std::string::npos);
    EXPECT_NE(error(t::streaming, 0, 100, 0).find("decode_length is 100"),
              std::string::npos);
    EXPECT_NE(error(t::streaming, 0, 0, 5).find("overlap is 5"), std::string::npos);
    EXPECT_NE(error(t::terminated, 1u << 25, 0, 0).find("frame_bits"), std::string::npos);
}

// Table II of Peng, Liu, Hou and Zhao (2016) classifies states by the output words (α, β,
// γ, θ) of their butterflies.
TEST(pbvd_layout, CodeOfPublishedTable_HasPublishedGroups)
{
    using words = std::array<unsigned, 4>;
    const std::map<words, std::set<unsigned>> table{
        { { 0, 3, 3, 0 },
          { 0, 1, 4, 5, 24, 25, 28, 29, 42, 43, 46, 47, 50, 51, 54, 55 } },
        { { 1, 2, 2, 1 },
          { 2, 3, 6, 7, 26, 27, 30, 31, 40, 41, 44, 45, 48, 49, 52, 53 } },
        { { 3, 0, 0, 3 },
          { 8, 9, 12, 13, 16, 17, 20, 21, 34, 35, 38, 39, 58, 59, 62, 63 } },
        { { 2, 1, 1, 2 },
          { 10, 11, 14, 15, 18, 19, 22, 23, 32, 33, 36, 37, 56, 57, 60, 61 } },
    };
    const auto layout = device::make_pbvd_layout(conv_code(7, { 0171, 0133 }), 4);
    std::map<words, std::set<unsigned>> groups;
    for (unsigned c = 0; c < layout.chunks; ++c) {
        const auto& chunk = layout.chunk[c];
        words w;
        std::copy(chunk.word, chunk.word + 4, w.begin());
        for (unsigned i = 0; i < chunk.count; ++i) {
            const unsigned j = layout.butterfly[chunk.first + i];
            groups[w].insert({ 2 * j, 2 * j + 1 });
        }
    }
    EXPECT_EQ(groups, table);
}

// No two states share a position of their decisions, and all positions are in the
// survivor words.
TEST(pbvd_layout, AnyCode_HasDistinctDecisionPositions)
{
    for (int K = 3; K <= 9; ++K) {
        for (const auto& tail : std::vector<std::vector<int>>{
                 {}, { 3 }, { 3, 5 }, { 3, 5, 6 }, { 3, 5, 6, 7 } }) {
            std::vector<int> polynomials{ 1 << (K - 1) | 1 };
            polynomials.push_back((1 << K) - 1);
            polynomials.insert(polynomials.end(), tail.begin(), tail.end());
            polynomials.resize(std::min<std::size_t>(polynomials.size(), 6));
            const conv_code code(K, polynomials);
            for (const unsigned history : { 2u, 4u }) {
                const auto layout = device::make_pbvd_layout(code, history);
                std::set<unsigned> positions(layout.position,
                                             layout.position + code.states());
                EXPECT_EQ(positions.size(), code.states());
                EXPECT_LT(*positions.rbegin(), layout.words * 16 / history);
                EXPECT_LE(layout.warps, layout.chunks);
            }
        }
    }
}

// An exhaustive search finds no message with a smaller metric than the decoded one.
TEST(reference, ShortFrame_HasSmallestMetric)
{
    for (const auto& code : { conv_code(3, { 5, 7 }),
                              conv_code(4, { 013, 015, -017 }),
                              conv_code(3, { 5, 7 }, "10,11") }) {
        for (const auto ends : { termination::terminated,
                                 termination::truncated,
                                 termination::tailbiting }) {
            constexpr unsigned F = 9;
            for (unsigned seed = 0; seed < 20; ++seed) {
                const auto sent = qa::transmit(code, ends, F, F, 40, seed);
                const auto decoded =
                    reference::maximum_likelihood(code, ends, sent.values, F);
                conv_encoder_kernel encoder(code, ends, F);
                const auto cost = [&](const std::vector<std::uint8_t>& bits) {
                    std::vector<std::uint8_t> coded(encoder.coded_bits(F));
                    encoder.encode_frame(bits.data(), coded.data());
                    int sum = 0;
                    for (std::size_t i = 0; i < coded.size(); ++i) {
                        const int v = std::max<int>(sent.values[i], -127);
                        sum += std::max(0, coded[i] ? v : -v);
                    }
                    return sum;
                };
                int low = 1 << 30;
                for (unsigned m = 0; m < 1u << F; ++m) {
                    std::vector<std::uint8_t> bits;
                    for (unsigned i = 0; i < F; ++i) {
                        bits.push_back(m >> i & 1);
                    }
                    low = std::min(low, cost(bits));
                }
                EXPECT_EQ(cost(decoded), low);
            }
        }
    }
}

TEST(reference, OneBlock_EqualsMaximumLikelihood)
{
    const conv_code code(7, { 0171, 0133 });
    for (const auto ends : { termination::terminated, termination::truncated }) {
        const auto sent = qa::transmit(code, ends, 300, 3000, 28, 5);
        const auto plan = make_block_layout(code, ends, 300, 0, 0);
        const auto blocks = reference::parallel_blocks(code, plan, sent.values, 3000);
        std::vector<std::uint8_t> whole;
        const auto n = sent.values.size() / 10;
        for (unsigned f = 0; f < 10; ++f) {
            const auto one = reference::maximum_likelihood(
                code,
                ends,
                { sent.values.begin() + f * n, sent.values.begin() + (f + 1) * n },
                300);
            whole.insert(whole.end(), one.begin(), one.end());
        }
        EXPECT_EQ(blocks, whole);
        EXPECT_NE(blocks, sent.bits) << "the noise must cause errors";
    }
}

} // namespace
