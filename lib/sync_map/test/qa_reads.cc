// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of joint decoding of several reads (received copies of a frame): comparison with
 * reference::read_by_read() and reference::joint_posteriors(), outputs and batch sizes,
 * soft, missing and undecodable reads, and fewer errors with more reads. */

#include "cuda/devices.h"
#include "qa_support.h"
#include <gnuradio/gpufec/sync_reads.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <random>

namespace gr::gpufec::sync_map {
namespace {

using std::chrono::milliseconds;
using bytes = std::vector<std::uint8_t>;

// Test frames; the reads of each frame are consecutive in `received`.
struct test_reads {
    sync_reads_options options;
    unsigned frames;
    std::vector<std::vector<std::uint16_t>> messages;
    std::vector<bytes> received;
    std::vector<std::vector<float>> priors;
};

test_reads random_reads(const sync_code& code,
                        const bsid_model& channel,
                        unsigned frames,
                        unsigned R)
{
    test_reads data{ sync_options(code, channel), frames, {}, {}, {} };
    data.options.reads = R;
    data.options.output = sync_output::posteriors64;
    data.options.precision = sync_precision::float64;
    data.options.backend = backend::cpu;
    std::mt19937_64 random(17);
    bsid_channel through(channel, 23);
    for (unsigned f = 0; f < frames; ++f) {
        std::vector<std::uint16_t> message(code.frame_symbols());
        for (auto& D : message) {
            D = (random() >> 32) * code.q() >> 32;
        }
        bytes sent(code.frame_bits());
        sync_encoder_kernel(code).encode(message.data(), message.size(), sent.data());
        data.messages.push_back(message);
        for (unsigned r = 0; r < R; ++r) {
            data.received.push_back(through.send(sent));
        }
    }
    return data;
}

void add_priors(test_reads& data)
{
    data.options.priors = true;
    std::mt19937_64 random(5);
    for (unsigned f = 0; f < data.frames; ++f) {
        data.priors.emplace_back();
        const auto& code = data.options.code;
        for (unsigned k = 0; k < code.frame_symbols() * code.q(); ++k) {
            data.priors.back().push_back(0.05f + float((random() >> 40) * 0x1p-24));
        }
        data.priors.back()[3] = 0;
    }
}

struct decoded_reads {
    std::vector<std::vector<double>> values; // output values of each frame
    std::vector<sync_status> statuses;
};

template <class Value, class Decoder>
void take_all(Decoder& decoder, decoded_reads& to)
{
    sync_decoder::frame f;
    while (decoder.pull(f)) {
        EXPECT_EQ(f.number, to.values.size());
        to.values.emplace_back();
        append_values<Value>(static_cast<const std::byte*>(f.output),
                             f.output_bytes / sizeof(Value),
                             to.values.back());
        to.statuses.push_back(f.status);
        EXPECT_EQ(f.locked, bool(f.status.valid));
    }
}

template <class Value, class Decoder>
decoded_reads decode_with(Decoder& decoder, const test_reads& data)
{
    decoded_reads out;
    for (std::size_t k = 0; k < data.received.size(); ++k) {
        const auto& y = data.received[k];
        const auto* const priors =
            data.priors.empty() ? nullptr : data.priors[k / data.options.reads].data();
        const auto count = y.size() / data.options.item_bytes();
        while (!decoder.push_frame({ y.data(), count }, priors)) {
            take_all<Value>(decoder, out);
            decoder.wait(milliseconds(10));
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        take_all<Value>(decoder, out);
        decoder.wait(milliseconds(10));
    }
    EXPECT_EQ(out.values.size(), data.frames);
    return out;
}

template <class Value>
decoded_reads decode(const test_reads& data)
{
    const auto decoder = sync_reads_decoder::make(data.options);
    return decode_with<Value>(*decoder, data);
}

// Returns the reads of a frame as inputs of the reference decoder.
std::vector<reference::map_problem> problems_of(const test_reads& data, unsigned f)
{
    const auto& o = data.options;
    std::vector<reference::map_problem> reads;
    for (unsigned r = 0; r < o.reads; ++r) {
        const auto& y = data.received[f * o.reads + r];
        reads.push_back(
            reference::frame_problem(o.code, o.channel, decoder_window(o), y));
        if (o.priors) {
            reads.back().priors.assign(data.priors[f].begin(), data.priors[f].end());
        }
    }
    return reads;
}

void check_against_reference(const test_reads& data, double tolerance)
{
    const auto decoded = decode<double>(data);
    for (unsigned f = 0; f < data.frames; ++f) {
        EXPECT_LE(largest_difference(
                      decoded.values[f],
                      reference::read_by_read(problems_of(data, f), data.options.passes)),
                  tolerance)
            << "frame " << f << ", reads " << data.options.reads << ", passes "
            << data.options.passes << ", q = " << data.options.code.q();
        EXPECT_TRUE(decoded.statuses[f].valid);
    }
}

class sync_reads : public testing::TestWithParam<backend>
{
protected:
    void SetUp() override
    {
        const auto found = find_cuda_devices();
        if (GetParam() == backend::cuda && found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }

    test_reads
    make(const sync_code& code, const bsid_model& channel, unsigned frames, unsigned R)
    {
        auto data = random_reads(code, channel, frames, R);
        data.options.backend = GetParam();
        return data;
    }
};

TEST_P(sync_reads, SeveralReads_EqualReference)
{
    for (const unsigned R : { 2u, 3u, 5u }) {
        for (const unsigned passes : { 1u, 2u, 3u }) {
            auto data = make(codebook_random(6, 8, 12, 4), { 0.03, 0.04, 0.02 }, 5, R);
            data.options.passes = passes;
            check_against_reference(data, 1e-9);
            add_priors(data);
            check_against_reference(data, 1e-9);
            data.options.precision = sync_precision::float32;
            check_against_reference(data, 1e-5);
        }
    }
    check_against_reference(
        make(codebook_random(3, 20, 8, 5, 4), { 0.05, 0.04, 0.03, 4 }, 5, 3), 1e-9);
}

TEST_P(sync_reads, ManyAgreeingReads_StayInRangeOfFloats)
{
    auto data = make(codebook_random(10, 16, 12, 4), { 1e-3, 1e-3, 1e-3 }, 2, 60);
    check_against_reference(data, 1e-9);
    data.options.precision = sync_precision::float32;
    check_against_reference(data, 1e-5);
}

TEST_P(sync_reads, OneRead_EqualsOrdinaryDecoder)
{
    auto data = make(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 30, 1);
    data.received[7].resize(3); // this frame cannot be decoded
    for (const bool with_priors : { false, true }) {
        if (with_priors) {
            add_priors(data);
        }
        for (const auto output : { sync_output::posteriors, sync_output::llr }) {
            data.options.output = output;
            data.options.passes = 2;
            const auto ordinary = sync_decoder::make(data.options);
            const auto expected = decode_with<std::uint8_t>(*ordinary, data);
            const auto decoded = decode<std::uint8_t>(data);
            EXPECT_EQ(decoded.values, expected.values);
            for (unsigned f = 0; f < data.frames; ++f) {
                const auto &a = decoded.statuses[f], &b = expected.statuses[f];
                EXPECT_EQ(a.log_probability, b.log_probability);
                EXPECT_EQ(a.end_drift, b.end_drift);
                EXPECT_EQ(a.entropy, b.entropy);
                EXPECT_EQ(a.valid, b.valid);
            }
        }
    }
}

TEST_P(sync_reads, BatchesOfAnySize_HaveSameOutput)
{
    auto data = make(codebook_random(8, 16, 12, 4), { 0.03, 0.03, 0.01 }, 41, 3);
    data.options.batch = 41;
    const auto one = decode<double>(data);
    data.options.batch = 4;
    data.options.slots = 2;
    data.options.threads = 2;
    data.options.max_latency_ms = 0;
    EXPECT_EQ(decode<double>(data).values, one.values);
    // With smaller batches, some frames are pushed while others are in their second pass.
    data.options.batch = 3;
    data.options.slots = 1;
    EXPECT_EQ(decode<double>(data).values, one.values);
}

TEST_P(sync_reads, EveryOutputKind_MatchesPosteriors)
{
    auto data = make(codebook_random(7, 8, 10, 4), { 0.03, 0.03, 0.01 }, 6, 3);
    add_priors(data);
    const auto q = data.options.code.q();
    const auto with = [&](sync_output output, auto value) {
        data.options.output = output;
        return decode<decltype(value)>(data);
    };
    const auto exact = with(sync_output::posteriors64, double());
    const auto floats = with(sync_output::posteriors, float());
    const auto symbols = with(sync_output::symbols, std::uint8_t());
    const auto extrinsics = with(sync_output::extrinsics, float());
    const auto llrs = with(sync_output::llr, std::int8_t());
    for (unsigned f = 0; f < data.frames; ++f) {
        EXPECT_LE(largest_difference(exact.values[f], floats.values[f]), 1e-7);
        for (unsigned i = 0; i < data.options.code.frame_symbols(); ++i) {
            const auto* const L = &exact.values[f][i * q];
            EXPECT_EQ(symbols.values[f][i], std::max_element(L, L + q) - L);
            std::vector<double> e(q);
            const auto* const known = &data.priors[f][i * q];
            double sum = 0;
            for (unsigned D = 0; D < q; ++D) {
                // A word with prior 0 has posterior 0, so its extrinsic probability
                // cannot be computed from the posterior.
                e[D] = known[D] > 0 ? L[D] / known[D] : extrinsics.values[f][i * q + D];
                sum += known[D] > 0 ? e[D] : 0;
            }
            const double left =
                i * q <= 3 && 3 < (i + 1) * q ? 1 - extrinsics.values[f][3] : 1.0;
            for (unsigned D = 0; D < q; ++D) {
                e[D] = known[D] > 0 ? e[D] / sum * left : e[D];
                EXPECT_NEAR(extrinsics.values[f][i * q + D], e[D], 1e-6);
            }
            for (unsigned b = 0; b < 3; ++b) {
                double zero = 0, one = 0;
                for (unsigned D = 0; D < q; ++D) {
                    (D >> (2 - b) & 1 ? one : zero) += e[D];
                }
                const double llr = std::clamp(8 * std::log(zero / one), -127.0, 127.0);
                EXPECT_NEAR(llrs.values[f][i * 3 + b], llr, 0.51);
            }
        }
    }
}

TEST_P(sync_reads, LaterRead_DecodesAsReadWithPriorsOfEarlierRead)
{
    auto data = make(codebook_random(6, 8, 12, 4), { 0.03, 0.04, 0.02 }, 5, 2);
    const auto twice = decode<double>(data);
    data.options.passes = 1;
    const auto once = decode<double>(data);
    // Decodes the first reads, then the second reads with the posteriors of the first
    // reads as priors.
    test_reads first = data, second = data;
    first.options.reads = second.options.reads = 1;
    first.received.clear();
    second.received.clear();
    for (unsigned f = 0; f < data.frames; ++f) {
        first.received.push_back(data.received[2 * f]);
        second.received.push_back(data.received[2 * f + 1]);
    }
    const auto before = decode<double>(first);
    second.options.priors = true;
    for (const auto& L : before.values) {
        second.priors.emplace_back(L.begin(), L.end());
    }
    const auto after = decode<double>(second);
    for (unsigned f = 0; f < data.frames; ++f) {
        const double expected =
            before.statuses[f].log_probability + after.statuses[f].log_probability;
        EXPECT_NEAR(once.statuses[f].log_probability, expected, 1e-5);
        EXPECT_NEAR(twice.statuses[f].log_probability, expected, 1e-5);
        EXPECT_EQ(once.statuses[f].end_drift, after.statuses[f].end_drift);
        EXPECT_LE(largest_difference(once.values[f], after.values[f]), 1e-6);
    }
}

TEST_P(sync_reads, SoftReads_DecodeAsHardReads)
{
    auto data = make(codebook_random(6, 8, 12, 4), { 0.03, 0.04, 0.02 }, 5, 3);
    const auto hard = decode<double>(data);
    data.options.soft_input = true;
    for (auto& read : data.received) {
        const std::vector<float> soft(read.begin(), read.end());
        read.resize(soft.size() * sizeof(float));
        std::memcpy(read.data(), soft.data(), read.size());
    }
    const auto decoded = decode<double>(data);
    for (unsigned f = 0; f < data.frames; ++f) {
        EXPECT_LE(largest_difference(decoded.values[f], hard.values[f]), 1e-9);
    }
}

TEST_P(sync_reads, LikelihoodReads_DecodeAsHardReads)
{
    auto data = make(codebook_random(5, 8, 12, 4, 4), { 0.03, 0.04, 0.02, 4 }, 5, 3);
    const auto hard = decode<double>(data);
    data.options.soft_input = true;
    for (auto& read : data.received) {
        std::vector<float> soft;
        for (const unsigned y : read) {
            for (unsigned x = 0; x < 4; ++x) {
                soft.push_back(y == x ? 7 : 0);
            }
        }
        read.resize(soft.size() * sizeof(float));
        std::memcpy(read.data(), soft.data(), read.size());
    }
    const auto decoded = decode<double>(data);
    for (unsigned f = 0; f < data.frames; ++f) {
        EXPECT_LE(largest_difference(decoded.values[f], hard.values[f]), 1e-9);
    }
}

TEST_P(sync_reads, UndecodableReads_CountAsNotReceived)
{
    auto data = make(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 6, 3);
    auto fewer = data;
    fewer.options.reads = 2;
    fewer.received.clear();
    for (unsigned f = 0; f < data.frames; ++f) {
        const auto lost = f % 3;
        data.received[f * 3 + lost].resize(f % 2 ? 0 : 500);
        for (unsigned r = 0; r < 3; ++r) {
            if (r != lost) {
                fewer.received.push_back(data.received[f * 3 + r]);
            }
        }
    }
    const auto decoded = decode<double>(data), expected = decode<double>(fewer);
    for (unsigned f = 0; f < data.frames; ++f) {
        EXPECT_LE(largest_difference(decoded.values[f], expected.values[f]), 1e-9);
        EXPECT_TRUE(decoded.statuses[f].valid);
        EXPECT_NEAR(decoded.statuses[f].log_probability,
                    expected.statuses[f].log_probability,
                    1e-9);
    }
    for (unsigned r = 0; r < 3; ++r) {
        data.received[3 + r].clear();
    }
    add_priors(data);
    const auto none = decode<double>(data);
    EXPECT_FALSE(none.statuses[1].valid);
    EXPECT_EQ(none.values[1], std::vector<double>(none.values[1].size(), 1.0 / 16));
    EXPECT_TRUE(none.statuses[2].valid);
}

TEST_P(sync_reads, MissingReadsOfLastFrame_CountAsNotReceived)
{
    auto data = make(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 3, 3);
    auto shorter = data;
    data.received.back().clear();
    shorter.received.pop_back();
    EXPECT_EQ(decode<double>(shorter).values, decode<double>(data).values);
}

TEST_P(sync_reads, FlushedReads_AreDecodedBeforeBatchIsFull)
{
    auto data = make(codebook_random(8, 16, 12, 4), { 0.02, 0.02, 0.01 }, 2, 4);
    data.options.batch = 100;
    data.options.max_latency_ms = 1e6;
    const auto decoder = sync_reads_decoder::make(data.options);
    for (unsigned r = 0; r < 6; ++r) {
        const auto& y = data.received[r];
        ASSERT_TRUE(decoder->push_frame(y));
    }
    EXPECT_FALSE(decoder->ready());
    decoder->flush();
    for (int k = 0; k < 1000 && !decoder->wait(milliseconds(10)); ++k) {
    }
    sync_decoder::frame f;
    EXPECT_TRUE(decoder->pull(f));
    EXPECT_TRUE(f.status.valid);
    EXPECT_FALSE(decoder->pull(f)); // the second frame lacks its last two reads
    decoder->reset();
    EXPECT_EQ(decode_with<double>(*decoder, data).values, decode<double>(data).values);
}

TEST_P(sync_reads, MoreReads_ReduceErrors)
{
    std::vector<double> rates;
    for (const unsigned R : { 1u, 2u, 4u }) {
        auto data = make(codebook_random(8, 16, 30, 4), { 0.06, 0.06, 0.01 }, 60, R);
        data.options.output = sync_output::symbols;
        data.options.precision = sync_precision::float32;
        const auto decoded = decode<std::uint8_t>(data);
        unsigned errors = 0;
        for (unsigned f = 0; f < data.frames; ++f) {
            for (unsigned i = 0; i < 30; ++i) {
                errors += decoded.values[f][i] != data.messages[f][i];
            }
        }
        rates.push_back(errors / (60.0 * 30));
        RecordProperty("errors_of_" + std::to_string(R), int(errors));
    }
    EXPECT_LT(rates[1], 0.75 * rates[0]);
    EXPECT_LT(rates[2], 0.5 * rates[1]);
    EXPECT_GT(rates[1], 0);
}

// Returns the mean total variation distance between the decoded posteriors and the joint
// posteriors of all reads.
double gap(const test_reads& data, unsigned* other_decisions = nullptr)
{
    const auto decoded = decode<double>(data);
    const auto q = data.options.code.q();
    double sum = 0;
    for (unsigned f = 0; f < data.frames; ++f) {
        const auto exact = reference::joint_posteriors(problems_of(data, f));
        const auto& L = decoded.values[f];
        for (std::size_t i = 0; i < L.size(); i += q) {
            const auto most = [&](const std::vector<double>& p) {
                return std::max_element(&p[i], &p[i] + q) - &p[i];
            };
            if (other_decisions) {
                *other_decisions += most(L) != most(exact);
            }
            for (unsigned D = 0; D < q; ++D) {
                sum += std::abs(L[i + D] - exact[i + D]) / 2;
            }
        }
    }
    return sum / (data.frames * data.options.code.frame_symbols());
}

TEST_P(sync_reads, SeparateReads_ApproachJointDecoding)
{
    auto data = make(codebook_random(4, 4, 3, 4), { 0.03, 0.03, 0.02 }, 200, 3);
    unsigned other = 0;
    const double of_two = gap(data, &other);
    data.options.passes = 1;
    const double of_one = gap(data);
    RecordProperty("gap_of_one_pass", std::to_string(of_one));
    RecordProperty("gap_of_two_passes", std::to_string(of_two));
    RecordProperty("other_decisions", int(other));
    // For two reads (p = 0.03, 3000 symbols), the second pass reduced the mean gap from
    // 2.5e-3 to 3.5e-4, and no decision then differed from that of joint decoding
    // (bench/results/sync/sync-reads-cpu.json).
    EXPECT_LE(of_two, 1e-3);
    EXPECT_LE(of_two, of_one / 4);
    EXPECT_GT(of_two, 0);
    EXPECT_LE(other, 2u);
}

// Decoding read by read is exact if the symbols of a frame are independent given a read:
// on channels without drift, or in frames of one symbol.
TEST_P(sync_reads, IndependentSymbols_DecodeExactly)
{
    auto data = make(codebook_random(5, 6, 3, 4), { 0, 0, 0.15 }, 20, 4);
    EXPECT_LE(gap(data), 1e-7);
    data = make(codebook_random(5, 6, 1, 4), { 0.05, 0.05, 0.05 }, 40, 4);
    EXPECT_LE(gap(data), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(cpu, sync_reads, testing::Values(backend::cpu));
INSTANTIATE_TEST_SUITE_P(cuda, sync_reads, testing::Values(backend::cuda));

TEST(sync_reads_options, InvalidOption_ErrorNamesOption)
{
    const auto good =
        random_reads(codebook_random(6, 8, 4, 4), { 0.01, 0.01 }, 0, 2).options;
    const auto refused = [&](auto change) -> std::string {
        auto o = good;
        change(o);
        try {
            const auto decoder = sync_reads_decoder::make(o);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "nothing";
    };
    const auto begins = [](const std::string& text, const std::string& with) {
        EXPECT_EQ(text.substr(0, with.size()), with) << text;
    };
    begins(refused([](auto& o) { o.reads = 0; }),
           "reads is 0: allowed values are 1 to 256");
    begins(refused([](auto& o) { o.reads = 257; }), "reads is 257: ");
    begins(refused([](auto& o) { o.passes = 0; }),
           "passes is 0: allowed values are 1 to 16");
    begins(refused([](auto& o) { o.passes = 17; }), "passes is 17: ");
    begins(refused([](auto& o) { o.mode = sync_mode::stream; }),
           "reads is 2: several reads require framed mode");
    begins(refused([](auto& o) {
               o.reads = 1;
               o.mode = sync_mode::stream;
           }),
           "mode is stream: ");
    begins(refused([](auto& o) { o.drifts = true; }), "drifts is true: ");
    begins(refused([](auto& o) { o.slots = 0; }), "slots is 0: ");
    begins(refused([](auto& o) { o.devices.clear(); }), "number of devices is 0: ");
    begins(refused([](auto&) {}), "nothing");
}

} // namespace
} // namespace gr::gpufec::sync_map
