// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that both backends decode noiseless, noisy and full-scale signals like the
 * bit-true model. The tests cover all presets and terminations, random codes of every
 * size, and int8 and packed4 input of either sign. */

#include "common/cpu_variant.h"
#include "common/host_memory.h"
#include "cuda/devices.h"
#include "qa_support.h"
#include "viterbi/model/reference.h"
#include "viterbi/stream/traits.h"
#include <gtest/gtest.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

namespace {

struct test_case {
    std::string name;
    conv_code code;
    termination ends = termination::streaming;
    unsigned frame_bits = 0;
    unsigned decode_length = 0;
    unsigned overlap = 0;
    std::size_t bits = 0;
    bool packed4 = false;
    bool clean = true; // whether noiseless input must decode to the sent bits
};

std::ostream& operator<<(std::ostream& out, const test_case& c) { return out << c.name; }

std::vector<test_case> cases()
{
    std::vector<test_case> all;
    for (const auto& p : conv_presets()) {
        const conv_code code(p.constraint_length, p.polynomials, p.puncturing);
        const bool stream = p.termination == termination::streaming;
        all.push_back({ p.name, code, p.termination, stream ? 0u : 333u });
    }
    const conv_code k7(7, { 0171, 0133 });
    const conv_code dvb34(7, { 0171, 0133 }, "101,110");
    const conv_code k9(9, { 0753, 0561 });
    using t = termination;
    all.push_back({ "stream_short", k7, t::streaming, 0, 0, 0, 5, false, false });
    all.push_back({ "stream_one_block", k7, t::streaming, 0, 0, 0, 512 });
    all.push_back({ "stream_small_blocks", k7, t::streaming, 0, 64, 13, 5000 });
    all.push_back({ "stream_lengths_of_paper", k7, t::streaming, 0, 512, 42, 9001 });
    all.push_back(
        { "stream_odd_overlap", k7, t::streaming, 0, 96, 7, 3003, false, false });
    // In the next three cases one output is never sent.
    all.push_back({ "stream_unsent_output",
                    conv_code(7, { 0171, 0133, 0165 }, "1,0,1"),
                    t::streaming,
                    0,
                    0,
                    0,
                    4000 });
    all.push_back({ "terminated_unsent_output",
                    conv_code(7, { 0171, 0133 }, "0,1"),
                    t::terminated,
                    700,
                    0,
                    0,
                    0,
                    false,
                    false });
    all.push_back({ "stream_rate_1",
                    conv_code(7, { 0171, 0133 }, "0,1"),
                    t::streaming,
                    0,
                    64,
                    64,
                    4000,
                    false,
                    false });
    all.push_back({ "stream_packed4", k7, t::streaming, 0, 0, 0, 4000, true });
    all.push_back({ "stream_packed4_34", dvb34, t::streaming, 0, 96, 50, 4001, true });
    // In the next nine cases, outputs are inverted or in another order.
    const auto ccsds = conv_code::preset("ccsds");
    const conv_code reversed(7, { -0133, 0171 });
    all.push_back({ "ccsds_packed4", ccsds, t::streaming, 0, 0, 0, 4000, true });
    all.push_back({ "ccsds_odd_overlap", ccsds, t::streaming, 0, 512, 43, 4000 });
    all.push_back({ "ccsds_terminated", ccsds, t::terminated, 700 });
    all.push_back({ "ccsds_tailbiting", ccsds, t::tailbiting, 700 });
    all.push_back({ "reversed_stream", reversed, t::streaming, 0, 0, 0, 4000 });
    all.push_back({ "reversed_terminated", reversed, t::terminated, 700 });
    all.push_back(
        { "k9_reversed", conv_code(9, { 0561, -0753 }), t::streaming, 0, 0, 0, 4000 });
    all.push_back({ "k9_terminated", conv_code(9, { 0561, -0753 }), t::terminated, 901 });
    all.push_back(
        { "third_reversed", conv_code(7, { 0165, -0133, 0171 }), t::terminated, 901 });
    all.push_back({ "terminated_tiny", k7, t::terminated, 1 });
    all.push_back({ "terminated_8192", k7, t::terminated, 8192 });
    all.push_back({ "terminated_blocks", dvb34, t::terminated, 1000, 96, 33 });
    all.push_back({ "terminated_packed4", dvb34, t::terminated, 101, 0, 0, 0, true });
    all.push_back({ "truncated_tiny", k7, t::truncated, 3, 0, 0, 0, false, false });
    all.push_back({ "truncated_odd", k7, t::truncated, 1501 });
    all.push_back({ "truncated_blocks", k9, t::truncated, 1501, 160, 70 });
    all.push_back({ "tailbiting_tiny", k7, t::tailbiting, 6 });
    all.push_back({ "tailbiting_40", conv_code::preset("lte"), t::tailbiting, 40 });
    all.push_back({ "tailbiting_blocks", k9, t::tailbiting, 1201, 96, 64 });
    all.push_back({ "tailbiting_punctured", dvb34, t::tailbiting, 500 });
    for (int K = 3; K <= 9; ++K) {
        for (int R = 2; R <= 6; ++R) {
            std::mt19937 random(100 * K + R);
            std::vector<int> polynomials;
            for (int r = 0; r < R; ++r) {
                const int p = 1 + random() % ((1u << K) - 1);
                polynomials.push_back(random() & 1 ? -p : p);
            }
            // One polynomial must use the newest and one the oldest bit.
            polynomials[0] = 1 << (K - 1) | 1;
            all.push_back({ "K" + std::to_string(K) + "R" + std::to_string(R),
                            conv_code(K, polynomials),
                            R % 2 ? t::streaming : t::terminated,
                            R % 2 ? 0u : 517u,
                            128,
                            40,
                            0,
                            false,
                            false });
        }
    }
    return all;
}

struct prepared {
    viterbi::setup setup;
    std::vector<std::int8_t> input;
    std::vector<std::uint8_t> expected;
    std::size_t bits;
};

// Returns whether the tests should use less data, for example under a slow sanitizer.
bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

prepared prepare(const test_case& c, double sigma, unsigned seed = 1)
{
    const auto plan =
        make_block_layout(c.code, c.ends, c.frame_bits, c.decode_length, c.overlap);
    auto bits = c.bits ? c.bits : 3 * plan.decode_length + 17;
    if (small_scale() && !c.bits) {
        bits = plan.decode_length + 17;
    }
    if (!plan.streaming()) {
        bits = (small_scale() ? 3 : 37) * c.frame_bits; // normally more frames than lanes
        if (c.frame_bits > 1000) {
            bits = 3 * c.frame_bits;
        }
    }
    const auto sent = qa::transmit(c.code, c.ends, c.frame_bits, bits, sigma, seed);
    const auto values = c.packed4 ? qa::quantise4(sent.values) : sent.values;
    auto expected = reference::parallel_blocks(c.code, plan, values, bits);
    if (sigma == 0 && c.clean) {
        EXPECT_EQ(expected, sent.bits);
    }
    const setup setup(c.code, plan, c.packed4);
    return { setup,
             c.packed4 ? qa::pack4(sent.values, plan.frame_values) : sent.values,
             std::move(expected),
             bits };
}

// Negates the signal of a test case, so that positive values mean bit 1.
prepared with_other_sign(prepared p)
{
    p.setup = { p.setup.named, p.setup.plan, p.setup.packed4, 1 };
    p.input = qa::other_sign(std::move(p.input), p.setup.packed4);
    return p;
}

// Decodes the whole signal as one batch.
std::vector<std::uint8_t> decode(batch_decoder<job>& decoder, const prepared& p)
{
    const auto& plan = p.setup.plan;
    const auto limits = decoder.limits();
    const host_memory input(limits.input_bytes), output(limits.output_bytes);
    std::memset(input.data(), 0x55, limits.input_bytes);
    std::memset(output.data(), 0xaa, limits.output_bytes);
    std::memcpy(input.data(), p.input.data(), p.input.size());
    job job;
    job.values = p.input.size() * (p.setup.packed4 ? 2 : 1);
    job.blocks = plan.streaming() ? (p.bits + plan.decode_length - 1) / plan.decode_length
                                  : p.bits / plan.frame_bits * plan.blocks_per_frame;
    decoder.submit(0, job, { input.data(), output.data(), nullptr });
    while (!decoder.finished(0)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(output.data());
    std::vector<std::uint8_t> bits;
    for (std::size_t i = 0; i < p.bits; ++i) {
        auto at = i;
        if (!plan.streaming()) {
            at = i / plan.frame_bits * 8 * p.setup.frame_output_bytes() +
                 i % plan.frame_bits;
        }
        bits.push_back(bytes[at / 8] >> (7 - at % 8) & 1);
    }
    return bits;
}

std::size_t blocks_for(const prepared& p)
{
    const auto& plan = p.setup.plan;
    return plan.streaming() ? p.bits / plan.decode_length + 1
                            : p.bits / plan.frame_bits * plan.blocks_per_frame;
}

// Returns a CUDA decoder with the given kernel, or nullptr if that kernel does not
// support the code.
std::unique_ptr<batch_decoder<job>> make_cuda(const prepared& p,
                                              const std::string& kernel)
{
    try {
        auto setup = p.setup;
        setup.cuda_kernel = kernel;
        return traits::make_cuda(setup, blocks_for(p), 2, 0);
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("cuda_kernel is \"" + kernel),
                  std::string::npos)
            << error.what();
        EXPECT_TRUE(kernel == "registers" || kernel == "fused");
        return nullptr;
    }
}

class viterbi_cpu : public testing::TestWithParam<test_case>
{
};

TEST_P(viterbi_cpu, RandomNoise_EqualsReference)
{
    // A sigma of 25 is Eb/N0 of about 2 dB at rate 1/2, where many decisions are close.
    for (const double sigma : { 0.0, 25.0 }) {
        const auto p = prepare(GetParam(), sigma);
        const auto other = with_other_sign(p);
        for (const auto& set : cpu_variants()) {
            const auto decoder = traits::make_cpu(p.setup, blocks_for(p), 2, set);
            EXPECT_EQ(decode(*decoder, p), p.expected) << set;
            const auto opposite = traits::make_cpu(other.setup, blocks_for(p), 2, set);
            EXPECT_EQ(decode(*opposite, other), p.expected) << set;
        }
    }
}

class viterbi_cuda : public testing::TestWithParam<test_case>
{
};

TEST_P(viterbi_cuda, RandomNoise_EqualsReference)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    for (const std::string kernel : { "auto", "pbvd", "registers", "fused" }) {
        for (const double sigma : { 0.0, 25.0 }) {
            const auto p = prepare(GetParam(), sigma);
            for (const auto& q : { p, with_other_sign(p) }) {
                const auto decoder = make_cuda(q, kernel);
                if (decoder) {
                    EXPECT_EQ(decode(*decoder, q), q.expected) << kernel;
                }
            }
        }
    }
}

