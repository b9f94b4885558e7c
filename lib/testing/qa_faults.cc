// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of decoders when calls of the CUDA runtime fail, on emulated devices or on a real
 * device with intercepted calls. */

#include "faulty_decoders.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace gr::gpufec {
namespace {

using namespace qa;

TYPED_TEST_SUITE(faulty, faulty_kinds);

TYPED_TEST(faulty, AnyFailedCall_DoesNotChangeOutput)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    const auto good = this->decode(this->run());
    ASSERT_EQ(good.backend, "cuda");
    ASSERT_TRUE(this->same(good.output, expected.output));
    const auto calls = faults::calls();
    ASSERT_GT(calls.size(), 50u);
    this->RecordProperty("calls", int(calls.size()));
    // If the device lacks memory for the caller's format, the host converts the values,
    // so a failed allocation of that memory is no error.
    const bool spare = std::is_base_of<ldpc_frames, TypeParam>::value ||
                       std::is_base_of<ldpc_bits, TypeParam>::value ||
                       std::is_base_of<ldpc_llrs, TypeParam>::value;
    for (const bool for_good : { false, true }) {
        unsigned done_without = 0;
        for (std::size_t k = 0; k < calls.size(); ++k) {
            faults::begin();
            faults::fail(k, cudaErrorIllegalAddress, for_good);
            const auto o = this->decode(this->run());
            const auto failed = faults::failed();
            if (failed.empty()) {
                continue; // this run had fewer state queries, so there was no call k
            }
            const auto where = "call " + std::to_string(k) + ", " + failed +
                               (for_good ? ", and all later calls" : ", only once");
            EXPECT_TRUE(this->same(o.output, expected.output)) << where;
            // At most one error is logged. None is logged if no batch was lost or no
            // device was found.
            EXPECT_LE(o.errors.size(), 1u) << where;
            if (o.backend == "cuda") {
                const bool capacity = spare && failed == "cudaMalloc";
                done_without += capacity;
                EXPECT_TRUE(capacity || this->harmless(failed) || k + 40 > calls.size())
                    << where;
                EXPECT_TRUE(o.errors.empty()) << where;
            } else if (o.errors.empty()) {
                EXPECT_EQ(failed, "cudaGetDeviceCount");
                EXPECT_NE(o.infos[0].find("no CUDA"), std::string::npos);
            } else {
                EXPECT_NE(o.errors[0].find("CUDA: "), std::string::npos) << o.errors[0];
                EXPECT_NE(o.errors[0].find("without loss of data"), std::string::npos);
            }
            if (!for_good) {
                this->expect_no_leak();
            }
        }
        EXPECT_EQ(done_without, spare && !for_good ? this->run().slots : 0);
    }
}

TYPED_TEST(faulty, FailedCallWithBackendCuda_ErrorNamesCuda)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run(backend::cuda));
    const auto calls = faults::calls();
    for (const bool for_good : { false, true }) {
        if (for_good && TypeParam::emulated) {
            break; // emulated kernels are slow
        }
        for (std::size_t k = 0; k < calls.size(); ++k) {
            faults::begin();
            faults::fail(k, cudaErrorIllegalAddress, for_good);
            try {
                const auto o = this->decode(this->run(backend::cuda));
                EXPECT_TRUE(this->same(o.output, expected.output)) << k;
                EXPECT_EQ(o.backend, "cuda");
            } catch (const std::runtime_error& error) {
                const std::string text = error.what();
                EXPECT_TRUE(text.find("CUDA") != std::string::npos) << text;
            }
            if (!for_good) {
                this->expect_no_leak();
            }
        }
    }
}

