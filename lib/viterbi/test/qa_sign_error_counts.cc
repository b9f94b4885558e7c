// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the counts of wrong signs, for the samples of a batch and for the checks of a
 * lock, on the CPU and on a GPU. Class reencoder defines a step. */

#include "cuda/devices.h"
#include "viterbi/cpu/channel_counter.h"
#include "viterbi/phase_lock/sign_error_counts.h"
#include "viterbi/stream/traits.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

namespace {

// A batch of a stream from parallel block `first_block` on, with random decoded bits,
// and noisy soft values of the coded bits, so that some signs are wrong.
struct counted_batch {
    counted_batch(const conv_code& code, unsigned blocks, std::uint64_t first_block)
        : setup(code, make_block_layout(code, termination::streaming, 0, 0, 0), false)
    {
        std::mt19937 random(unsigned(first_block) + blocks);
        const auto D = setup.plan.decode_length, L = setup.plan.overlap;
        job.first_block = first_block;
        job.blocks = blocks;
        first = first_block * D;
        end = first + std::uint64_t(blocks) * D;
        job.first_value = code.values(first - std::min<std::uint64_t>(first, L)) / 2 * 2;
        job.values = code.values(end + L) - job.first_value;
        job.error_counts = true;
        bits.resize((end - first) / 8);
        for (auto& byte : bits) {
            byte = std::uint8_t(random());
        }
        unsigned state = 0;
        for (auto stage = first; stage < end; ++stage) {
            const unsigned bit = bit_of(stage);
            const auto word = code.output_word(state, bit);
            state = code.next_state(state, bit);
            for (unsigned r = 0; r < code.outputs(); ++r) {
                if (code.sent(stage, r)) {
                    sent.push_back(bool(word >> (code.outputs() - 1 - r) & 1u) !=
                                   code.inverted(r));
                }
            }
        }
        const auto before = code.values(first) - job.first_value;
        for (std::uint64_t i = 0; i < job.values; ++i) {
            const bool one = i >= before && i - before < sent.size() && sent[i - before];
            const int noise = int(random() % 7) - 1;
            values.push_back(std::int8_t(one ? -noise : noise));
        }
    }
    unsigned bit_of(std::uint64_t stage) const
    {
        return bits[(stage - first) / 8] >> (7 - (stage - first) % 8) & 1u;
    }
    const std::byte* input() const
    {
        return reinterpret_cast<const std::byte*>(values.data());
    }

    viterbi::setup setup;
    viterbi::job job;
    std::uint64_t first, end;
    std::vector<std::uint8_t> bits;
    std::vector<bool> sent;
    std::vector<std::int8_t> values;
};

const struct {
    const char* preset;
    unsigned blocks;
    std::uint64_t first_block;
} counted[] = { { "dvb_1_2", 40, 0 },  { "dvb_1_2", 33, 1007 },  { "dvb_7_8", 50, 3 },
                { "dvb_2_3", 30, 77 }, { "dvb_5_6", 31, 12345 }, { "ccsds", 1, 7 },
                { "cdma_1_2", 20, 9 }, { "lte", 40, 2 } };

conv_code code_of(const char* name)
{
    const auto preset = find_conv_preset(name);
    return conv_code(preset.constraint_length, preset.polynomials, preset.puncturing);
}

// Decodes a batch on the CPU and on a GPU, and compares the status and, for a stream, the
// output.
void expect_equal_on_device(const viterbi::setup& setup,
                            const viterbi::job& job,
                            const std::byte* input)
{
    const auto limits = setup.limits(job.blocks);
    const auto decode = [&](traits::decoder decoder) {
        std::vector<std::byte> made(limits.output_bytes + limits.status_bytes);
        EXPECT_TRUE(decoder->reserve_conversion_buffers());
        decoder->submit(
            0, job, { input, made.data(), made.data() + limits.output_bytes });
        while (!decoder->finished(0)) {
            std::this_thread::yield();
        }
        return made;
    };
    const auto made = decode(traits::make_cpu(setup, job.blocks, 1));
    const auto other = decode(traits::make_cuda(setup, job.blocks, 1, 0));
    // Padding at the ends of frames may differ.
    const auto skipped = setup.plan.streaming() ? 0 : limits.output_bytes;
    EXPECT_TRUE(std::equal(made.begin() + skipped, made.end(), other.begin() + skipped));
}

} // namespace

TEST(viterbi_channel_counts, Sample_CountsTheSignsOfItsStages)
{
    unsigned samples = 0;
    for (const auto& t : counted) {
        SCOPED_TRACE(t.preset);
        const auto code = code_of(t.preset);
        const counted_batch b(code, t.blocks, t.first_block);
        const auto& plan = b.setup.samples;
        const auto D = b.setup.plan.decode_length;
        std::vector<channel_counts> made(plan.count(b.job));
        EXPECT_LE(made.size(), plan.most(t.blocks));
        channel_counter(b.setup)(b.job,
                                 b.input(),
                                 reinterpret_cast<const std::byte*>(b.bits.data()),
                                 made.data());
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            const auto sample = plan.at(b.job, i);
            if (i == 0) {
                EXPECT_EQ(sample.item, 0u);
            } else {
                EXPECT_EQ((t.first_block + sample.item) % plan.every, 0u);
                EXPECT_LT(sample.item, t.blocks);
            }
            const auto stage = b.first + sample.bit;
            EXPECT_GE(sample.bit, sample.item * D + plan.memory);
            EXPECT_LT(sample.bit, sample.item * D + plan.memory + plan.step_stages);
            EXPECT_EQ(sample.value, code.values(stage) - b.job.first_value);
            EXPECT_EQ(sample.values,
                      code.values(stage + sample.stages) - code.values(stage));
            EXPECT_GT(sample.stages, D - 2 * plan.memory - 2 * plan.step_stages);
            channel_counts expected{};
            for (std::uint32_t v = 0; v < sample.values; ++v) {
                const int value = b.values[sample.value + v];
                const bool one = b.sent[code.values(stage) - code.values(b.first) + v];
                expected.values += value != 0;
                if (value != 0 && (value < 0) != one) {
                    ++expected.wrong;
                    expected.against += unsigned(std::abs(value));
                }
            }
            EXPECT_EQ(made[i].values, expected.values);
            EXPECT_EQ(made[i].wrong, expected.wrong);
            EXPECT_EQ(made[i].against, expected.against);
            EXPECT_GT(expected.wrong, 0u);
            ++samples;
        }
    }
    EXPECT_GT(samples, std::size(counted));
}