TEST(viterbi_cuda_batch, InputOnDevice_HasUpToTwelveTimesTheHostBatch)
{
    const auto found = find_cuda_devices();
    if (found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    const auto setup = prepare(cases()[0], 0).setup;
    run_options run;
    const auto host = traits::cuda_batch(setup, run, 0);
    run.input_on_device = true;
    const auto device = traits::cuda_batch(setup, run, 0);
    // A multiprocessor has 12 warps. Each thread decodes two parallel blocks.
    const std::size_t large = 12 * 64 * std::size_t(found.devices[0].multiprocessors);
    EXPECT_GE(device, std::min(12 * host, std::max(host, large)) / 64 * 64);
    EXPECT_LE(device, 12 * host);
}

// Decoders of different codes launch the same kernels with different amounts of shared
// memory. The shared-memory limit that one decoder sets for a kernel must not be too low
// for another decoder.
TEST(viterbi_cuda_together, DecodersOfEveryCode_EqualReference)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    std::vector<prepared> data;
    for (const auto& c : cases()) {
        data.push_back(prepare(c, 25));
    }
    for (const std::string kernel : { "auto", "pbvd", "fused" }) {
        std::vector<std::unique_ptr<batch_decoder<job>>> decoders;
        for (const auto& p : data) {
            decoders.push_back(make_cuda(p, kernel));
        }
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (decoders[i]) {
                EXPECT_EQ(decode(*decoders[i], data[i]), data[i].expected)
                    << cases()[i].name << ", " << kernel;
            }
        }
    }
}

