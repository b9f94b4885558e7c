// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests that arrays in device memory and in pinned memory decode to the same output as
 * arrays in host memory on the CPU. */

#include "cuda/devices.h"
#include "ldpc/test/qa_support.h"
#include "sync_map/test/qa_support.h"
#include <gnuradio/gpufec/arrays.h>
#include <gtest/gtest.h>
#include <cstring>
#include <random>
#include <set>

namespace gr::gpufec {
namespace {

using sync_map::random_frames;

class device_arrays : public testing::Test
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }
};

const memory_kind all_kinds[] = { memory_kind::ordinary,
                                  memory_kind::page_locked,
                                  memory_kind::device };

// An array in pageable, pinned or device memory.
template <class T>
class placed_array
{
public:
    placed_array(memory_kind kind, const std::vector<T>& values)
        : d_size(values.size()), d_ordinary(values)
    {
        const auto bytes = d_size * sizeof(T);
        if (kind != memory_kind::ordinary) {
            d_memory = kind == memory_kind::device ? array_memory::on_device(bytes, 0)
                                                   : array_memory::page_locked(bytes);
            EXPECT_EQ(place_of(d_memory->data()).kind, kind);
            copy_memory(d_memory->data(), values.data(), bytes);
        }
    }
    T* data() { return d_memory ? static_cast<T*>(d_memory->data()) : d_ordinary.data(); }
    std::vector<T> values()
    {
        std::vector<T> all(d_size);
        copy_memory(all.data(), data(), d_size * sizeof(T));
        return all;
    }

private:
    std::size_t d_size;
    std::vector<T> d_ordinary;
    std::shared_ptr<array_memory> d_memory;
};

// Calls decode(in, out) with arrays in each kind of memory and compares the output with
// \p expected. \p direct lists the kinds of memory that a device decoder reads in place.
// Output in device memory is tested only with these kinds of input.
template <class T, class Decode, class Same>
void expect_of_all_kinds(const std::vector<T>& in,
                         const std::vector<std::uint8_t>& expected,
                         const std::set<memory_kind>& direct,
                         Decode&& decode,
                         Same&& same)
{
    for (const auto from : all_kinds) {
        for (const auto to : all_kinds) {
            if (to == memory_kind::device && direct.count(from) == 0) {
                continue;
            }
            placed_array<T> placed(from, in);
            placed_array<std::uint8_t> out(
                to, std::vector<std::uint8_t>(expected.size(), 0xee));
            EXPECT_EQ(decode(placed.data(), out.data()), "cuda");
            EXPECT_TRUE(same(out.values(), expected))
                << "from memory kind " << int(from) << " to memory kind " << int(to);
        }
    }
}

const std::set<memory_kind> not_ordinary{ memory_kind::page_locked, memory_kind::device };

bool equal(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b)
{
    return a == b;
}

bool near(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b)
{
    std::vector<float> x(a.size() / sizeof(float)), y(x.size());
    std::memcpy(x.data(), a.data(), a.size());
    std::memcpy(y.data(), b.data(), b.size());
    return std::equal(x.begin(), x.end(), y.begin(), [](float p, float q) {
        return std::abs(p - q) <= 4e-6f;
    });
}

// There are gaps between the frames, two frames have an invalid length, and the order of
// the frames is not their order in memory.
TEST_F(device_arrays, SyncFramesInAnyMemory_DecodeAsOnCpu)
{
    const auto data =
        random_frames(codebook_davey_mackay(6, 8, 6, 4), { 0.01, 0.01, 0 }, 9);
    constexpr std::size_t row = 100;
    std::vector<std::uint8_t> items(9 * row, 2);
    std::vector<std::uint64_t> begins, lengths;
    for (const std::size_t f : { 0, 1, 2, 8, 7, 3, 4, 5, 6 }) {
        const auto& received = data.received[f];
        std::copy(received.begin(), received.end(), items.begin() + f * row);
        begins.push_back(f * row);
        lengths.push_back(f == 2 ? 0 : f == 4 ? row : received.size());
    }
    for (const auto output : { sync_output::symbols, sync_output::posteriors }) {
        for (const unsigned batch : { 0u, 2u }) {
            auto o = data.options;
            o.output = output;
            o.batch = batch;
            o.backend = backend::cpu;
            sync_array_decoder known(o);
            const auto count = begins.size();
            std::vector<std::uint8_t> expected(count * known.frame_bytes());
            std::vector<sync_status> expected_statuses(count), statuses(count);
            const auto run = [&](sync_array_decoder& decoder,
                                 const void* in,
                                 void* out,
                                 std::vector<sync_status>& to) {
                decoder.decode(
                    in, begins.data(), lengths.data(), count, nullptr, out, to.data());
                return decoder.active_backend();
            };
            EXPECT_EQ(run(known, items.data(), expected.data(), expected_statuses),
                      "cpu");
            EXPECT_TRUE(expected_statuses[0].valid && !expected_statuses[2].valid &&
                        !expected_statuses[6].valid);
            o.backend = backend::cuda;
            sync_array_decoder decoder(o);
            expect_of_all_kinds(
                items,
                expected,
                not_ordinary,
                [&](const void* in, void* out) {
                    return run(decoder, in, out, statuses);
                },
                output == sync_output::symbols ? equal : near);
            for (std::size_t f = 0; f < count; ++f) {
                EXPECT_EQ(statuses[f].valid, expected_statuses[f].valid) << f;
                if (expected_statuses[f].valid) {
                    EXPECT_NEAR(statuses[f].log_probability,
                                expected_statuses[f].log_probability,
                                1e-3);
                    EXPECT_EQ(statuses[f].start_drift, expected_statuses[f].start_drift);
                    EXPECT_EQ(statuses[f].end_drift, expected_statuses[f].end_drift);
                }
            }
        }
    }
    auto o = data.options;
    o.priors = true;
    placed_array<std::uint8_t> there(memory_kind::device, items);
    const std::vector<float> priors(9 * 6 * 8, 1.0f);
    std::vector<std::uint8_t> out(9 * 6);
    std::vector<sync_status> statuses(9);
    EXPECT_THROW(sync_array_decoder(o).decode(there.data(),
                                              begins.data(),
                                              lengths.data(),
                                              9,
                                              priors.data(),
                                              out.data(),
                                              statuses.data()),
                 std::invalid_argument);
}

