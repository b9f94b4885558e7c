// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CPU decoders: every form, precision and instruction set against test
 * vectors and the reference, the forward recursion of single frames, outputs, the largest
 * words and frames, and allocations in worker threads. */

#include "qa_support.h"
#include "sync_map/cpu/decoder.h"
#include <gtest/gtest.h>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<unsigned> allocations_of_workers{ 0 };
thread_local bool is_worker = true;

} // namespace

// Counts allocations in worker threads. The function is not inlined, because the compiler
// would otherwise warn about free() on memory from operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes)
{
    allocations_of_workers += is_worker;
    if (auto* const memory = std::malloc(bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

namespace gr::gpufec::sync_map {
namespace {

decoder_maker on_cpu(const std::string& variant = "")
{
    return [variant](const setup& setup, std::size_t frames) {
        return traits::make_cpu(setup, frames, 2, variant);
    };
}

TEST(sync_cpu, LinearForm_HasPosteriorsOfTestVectors)
{
    const unsigned copies = 19; // at least one full group of lanes, and an incomplete
                                // group
    const auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    for (const auto& variant : cpu_variants()) {
        for (const auto& v : all) {
            check_vector(v,
                         options_of(v, sync_precision::float64),
                         on_cpu(variant),
                         1e-10,
                         copies);
            check_vector(
                v, options_of(v, sync_precision::float32), on_cpu(variant), 1e-6, copies);
            check_vector(
                v, options_of(v, sync_precision::mixed), on_cpu(variant), 1e-6, copies);
        }
    }
}

TEST(sync_cpu, CorridorForm_HasPosteriorsOfTestVectors)
{
    const auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    if (all.empty()) {
        GTEST_SKIP() << "no test vectors were found in $GPUFEC_TEST_DATA/sync";
    }
    for (const auto& v : all) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (const auto precision : { sync_precision::float64,
                                          sync_precision::float32,
                                          sync_precision::mixed }) {
                auto o = options_of(v, precision);
                o.form = sync_form::corridor;
                o.storage = storage;
                check_vector(v,
                             o,
                             on_cpu(),
                             precision == sync_precision::float64 ? 1e-10 : 1e-6,
                             1);
            }
        }
    }
}

TEST(sync_cpu, ReceiversAndThresholds_ApproachReference)
{
    const auto data =
        random_frames(codebook_random(6, 8, 12, 4), bsid_model(0.03, 0.04, 0.01), 5);
    auto o = data.options;
    o.form = sync_form::corridor;
    o.precision = sync_precision::float64;
    o.change_first = -6;
    o.change_last = 12;
    check_against_reference(data, o, on_cpu(), 1e-8);
    o.receiver = sync_receiver::lattice;
    check_against_reference(data, o, on_cpu(), 1e-8);
    o.receiver = sync_receiver::trellis;
    o.insertion_cap = 4;
    check_against_reference(data, o, on_cpu(), 1e-6);
    EXPECT_GT(difference_to_reference(data, o, on_cpu()), 1e-12);
    o.insertion_cap = 1;
    EXPECT_GT(difference_to_reference(data, o, on_cpu()), 1e-4);
    o.receiver = sync_receiver::corridor;
    o.state_threshold = o.lattice_threshold = 1e-9;
    check_against_reference(data, o, on_cpu(), 1e-5);
    EXPECT_GT(difference_to_reference(data, o, on_cpu()), 1e-13);
}

TEST(sync_cpu, UnusualCodesAndChannels_EqualReference)
{
    for (const auto& c : awkward_cases()) {
        for (const auto precision :
             { sync_precision::float64, sync_precision::float32 }) {
            auto data = random_frames(c.code, c.channel, 5);
            data.options.precision = precision;
            const double tolerance = precision == sync_precision::float64 ? 1e-10 : 1e-6;
            for (const auto& variant : cpu_variants()) {
                check_against_reference(data, data.options, on_cpu(variant), tolerance);
            }
            data.options.form = sync_form::corridor;
            data.options.change_first = -int(c.code.n());
            data.options.change_last = 40;
            check_against_reference(data, data.options, on_cpu(), tolerance);
        }
    }
}

void scale_to_1(std::vector<double>& values)
{
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    for (auto& v : values) {
        v /= sum;
    }
}

// Returns α at the end of a frame according to the reference. With a uniform end prior, λ
// at the last boundary equals α, apart from item_weight, which the reference does not
// use.
std::vector<double> alpha_of_reference(test_frames data, std::size_t f)
{
    auto& o = data.options;
    const auto window = decoder_window(o);
    o.end = { window.first, std::vector<double>(window.size(), 1) };
    const auto drifts = reference_of(data, o, f).drifts;
    std::vector<double> alpha(drifts.end() - window.size(), drifts.end());
    for (unsigned m = 0; m < alpha.size(); ++m) {
        alpha[m] *= std::pow(double(o.code.alphabet()), double(m));
    }
    scale_to_1(alpha);
    return alpha;
}

TEST(sync_cpu, ForwardRecursionOfOneFrame_EqualsReference)
{
    for (const auto& c : awkward_cases()) {
        auto data = random_frames(c.code, c.channel, 3);
        for (const auto precision :
             { sync_precision::float64, sync_precision::float32 }) {
            data.options.precision = precision;
            const auto setup = make_setup(data.options);
            const host_memory frame(setup.input_bytes());
            std::vector<double> carried(setup.window);
            for (const auto& variant : cpu_variants()) {
                alpha_carrier carrier(setup, cpu_kernels(variant));
                for (std::size_t f = 0; f < data.messages.size(); ++f) {
                    write_framed(setup,
                                 data.received[f].data(),
                                 data.received[f].size(),
                                 nullptr,
                                 frame.data());
                    carrier.carry(frame.data(), carried.data());
                    // In the reference, drifts beyond the received items have α = 0.
                    const int last = int(data.received[f].size()) -
                                     int(c.code.frame_bits()) -
                                     decoder_window(data.options).first;
                    std::fill(carried.begin() + last + 1, carried.end(), 0);
                    scale_to_1(carried);
                    EXPECT_LE(largest_difference(carried, alpha_of_reference(data, f)),
                              precision == sync_precision::float64 ? 1e-10 : 1e-6)
                        << variant << ": n = " << c.code.n() << ", q = " << c.code.q();
                }
            }
        }
    }
}

// Returns α after a frame of random bits that begins with uniform α.
std::vector<double> alpha_amid_bits(const sync_code& code,
                                    const bsid_model& channel,
                                    sync_precision precision,
                                    const std::string& variant)
{
    sync_options o{ code, channel };
    o.mode = sync_mode::stream;
    o.precision = precision;
    o.lookahead = 20;
    const auto setup = make_setup(o);
    const auto window = decoder_window(o);
    const host_memory frame(setup.input_bytes());
    const std::vector<double> any(setup.window, 1.0);
    write_frame(setup,
                { int(setup.max_items), -window.first, window.first, 0 },
                any,
                any,
                nullptr,
                frame.data());
    std::mt19937 random(code.n() * 1000 + code.q());
    std::generate_n(frame.data() + setup.items_at(), setup.max_items, [&] {
        return std::byte(random() >> 31);
    });
    std::vector<double> carried(setup.window);
    alpha_carrier(setup, cpu_kernels(variant)).carry(frame.data(), carried.data());
    return carried;
}

TEST(sync_cpu, ForwardRecursionOfOneFrame_IsContinuousAsSubstitutionsVanish)
{
    for (unsigned n = 1; n <= 12; ++n) {
        for (const unsigned q : { 2u, 5u, 16u, 17u, 40u }) {
            if (q > 1u << n) {
                continue;
            }
            const auto code = codebook_random(n, q, 3, n);
            const auto exact = alpha_amid_bits(code,
                                               { 0.1, 0.07, 1e-25 },
                                               sync_precision::float64,
                                               cpu_variants().back());
            EXPECT_NEAR(std::accumulate(exact.begin(), exact.end(), 0.0), 1, 1e-12);
            for (const auto& variant : cpu_variants()) {
                for (const auto precision :
                     { sync_precision::float64, sync_precision::float32 }) {
                    const auto carried =
                        alpha_amid_bits(code, { 0.1, 0.07, 0 }, precision, variant);
                    EXPECT_LE(largest_difference(carried, exact),
                              precision == sync_precision::float64 ? 1e-12 : 1e-6)
                        << variant << ": n = " << n << ", q = " << q;
                }
            }
        }
    }
}

TEST(sync_cpu, WindowAbove1024Drifts_EqualsReference)
{
    auto data = random_frames(codebook_random(10, 2, 1400, 1), { 0.2, 0.2, 0 }, 1);
    EXPECT_GT(decoder_window(data.options).size(), 1024u);
    data.options.precision = sync_precision::float32;
    EXPECT_LE(difference_to_reference(data, data.options, on_cpu()), 1e-6);
}

TEST(sync_cpu, PriorsAndSoftInput_EqualReference)
{
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        check_priors_and_soft_values(form, on_cpu());
    }
}

TEST(sync_cpu, SymbolLikelihoods_EqualReference)
{
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        for (const auto precision : { sync_precision::float64,
                                      sync_precision::float32,
                                      sync_precision::mixed }) {
            for (const unsigned alphabet : { 3u, 4u, 16u }) {
                for (const auto& variant : cpu_variants()) {
                    for (const unsigned q : { 2u, 23u, 40u }) {
                        const auto make = on_cpu(variant);
                        check_likelihoods(make, form, 5, q, alphabet, precision, 5);
                    }
                }
            }
        }
    }
}

// A soft bit is one float, the probability p of a 1. Its transmission weights must equal
// those of the likelihoods 1 − p and p in the format of larger alphabets.
TEST(sync_cpu, LikelihoodsOfTwoSymbols_DecodeAsProbabilities)
{
    auto bits = random_frames(codebook_random(6, 20, 7, 4), { 0.03, 0.04, 0.02 }, 1);
    auto& o = bits.options;
    o.soft_input = true;
    for (unsigned k = 0; k < bits.received[0].size(); ++k) {
        bits.soft.resize(1);
        bits.soft[0].push_back(std::abs(float(bits.received[0][k]) - 0.01f * (k % 40)));
    }
    const auto setup = make_setup(o);
    const bsid_weights w(o.channel);
    for (const float p : bits.soft[0]) {
        double weights[2];
        item_weigher{ setup }(reinterpret_cast<const std::byte*>(&p), weights);
        const float L[2] = { 3 * (1 - p), 3 * p };
        for (const unsigned sent : { 0u, 1u }) {
            double sum = 0, all = 0;
            for (const unsigned b : { 0u, 1u }) {
                sum += (b == sent ? w.match : w.mismatch) * L[b];
                all += L[b];
            }
            EXPECT_NEAR(weights[sent], sum / all / setup.largest_weight(), 1e-7);
        }
    }
}

TEST(sync_cpu, EveryOutputKind_MatchesPosteriors) { check_outputs(on_cpu()); }

TEST(sync_cpu, Workers_DoNotAllocate)
{
    is_worker = false;
    unsigned before = allocations_of_workers;
    std::thread([] { ::operator delete(::operator new(8)); }).join();
    EXPECT_EQ(allocations_of_workers - before, 1u); // checks that the counter works
    before = allocations_of_workers;
    check_outputs(on_cpu());
    check_impossible_frames(on_cpu());
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        check_priors_and_soft_values(form, on_cpu());
        auto data =
            random_frames(codebook_random(6, 8, 12, 4), bsid_model(0.03, 0.04, 0.01), 5);
        data.options.form = form;
        for (const auto output :
             { sync_output::symbols, sync_output::extrinsics, sync_output::llr }) {
            data.options.output = output;
            decode_frames(data, data.options, on_cpu());
        }
    }
    is_worker = true;
    EXPECT_EQ(allocations_of_workers - before, 0u);
}

