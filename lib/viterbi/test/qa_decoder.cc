// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the stream decoder: the number of output bits, batches and chunks, frames, the
 * latency, statistics, options and devices. */

#include "cuda/devices.h"
#include "qa_stream.h"
#include "viterbi/model/reference.h"
#include <gtest/gtest.h>
#include <cmath>
#include <random>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;
using namespace gr::gpufec::viterbi::qa;
using namespace std::chrono_literals;

namespace {

TEST(viterbi_decoder, StreamOfAnyLength_HasOneOutputBitPerStage)
{
    for (const auto& code : { conv_code(7, { 0171, 0133 }),
                              conv_code(7, { 0171, 0133 }, "1000101,1111010"),
                              conv_code(3, { 5, 7, 7 }) }) {
        auto o = options(code);
        o.decode_length = 64;
        o.overlap = 24;
        o.batch = 3;
        const auto decoder = viterbi_decoder::make(o);
        const auto plan = make_block_layout(code, o.termination, 0, 64, 24);
        const auto sent = qa::transmit(code, o.termination, 0, 3 * 3 * 64 + 60, 25, 2);
        for (std::size_t n = 0; n < sent.values.size(); n += n < 300 ? 1 : 7) {
            const std::vector<std::int8_t> values(sent.values.begin(),
                                                  sent.values.begin() + n);
            const auto bits = code.stages(n);
            const auto expected = reference::parallel_blocks(code, plan, values, bits);
            decoder->reset();
            const auto packed = run(*decoder, values, true, 97, n);
            ASSERT_EQ(packed.size(), (bits + 7) / 8) << n;
            ASSERT_EQ(qa::unpack(packed, bits), expected) << n;
            if (bits % 8 != 0) {
                EXPECT_EQ(packed.back() & (0xff >> bits % 8), 0);
            }
            decoder->reset();
            ASSERT_EQ(run(*decoder, values, false, 97, n), expected) << n;
        }
    }
}

TEST(viterbi_decoder, BatchesAndChunks_DoNotChangeOutput)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    const auto sent = qa::transmit(code, termination::streaming, 0, 50001, 24, 3);
    std::vector<std::uint8_t> first;
    for (const unsigned batch : { 0u, 1u, 2u, 7u, 100u }) {
        for (const unsigned slots : { 1u, 2u, 5u }) {
            for (const double latency : { 0.0, 10000.0 }) {
                auto o = options(code);
                o.batch = batch;
                o.slots = slots;
                o.threads = 2;
                o.max_latency_ms = latency;
                const auto decoder = viterbi_decoder::make(o);
                const auto out =
                    run(*decoder, sent.values, true, 1 + 3000 * (batch % 3), slots);
                if (first.empty()) {
                    first = out;
                }
                ASSERT_EQ(out, first) << "batch " << batch << ", slots " << slots
                                      << ", latency " << latency << " ms";
            }
        }
    }
}

TEST(viterbi_decoder, FramesOfEveryTermination_EqualReference)
{
    const conv_code code(7, { 0171, 0133 }, "10,11");
    for (const auto ends :
         { termination::terminated, termination::truncated, termination::tailbiting }) {
        for (const unsigned frame : { 6u, 13u, 64u, 1201u }) {
            auto o = options(code, ends, frame);
            o.batch = 4;
            const auto decoder = viterbi_decoder::make(o);
            const auto plan = make_block_layout(code, ends, frame, 0, 0);
            const auto sent = qa::transmit(code, ends, frame, 11 * frame, 22, 4);
            const auto expected =
                reference::parallel_blocks(code, plan, sent.values, 11 * frame);
            EXPECT_EQ(run(*decoder, sent.values, false, 1000), expected);
            decoder->reset();
            const auto packed = run(*decoder, sent.values, true, 1000);
            const auto pitch = (frame + 7) / 8;
            ASSERT_EQ(packed.size(), 11 * pitch);
            for (unsigned f = 0; f < 11; ++f) {
                const std::vector<std::uint8_t> one(packed.begin() + f * pitch,
                                                    packed.begin() + (f + 1) * pitch);
                EXPECT_EQ(qa::unpack(one, frame),
                          std::vector<std::uint8_t>(expected.begin() + f * frame,
                                                    expected.begin() + (f + 1) * frame));
            }
            // An incomplete frame at the end is not decoded.
            decoder->reset();
            auto partial = sent.values;
            partial.pop_back();
            EXPECT_EQ(run(*decoder, partial, false, 1000).size(), 10 * frame);
        }
    }
}

