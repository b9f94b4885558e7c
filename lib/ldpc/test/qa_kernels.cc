// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA kernels for layers, each of those among which the backend chooses,
 * against the CPU to the last bit. */

#include "cuda/devices.h"
#include "cuda_kernels.h"
#include "qa_support.h"
#include <cstdlib>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

// Frames of one code, decoded by one kernel.
std::vector<qa::decoded> decode(const device::launch_plan& kernel,
                                const setup& setup,
                                const std::vector<qa::frame>& frames)
{
    const auto& code = setup.codes[0];
    std::vector<frame_place> places;
    std::vector<std::uint8_t> values(frames.size() * setup.frame_input_bytes(code));
    for (std::uint32_t f = 0; f < frames.size(); ++f) {
        places.push_back({ std::uint32_t(f * setup.frame_input_bytes(code)),
                           std::uint32_t(f * setup.frame_output_bytes(code)),
                           f,
                           qa::soft_factor_of(f) });
        qa::put_values(frames[f], setup, &values[places[f].input]);
    }
    const cuda::buffer<frame_place> table(places.size());
    const cuda::buffer<std::uint8_t> input(values.size());
    const cuda::buffer<std::uint8_t> output(frames.size() *
                                            setup.frame_output_bytes(code));
    const cuda::buffer<frame_status> status(frames.size());
    const cuda::buffer<std::uint8_t> scratch(kernel.scratch_bytes(frames.size()));
    const cuda::stream stream;
    const auto copy = [&stream](void* to, const void* from, std::size_t bytes) {
        cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()),
                    "copy");
    };
    copy(table.get(), places.data(), table.bytes());
    copy(input.get(), values.data(), input.bytes());
    // What nobody writes is not what is expected.
    cudaMemsetAsync(output.get(), 0xa5, output.bytes(), stream.get());
    cudaMemsetAsync(status.get(), 0xff, status.bytes(), stream.get());
    cudaMemsetAsync(scratch.get(), 0x7f, scratch.bytes(), stream.get());
    kernel.launch({ table.get(),
                    std::uint32_t(frames.size()),
                    input.get(),
                    output.get(),
                    status.get() },
                  { setup.max_iterations,
                    setup.early_stop,
                    setup.output_bits(code),
                    setup.soft,
                    std::uint32_t(setup.soft_offset(code)) },
                  scratch.get(),
                  stream.get());
    std::vector<std::uint8_t> bytes(output.bytes());
    std::vector<frame_status> states(frames.size());
    copy(bytes.data(), output.get(), bytes.size());
    copy(states.data(), status.get(), status.bytes());
    cuda::check(cudaStreamSynchronize(stream.get()), "LDPC kernel");
    std::vector<qa::decoded> results;
    for (std::size_t f = 0; f < frames.size(); ++f) {
        const auto from = bytes.begin() + places[f].output;
        results.push_back({ { from, from + (setup.output_bits(code) + 7) / 8 },
                            states[f],
                            qa::llrs_at(&*from, setup, code) });
    }
    return results;
}

bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

using maker = std::unique_ptr<device::launch_plan> (*)(const ldpc_code&,
                                                       const message_rule&,
                                                       bool soft,
                                                       int);

