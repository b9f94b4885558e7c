// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares the CUDA kernels for the layered schedule with the CPU to the last bit.
 * Kernels for DVB-S2 codes run on all DVB-S2 codes, the others on samples of their codes.
 * At small scale, fewer codes are tested. */

#include "cuda/devices.h"
#include "ldpc/cuda/kernels.h"
#include "qa_support.h"
#include <cctype>
#include <cstdlib>
#include <functional>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

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
    const cuda::buffer<ldpc_status> status(frames.size());
    const cuda::buffer<std::uint8_t> scratch(kernel.scratch_bytes(frames.size()));
    const cuda::stream stream;
    const auto copy = [&stream](void* to, const void* from, std::size_t bytes) {
        cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()),
                    "copy");
    };
    copy(table.get(), places.data(), table.bytes());
    copy(input.get(), values.data(), input.bytes());
    // Bytes that no kernel writes keep these values, which differ from the expected ones.
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
    std::vector<ldpc_status> states(frames.size());
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

// Returns whether runs should be short, for emulated kernels and tools that slow kernels
// down.
bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

bool no_device()
{
    const auto found = find_cuda_devices();
    if (!found.devices.empty()) {
        cuda::use(0);
    }
    return found.devices.empty();
}

using maker = std::unique_ptr<device::launch_plan> (*)(const ldpc_code&,
                                                       const message_rule&,
                                                       bool soft,
                                                       int);

// A kernel, and a code that the kernel supports.
struct kernel_case {
    std::string name;
    maker make;
    std::function<ldpc_code()> code;
    ldpc_precision precision = ldpc_precision::int8;
    bool at_small_scale = true;
};

void PrintTo(const kernel_case& c, std::ostream* out) { *out << c.name; }

