// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the stream decoder: pushed and borrowed input of several codes and formats, the
 * order of message bits, the sign of LLRs, partial and default batches, incomplete and
 * noise frames, and refused options. */

#include "common/cpu_variant.h"
#include "stream_runs.h"

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;
using namespace gr::gpufec::ldpc::qa;

namespace {

std::vector<ldpc_code> mixed_codes()
{
    return { ldpc_code::dvbs2("short", "3/4"),
             ldpc_code::dvbs2("short", "8/9"),
             qa::regular_code(504, 252, 7),
             ldpc_code::dvbs2("normal", "9/10") };
}

std::string refusal(const ldpc_options& options)
{
    try {
        const auto decoder = ldpc_decoder::make(options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

// Replaces NaN by 0.
void replace_nan(std::vector<sent_frame>& frames)
{
    for (auto& f : frames) {
        for (auto& x : f.llr) {
            x = x == x ? x : 0;
        }
    }
}

// Calls check() with each format and precision in \p options.
template <class Check>
void in_all_formats(ldpc_options& options, Check&& check)
{
    for (const auto format : { llr_format::float32, llr_format::int8 }) {
        for (const auto precision :
             { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
            options.format = format;
            options.precision = precision;
            check();
        }
    }
}

} // namespace

TEST(ldpc_decoder, FramesOfSeveralCodes_DecodeToSentBits)
{
    ldpc_options options;
    options.codes = mixed_codes();
    options.backend = backend::cpu;
    options.threads = 2;
    for (const bool packed : { true, false }) {
        for (const bool codeword : { true, false }) {
            for (const unsigned batch : { 1u, 5u, 0u }) {
                options.codeword = codeword;
                options.batch = batch;
                const auto frames = send(options.codes, 23, codeword, batch);
                expect_all(run(options, frames, packed, 3), frames, packed);
            }
        }
    }
}

// The decoder outputs message bits in the order of the message positions, even if the
// host must gather them from the codeword.
TEST(ldpc_decoder, MessagePositionsInAnyOrder_MessageIsInThatOrder)
{
    std::mt19937 random(5);
    std::vector<ldpc_code> codes;
    for (const auto& code : { ldpc_code::dvbs2("short", "8/9"),
                              ldpc_code::standard("wifi", "648", "1/2"),
                              ldpc_code::standard("wifi", "1944", "5/6"),
                              qa::regular_code(504, 252, 7) }) {
        auto positions = code.message_positions();
        std::shuffle(positions.begin(), positions.end(), random);
        codes.push_back(code.with_message_positions(positions));
        codes.push_back(code);
        EXPECT_FALSE(codes[codes.size() - 2].systematic_prefix());
    }
    ldpc_options options;
    options.codes = codes;
    options.backend = backend::cpu;
    for (const bool packed : { true, false }) {
        for (const bool codeword : { true, false }) {
            for (const unsigned batch : { 1u, 5u }) {
                options.codeword = codeword;
                options.batch = batch;
                const auto frames = send(codes, 40, codeword, batch);
                expect_all(run(options, frames, packed, 3), frames, packed);
            }
        }
    }
}

TEST(ldpc_decoder, FramesInEveryFormatAndPrecision_DecodeToSentBits)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "2/3"), qa::regular_code(504, 252, 7) };
    options.backend = backend::cpu;
    const auto frames = send(options.codes, 8, false, 4);
    in_all_formats(options, [&] {
        for (const float scale : { 1.0f, 2.0f, 7.5f }) {
            options.llr_scale = scale;
            expect_all(run(options, frames, true, 5), frames, true);
        }
    });
}

// Frames are near the threshold and have erasures, so that ties and failures occur.
TEST(ldpc_decoder, NegatedInputWithOtherPositiveBit_HasSameOutput)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "1/2"), qa::regular_code(504, 252, 7) };
    options.backend = backend::cpu;
    options.codeword = true;
    std::mt19937 random(16);
    std::vector<sent_frame> frames, others;
    for (unsigned i = 0; i < 12; ++i) {
        const unsigned c = i % 3 == 0 ? 0 : 1;
        const auto t = qa::transmit(options.codes[c], 1.2 + 0.1 * i, random);
        frames.push_back({ c, t.codeword, t.llr });
        for (std::size_t k = 5; k < t.llr.size(); k += 20) {
            frames.back().llr[k] = k % 3 == 0 ? std::nanf("") : k % 3 == 1 ? 0 : -0.0f;
        }
        others.push_back(frames.back());
        for (auto& x : others.back().llr) {
            x = -x;
        }
    }
    in_all_formats(options, [&] {
        if (options.format == llr_format::int8) { // int8 has no NaN
            replace_nan(frames);
            replace_nan(others);
        }
        options.positive_bit = 0;
        const auto expected = run(options, frames, true, 17);
        options.positive_bit = 1;
        expect_same(run(options, others, true, 18), expected);
        const auto valid =
            std::count_if(expected.statuses.begin(),
                          expected.statuses.end(),
                          [](const auto& status) { return status.unsatisfied == 0; });
        EXPECT_GT(valid, 0);
        EXPECT_LT(valid, std::ptrdiff_t(expected.statuses.size()));
    });
}