void check_code(const ldpc_code& code,
                maker make,
                std::mt19937& random,
                ldpc_soft_output soft,
                ldpc_precision precision = ldpc_precision::int8)
{
    SCOPED_TRACE(code.name());
#ifdef GPUFEC_EMULATED // has kernels of pairs for few edges
    if (make == device::make_pairs_plan && code.largest_check_degree() > 7) {
        return;
    }
#endif
    for (const bool early : { true, false }) {
        setup s;
        s.codes = { code };
        s.early_stop = early;
        s.message_only = early;
        s.soft = soft;
        s.precision = precision;
        // With decisions, and alone.
        s.bits = soft != ldpc_soft_output::extrinsic || early;
        s.max_iterations = small_scale() ? 2 : early ? 20 : 4;
        const auto kernel = make(code, s.rule(code), soft != ldpc_soft_output::none, 0);
        if (!kernel) { // for want of shared memory, else never
            int room = 0;
            cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
            EXPECT_LT(room, 227 << 10);
            continue;
        }
        // Some 0.4 dB above the Shannon limit of the rate, for QPSK, and spread.
        const double limit =
            10 * std::log10(std::pow(2, 2.0 * code.k() / code.sent()) - 1);
        std::vector<qa::frame> frames;
        for (unsigned i = 0; i < (small_scale() ? 3 : 7); ++i) {
            const auto values = qa::in_steps(
                qa::transmit(code, limit + 0.4 + 0.4 * i, random).llr, s.rule(code));
            frames.push_back({ 0, i % 2 ? qa::in_halves(values, s.rule(code)) : values });
        }
        // More than a device has blocks at once, where there is time.
        const std::size_t many = small_scale() ? 3 : early ? 541 : 1;
        std::vector<qa::frame> all;
        for (std::size_t i = 0; i < many; ++i) {
            all.push_back(frames[i * 3 % frames.size()]);
        }
        // A frame's factor hangs on its place: the period of both is 35.
        std::vector<qa::frame> period;
        for (std::size_t i = 0; i < (soft == ldpc_soft_output::none ? frames.size() : 35);
             ++i) {
            period.push_back(frames[i * 3 % frames.size()]);
        }
        const auto wanted = qa::decode(*room::make_cpu(s, period.size(), 4), s, period);
        const auto got = decode(*kernel, s, all);
        for (std::size_t i = 0; i < many; ++i) {
            const auto& w = wanted[i % period.size()];
            EXPECT_EQ(got[i].status.iterations, w.status.iterations);
            EXPECT_EQ(got[i].status.unsatisfied, w.status.unsatisfied);
            EXPECT_TRUE(got[i].bytes == w.bytes) << "frame " << i;
            EXPECT_TRUE(got[i].llrs == w.llrs) << "LLRs of frame " << i;
        }
    }
}

bool no_device()
{
    const auto found = find_cuda_devices();
    if (!found.devices.empty()) {
        cuda::use(0);
    }
    return found.devices.empty();
}

void check_every_code(maker make,
                      ldpc_soft_output soft = ldpc_soft_output::none,
                      ldpc_precision precision = ldpc_precision::int8)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    std::mt19937 random(41);
    for (const std::string size : { "normal", "short" }) {
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            // Of few: irregular layers, many bits that a layer has twice, and a group
            // that shared memory has no room for.
            if (!small_scale() || rate == "1/2" || rate == "3/5" || rate == "9/10") {
                check_code(ldpc_code::dvbs2(size, rate), make, random, soft, precision);
            }
        }
    }
}

} // namespace

TEST(ldpc_kernels, singles_equal_the_cpu)
{
    for (const auto p : { ldpc_precision::int16, ldpc_precision::float32 }) {
        check_every_code(device::make_singles_plan, ldpc_soft_output::none, p);
    }
}

TEST(ldpc_kernels, llrs_of_singles_equal_the_cpu)
{
    for (const auto p : { ldpc_precision::int16, ldpc_precision::float32 }) {
        check_every_code(device::make_singles_plan, ldpc_soft_output::posterior, p);
        check_every_code(device::make_singles_plan, ldpc_soft_output::extrinsic, p);
    }
}

namespace {

void check_any(ldpc_soft_output soft)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    std::mt19937 random(47);
    struct {
        unsigned n, checks;
    } const sizes[] = { { 1000, 500 }, { 500, 150 },   { 440, 120 },    { 333, 60 },
                        { 400, 40 },   { 8192, 4096 }, { 16200, 5400 }, { 20000, 4000 } };
    for (const auto& s : sizes) {
        if (&s < sizes + (small_scale() ? 5 : 99)) {
            check_code(qa::regular_code(s.n, s.checks, s.n),
                       device::make_any_pairs_plan,
                       random,
                       soft);
        }
    }
    check_code(qa::code_with_empty_checks(), device::make_any_pairs_plan, random, soft);
    // Of a standard: checks of many degrees, shortened and punctured bits.
    check_code(ldpc_code::standard("nr", "bg2 z13", "10/30"),
               device::make_any_pairs_plan,
               random,
               soft);
    if (!small_scale()) {
        check_code(ldpc_code::standard("dvbs2x", "short", "4/15"),
                   device::make_any_pairs_plan,
                   random,
                   soft);
    }
}

} // namespace