TEST(viterbi_decoder, ItemsOfAnotherType_AreRefused)
{
    auto o = options(conv_code(7, { 0171, 0133 }));
    const auto refusal = [&](soft_format format, const auto& items) -> std::string {
        o.format = format;
        for (const auto lock : { "off", "auto" }) {
            o.lock = lock;
            const auto decoder = viterbi_decoder::make(o);
            try {
                decoder->push(items);
                return "";
            } catch (const std::invalid_argument& error) {
                EXPECT_EQ(decoder->push({}), 0u); // still succeeds after the refusal
                if (o.lock == "auto") {
                    return error.what();
                }
            }
        }
        return "";
    };
    const std::vector<float> floats(4);
    const std::vector<std::int8_t> steps(4);
    const std::vector<std::uint8_t> bytes(4);
    EXPECT_EQ(refusal(soft_format::int8, floats),
              "type of items is float: the options of this decoder require int8");
    EXPECT_EQ(refusal(soft_format::float32, steps),
              "type of items is int8: the options of this decoder require float");
    EXPECT_EQ(refusal(soft_format::packed4, steps),
              "type of items is int8: the options of this decoder require uint8");
    EXPECT_EQ(refusal(soft_format::int8, steps), "");
    EXPECT_EQ(refusal(soft_format::float32, floats), "");
    EXPECT_EQ(refusal(soft_format::packed4, bytes), "");
    EXPECT_EQ(refusal(soft_format::uint8, bytes), "");
    EXPECT_EQ(refusal(soft_format::int8, std::string("soft")), "");
}

TEST(viterbi_decoder, SlowStream_IsDecodedWithinLatency)
{
    const conv_code code(7, { 0171, 0133 });
    std::atomic<int> wakes{ 0 };
    decoder_hooks h;
    h.wake = [&] { ++wakes; };
    auto o = options(code);
    o.max_latency_ms = 20;
    o.decode_length = 512;
    const auto decoder = viterbi_decoder::make(o, h);
    const auto sent = qa::transmit(code, o.termination, 0, 600, 0, 7);
    ASSERT_EQ(decoder->push(sent.values), sent.values.size());
    EXPECT_FALSE(decoder->due());
    std::this_thread::sleep_for(40ms);
    EXPECT_GE(wakes, 1);
    EXPECT_TRUE(decoder->due());
    decoder->push({});
    ASSERT_TRUE(decoder->wait(5000ms));
    std::vector<std::uint8_t> bits(1000);
    // Only one parallel block is complete.
    ASSERT_EQ(decoder->pull(unpacked_bits(bits)), 512u);
    bits.resize(512);
    EXPECT_TRUE(std::equal(bits.begin(), bits.end(), sent.bits.begin()));
}

TEST(viterbi_decoder, NewLatency_AppliesToWaitingBatch)
{
    const conv_code code(7, { 0171, 0133 });
    auto o = options(code);
    o.max_latency_ms = 1e6;
    o.decode_length = 512;
    const auto decoder = viterbi_decoder::make(o);
    const auto sent = qa::transmit(code, o.termination, 0, 600, 0, 7);
    decoder->push(sent.values);
    EXPECT_FALSE(decoder->due());
    decoder->set_max_latency_ms(0);
    EXPECT_TRUE(decoder->due());
    decoder->set_max_latency_ms(1e6);
    EXPECT_FALSE(decoder->due());
}

