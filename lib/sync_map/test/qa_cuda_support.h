// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A fixture and helpers that the tests of the CUDA decoder share. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_CUDA_SUPPORT_H
#define INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_CUDA_SUPPORT_H

#include "cuda/devices.h"
#include "qa_support.h"
#include "sync_map/model/job.h"
#include <gtest/gtest.h>
#include <cstdlib>

namespace gr::gpufec::sync_map {

//! Fixture of tests that are skipped if there is no device.
class sync_cuda : public testing::Test
{
protected:
    void SetUp() override
    {
        const auto found = find_cuda_devices();
        if (found.devices.empty()) {
            GTEST_SKIP() << found.missing;
        }
    }

    //! Makes a decoder with the kernels in \c chosen_kernels, which test cases set.
    static std::unique_ptr<batch_decoder<job>> make(setup setup, std::size_t frames)
    {
        setup.kernels = chosen_kernels;
        return traits::make_cuda(setup, frames, 1, 0);
    }

    static inline auto chosen_kernels = ten_bit_kernels::by_batch;

    static double tolerance(sync_precision precision)
    {
        return precision == sync_precision::float64 ? 1e-10 : 1e-6;
    }
};

//! Returns whether GPUFEC_TEST_SCALE is "small". Tests are then shorter, for slow runs
//! under compute-sanitizer or in emulation.
inline bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

//! Selects the kinds of decoders with which each case is tested: all kinds or, at small
//! scale, one kind that changes from case to case.
class in_turn
{
public:
    explicit in_turn(unsigned kinds) : d_kinds(kinds) {}
    bool is_next()
    {
        const auto n = d_asked++;
        return !small_scale() || n / d_kinds % d_kinds == n % d_kinds;
    }

private:
    const unsigned d_kinds;
    unsigned d_asked = 0;
};

//! Returns the test vectors; at small scale, those whose frames have at most 400 bits.
inline std::vector<test_vector> vectors()
{
    auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    const auto large = [](const test_vector& v) {
        return small_scale() && v.code.frame_bits() > 400;
    };
    all.erase(std::remove_if(all.begin(), all.end(), large), all.end());
    return all;
}

inline constexpr sync_precision precisions[] = { sync_precision::float64,
                                                 sync_precision::float32,
                                                 sync_precision::mixed };

//! Decodes all frames, one by one or as a stream. If \p again is not null, stores the
//! number of frames that were decoded again.
inline std::vector<double> decode_all(const test_frames& data,
                                      const sync_options& options,
                                      std::uint64_t* again = nullptr)
{
    const auto decoder = sync_decoder::make(options);
    std::vector<double> values;
    const auto take = [&] {
        sync_decoder::frame f;
        while (decoder->pull(f)) {
            append_values<double>(static_cast<const std::byte*>(f.output),
                                  f.output_bytes / sizeof(double),
                                  values);
        }
    };
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        const auto count = data.received[f].size();
        const auto* const items =
            options.soft_input
                ? reinterpret_cast<const std::byte*>(data.soft[f].data())
                : reinterpret_cast<const std::byte*>(data.received[f].data());
        for (std::size_t at = 0; at < count;) {
            const auto* const next = items + at * options.item_bytes();
            at += options.mode == sync_mode::stream
                      ? decoder->push({ next, count - at })
                      : (decoder->push_frame({ next, count - at }) ? count - at : 0);
            take();
        }
    }
    decoder->finish();
    while (!decoder->done()) {
        take();
        decoder->wait(std::chrono::milliseconds(10));
    }
    if (again) {
        *again = decoder->frames_again();
    }
    return values;
}

//! Returns the options of \p data for decoding on the CPU, without drift posteriors.
inline sync_options on_the_cpu(const test_frames& data,
                               sync_mode mode,
                               sync_precision precision,
                               unsigned batch)
{
    auto o = data.options;
    o.mode = mode;
    o.precision = precision;
    o.drifts = false;
    o.batch = batch;
    o.backend = backend::cpu;
    return o;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_CUDA_SUPPORT_H */