std::string case_name(const testing::TestParamInfo<test_case>& info)
{
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(all, viterbi_cpu, testing::ValuesIn(cases()), case_name);
INSTANTIATE_TEST_SUITE_P(all, viterbi_cuda, testing::ValuesIn(cases()), case_name);

// Full-scale values with random signs make path metrics grow and spread quickly. If path
// metrics overflowed, the decoded bits would differ from those of the reference.
TEST(viterbi_range, FullScaleValues_DoNotOverflowPathMetrics)
{
    for (const auto& code : { conv_code(7, { 0171, 0133 }),
                              conv_code(7, { 0133, 0171, 0165 }),
                              conv_code(9, { 0753, 0561 }),
                              conv_code(9, { 0557, 0663, 0711, 0453, 0671, 0515 }) }) {
        for (const auto ends : { termination::streaming, termination::terminated }) {
            const unsigned frame = ends == termination::streaming ? 0 : 3000;
            test_case c{ "", code, ends, frame, 1024, 64, 5000 };
            auto p = prepare(c, 20);
            std::mt19937 random(7);
            for (auto& v : p.input) {
                v = random() & 1 ? -128 : 127;
            }
            p.expected = reference::parallel_blocks(code, p.setup.plan, p.input, p.bits);
            for (const auto& q : { p, with_other_sign(p) }) {
                const auto cpu = traits::make_cpu(q.setup, blocks_for(q), 1);
                EXPECT_EQ(decode(*cpu, q), q.expected);
                if (find_cuda_devices().devices.empty()) {
                    continue;
                }
                for (const std::string kernel : { "pbvd", "registers", "fused" }) {
                    if (const auto cuda = make_cuda(q, kernel)) {
                        EXPECT_EQ(decode(*cuda, q), q.expected) << kernel;
                    }
                }
            }
        }
    }
}

} // namespace