TEST(viterbi_decoder, SoftValue_MapsToItsInformationBit)
{
    const conv_code code(7, { 0171, 0133 }, "101,110");
    const auto stream = viterbi_decoder::make(options(code));
    for (std::uint64_t v = 0; v < 100; ++v) {
        EXPECT_EQ(stream->output_of_item(v, false), code.stage_of(v));
        EXPECT_EQ(stream->output_of_item(v, true), code.stage_of(v) / 8);
    }
    const auto frames = viterbi_decoder::make(options(code, termination::terminated, 11));
    const auto n = frames->items_per_frame();
    EXPECT_EQ(n, code.values(17));
    // The tail stages produce no output bits.
    EXPECT_EQ(frames->output_of_item(n - 1, false), 10u);
    EXPECT_EQ(frames->output_of_item(n, false), 11u);
    EXPECT_EQ(frames->output_of_item(n, true), 2u);
    EXPECT_EQ(frames->output_of_item(n - 1, true), 1u);
}

TEST(viterbi_decoder, NoisyStream_ReportsItsErrorRate)
{
    const conv_code code(7, { 0171, -0133 });
    const auto sent = qa::transmit(code, termination::streaming, 0, 65536, 20, 8);
    std::size_t wrong = 0;
    conv_encoder_kernel encoder(code, termination::streaming, 0);
    std::vector<std::uint8_t> coded(sent.values.size());
    encoder.encode(sent.bits.data(), sent.bits.size(), coded.data());
    for (std::size_t i = 0; i < coded.size(); ++i) {
        wrong += (sent.values[i] < 0) != bool(coded[i]);
    }
    const double truth = double(wrong) / coded.size();
    auto o = options(code);
    o.batch = 16;
    o.decode_length = 512;
    const auto decoder = viterbi_decoder::make(o);
    double sum = 0;
    int batches = 0;
    std::uint64_t next_bit = 0;
    std::size_t pushed = 0;
    std::vector<std::uint8_t> out(1 << 16);
    while (pushed < sent.values.size()) {
        pushed += decoder->push(span(sent.values).from(pushed));
        decoder->wait(1000ms);
        while (decoder->pull(packed_bits(out)) > 0) {
            const auto s = decoder->status();
            ASSERT_TRUE(s);
            EXPECT_FALSE(decoder->status());
            EXPECT_EQ(s->first_bit, next_bit);
            next_bit += 16 * 512;
            sum += s->channel_error_rate;
            EXPECT_GT(s->metric, 0);
            ++batches;
        }
    }
    ASSERT_GE(batches, 6);
    EXPECT_NEAR(sum / batches, truth, 0.1 * truth);
}

TEST(viterbi_decoder, InvalidOptions_AreRefused)
{
    const conv_code code(7, { 0171, 0133 });
    const auto error = [&](auto&& change) -> std::string {
        auto o = options(code);
        change(o);
        try {
            const auto d = viterbi_decoder::make(o);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    using o = viterbi_options;
    EXPECT_EQ(error([](o& x) { x.slots = 0; }), "slots is 0: allowed values are 1 to 16");
    EXPECT_EQ(error([](o& x) { x.slots = 17; }),
              "slots is 17: allowed values are 1 to 16");
    EXPECT_EQ(error([](o& x) { x.threads = 0; }),
              "threads is 0: allowed values are 1 to 256");
    EXPECT_NE(error([](o& x) { x.batch = 1u << 30; }), "");
    EXPECT_NE(error([](o& x) { x.soft_scale = 0; }).find("soft_scale is 0"),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.soft_scale = NAN; }), "");
    EXPECT_NE(error([](o& x) { x.max_latency_ms = -1; }).find("max_latency_ms is -1"),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.cuda_kernel = "fast"; }).find("cuda_kernel is \"fast\""),
              std::string::npos);
    EXPECT_NE(error([](o& x) { x.devices.clear(); }), "");
    EXPECT_EQ(error([](o& x) { x.positive_bit = 2; }),
              "positive_bit is 2: allowed values are 0 and 1");
    EXPECT_NE(error([](o& x) { x.frame_bits = 5; }), "");
    const auto good = viterbi_decoder::make(options(code));
    EXPECT_THROW(good->set_soft_scale(-1), std::invalid_argument);
    EXPECT_THROW(good->set_max_latency_ms(INFINITY), std::invalid_argument);
}