TYPED_TEST(faulty, TransientError_IsRetried)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    unsigned tried = 0;
    for (const char* const name : { "cudaMemcpyAsync",
                                    "cudaMemsetAsync",
                                    "cudaEventRecord",
                                    "cudaStreamWaitEvent",
                                    "launch",
                                    "cudaLaunchHostFunc",
                                    "cudaEventQuery",
                                    "cudaSetDevice" }) {
        const auto all = std::size_t(std::count(calls.begin(), calls.end(), name));
        std::set<std::size_t> places{ 0, all / 2, all - 1 };
        if (all == 0) {
            continue;
        }
        if (std::string(name) == "cudaEventQuery" ||
            std::string(name) == "cudaSetDevice") {
            places = { 0, 1 }; // the number of calls varies, but there are at least two
        }
        for (const auto place : places) {
            for (const auto error :
                 { cudaErrorMemoryAllocation, cudaErrorDevicesUnavailable }) {
                faults::begin();
                faults::fail(name, place, error);
                const auto o = this->decode(this->run());
                const auto where = std::string(name) + " " + std::to_string(place);
                EXPECT_EQ(faults::failed(), name) << where;
                EXPECT_TRUE(this->same(o.output, expected.output)) << where;
                EXPECT_EQ(o.backend, "cuda") << where;
                EXPECT_TRUE(o.errors.empty()) << where << " " << o.errors[0];
                ++tried;
            }
        }
    }
    EXPECT_GE(tried, 24u);
}

// A transient error that a query of a batch's state returns may come from the batch
// itself. The batch is then submitted again, but only a limited number of times.
TYPED_TEST(faulty, LastingTransientError_DecodesOnCpu)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    const auto asked = std::find(calls.begin(), calls.end(), "cudaEventQuery");
    ASSERT_NE(asked, calls.end());
    faults::begin();
    faults::fail(asked - calls.begin(), cudaErrorDevicesUnavailable, true);
    const auto o = this->decode(this->run());
    EXPECT_TRUE(this->same(o.output, expected.output));
    EXPECT_EQ(o.backend, "cpu");
    EXPECT_EQ(o.errors.size(), 1u);
}

TYPED_TEST(faulty, DeviceBusyAtFirst_IsRetried)
{
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    // cudaFree(nullptr) creates the context.
    const auto made = std::find(calls.begin(), calls.end(), "cudaFree") - calls.begin();
    faults::begin();
    faults::fail(made, cudaErrorDevicesUnavailable, false);
    const auto o = this->decode(this->run());
    EXPECT_EQ(o.backend, "cuda");
    EXPECT_TRUE(o.errors.empty());
}

TYPED_TEST(faulty, UnsuitableDriverOrCard_IsNamedInLog)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto& [call, error, text] :
         { std::tuple{ "cudaGetDeviceCount",
                       cudaErrorInsufficientDriver,
                       "no usable CUDA device (the driver supports CUDA 1" },
           std::tuple{ "cudaFuncGetAttributes",
                       cudaErrorNoKernelImageForDevice,
                       "this build has no kernels for CUDA device 0, " } }) {
        faults::begin();
        faults::fail(call, 0, error);
        const auto o = this->decode(this->run());
        EXPECT_EQ(faults::failed(), call);
        EXPECT_EQ(o.backend, "cpu");
        EXPECT_TRUE(this->same(o.output, expected.output));
        EXPECT_TRUE(o.errors.empty());
        EXPECT_NE(o.infos[0].find(text), std::string::npos) << o.infos[0];
        faults::begin();
        faults::fail(call, 0, error);
        try {
            this->decode(this->run(backend::cuda));
            ADD_FAILURE() << call;
        } catch (const std::runtime_error& refusal) {
            EXPECT_NE(std::string(refusal.what()).find(text), std::string::npos)
                << refusal.what();
        }
        this->expect_no_leak();
    }
}

TYPED_TEST(faulty, UnpinnablePages_DecodeWithoutPinning)
{
    const auto expected = this->decode(this->run(backend::cpu));
    faults::begin();
    this->decode(this->run());
    const auto calls = faults::calls();
    for (std::size_t k = 0; k < calls.size(); ++k) {
        if (calls[k] == "cudaHostRegister") {
            faults::begin();
            faults::fail(k, cudaErrorMemoryAllocation, false);
            const auto o = this->decode(this->run());
            EXPECT_EQ(faults::failed(), "cudaHostRegister");
            EXPECT_TRUE(this->same(o.output, expected.output));
            EXPECT_EQ(o.backend, "cuda");
            EXPECT_TRUE(o.errors.empty());
            this->expect_no_leak();
        }
    }
}

} // namespace
} // namespace gr::gpufec