struct decoded_codewords {
    std::vector<std::uint8_t> output;
    std::vector<ldpc_array_decoder::status> statuses;
};

decoded_codewords decode_on_cpu(ldpc_options o,
                                bool packed,
                                const std::vector<std::int8_t>& values,
                                std::size_t frames)
{
    o.backend = backend::cpu;
    ldpc_array_decoder decoder(o, packed);
    decoded_codewords d;
    d.output.resize(frames * decoder.output_items());
    d.statuses.resize(frames);
    decoder.decode(values.data(), frames, d.output.data(), d.statuses.data());
    return d;
}

// Expects that arrays in each kind of memory decode to the CPU's output.
void expect_codewords(ldpc_options o)
{
    constexpr std::size_t frames = 11;
    std::mt19937 random(3);
    std::vector<std::int8_t> values(o.codes[0].sent() * frames);
    for (auto& v : values) {
        v = std::int8_t(random() % 21 - 10);
    }
    for (const bool packed : { true, false }) {
        for (const unsigned batch : { 0u, 4u }) {
            o.batch = batch;
            const auto known = decode_on_cpu(o, packed, values, frames);
            std::vector<ldpc_array_decoder::status> statuses(frames);
            o.backend = backend::cuda;
            ldpc_array_decoder decoder(o, packed);
            expect_of_all_kinds(
                values,
                known.output,
                not_ordinary,
                [&](const void* in, void* out) {
                    decoder.decode(in, frames, out, statuses.data());
                    for (std::size_t f = 0; f < frames; ++f) {
                        EXPECT_EQ(statuses[f].iterations, known.statuses[f].iterations);
                        EXPECT_EQ(statuses[f].unsatisfied, known.statuses[f].unsatisfied);
                    }
                    return decoder.active_backend();
                },
                equal);
        }
    }
}

TEST_F(device_arrays, CodewordsInAnyMemory_DecodeAsOnCpu)
{
    ldpc_options o;
    const auto code = ldpc::qa::regular_code(120, 60, 1);
    o.max_iterations = 6;
    auto reversed = code.message_positions();
    std::reverse(reversed.begin(), reversed.end());
    // The second code has punctured and shortened bits; the third has its message bits at
    // other positions.
    for (const auto& of : { code,
                            code.with_positions({ 100, 3 }, { 0, 1, 30 }),
                            code.with_message_positions(reversed) }) {
        o.codes = { of };
        for (const auto precision : { ldpc_precision::int8, ldpc_precision::int16 }) {
            for (const auto format : { llr_format::int8, llr_format::uint8 }) {
                o.precision = precision;
                o.format = format;
                expect_codewords(o);
            }
        }
    }
}

