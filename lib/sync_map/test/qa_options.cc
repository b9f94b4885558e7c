// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the options of sync_decoder: extreme values are accepted or refused, and the
 * error message names the option. */

#include "qa_support.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <cmath>

namespace gr::gpufec::sync_map {
namespace {

TEST(sync_decoder_options, InvalidOption_ErrorNamesOption)
{
    const sync_options good(codebook_random(4, 6, 5, 4), { 0.1, 0.1, 0 });
    const auto refusal = [&](auto&& change) {
        auto o = good;
        o.backend = backend::cpu;
        change(o);
        try {
            const auto decoder = sync_decoder::make(o);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using o = sync_options;
    const auto expect = [&](auto&& change, const std::string& words) {
        EXPECT_NE(refusal(change).find(words), std::string::npos) << refusal(change);
    };
    EXPECT_EQ(refusal([](o&) {}), "");
    expect([](o& x) { x.exclusion = 0; }, "exclusion is 0");
    expect([](o& x) { x.exclusion = NAN; }, "exclusion is nan");
    expect([](o& x) { x.slots = 0; }, "slots is 0");
    expect([](o& x) { x.threads = 0; }, "threads is 0");
    expect([](o& x) { x.max_latency_ms = -1; }, "max_latency_ms is -1");
    expect([](o& x) { x.output = sync_output::llr; }, "output is llr");
    expect([](o& x) { x.positive_bit = 2; },
           "positive_bit is 2: allowed values are 0 and 1");
    expect([](o& x) { x.change_first = 1; }, "mn_min is 1");
    expect([](o& x) { x.change_last = -1; }, "mn_max is -1");
    expect([](o& x) { x.state_threshold = 1; }, "state_threshold is 1");
    expect([](o& x) { x.start.probability = { -1 }; }, "start_prior is -1");
    expect([](o& x) { x.end = { 0, { 0, 0 } }; }, "end_prior is 0");
    expect([](o& x) { x.start.first = 1 << 30; }, "start_first is 1073741824");
    expect([](o& x) { x.end.first = -(1 << 30); }, "end_first is -1073741824");
    expect([](o& x) { x.lattice_threshold = NAN; }, "lattice_threshold is nan");
    expect([](o& x) { x.change_last = 1 << 30; }, "mn_max is 1073741824");
    expect([](o& x) { x.acquire = 0x7fffffff; },
           "acquire is 2147483647: allowed values are 0 to 1048576");
    expect([](o& x) { x.lookahead = 0xffffffff; },
           "lookahead is 4294967295: allowed values are 0 to 1048576");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.lookahead = sync_options::max_lookahead;
        },
        "(frame_symbols + lookahead) * n is 4194324: allowed values are 1 to 2097152");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.lookahead = 1 << 18;
            x.channel = bsid_model(0.1, 0.1);
        },
        "drifts * (frame_symbols + lookahead + 1) is ");
    expect([](o& x) { x.start.probability.resize(1 << 20, 1.0); },
           "size of start_prior is 1048576: allowed values are 1 to 16384");
    expect([](o& x) { x.end.probability.resize(1 << 20, 1.0); },
           "size of end_prior is 1048576: allowed values are 0 to 16384");
    expect([](o& x) { x.start.first = 1 << 20; }, "the start_prior is 1048576");
    EXPECT_EQ(refusal([](o& x) { x.start.probability = { 5e-324 }; }), "");
    const std::vector<std::pair<std::string, std::function<void(o&)>>> of_the_corridor = {
        { "receiver is lattice", [](o& x) { x.receiver = sync_receiver::lattice; } },
        { "receiver is trellis", [](o& x) { x.receiver = sync_receiver::trellis; } },
        { "state_threshold is 0.5", [](o& x) { x.state_threshold = 0.5; } },
        { "lattice_threshold is 0.5", [](o& x) { x.lattice_threshold = 0.5; } },
    };
    for (const auto& [words, change] : of_the_corridor) {
        expect(change, words);
        EXPECT_EQ(refusal([&, &set = change](o& x) {
                      x.form = sync_form::corridor;
                      set(x);
                  }),
                  "");
    }
    expect([](o& x) { x.channel = bsid_model(0, 0, 0, 3); }, "alphabet of the channel");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.start.probability = { 1, 1 };
        },
        "start_prior is given");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.end.probability = { 1 };
        },
        "end_prior is given");
    expect(
        [](o& x) {
            x.mode = sync_mode::stream;
            x.priors = true;
        },
        "mode is stream");
    const std::vector<std::function<void(o&)>> without_equal_frames = {
        [](o& x) { x.mode = sync_mode::stream; },
        [](o& x) { x.priors = true; },
    };
    for (const auto& change : without_equal_frames) {
        expect(
            [&](o& x) {
                x.frame_items = 5;
                change(x);
            },
            "frame_items is 5: the only allowed value is 0");
    }
    EXPECT_THROW(sync_form_from_string("line"), std::invalid_argument);
    EXPECT_THROW(sync_output_from_string(""), std::invalid_argument);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// With a limit of 400 MiB on the address space, making a decoder either works or throws