TEST(viterbi_sign_error_counts, Check_CountsItsLastSteps)
{
    for (const auto& t : counted) {
        SCOPED_TRACE(t.preset);
        const auto code = code_of(t.preset);
        const counted_batch b(code, t.blocks, t.first_block);
        const auto& plan = b.setup.checks;
        ASSERT_GT(plan.every, 0u);
        std::vector<sign_error_counts> made(plan.count(b.first, b.end));
        make_sign_error_counts(b.setup,
                               b.job,
                               b.input(),
                               reinterpret_cast<const std::byte*>(b.bits.data()),
                               made.data());
        for (std::size_t i = 0; i < made.size(); ++i) {
            const auto check = (b.first / plan.every + 1 + i) * plan.every;
            const auto last = check / plan.stages * plan.stages;
            for (unsigned k = 0; k < sign_error_counts::sizes; ++k) {
                const auto stages = (8u << k) * plan.stages;
                if (last < stages || last - stages < b.first + plan.memory) {
                    EXPECT_EQ(made[i].values[k], sign_error_counts::missing);
                    continue;
                }
                unsigned there = 0, wrong = 0;
                const auto before = code.values(b.first);
                for (auto v = code.values(last - stages); v < code.values(last); ++v) {
                    const int value = b.values[v - b.job.first_value];
                    there += value != 0;
                    wrong += value != 0 && (value < 0) != b.sent[v - before];
                }
                EXPECT_EQ(made[i].values[k], there);
                EXPECT_EQ(made[i].wrong[k], wrong);
                EXPECT_GT(wrong, 0u);
            }
        }
    }
}

TEST(viterbi_sign_error_counts_cuda, CountsOnDevice_EqualCountsOfCpu)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    for (const auto& t : counted) {
        for (unsigned how = 0; how < 4; ++how) {
            SCOPED_TRACE(testing::Message() << t.preset << ", input variant " << how);
            counted_batch b(code_of(t.preset), t.blocks, t.first_block);
            std::vector<float> floats(b.values.begin(), b.values.end());
            std::vector<std::byte> packed((b.values.size() + 1) / 2);
            for (std::size_t i = 0; i < b.values.size(); ++i) {
                packed[i / 2] |= std::byte((b.values[i] & 15) << (i % 2 ? 0 : 4));
            }
            const auto* input = b.input();
            if (how == 1) {
                b.job.phase_rotation = { true, { false, true } };
            } else if (how == 2) {
                b.setup.floats = b.job.floats = true;
                b.job.scaled_before = b.job.values / 3;
                b.job.scale[0] = 0.3f;
                input = reinterpret_cast<const std::byte*>(floats.data());
            } else if (how == 3) {
                b.setup.packed4 = true;
                input = packed.data();
            }
            expect_equal_on_device(b.setup, b.job, input);
        }
    }
}

TEST(viterbi_channel_counts_cuda, CountsOnDevice_EqualCountsOfCpu)
{
    if (const auto found = find_cuda_devices(); found.devices.empty()) {
        GTEST_SKIP() << found.missing;
    }
    // The second code has 11 soft values per puncturing period, more than one step.
    const conv_code plain(7, { 0171, 0133 }),
        punctured(7, { 0171, 0133 }, "1111111111,1000000000");
    const block_layout layouts[] = {
        make_block_layout(plain, termination::streaming, 0, 0, 0),
        make_block_layout(punctured, termination::streaming, 0, 0, 0),
        make_block_layout(plain, termination::terminated, 5003, 0, 0),
        make_block_layout(punctured, termination::tailbiting, 4010, 0, 0),
        make_block_layout(plain, termination::truncated, 20, 0, 0),
    };
    std::mt19937 random(1);
    for (std::size_t i = 0; i < std::size(layouts); ++i) {
        for (const bool packed4 : { false, true }) {
            SCOPED_TRACE(testing::Message() << "layout " << i << ", packed4 " << packed4);
            const viterbi::setup made(
                i % 2 ? punctured : plain, layouts[i], packed4, unsigned(i % 3 == 2));
            viterbi::job job;
            job.blocks = 40 * layouts[i].blocks_per_frame;
            const auto limits = made.limits(job.blocks);
            if (layouts[i].streaming()) {
                job.first_block = 1000;
                job.first_value = made.code.values(1000 * layouts[i].decode_length) & ~1u;
                job.values = made.code.values(39 * layouts[i].decode_length);
            } else {
                job.first_block = 700 * layouts[i].blocks_per_frame;
            }
            std::vector<std::byte> input(limits.input_bytes);
            for (auto& byte : input) {
                byte = std::byte(random());
            }
            expect_equal_on_device(made, job, input.data());
        }
    }
}