TEST(ldpc_decoder, WrongSign_NoFrameIsValid)
{
    for (const auto& rate : ldpc_code::dvbs2_rates("short")) {
        ldpc_options options;
        options.codes = { ldpc_code::dvbs2("short", rate) };
        options.backend = backend::cpu;
        options.positive_bit = 1;
        for (const auto& r :
             run(options, send(options.codes, 2, false, 19), true, 20).statuses) {
            EXPECT_GT(r.unsatisfied, 0u) << rate;
        }
    }
}

TEST(ldpc_decoder, BorrowedInput_DecodesAsPushed)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9"),
                      qa::regular_code(504, 252, 7),
                      qa::regular_code(303, 101, 3),
                      ldpc_code::dvbs2("short", "1/2") };
    options.backend = backend::cpu;
    options.max_latency_ms = 1e9;
    options.max_iterations = 3;
    // The frames are near the threshold, so that decoding depends on every value.
    std::mt19937 random(6);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < 40; ++i) {
        const unsigned c = random() % options.codes.size();
        const auto t = qa::transmit(options.codes[c], c ? 2 : 4, random);
        frames.push_back({ c, t.message, t.llr });
        frames.back().llr[i] = i % 2 ? std::nanf("") : -1e9f;
    }
    in_all_formats(options, [&] {
        const bool int8 = options.format == llr_format::int8;
        if (int8) { // int8 has no NaN
            replace_nan(frames);
        }
        for (const unsigned batch : { 1u, 7u }) {
            options.batch = batch;
            options.positive_bit = batch == 7;
            options.slots = batch == 1 ? 1 : 3;
            const auto expected = run(options, frames, true, 1);
            EXPECT_EQ(expected.statuses.size(), frames.size());
            for (const std::size_t until : { 0u, 11u, 30u, 99u }) {
                SCOPED_TRACE(testing::Message() << batch << " " << until);
                expect_same(
                    int8 ? run_borrowing<std::int8_t>(options, frames, true, 5, until)
                         : run_borrowing<float>(options, frames, true, 6, until),
                    expected);
            }
        }
    });
}

TEST(ldpc_decoder, PartialBatch_IsSubmittedAfterMaxLatency)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9") };
    options.backend = backend::cpu;
    options.batch = 64;
    options.max_latency_ms = 1e9;
    const auto frames = send(options.codes, 1, false, 6);
    const auto decoder = ldpc_decoder::make(options);
    const auto bytes = as_bytes(frames[0].llr, 2);
    EXPECT_EQ(decoder->push(bytes), bytes.size());
    std::vector<std::uint8_t> out(decoder->output_bits(0) / 8);
    decoder->set_max_latency_ms(20);
    for (int i = 0; i < 100 && !decoder->due(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(decoder->due());
    decoder->push({});
    EXPECT_TRUE(decoder->wait(std::chrono::seconds(10)));
    EXPECT_EQ(decoder->pull(packed_bits(out)), out.size());
    EXPECT_EQ(out, qa::pack(frames[0].bits, frames[0].bits.size()));
}

// A thread decodes DVB-S2 codewords in int8 one at a time, so that the default batch need
// not fill the lanes of a vector.
TEST(ldpc_decoder, SingleCodewordKernel_HasSmallDefaultBatch)
{
    const auto batch = [](auto&& change) {
        ldpc_options o;
        o.codes = { ldpc_code::dvbs2("short", "1/2") };
        o.backend = backend::cpu;
        change(o);
        return ldpc_decoder::make(o)->batch();
    };
    const auto chosen = batch([](auto&) {});
    EXPECT_EQ(batch([](auto& o) { o.threads = 3; }), 3 * chosen);
#if defined(__x86_64__) || defined(__aarch64__)
    // LLRs come from the lane-parallel kernel, which has 8 lanes with SSE2 and NEON, and
    // 16 with AVX2.
    EXPECT_LT(chosen, 16u);
    const bool narrow = cpu_variant() == "baseline" || cpu_variant() == "neon";
    EXPECT_GE(batch([](auto& o) { o.soft = ldpc_soft_output::posterior; }),
              narrow ? 8u : 16u);
#endif
}

TEST(ldpc_decoder, GarbageFrames_DoNotAffectOtherFrames)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "1/2") };
    options.backend = backend::cpu;
    options.format = llr_format::float32;
    options.batch = 4;
    std::mt19937 random(8);
    auto frames = send(options.codes, 6, false, 9);
    const float worst[] = { std::nanf(""), HUGE_VALF, -HUGE_VALF, 0.0f, -0.0f, 1e-40f };
    for (const unsigned bad : { 0u, 2u, 3u }) {
        for (auto& x : frames[bad].llr) {
            x = bad == 3 ? std::nanf("") : worst[random() % 6];
        }
    }
    const auto o = run(options, frames, false, 10);
    const auto k = options.codes[0].k();
    ASSERT_EQ(o.items.size(), 6u * k);
    for (const unsigned good : { 1u, 4u, 5u }) {
        EXPECT_TRUE(std::equal(frames[good].bits.begin(),
                               frames[good].bits.end(),
                               o.items.begin() + good * k));
        EXPECT_EQ(o.statuses[good].unsatisfied, 0u);
    }
    EXPECT_GT(o.statuses[0].unsatisfied, 0u);
    EXPECT_EQ(o.statuses[0].iterations, 25u);
}