std::string name_of(const testing::TestParamInfo<kernel_case>& info)
{
    auto name = info.param.name;
    for (auto& c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    return name;
}

class ldpc_kernel : public testing::TestWithParam<kernel_case>
{
protected:
    void SetUp() override
    {
        if (no_device()) {
            GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
        }
        if (small_scale() && !GetParam().at_small_scale) {
            GTEST_SKIP() << "this case is not tested at small scale";
        }
    }

    // Compares the kernel with the CPU, with and without early stop.
    void expect_equal_to_cpu(ldpc_soft_output soft)
    {
        for (const bool early_stop : { true, false }) {
            expect_equal_to_cpu(soft, early_stop);
        }
    }

private:
    void expect_equal_to_cpu(ldpc_soft_output soft, bool early_stop)
    {
        const auto code = GetParam().code();
        setup s;
        s.codes = { code };
        s.early_stop = early_stop;
        s.message_only = early_stop;
        s.soft = soft;
        s.precision = GetParam().precision;
        // Extrinsic LLRs are written together with decisions if early stop is on.
        // Otherwise they are written without decisions.
        s.bits = soft != ldpc_soft_output::extrinsic || early_stop;
        s.max_iterations = small_scale() ? 2 : early_stop ? 20 : 4;
        const auto kernel =
            GetParam().make(code, s.rule(code), soft != ldpc_soft_output::none, 0);
        if (!kernel) {
            int capacity = 0;
            cudaDeviceGetAttribute(&capacity, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
            ASSERT_LT(capacity, 227 << 10);
            GTEST_SKIP() << capacity
                         << " bytes of shared memory are too few for the kernel";
        }
        // The lowest Es/N0 is 0.4 dB above the Shannon limit of the rate for QPSK.
        const double limit =
            10 * std::log10(std::pow(2, 2.0 * code.k() / code.sent()) - 1);
        std::mt19937 random(41);
        std::vector<qa::frame> frames;
        for (unsigned i = 0; i < (small_scale() ? 3 : 7); ++i) {
            const auto values = qa::in_quantised(
                qa::transmit(code, limit + 0.4 + 0.4 * i, random).llr, s.rule(code));
            frames.push_back({ 0, i % 2 ? qa::in_halves(values, s.rule(code)) : values });
        }
        // At full scale and with early stop, there are more codewords than resident
        // thread blocks.
        const std::size_t many = small_scale() ? 3 : early_stop ? 541 : 1;
        std::vector<qa::frame> all;
        for (std::size_t i = 0; i < many; ++i) {
            all.push_back(frames[i * 3 % frames.size()]);
        }
        // At full scale, frames repeat with a period of 7 and soft factors with a period
        // of 5, so that both repeat with a period of 35.
        std::vector<qa::frame> period;
        for (std::size_t i = 0; i < (soft == ldpc_soft_output::none ? frames.size() : 35);
             ++i) {
            period.push_back(frames[i * 3 % frames.size()]);
        }
        const auto wanted = qa::decode(*traits::make_cpu(s, period.size(), 4), s, period);
        const auto got = decode(*kernel, s, all);
        for (std::size_t i = 0; i < many; ++i) {
            const auto& w = wanted[i % period.size()];
            EXPECT_EQ(got[i].status.iterations, w.status.iterations);
            EXPECT_EQ(got[i].status.unsatisfied, w.status.unsatisfied);
            EXPECT_TRUE(got[i].bytes == w.bytes) << "frame " << i;
            EXPECT_TRUE(got[i].llrs == w.llrs) << "LLRs of frame " << i;
        }
    }
};

kernel_case standard_case(maker make,
                          const std::string& standard,
                          const std::string& size,
                          const std::string& rate,
                          bool at_small_scale = true)
{
    return { standard + ' ' + size + ' ' + rate,
             make,
             [=] { return ldpc_code::standard(standard, size, rate); },
             ldpc_precision::int8,
             at_small_scale };
}

std::vector<kernel_case> dvbs2_cases(maker make)
{
    std::vector<kernel_case> cases;
    for (const std::string size : { "normal", "short" }) {
        for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
            // The three rates for small scale cover irregular layers, layers in which
            // many bits occur twice, and a group that does not fit in shared memory.
            cases.push_back({ size + ' ' + rate,
                              make,
                              [=] { return ldpc_code::dvbs2(size, rate); },
                              ldpc_precision::int8,
                              rate == "1/2" || rate == "3/5" || rate == "9/10" });
        }
    }
    return cases;
}

std::vector<kernel_case> int8_cases(maker make)
{
    auto cases = dvbs2_cases(make);
    // These codes have irregular layers. The first code has two chains of layers.
    cases.push_back(standard_case(make, "dvbs2x", "normal", "13/45"));
    cases.push_back(standard_case(make, "dvbs2x", "short", "7/15"));
    return cases;
}

std::vector<kernel_case> float_cases()
{
    std::vector<kernel_case> cases;
    for (const auto precision : { ldpc_precision::int16, ldpc_precision::float32 }) {
        for (auto c : dvbs2_cases(device::make_dvb_float_plan)) {
            c.name += precision == ldpc_precision::int16 ? " int16" : " float32";
            c.precision = precision;
            cases.push_back(c);
        }
    }
    return cases;
}

std::vector<kernel_case> quasi_cyclic_cases()
{
    struct {
        const char *standard, *size, *rate;
    } const codes[] = {
        { "nr", "bg2 z13", "10/30" },      { "ccsds_ar4ja", "1024", "1/2" },
        { "nr", "bg1 z384", "22/33" },     { "ccsds_ar4ja", "1024", "4/5" },
        { "nr", "bg1 z384", "1/3" },       { "nr", "bg1 z26", "22/40" },
        { "ccsds_ar4ja", "16384", "1/2" }, { "ccsds_ar4ja", "4096", "2/3" },
        { "ccsds_ar4ja", "16384", "4/5" }, { "nr", "bg2 z320", "1/5" },
    };
    std::vector<kernel_case> cases;
    for (const auto& c : codes) {
        cases.push_back(standard_case(device::make_quasi_cyclic_plan,
                                      c.standard,
                                      c.size,
                                      c.rate,
                                      cases.size() < 5));
    }
    return cases;
}

std::vector<kernel_case> unstructured_cases()
{
    constexpr auto make = device::make_unstructured_int8x2_plan;
    struct {
        unsigned n, checks;
    } const sizes[] = { { 1000, 500 },  { 500, 150 },    { 440, 120 },
                        { 333, 60 },    { 400, 40 },     { 13000, 6500 },
                        { 8192, 4096 }, { 16200, 5400 }, { 20000, 4000 } };
    std::vector<kernel_case> cases;
    for (const auto& s : sizes) {
        cases.push_back(
            { "regular " + std::to_string(s.n) + ' ' + std::to_string(s.checks),
              make,
              [=] { return qa::regular_code(s.n, s.checks, s.n); },
              ldpc_precision::int8,
              cases.size() < 6 });
    }
    cases.push_back({ "empty checks", make, qa::code_with_empty_checks });
    cases.push_back(standard_case(make, "wifi", "648", "1/2"));
    cases.push_back(standard_case(make, "ccsds_c2", "8160", "7/8"));
    cases.push_back(standard_case(make, "wifi", "1944", "5/6", false));
    cases.push_back(standard_case(make, "wifi", "1296", "3/4", false));
    // The following codes have checks of many degrees. The NR codes also have punctured
    // bits.
    cases.push_back(standard_case(make, "nr", "bg2 z13", "10/30"));
    cases.push_back(standard_case(make, "dvbs2x", "short", "4/15"));
    cases.push_back(standard_case(make, "nr", "bg1 z384", "1/3", false));
    return cases;
}

// Returns a code of 70,000 bits, so that 16 bits are too few for the index of a bit.
ldpc_code code_of_many_bits()
{
    std::istringstream text("lifting 7000\n0 1 5 70 900\n3 80 10 6 1\n30 8 1 7 2\n"
                            "40 0 2 1 6\n50 4 3 11 9\nchain\n");
    return ldpc_code::from_base_matrix(text, "many bits");
}

// The kernels of layered.cu depend on the largest degree of a check, on deferred edges
// (the DVB-S2 codes) and on whether all posteriors fit in shared memory. With 48 KB,
// those of the AR4JA code of rate 1/2 do not fit in any precision.
std::vector<kernel_case> layered_cases()
{
    constexpr auto make = device::make_layered_plan;
    std::vector<kernel_case> cases;
    for (const auto precision :
         { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
        for (auto c :
             { standard_case(make, "wifi", "648", "1/2"),
               standard_case(make, "wifi", "648", "3/4"),
               standard_case(make, "nr", "bg2 z13", "10/30"),
               standard_case(make, "ccsds_ar4ja", "16384", "1/2"),
               standard_case(make, "ccsds_ar4ja", "16384", "4/5"),
               standard_case(make, "ccsds_c2", "8160", "7/8", false),
               standard_case(make, "dvbs2", "short", "3/5"),
               standard_case(make, "dvbs2", "normal", "3/4", false),
               standard_case(make, "nr", "bg1 z384", "1/3", false),
               kernel_case{
                   "long checks", make, [] { return qa::regular_code(1000, 50, 3); } },
               kernel_case{ "many bits", make, code_of_many_bits },
               kernel_case{ "empty checks", make, qa::code_with_empty_checks } }) {
            c.name += precision == ldpc_precision::int8    ? " int8"
                      : precision == ldpc_precision::int16 ? " int16"
                                                           : " float32";
            c.precision = precision;
            cases.push_back(c);
        }
    }
    return cases;
}

// Removes the cases that do not run at small scale, if kernels are emulated.
auto instances(std::vector<kernel_case> cases)
{
#ifdef GPUFEC_EMULATED
    cases.erase(std::remove_if(cases.begin(),
                               cases.end(),
                               [](const auto& c) { return !c.at_small_scale; }),
                cases.end());
#endif
    return testing::ValuesIn(cases);
}

} // namespace

TEST_P(ldpc_kernel, Decisions_EqualThoseOfCpu)
{
    expect_equal_to_cpu(ldpc_soft_output::none);
}

TEST_P(ldpc_kernel, PosteriorLlrs_EqualThoseOfCpu)
{
    expect_equal_to_cpu(ldpc_soft_output::posterior);
}

TEST_P(ldpc_kernel, ExtrinsicLlrs_EqualThoseOfCpu)
{
    expect_equal_to_cpu(ldpc_soft_output::extrinsic);
}

INSTANTIATE_TEST_SUITE_P(dvb_float, ldpc_kernel, instances(float_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(dvb_int8x2,
                         ldpc_kernel,
                         instances(int8_cases(device::make_dvb_int8x2_plan)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(two_checks_per_word,
                         ldpc_kernel,
                         instances(int8_cases(device::make_two_checks_per_word_plan)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(quasi_cyclic,
                         ldpc_kernel,
                         instances(quasi_cyclic_cases()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(unstructured_int8x2,
                         ldpc_kernel,
                         instances(unstructured_cases()),
                         name_of);

INSTANTIATE_TEST_SUITE_P(layered, ldpc_kernel, instances(layered_cases()), name_of);

TEST(ldpc_kernels, UnsupportedCode_HasNoUnstructuredKernel)
{
    if (no_device()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    const auto declined = [](const ldpc_code& code, ldpc_precision precision) {
        setup s;
        s.precision = precision;
        return !device::make_unstructured_int8x2_plan(code, s.rule(code), false, 0);
    };
    const auto code = qa::regular_code(1000, 500, 1);
    EXPECT_FALSE(declined(code, ldpc_precision::int8));
    EXPECT_TRUE(declined(code, ldpc_precision::int16));
    EXPECT_TRUE(declined(code, ldpc_precision::float32));
    // The first code has layers that contain a bit twice, and the second code has checks
    // of 36 bits.
    EXPECT_TRUE(declined(ldpc_code::dvbs2("short", "1/2"), ldpc_precision::int8));
    EXPECT_TRUE(declined(qa::regular_code(120, 10, 1), ldpc_precision::int8));
}
