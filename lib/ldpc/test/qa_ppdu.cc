// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the codewords of Wi-Fi PPDUs and their decoder. */

#include "qa_support.h"
#include <gnuradio/gpufec/wifi.h>
#include <gtest/gtest.h>
#include <numeric>

namespace gr::gpufec {

namespace {

using bits = std::vector<std::uint8_t>;

bits random_bits(std::size_t count, std::mt19937& random)
{
    bits all(count);
    for (auto& bit : all) {
        bit = random() >> 31;
    }
    return all;
}

// Returns the LLRs of coded bits, in nats, after BPSK with noise of an Es/N0 in dB.
std::vector<float> receive(const bits& coded, double esn0_db, std::mt19937& random)
{
    const double variance = std::pow(10, -esn0_db / 10) / 2;
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    std::vector<float> llr;
    for (const auto bit : coded) {
        llr.push_back(float(2 / variance * ((bit ? -1 : 1) + noise(random))));
    }
    return llr;
}

std::vector<std::int8_t> to_int8(const std::vector<float>& llr)
{
    std::vector<std::int8_t> bytes;
    for (const auto x : llr) {
        bytes.push_back(std::int8_t(std::rint(std::clamp(2 * x, -127.0f, 127.0f))));
    }
    return bytes;
}

struct outcome {
    bits items;
    std::vector<ldpc_decoder::frame_status> statuses;
};

// Pushes channel values in chunks of random sizes, and pulls output in the same way.
template <class Value>
outcome
run(ldpc_decoder& decoder, const std::vector<Value>& values, bool packed, unsigned seed)
{
    std::mt19937 random(seed);
    outcome o;
    const auto pull = [&] {
        bits some(1 + random() % 3000);
        const auto n = decoder.pull({ some.data(), some.size(), packed });
        o.items.insert(o.items.end(), some.begin(), some.begin() + n);
        if (const auto status = decoder.status()) {
            o.statuses.push_back(*status);
        }
        return n;
    };
    for (std::size_t first = 0; first < values.size();) {
        const auto n = std::min<std::size_t>(values.size() - first, 1 + random() % 5000);
        const auto taken = decoder.push({ values.data() + first, n });
        first += taken;
        EXPECT_EQ(decoder.missing(),
                  first % decoder.frame_items() == 0
                      ? 0
                      : decoder.frame_items() - first % decoder.frame_items());
        if (taken == 0) {
            EXPECT_TRUE(decoder.full() || decoder.ready());
            decoder.wait(std::chrono::milliseconds(100));
        }
        while (decoder.ready() && pull() > 0) {
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        if (pull() == 0) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
    return o;
}

struct format {
    unsigned bytes, symbol_bits;
    const char* rate;
    bool stbc;
};

// PPDUs with one short codeword, with repetition, with a symbol added because of
// puncturing, with two codewords, and with many codewords.
const format formats[] = {
    { 1, 52, "1/2", false },    { 40, 52, "1/2", false },   { 39, 624, "5/6", true },
    { 100, 208, "3/4", false }, { 200, 312, "2/3", true },  { 130, 104, "1/2", false },
    { 700, 260, "5/6", false }, { 1500, 104, "1/2", true }, { 4095, 312, "3/4", false },
};

// Returns the payloads of random PPDUs, and their coded bits.
std::pair<bits, bits>
random_ppdus(const wifi_ppdu& p, unsigned count, std::mt19937& random)
{
    bits sent, coded;
    for (unsigned i = 0; i < count; ++i) {
        const auto payload = random_bits(p.payload_bits(), random);
        bits own(p.coded_bits());
        p.encode(payload.data(), own.data());
        sent.insert(sent.end(), payload.begin(), payload.end());
        coded.insert(coded.end(), own.begin(), own.end());
    }
    return { sent, coded };
}

} // namespace

TEST(wifi_ppdu, AllLengths_FillSymbolsAndCarryEveryPayloadBit)
{
    unsigned repeated = 0, punctured = 0, none = 0;
    for (const char* rate : { "1/2", "2/3", "3/4", "5/6" }) {
        for (unsigned bytes = 1; bytes <= 4095; bytes = bytes * 5 / 4 + 1) {
            for (const unsigned symbol_bits : { 52u, 104u, 208u, 312u, 648u }) {
                for (const bool stbc : { false, true }) {
                    const wifi_ppdu p(bytes, symbol_bits, rate, stbc);
                    unsigned message = 0, sent = 0;
                    for (unsigned c = 0; c < p.codewords(); ++c) {
                        const auto& code = p.codes()[p.code_of(c)];
                        EXPECT_EQ(code.n(), p.codeword_bits());
                        message += code.k();
                        sent += code.sent();
                    }
                    EXPECT_EQ(message, 8 * bytes + 16);
                    EXPECT_EQ(message, p.payload_bits());
                    EXPECT_EQ(sent, p.coded_bits());
                    EXPECT_EQ(p.symbols() * symbol_bits, sent);
                    EXPECT_EQ(p.symbols() % (stbc ? 2 : 1), 0u);
                    EXPECT_LE(p.codes().size(), 3u);
                    EXPECT_TRUE(p.punctured() == 0 || p.repeated() == 0);
                    repeated += p.repeated() > 0;
                    punctured += p.punctured() > 0;
                    none += p.punctured() + p.repeated() == 0;
                }
            }
        }
    }
    EXPECT_GT(repeated, 100u);
    EXPECT_GT(punctured, 100u);
    EXPECT_GT(none, 0u);
}

// The expected values were computed by hand from the formulas of IEEE 802.11-2020,
// 19.3.11.7.5.
TEST(wifi_ppdu, KnownFormats_HaveParametersOfTheStandard)
{
    // N_pld = 816, N_avbits = 1664: one codeword of 1944 bits with 972 message bits, so
    // N_shrt = 156 and N_punc = 1944 − 1664 − 156 = 124. This is more than 0.1 · 972,
    // and N_shrt is more than 1.2 · 124: no symbol is added.
    const wifi_ppdu one(100, 104, "1/2");
    EXPECT_EQ(one.codewords(), 1u);
    EXPECT_EQ(one.codeword_bits(), 1944u);
    EXPECT_EQ(one.shortened(), 156u);
    EXPECT_EQ(one.punctured(), 124u);
    EXPECT_EQ(one.repeated(), 0u);
    EXPECT_EQ(one.symbols(), 16u);
    // N_pld = 12016, N_avbits = 24128 (232 symbols): 13 codewords, N_shrt = 620, N_punc =
    // 25272 − 24128 − 620 = 524.
    const wifi_ppdu many(1500, 104, "1/2");
    EXPECT_EQ(many.codewords(), 13u);
    EXPECT_EQ(many.shortened(), 620u);
    EXPECT_EQ(many.punctured(), 524u);
    EXPECT_EQ(many.symbols(), 232u);
    EXPECT_EQ(many.codes()[many.code_of(0)].k(), 972u - 48); // 620 = 13 · 47 + 9
    EXPECT_EQ(many.codes()[many.code_of(8)].k(), 972u - 48);
    EXPECT_EQ(many.codes()[many.code_of(9)].k(), 972u - 47);
    // N_pld = 24, N_avbits = 52: N_shrt = 300, N_punc = 648 − 52 − 300 = 296, which is
    // more than 0.3 · 324, so a symbol is added and 244 bits are punctured.
    const wifi_ppdu tiny(1, 52, "1/2");
    EXPECT_EQ(tiny.codeword_bits(), 648u);
    EXPECT_EQ(tiny.symbols(), 2u);
    EXPECT_EQ(tiny.punctured(), 244u);
    // N_pld = 24, N_avbits = 648: one codeword of 1296 bits; 648 parity and 24 payload
    // bits are more than 648, so 24 bits are punctured.
    EXPECT_EQ(wifi_ppdu(1, 648, "1/2").punctured(), 24u);
    // N_pld = 24, N_avbits = 600: 1296 bits, 24 + 648 − 600 = 72 bits punctured. At rate
    // 5/6: 24 + 216 = 240 bits are sent, and 360 repeated.
    EXPECT_EQ(wifi_ppdu(1, 600, "1/2").punctured(), 72u);
    EXPECT_EQ(wifi_ppdu(1, 600, "5/6").repeated(), 360u);
}

TEST(wifi_ppdu, EncodedBits_AreCodewordsWithRepetition)
{
    std::mt19937 random(3);
    for (const auto& f : formats) {
        const wifi_ppdu p(f.bytes, f.symbol_bits, f.rate, f.stbc);
        const auto payload = random_bits(p.payload_bits(), random);
        bits coded(p.coded_bits());
        p.encode(payload.data(), coded.data());
        const auto whole =
            ldpc_code::standard("wifi", std::to_string(p.codeword_bits()), f.rate);
        std::size_t first_message = 0, first_sent = 0;
        for (unsigned c = 0; c < p.codewords(); ++c) {
            const auto& code = p.codes()[p.code_of(c)];
            bits message(whole.k(), 0), codeword(whole.n());
            std::copy_n(payload.begin() + first_message, code.k(), message.begin());
            ldpc_encoder_kernel(whole).encode(message.data(), codeword.data());
            bits sent(message.begin(), message.begin() + code.k());
            sent.insert(sent.end(),
                        codeword.begin() + whole.k(),
                        codeword.end() - code.punctured().size());
            const auto different = sent.size();
            for (std::size_t i = 0; sent.size() < code.sent(); ++i) {
                sent.push_back(sent[i % different]);
            }
            EXPECT_EQ(sent,
                      bits(coded.begin() + first_sent,
                           coded.begin() + first_sent + code.sent()));
            first_message += code.k();
            first_sent += code.sent();
        }
    }
}

TEST(wifi_ppdu, PayloadBit_InvertsCodedBit)
{
    const wifi_ppdu p(1500, 104, "1/2");
    for (unsigned bit = 0; bit < p.payload_bits(); bit += 17) {
        EXPECT_EQ(p.payload_bit(p.coded_bit(bit)), bit);
    }
    const auto k = p.codes()[0].k(), sent = p.codes()[0].sent();
    EXPECT_EQ(p.coded_bit(k), sent);
    EXPECT_EQ(p.payload_bit(sent - 1), k - 1); // a parity bit
    EXPECT_EQ(p.payload_bit(p.coded_bits() - 1), p.payload_bits() - 1);
}

TEST(wifi_ppdu, BadPpdusAndOptions_AreRefused)
{
    EXPECT_THROW(wifi_ppdu(0, 52, "1/2"), std::invalid_argument);
    EXPECT_THROW(wifi_ppdu(65536, 52, "1/2"), std::invalid_argument);
    EXPECT_THROW(wifi_ppdu(100, 0, "1/2"), std::invalid_argument);
    EXPECT_THROW(wifi_ppdu(100, 65536, "1/2"), std::invalid_argument);
    EXPECT_THROW(wifi_ppdu(100, 52, "7/8"), std::invalid_argument);
    const wifi_ppdu p(100, 52, "1/2");
    ldpc_options options;
    options.codeword = true;
    EXPECT_THROW(make_wifi_ppdu_decoder(p, options), std::invalid_argument);
    options = {};
    options.soft = ldpc_soft_output::posterior;
    EXPECT_THROW(make_wifi_ppdu_decoder(p, options), std::invalid_argument);
    options = {};
    options.symbols = ldpc_symbols::float32;
    EXPECT_THROW(make_wifi_ppdu_decoder(p, options), std::invalid_argument);
    const auto decoder = make_wifi_ppdu_decoder(p, ldpc_options{});
    EXPECT_THROW(decoder->select(1), std::out_of_range);
}

TEST(ppdu_decoder, NoisyPpdus_AreDecodedInChunksOfAnySize)
{
    std::mt19937 random(5);
    unsigned seed = 0;
    for (const auto& f : formats) {
        const wifi_ppdu p(f.bytes, f.symbol_bits, f.rate, f.stbc);
        constexpr unsigned count = 5;
        const auto [sent, coded] = random_ppdus(p, count, random);
        const auto llr = receive(coded, 6, random);
        ldpc_options options;
        options.batch = 3; // PPDUs end within batches
        options.slots = 2;
        options.format = seed % 2 ? llr_format::float32 : llr_format::int8;
        options.precision = seed % 3 ? ldpc_precision::int8 : ldpc_precision::float32;
        const auto decoder = make_wifi_ppdu_decoder(p, options);
        EXPECT_EQ(decoder->frame_items(), p.coded_bits());
        EXPECT_EQ(decoder->output_bits(0), p.payload_bits());
        for (const bool packed : { false, true }) {
            const auto o = options.format == llr_format::float32
                               ? run(*decoder, llr, packed, ++seed)
                               : run(*decoder, to_int8(llr), packed, ++seed);
            bits expected = sent;
            if (packed) {
                expected.assign((sent.size() + 7) / 8, 0);
                for (std::size_t i = 0; i < sent.size(); ++i) {
                    expected[i / 8] |= sent[i] << (7 - i % 8);
                }
            }
            EXPECT_EQ(o.items, expected) << f.bytes << " bytes at " << f.rate;
            ASSERT_EQ(o.statuses.size(), count);
            for (unsigned i = 0; i < count; ++i) {
                EXPECT_EQ(o.statuses[i].frame, i);
                EXPECT_EQ(o.statuses[i].code, 0u);
                EXPECT_EQ(o.statuses[i].unsatisfied, 0u);
            }
            decoder->reset();
        }
    }
}

TEST(ppdu_decoder, RepeatedBits_DecodeFromSummedLlrs)
{
    // The PPDU has 240 different bits. The first 120 bits are sent three times, and the
    // others twice. At −7 dB the first 240 values alone do not suffice.
    const wifi_ppdu p(1, 600, "5/6");
    ASSERT_EQ(p.repeated(), 360u);
    std::mt19937 random(6);
    constexpr unsigned count = 200;
    const auto ppdus = random_ppdus(p, count, random);
    const auto &sent = ppdus.first, &coded = ppdus.second;
    const auto llr = receive(coded, -7, random);
    auto once = llr;
    for (unsigned i = 0; i < count; ++i) {
        std::fill_n(once.begin() + i * 600 + 240, 360, 0.0f);
    }
    const auto errors = [&](const std::vector<float>& values) {
        const auto decoder = make_wifi_ppdu_decoder(p, ldpc_options{});
        const auto o = run(*decoder, to_int8(values), false, 1);
        EXPECT_EQ(o.items.size(), sent.size());
        unsigned wrong = 0;
        for (unsigned i = 0; i < count; ++i) {
            wrong += !std::equal(sent.begin() + i * 24,
                                 sent.begin() + (i + 1) * 24,
                                 o.items.begin() + i * 24);
        }
        return wrong;
    };
    const auto added = errors(llr), single = errors(once);
    EXPECT_EQ(added, 0u);
    EXPECT_GE(single, 50u);
}

TEST(ppdu_decoder, IncompletePpdu_IsDropped)
{
    const wifi_ppdu p(200, 312, "2/3");
    std::mt19937 random(7);
    const auto payload = random_bits(p.payload_bits(), random);
    bits coded(p.coded_bits());
    p.encode(payload.data(), coded.data());
    const auto values = to_int8(receive(coded, 9, random));
    const auto decoder = make_wifi_ppdu_decoder(p, ldpc_options{});
    EXPECT_EQ(decoder->push({ values.data(), values.size() - 1 }), values.size() - 1);
    EXPECT_EQ(decoder->missing(), 1u);
    decoder->drop_incomplete();
    EXPECT_EQ(decoder->missing(), 0u);
    auto stream = values;
    stream.insert(stream.end(), values.begin(), values.begin() + 700);
    const auto o = run(*decoder, stream, false, 2);
    EXPECT_EQ(o.items, payload);
    EXPECT_EQ(o.statuses.size(), 1u);
}

TEST(ppdu_decoder, PpduDroppedWhileFull_DoesNotAffectOtherPpdus)
{
    const wifi_ppdu p(1500, 104, "1/2"); // has 13 codewords
    std::mt19937 random(9);
    const std::size_t n = p.coded_bits();
    bits sent, coded(n);
    std::vector<std::int8_t> values;
    for (unsigned i = 0; i < 3; ++i) {
        const auto payload = random_bits(p.payload_bits(), random);
        p.encode(payload.data(), coded.data());
        const auto some = to_int8(receive(coded, 9, random));
        values.insert(values.end(), some.begin(), some.end());
        if (i != 1) {
            sent.insert(sent.end(), payload.begin(), payload.end());
        }
    }
    ldpc_options options;
    options.batch = 5; // The slots hold the first PPDU and two codewords of the second
                       // PPDU.
    options.slots = 3;
    options.backend = backend::cpu;
    const auto decoder = make_wifi_ppdu_decoder(p, options);
    EXPECT_EQ(decoder->push({ values.data(), 2 * n }), 2 * n - 1);
    EXPECT_TRUE(decoder->full());
    EXPECT_EQ(decoder->missing(), 1u);
    decoder->drop_incomplete();
    EXPECT_EQ(decoder->missing(), 0u);
    values.erase(values.begin(), values.begin() + 2 * n);
    const auto o = run(*decoder, values, false, 4);
    EXPECT_EQ(o.items, sent);
    ASSERT_EQ(o.statuses.size(), 2u);
    EXPECT_EQ(o.statuses[1].frame, 1u);
    EXPECT_EQ(o.statuses[1].unsatisfied, 0u);
}

TEST(ppdu_decoder, WrongValues_AreReportedAsViolatedChecks)
{
    const wifi_ppdu p(300, 104, "1/2");
    std::mt19937 random(8);
    const auto noise = to_int8(receive(random_bits(p.coded_bits(), random), 20, random));
    const auto decoder = make_wifi_ppdu_decoder(p, ldpc_options{});
    const auto o = run(*decoder, noise, false, 3);
    ASSERT_EQ(o.statuses.size(), 1u);
    EXPECT_GT(o.statuses[0].unsatisfied, 0u);
    EXPECT_EQ(o.statuses[0].iterations, ldpc_options{}.max_iterations);
}

} // namespace gr::gpufec