TEST(viterbi_decoder, AutomaticBackend_IsLogged)
{
    std::vector<std::string> lines;
    decoder_hooks h;
    h.log = [&](log_level, const std::string& line) { lines.push_back(line); };
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.backend = backend::automatic;
    const auto decoder = viterbi_decoder::make(o, h);
    ASSERT_EQ(lines.size(), 1u);
    const bool gpu = !find_cuda_devices().devices.empty();
    EXPECT_EQ(decoder->active_backend(), gpu ? "cuda" : "cpu");
    EXPECT_NE(lines[0].find(gpu ? "on cuda" : "no CUDA: "), std::string::npos)
        << lines[0];
}

TEST(viterbi_decoder, CudaWithoutDevice_IsRefused)
{
    auto o = options(conv_code(7, { 0171, 0133 }));
    o.backend = backend::cuda;
    o.devices = { 4711 };
    EXPECT_THROW(viterbi_decoder::make(o), std::runtime_error);
    o.backend = backend::automatic; // the decoder falls back to the CPU
    EXPECT_EQ(viterbi_decoder::make(o)->active_backend(), "cpu");
}

class on_gpu : public testing::Test
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }
};

using viterbi_decoder_cuda = on_gpu;

TEST_F(viterbi_decoder_cuda, LongStream_EqualsCpu)
{
    for (const auto* name : { "ccsds", "dvb_3_4", "dvb_7_8", "lte", "cdma_1_2" }) {
        const auto code = conv_code::preset(name);
        const auto sent = qa::transmit(code, termination::streaming, 0, 300007, 24, 9);
        std::vector<std::uint8_t> first;
        for (const auto where : { backend::cpu, backend::cuda }) {
            for (const unsigned batch : { 0u, 17u }) {
                auto o = options(code);
                o.backend = where;
                o.batch = batch;
                const auto decoder = viterbi_decoder::make(o);
                const auto out = run(*decoder, sent.values, true, 30000);
                if (first.empty()) {
                    first = out;
                }
                EXPECT_EQ(out, first) << name;
            }
        }
    }
}

TEST_F(viterbi_decoder_cuda, BatchBeyondMemory_IsReduced)
{
    std::vector<std::string> warnings;
    decoder_hooks h;
    h.log = [&](log_level l, const std::string& line) {
        if (l == log_level::warning) {
            warnings.push_back(line);
        }
    };
    auto o = options(conv_code(9, { 0753, 0561 }));
    o.backend = backend::cuda;
    o.slots = 8;
    const auto free = find_cuda_devices().devices[0].free_bytes;
    // The survivors of a parallel block need one bit per state and stage, 32 KiB for the
    // 1024 decoded stages alone. The batch size leaves only 20 kB of free memory per
    // block and slot, so the batch does not fit.
    o.batch = unsigned(std::min<std::size_t>(free / 8 / 20000, 1u << 24));
    const auto decoder = viterbi_decoder::make(o, h);
    EXPECT_LT(decoder->batch(), o.batch);
    EXPECT_GT(decoder->batch(), o.batch / 8);
    EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(viterbi_decoder_cuda, SeveralDecoders_EqualCpu)
{
    const auto sent = qa::transmit(
        conv_code(7, { 0171, 0133 }), termination::streaming, 0, 100000, 24, 9);
    const auto decode = [&](backend where, unsigned batch) {
        auto o = options(conv_code(7, { 0171, 0133 }));
        o.backend = where;
        o.batch = batch;
        const auto decoder = viterbi_decoder::make(o);
        return run(*decoder, sent.values, true, 10000);
    };
    const auto expected = decode(backend::cpu, 0);
    std::vector<std::vector<std::uint8_t>> results(4);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < results.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = decode(backend::cuda, 10 + i); });
    }
    for (auto& t : threads) {
        t.join();
    }
    for (const auto& r : results) {
        EXPECT_EQ(r, expected);
    }
}

} // namespace
