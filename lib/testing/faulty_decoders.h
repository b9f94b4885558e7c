// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The test fixture for calls of the CUDA runtime that fail and for work that hangs, the
 * kinds of decoders to test, and a guard for intended leaks. */

#ifndef INCLUDED_GPUFEC_TESTING_FAULTY_DECODERS_H
#define INCLUDED_GPUFEC_TESTING_FAULTY_DECODERS_H

#include "cuda/devices.h"
#include "decoder_kinds.h"
#include "faults.h"
#include "refusals.h"
#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#ifdef GPUFEC_EMULATED
#include "testing/emulation/runtime.h"
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace gr::gpufec::qa {

namespace faults = cuda::faults;

//! A kind of decoder with little input, because tests repeat the decoding once for each
//! call of the CUDA runtime.
template <class Kind, bool Floats, bool Emulated = Floats>
struct kind : Kind {
    static constexpr bool floats = Floats; // whether the output consists of floats
    // Whether the emulation runs the kernels themselves rather than the CPU decoder.
    static constexpr bool emulated = Emulated;
    // Number of portions of input. Slow emulated kernels receive fewer portions.
    static constexpr unsigned portions = Floats ? 3 : Emulated ? 5 : 7;
};

//! Fixture of tests with injected faults.
template <class Kind>
class faulty : public decoders<Kind>
{
protected:
    void SetUp() override
    {
        if (const auto found = find_cuda_devices(); found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
        faults::begin();
#ifdef GPUFEC_EMULATED
        cuda::emulation::set_asynchronous(asynchronous());
        d_used = cuda::emulation::used_memory();
        d_registered = cuda::emulation::registered_ranges();
#endif
    }
    void TearDown() override
    {
        faults::begin();
        faults::release();
        refusals::allocations_left = refusals::threads_left = -1;
    }

    // Returns whether streams are asynchronous: always on a real device; in the emulation
    // if the environment variable GPUFEC_EMULATION is "asynchronous".
    static bool asynchronous()
    {
#ifdef GPUFEC_EMULATED
        const auto* const asked = std::getenv("GPUFEC_EMULATION");
        return asked && std::string(asked) == "asynchronous";
#else
        return true;
#endif
    }

    static run_options run(backend where = backend::automatic)
    {
        run_options r;
        r.backend = where;
        r.batch = Kind::floats ? 1 : 2;
        r.slots = 2;
        r.max_latency_ms = 1e9;
        return r;
    }

    // Returns whether two outputs are equal; probabilities may differ by 1e-6.
    static bool same(const bytes& a, const bytes& b)
    {
        if (!Kind::floats || a.size() != b.size()) {
            return a == b;
        }
        for (std::size_t i = 0; i + 4 <= a.size(); i += 4) {
            float x, y;
            std::memcpy(&x, &a[i], 4);
            std::memcpy(&y, &b[i], 4);
            if (!(std::abs(x - y) <= 1e-6f)) {
                return false;
            }
        }
        return true;
    }

    // Returns whether decoding may continue on the device after this call has failed.
    static bool harmless(const std::string& call)
    {
        static const std::set<std::string> calls{
            "cudaHostRegister",        "cudaHostUnregister", "cudaFree",
            "cudaStreamDestroy",       "cudaEventDestroy",   "cudaStreamSynchronize",
            "cudaStreamQuery",         "cudaSetDevice",      "cudaGetLastError",
            "cudaPointerGetAttributes"
        };
        return calls.count(call) > 0;
    }

    // In the emulation, checks that the amounts of allocated device memory and of pinned
    // host memory are those before the test.
    void expect_no_leak() const
    {
#ifdef GPUFEC_EMULATED
        ASSERT_EQ(cuda::emulation::used_memory(), d_used);
        ASSERT_EQ(cuda::emulation::registered_ranges(), d_registered);
#endif
    }

private:
    std::size_t d_used = 0, d_registered = 0;
};

using faulty_kinds = testing::Types<kind<viterbi_streams, false>,
                                    kind<viterbi_bits, false>,
                                    kind<viterbi_frames, false>,
                                    kind<ldpc_frames, false>,
                                    kind<ldpc_bits, false>,
                                    kind<ldpc_llrs, false>,
                                    kind<ldpc_symbol_frames<true>, false, true>,
                                    kind<sync_frames<sync_mode::framed>, true>,
                                    kind<sync_frames<sync_mode::stream>, true>,
                                    kind<sync_borrowed<sync_mode::framed, float>, true>>;

//! Guard for tests with hanging devices. While the guard exists, memory that such a
//! device may still use is leaked on purpose, and LeakSanitizer does not report it.
class leak_on_purpose
{
public:
    leak_on_purpose()
    {
        qa::leak_rings = true;
#if defined(__SANITIZE_ADDRESS__)
        __lsan_disable();
#endif
    }
    ~leak_on_purpose()
    {
        qa::leak_rings = false;
#if defined(__SANITIZE_ADDRESS__)
        __lsan_enable();
#endif
    }
};

} // namespace gr::gpufec::qa

#endif /* INCLUDED_GPUFEC_TESTING_FAULTY_DECODERS_H */