// Input in device memory is decoded in larger batches than other input. All calls have
// several batches, and a last batch that is not full.
TEST_F(device_arrays, ManyCodewordsInAnyMemory_DecodeAsOnCpu)
{
    if (find_cuda_devices().devices[0].name == "emulated") {
        GTEST_SKIP() << "this test takes minutes on an emulated device";
    }
    ldpc_options o;
    o.codes = { ldpc_code::dvbs2("short", "1/2") };
    o.max_iterations = 2;
    o.early_stop = false;
    o.slots = 16; // each slot holds about 230 codewords
    constexpr std::size_t frames = 7500;
    const auto n = o.codes[0].n();
    std::mt19937 random(5);
    std::vector<std::int8_t> some(n + 97); // frame f begins at offset f % 97
    for (auto& v : some) {
        v = std::int8_t(random() % 41 - 20);
    }
    std::vector<std::int8_t> values(n * frames);
    for (std::size_t f = 0; f < frames; ++f) {
        std::copy_n(some.begin() + f % 97, n, values.begin() + f * n);
        values[f * n + f % n] = 127;
    }
    const auto known = decode_on_cpu(o, true, values, frames);
    std::vector<ldpc_array_decoder::status> statuses(frames);
    o.backend = backend::cuda;
    ldpc_array_decoder decoder(o, true);
    for (const auto kind : { memory_kind::device, memory_kind::page_locked }) {
        placed_array<std::int8_t> in(kind, values);
        placed_array<std::uint8_t> out(
            kind, std::vector<std::uint8_t>(known.output.size(), 0xee));
        decoder.decode(in.data(), frames, out.data(), statuses.data());
        EXPECT_EQ(decoder.active_backend(), "cuda");
        EXPECT_EQ(out.values(), known.output) << int(kind);
        for (std::size_t f = 0; f < frames; ++f) {
            ASSERT_EQ(statuses[f].unsatisfied, known.statuses[f].unsatisfied) << f;
        }
    }
}

TEST_F(device_arrays, SoftValuesInAnyMemory_DecodeAsOnCpu)
{
    std::mt19937 random(4);
    std::vector<std::int8_t> values(2 * 64 * 50);
    for (auto& v : values) {
        v = std::int8_t(random() % 255 - 127);
    }
    const auto stream = termination::streaming, tailbiting = termination::tailbiting;
    for (const auto& [ends, format] : { std::pair(stream, soft_format::int8),
                                        std::pair(tailbiting, soft_format::int8),
                                        std::pair(stream, soft_format::uint8),
                                        std::pair(tailbiting, soft_format::uint8) }) {
        viterbi_options o(conv_code(7, { 0171, 0133 }));
        o.termination = ends;
        o.format = format;
        o.frame_bits = ends == termination::streaming ? 0 : 64;
        for (const bool packed : { true, false }) {
            o.backend = backend::cpu;
            viterbi_array_decoder known(o, packed);
            std::vector<std::uint8_t> expected(known.output_items(values.size()));
            known.decode(values.data(), values.size(), expected.data());
            o.backend = backend::cuda;
            viterbi_array_decoder decoder(o, packed);
            expect_of_all_kinds(
                values,
                expected,
                { memory_kind::device },
                [&](const void* in, void* out) {
                    decoder.decode(in, values.size(), out);
                    return decoder.active_backend();
                },
                equal);
        }
    }
}

// Decodes arrays in pinned and in device memory, first with a check that throws, then
// without, and expects correct output from the second call.
template <class T, class Decoder, class Decode>
void expect_end_and_again(const std::vector<T>& values,
                          const std::vector<std::uint8_t>& expected,
                          Decoder& decoder,
                          Decode&& decode)
{
    for (const auto kind : not_ordinary) {
        placed_array<T> in(kind, values);
        placed_array<std::uint8_t> out(kind, std::vector<std::uint8_t>(expected.size()));
        decoder.set_check([] { throw 5; });
        EXPECT_THROW(decode(in.data(), out.data()), int);
        decoder.set_check([] {});
        decode(in.data(), out.data());
        EXPECT_EQ(decoder.active_backend(), "cuda");
        EXPECT_EQ(out.values(), expected) << int(kind);
    }
}

TEST_F(device_arrays, ThrowingCallbackInViterbi_EndsOnlyThatCall)
{
    std::mt19937 random(4);
    std::vector<float> values(2 * 64 * 50);
    for (auto& v : values) {
        v = float(random() % 255) / 128 - 1;
    }
    viterbi_options o(conv_code(7, { 0171, 0133 }));
    o.format = soft_format::float32;
    o.backend = backend::cpu;
    viterbi_array_decoder known(o, true);
    std::vector<std::uint8_t> expected(known.output_items(values.size()));
    known.decode(values.data(), values.size(), expected.data());
    o.backend = backend::cuda;
    viterbi_array_decoder decoder(o, true);
    expect_end_and_again(values, expected, decoder, [&](const void* in, void* out) {
        decoder.decode(in, values.size(), out);
    });
}

TEST_F(device_arrays, ThrowingCallbackInLdpc_EndsOnlyThatCall)
{
    ldpc_options o;
    o.codes = { ldpc_code::standard("wifi", "648", "1/2") };
    std::mt19937 random(5);
    std::vector<std::int8_t> values(o.codes[0].sent() * 20);
    for (auto& v : values) {
        v = std::int8_t(random() % 41 - 20);
    }
    std::vector<ldpc_array_decoder::status> statuses(20);
    o.backend = backend::cpu;
    ldpc_array_decoder known(o, true);
    std::vector<std::uint8_t> expected(20 * known.output_items());
    known.decode(values.data(), 20, expected.data(), statuses.data());
    o.backend = backend::cuda;
    ldpc_array_decoder decoder(o, true);
    expect_end_and_again(values, expected, decoder, [&](const void* in, void* out) {
        decoder.decode(in, 20, out, statuses.data());
    });
}

} // namespace
} // namespace gr::gpufec