TEST(ldpc_kernels, any_pairs_equal_the_cpu) { check_any(ldpc_soft_output::none); }

TEST(ldpc_kernels, llrs_of_any_pairs_equal_the_cpu)
{
    check_any(ldpc_soft_output::posterior);
    check_any(ldpc_soft_output::extrinsic);
}

TEST(ldpc_kernels, any_pairs_decline)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    const auto declined = [](const ldpc_code& code, ldpc_precision precision) {
        setup s;
        s.precision = precision;
        return !device::make_any_pairs_plan(code, s.rule(code), false, 0);
    };
    const auto code = qa::regular_code(1000, 500, 1);
    EXPECT_FALSE(declined(code, ldpc_precision::int8));
    EXPECT_TRUE(declined(code, ldpc_precision::int16));
    EXPECT_TRUE(declined(code, ldpc_precision::float32));
    // Bits that a layer has twice; a check of 36 bits.
    EXPECT_TRUE(declined(ldpc_code::dvbs2("short", "1/2"), ldpc_precision::int8));
    EXPECT_TRUE(declined(qa::regular_code(120, 10, 1), ldpc_precision::int8));
}

void check_circulants(ldpc_soft_output soft)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    std::mt19937 random(43);
    struct {
        const char *standard, *size, *rate;
    } const codes[] = {
        { "wifi", "648", "1/2" },          { "ccsds_c2", "8160", "7/8" },
        { "nr", "bg1 z384", "22/33" },     { "ccsds_ar4ja", "1024", "4/5" },
        { "nr", "bg1 z384", "1/3" },       { "wifi", "1944", "5/6" },
        { "wifi", "1296", "3/4" },         { "nr", "bg2 z13", "10/30" },
        { "ccsds_ar4ja", "16384", "1/2" }, { "ccsds_ar4ja", "4096", "2/3" },
        { "ccsds_ar4ja", "16384", "4/5" }, { "nr", "bg2 z320", "1/5" },
    };
    for (const auto& c : codes) {
        if (&c < codes + (small_scale() ? 5 : 99)) {
            check_code(ldpc_code::standard(c.standard, c.size, c.rate),
                       device::make_circulants_plan,
                       random,
                       soft);
        }
    }
}

TEST(ldpc_kernels, circulants_equal_the_cpu) { check_circulants(ldpc_soft_output::none); }

TEST(ldpc_kernels, llrs_of_circulants_equal_the_cpu)
{
    check_circulants(ldpc_soft_output::posterior);
    check_circulants(ldpc_soft_output::extrinsic);
}

TEST(ldpc_kernels, folded_equals_the_cpu) { check_every_code(device::make_folded_plan); }

TEST(ldpc_kernels, llrs_of_folded_equal_the_cpu)
{
    check_every_code(device::make_folded_plan, ldpc_soft_output::posterior);
    check_every_code(device::make_folded_plan, ldpc_soft_output::extrinsic);
}

TEST(ldpc_kernels, pairs_equal_the_cpu) { check_every_code(device::make_pairs_plan); }

TEST(ldpc_kernels, llrs_of_pairs_equal_the_cpu)
{
    check_every_code(device::make_pairs_plan, ldpc_soft_output::posterior);
    check_every_code(device::make_pairs_plan, ldpc_soft_output::extrinsic);
}

TEST(ldpc_kernels, irregular_layers_equal_the_cpu)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    std::mt19937 random(42);
    struct {
        const char *size, *rate;
    } const codes[] = { { "normal", "13/45" }, // two chains
                        { "short", "7/15" } };
    for (const auto make : { device::make_folded_plan, device::make_pairs_plan }) {
        for (const auto& c : codes) {
            check_code(ldpc_code::standard("dvbs2x", c.size, c.rate),
                       make,
                       random,
                       ldpc_soft_output::none);
        }
    }
}