TEST(ldpc_decoder, IncompleteFrame_IsDropped)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9") };
    options.backend = backend::cpu;
    const auto frames = send(options.codes, 1, false, 6);
    const auto bytes = as_bytes(frames[0].llr, 2);
    const auto decoder = ldpc_decoder::make(options);
    decoder->push({ bytes.data(), 1000 });
    EXPECT_EQ(decoder->missing(), 15200u);
    decoder->drop_incomplete();
    EXPECT_EQ(decoder->missing(), 0u);
    decoder->push(bytes);
    decoder->push({ bytes.data(), 77 });
    decoder->finish();
    std::vector<std::uint8_t> out(5000);
    std::size_t n = 0;
    while (!decoder->done()) {
        decoder->wait(std::chrono::milliseconds(100));
        n += decoder->pull(packed_bits(span(out).from(n)));
    }
    EXPECT_EQ(n, 1800u);
    out.resize(n);
    EXPECT_EQ(out, qa::pack(frames[0].bits, frames[0].bits.size()));
}

TEST(ldpc_decoder, InvalidOptions_AreRefused)
{
    ldpc_options good;
    good.codes = { ldpc_code::dvbs2("short", "8/9") };
    good.backend = backend::cpu;
    EXPECT_EQ(refusal(good), "");
    const auto with = [&good](auto&& change) {
        auto options = good;
        change(options);
        return refusal(options);
    };
    EXPECT_NE(with([](auto& o) { o.codes.clear(); }), "");
    EXPECT_NE(with([](auto& o) { o.max_iterations = 0; }).find("max_iterations is 0"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.llr_scale = 0; }).find("llr_scale"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.llr_scale = std::nanf(""); }), "");
    EXPECT_NE(with([](auto& o) { o.soft_scale = -1; }).find("soft_scale is -1"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.slots = 0; }), "");
    EXPECT_NE(with([](auto& o) { o.threads = 0; }), "");
    EXPECT_NE(with([](auto& o) { o.batch = 1 << 20; }), "");
    EXPECT_NE(with([](auto& o) { o.max_latency_ms = -1; }), "");
    EXPECT_NE(with([](auto& o) { o.offset = 1000; }).find("offset is 1000"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.normalization = 2; }), "");
    EXPECT_EQ(with([](auto& o) { o.positive_bit = 2; }),
              "positive_bit is 2: allowed values are 0 and 1");
}

TEST(ldpc_decoder, CodeWithoutMessageBits_OutputsOnlyCodewords)
{
    std::istringstream text("2 2\n1 1\n1 1\n1 1\n1\n2\n1\n2\n");
    ldpc_options options;
    options.codes = { ldpc_code::from_alist(text, "full rank") };
    options.backend = backend::cpu;
    EXPECT_EQ(refusal(options),
              "output is message: full rank has no message bits (K = 0), so the output "
              "must be codeword");
    options.codeword = true;
    const auto decoder = ldpc_decoder::make(options);
    const std::int8_t values[] = { 3, 1 };
    EXPECT_EQ(decoder->push({ values, 2 }), 2u);
    decoder->finish();
    std::uint8_t bits[] = { 7, 7 };
    while (!decoder->done()) {
        decoder->wait(std::chrono::milliseconds(100));
        decoder->pull({ bits, 2, false });
    }
    EXPECT_EQ(bits[0] + bits[1], 0);
}

TEST(ldpc_decoder, ItemsOfAnotherType_AreRefused)
{
    ldpc_options options;
    options.codes = { ldpc_code::standard("dvbs2", "short", "1/2") };
    options.backend = backend::cpu;
    const std::vector<std::int8_t> steps(4);
    const std::vector<std::complex<float>> symbols(4);
    const auto values = ldpc_decoder::make(options);
    EXPECT_THROW(values->push(symbols), std::invalid_argument);
    EXPECT_EQ(values->push(steps), 4u);
    EXPECT_EQ(values->missing(), 16196u);
    options.symbols = ldpc_symbols::float32;
    options.constellations = { { "qpsk", "1/2", "short" } };
    const auto demapping = ldpc_decoder::make(options);
    EXPECT_THROW(demapping->push(steps), std::invalid_argument);
    EXPECT_EQ(demapping->push(symbols), 4u);
}

TEST(ldpc_decoder, FramesOfSeveralCodesOnCuda_DecodeToSentBits)
{
    ldpc_options options;
    options.codes = mixed_codes();
    options.backend = backend::cuda;
    const auto frames = send(options.codes, 40, false, 14);
    try {
        for (const unsigned batch : { 1u, 7u, 0u }) {
            options.batch = batch;
            expect_all(run(options, frames, true, 15), frames, true);
        }
    } catch (const std::runtime_error& error) {
        GTEST_SKIP() << error.what();
    }
}