TEST(sync_cpu, LongestWords_EqualReference)
{
    const auto n = sync_code::max_n;
    auto data = random_frames(codebook_random(n, 4, 2, 4), { 1e-4, 1e-4, 0 }, 1);
    data.options.precision = sync_precision::float64;
    EXPECT_LE(difference_to_reference(data, data.options, on_cpu()), 1e-8);
}

TEST(sync_cpu, LargestFramesAndCodebooks_DecodeWithoutErrors)
{
    static_assert(sync_code::max_frame_bits == 4096 * 256 && sync_code::max_q == 65536);
    for (const auto& code : { codebook_random(4096, 2, 256, 4),
                              codebook_random(1, 2, 1 << 20, 4),
                              codebook_random(16, 65536, 3, 4) }) {
        SCOPED_TRACE(code.n());
        auto data = random_frames(code, { 0, 0, 0 }, 1);
        data.options.precision = sync_precision::float32;
        data.options.output = sync_output::symbols;
        const auto decoded = decode_frames(data, data.options, on_cpu());
        EXPECT_TRUE(decoded[0].status.valid);
        const std::vector<double> sent(data.messages[0].begin(), data.messages[0].end());
        EXPECT_EQ(decoded[0].values, sent);
    }
}

TEST(sync_cpu, ImpossibleFrame_IsUniformAndNotValid)
{
    check_impossible_frames(on_cpu());
}

} // namespace
} // namespace gr::gpufec::sync_map