// std::invalid_argument.
TEST(sync_decoder_options, PairsOfMaxima_AreAcceptedOrErrorNamesOption)
{
    using o = sync_options;
    const auto words = codebook_random(sync_code::max_n, 2, 8, 4);
    const auto frame = codebook_random(64, 2, sync_code::max_frame_bits / 64, 4);
    const std::vector<std::function<void(o&)>> maxima = {
        [](o&) {},
        [&](o& x) { x.code = words; },
        [&](o& x) { x.code = frame; },
        [](o& x) { x.channel = bsid_model(bsid_model::max_p_insert, 0.005); },
        [](o& x) { x.lookahead = o::max_lookahead; },
        [](o& x) { x.acquire = o::max_acquire; },
        [](o& x) { x.start.probability.resize(drift_prior::max_size, 1.0); },
        [](o& x) {
            x.end = { -drift_prior::max_first, { 1 } };
        },
        [](o& x) { x.change_last = drift_range::max_size; },
        [](o& x) { x.form = sync_form::corridor; },
        [](o& x) { x.batch = 1 << 20; },
    };
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit small{ rlim_t(400) << 20, before.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
    unsigned made = 0, refused = 0;
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (std::size_t a = 0; a < maxima.size(); ++a) {
            for (std::size_t b = a; b < maxima.size(); ++b) {
                SCOPED_TRACE(std::to_string(a) + " and " + std::to_string(b));
                o options(codebook_random(4, 6, 5, 4), { 0.01, 0.01, 0 });
                options.backend = backend::cpu;
                options.mode = mode;
                maxima[a](options);
                maxima[b](options);
                try {
                    const auto decoder = sync_decoder::make(options);
                    ++made;
                } catch (const std::invalid_argument& error) {
                    EXPECT_NE(std::string(error.what()), "");
                    ++refused;
                } catch (const std::exception& error) {
                    ADD_FAILURE() << error.what();
                }
            }
        }
    }
    setrlimit(RLIMIT_AS, &before);
    EXPECT_GT(made, 10u);
    EXPECT_GT(refused, 10u);
}
#endif

TEST(sync_decoder_frames, ExcessiveBatch_ErrorNamesBatch)
{
    sync_options o(codebook_random(12, 1024, 100, 4), { 0.01, 0.01, 0 });
    o.backend = backend::cpu;
    o.output = sync_output::posteriors64;
    o.priors = true;
    o.batch = 1 << 20;
    o.slots = 16;
    try {
        const auto decoder = sync_decoder::make(o);
        ADD_FAILURE() << "batch 1048576 was accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what())
                      .find("batch is 1048576: not enough memory for 16 slots with this "
                            "number of frames"),
                  0u)
            << error.what();
    }
}

TEST(sync_decoder_stream, LookAheadWithItemCountAbove32Bits_IsRefused)
{
    // With 2^20 look-ahead symbols of 4096 bits, the number of items of a frame exceeds
    // 32 bits.
    sync_options o(codebook_random(4096, 2, 1, 4), { 0, 0, 0 });
    o.backend = backend::cpu;
    o.mode = sync_mode::stream;
    o.lookahead = 511;
    EXPECT_EQ(make_setup(o).max_items, 512u * 4096);
    o.lookahead = 1 << 20;
    EXPECT_THROW(make_setup(o), std::invalid_argument);
}

} // namespace
} // namespace gr::gpufec::sync_map
