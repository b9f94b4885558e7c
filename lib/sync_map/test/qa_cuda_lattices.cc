// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the CUDA decoder: both forms, every precision and storage, against the vectors
 * and the reference. Skipped where there is no device. */

#include "band.h"
#include "cuda/device_turns.h"
#include "cuda/devices.h"
#include "job.h"
#include "links.h"
#include "qa_support.h"
#include <gtest/gtest.h>
#include <cstdlib>
#include <cstring>

namespace gr::gpufec::sync_map {
namespace {

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

    static std::unique_ptr<batch_decoder<job>> make(const setup& setup,
                                                    std::size_t frames)
    {
        return room::make_cuda(setup, frames, 1, 0);
    }

    static double tolerance(sync_precision precision)
    {
        return precision == sync_precision::float64 ? 1e-10 : 1e-6;
    }
};

// Under compute-sanitizer and emulated, when kernels are a hundred times slower.
bool small_scale()
{
    const char* const scale = std::getenv("GPUFEC_TEST_SCALE");
    return scale && std::string(scale) == "small";
}

// Of the kinds of decoders that each case is tried with in turn: all of them; at a small
// scale one, and another one for the next case.
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

// The vectors, each to be decoded in so many copies at once.
std::vector<test_vector> vectors()
{
    auto all = read_sync_vectors({ "bf_", "rx1_", "ref_" });
    const auto large = [](const test_vector& v) {
        return small_scale() && v.code.frame_bits() > 400;
    };
    all.erase(std::remove_if(all.begin(), all.end(), large), all.end());
    return all;
}

const sync_precision precisions[] = { sync_precision::float64,
                                      sync_precision::float32,
                                      sync_precision::mixed };

TEST_F(sync_cuda, linear_form_meets_the_vectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no vectors: set GPUFEC_TEST_DATA";
    }
    for (const auto& v : all) {
        for (const auto precision : precisions) {
            check_vector(v,
                         options_of(v, precision),
                         make,
                         tolerance(precision),
                         small_scale() ? 2 : 19);
        }
    }
}

TEST_F(sync_cuda, corridor_form_meets_the_vectors)
{
    const auto all = vectors();
    if (all.empty()) {
        GTEST_SKIP() << "no vectors: set GPUFEC_TEST_DATA";
    }
    in_turn kind(6);
    for (const auto& v : all) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (const auto precision : precisions) {
                if (!kind.is_next()) {
                    continue;
                }
                auto o = options_of(v, precision);
                o.form = sync_form::corridor;
                o.storage = storage;
                check_vector(v, o, make, tolerance(precision), 3);
            }
        }
    }
}

TEST_F(sync_cuda, words_of_every_length_with_rows_in_registers)
{
    for (unsigned n = 2; n <= 20; ++n) {
        for (const unsigned q : { 2u, 4u, 23u, 32u, 33u, 300u }) {
            if (q > 1u << n) {
                continue;
            }
            for (const auto& channel :
                 { bsid_model(0.02, 0.03, 0), bsid_model(0.02, 0.03, 0.01) }) {
                auto data = random_frames(codebook_random(n, q, 4, n), channel, 3);
                data.options.precision = sync_precision::float32;
                check_against_reference(data, data.options, make, 1e-6);
            }
        }
    }
}

TEST_F(sync_cuda, symbols_of_every_length_with_rows_in_registers)
{
    in_turn kind(3);
    for (const unsigned alphabet : { 3u, 4u, 16u }) {
        for (unsigned n = 2; n <= 12; ++n) {
            for (const unsigned q : { 2u, 9u, 23u, 32u, 33u, 200u }) {
                if (q > std::pow(alphabet, n)) {
                    continue;
                }
                const double p_substitute = q % 2 ? 0 : 0.03;
                auto data = random_frames(codebook_random(n, q, 4, n, alphabet),
                                          { 0.02, 0.03, p_substitute, alphabet },
                                          small_scale() ? 2 : 5);
                for (const std::size_t k : { 3u, 9u }) { // erased
                    if (k < data.received[1].size()) {
                        data.received[1][k] = k == 3 ? alphabet : 255;
                    }
                }
                for (const auto precision : precisions) {
                    if (kind.is_next()) {
                        data.options.precision = precision;
                        check_against_reference(
                            data, data.options, make, tolerance(precision));
                    }
                }
            }
        }
    }
}

TEST_F(sync_cuda, likelihoods_of_symbols)
{
    in_turn kind(3);
    for (const unsigned alphabet : { 3u, 4u, 7u, 16u }) {
        for (const unsigned n : { 3u, 5u, 10u, 12u, 17u }) {
            for (const unsigned q : { 2u, 23u, 32u, 70u }) {
                for (const auto precision : precisions) {
                    if (kind.is_next() && q <= std::pow(alphabet, n)) {
                        check_likelihoods(make,
                                          sync_form::linear,
                                          n,
                                          q,
                                          alphabet,
                                          precision,
                                          small_scale() ? 1 : 5);
                    }
                }
            }
        }
    }
}

// More than a multiprocessor has room for.
TEST_F(sync_cuda, windows_too_wide_for_the_weights_of_all_symbols)
{
    auto data =
        random_frames(codebook_random(10, 3, 2, 4, 16), { 0.02, 0.03, 0.01, 16 }, 2);
    data.options.start = { 0, std::vector<double>(2200, 1) };
    check_against_reference(data, data.options, make, 1e-10);
    make_likelihoods(data);
    check_against_reference(data, data.options, make, 1e-10);
}

TEST_F(sync_cuda, alphabets_words_and_lengths_of_any_kind)
{
    in_turn kind(3);
    for (const auto& c : awkward_cases()) {
        for (const auto precision : precisions) {
            if (!kind.is_next()) {
                continue;
            }
            auto data = random_frames(c.code, c.channel, small_scale() ? 2 : 5);
            data.options.precision = precision;
            check_against_reference(data, data.options, make, tolerance(precision));
            data.options.form = sync_form::corridor;
            data.options.change_first = -int(c.code.n());
            data.options.change_last = 40;
            check_against_reference(data, data.options, make, tolerance(precision));
        }
    }
}

TEST_F(sync_cuda, priors_soft_values_and_boundary_priors)
{
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        check_priors_and_soft_values(form, make, small_scale() ? 3 : 21);
    }
}

TEST_F(sync_cuda, priors_of_bits)
{
    auto data = random_frames(codebook_random(10, 40, 9, 4), { 0.03, 0.04, 0.01 }, 9);
    std::mt19937_64 random(5);
    for (std::size_t f = 0; f < data.messages.size(); ++f) {
        std::vector<float> priors(data.options.code.frame_symbols() * 40);
        for (auto& p : priors) {
            p = float((random() >> 40) * 0x1p-24);
        }
        data.priors.push_back(priors);
    }
    data.options.priors = true;
    for (const auto precision : precisions) {
        data.options.precision = precision;
        check_against_reference(data, data.options, make, tolerance(precision));
    }
}

TEST_F(sync_cuda, outputs_follow_the_posteriors) { check_outputs(make); }

TEST_F(sync_cuda, impossible_frames_are_uniform_and_not_valid)
{
    check_impossible_frames(make);
}

TEST_F(sync_cuda, windows_beyond_a_thousand_drifts)
{
    if (small_scale()) {
        GTEST_SKIP() << "not at small scale";
    }
    auto data = random_frames(codebook_random(10, 4, 1400, 4), { 0.2, 0.2, 0 }, 2);
    EXPECT_GT(decoder_window(data.options).size(), 1024u);
    // In double: over 14000 bits of such a channel, drifts that turn out to be right fall
    // below the range of a float.
    check_against_reference(data, data.options, make, 1e-10);
}

// Decoders of different codes launch the same kernels, with more or less shared memory.
TEST_F(sync_cuda, decoders_of_wide_and_narrow_windows)
{
    auto narrow =
        random_frames(codebook_random(6, 8, 3, 4), { 0.01, 0.01, 0 }, 1).options;
    auto data = random_frames(
        codebook_random(6, 8, 60, 4), { 0.1, 0.1, 0 }, small_scale() ? 1 : 3);
    for (const auto form : { sync_form::linear, sync_form::corridor }) {
        for (const auto storage : { sync_storage::global, sync_storage::local }) {
            for (auto* o : { &narrow, &data.options }) {
                o->form = form;
                o->storage = storage;
                o->precision = sync_precision::float64;
            }
            std::vector<std::unique_ptr<batch_decoder<job>>> others;
            const auto before_a_narrow_one = [&](const setup& setup, std::size_t frames) {
                auto decoder = make(setup, frames);
                others.push_back(make(make_setup(narrow), 1));
                return decoder;
            };
            check_against_reference(data, data.options, before_a_narrow_one, 1e-10);
        }
    }
}

// What a decoder makes of frames, or of all of them in one stream.
// \p again: of how many frames the beginning that was found was not the right one.
std::vector<double> decode_all(const test_frames& data,
                               const sync_options& options,
                               std::uint64_t* again = nullptr)
{
    sync_decoder decoder(options);
    std::vector<double> values;
    const auto take = [&] {
        sync_decoder::frame f;
        while (decoder.pull(f)) {
            append_values<double>(static_cast<const std::byte*>(f.output),
                                  f.output_bytes / sizeof(double),
                                  values);
        }
    };
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        const auto count = data.received[f].size();
        const auto* const items =
            options.soft_input
                ? reinterpret_cast<const std::uint8_t*>(data.soft[f].data())
                : data.received[f].data();
        for (std::size_t at = 0; at < count;) {
            const auto* const next = items + at * options.item_bytes();
            at += options.mode == sync_mode::stream
                      ? decoder.push(next, count - at)
                      : (decoder.push_frame(next, count - at) ? count - at : 0);
            take();
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        take();
        decoder.wait(std::chrono::milliseconds(10));
    }
    if (again) {
        *again = decoder.frames_again();
    }
    return values;
}

TEST_F(sync_cuda, frames_and_streams_through_two_decoders_are_those_of_the_cpu)
{
    const unsigned frames = small_scale() ? 8 : 40;
    const auto data =
        random_frames(codebook_davey_mackay(10, 32, 20, 4), { 0.01, 0.01, 0 }, frames);
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (const auto precision : precisions) {
            auto o = data.options;
            o.mode = mode;
            o.precision = precision;
            o.drifts = false;
            o.batch = 3;
            o.where = backend::cpu;
            const auto cpu = decode_all(data, o);
            o.where = backend::cuda;
            o.devices = { 0, 0 };
            const auto cuda = decode_all(data, o);
            EXPECT_EQ(cpu.size(), std::size_t(frames) * 20 * 32);
            // A stream carries differences on from frame to frame.
            EXPECT_LE(largest_difference(cpu, cuda), 2 * tolerance(precision));
        }
    }
}

// To be decoded on the CPU first.
sync_options on_the_cpu(const test_frames& data,
                        sync_mode mode,
                        sync_precision precision,
                        unsigned batch)
{
    auto o = data.options;
    o.mode = mode;
    o.precision = precision;
    o.drifts = false;
    o.batch = batch;
    o.where = backend::cpu;
    return o;
}

// Frames of a stream find where they begin by kernels of their own.
TEST_F(sync_cuda, frames_are_found_as_by_the_cpu)
{
    const unsigned frames = small_scale() ? 5 : 40, N = small_scale() ? 24 : 100;
    for (const auto& code : { codebook_random(10, 40, N, 4),
                              codebook_random(10, 8, N, 4),
                              codebook_random(7, 12, 2 * N, 4),
                              codebook_random(9, 70, N, 4),
                              codebook_random(17, 6, N, 4),
                              codebook_random(10, 16, N, 4, 4),
                              codebook_random(10, 40, N, 4, 3),
                              codebook_random(4, 20, 2 * N, 4, 4) }) {
        const auto data = random_frames(
            code, { 4e-3, 5e-3, 2e-3, code.alphabet() }, small_scale() ? 5 : frames);
        for (const auto precision : precisions) {
            auto o = on_the_cpu(data, sync_mode::stream, precision, 3);
            if (small_scale() && code.n() != 10 && precision != sync_precision::float32) {
                continue;
            }
            ASSERT_TRUE(bool(make_setup(o).search));
            std::uint64_t again = 0, again_cuda = 0;
            const auto cpu = decode_all(data, o, &again);
            o.where = backend::cuda;
            EXPECT_LE(largest_difference(cpu, decode_all(data, o, &again_cuda)),
                      4 * tolerance(precision))
                << "n " << code.n() << " q " << code.q();
            EXPECT_EQ(again_cuda, again) << "n " << code.n() << " q " << code.q();
        }
    }
}

// On bad channels tries narrow their windows once they know where a frame must be.
TEST_F(sync_cuda, frames_are_found_in_windows_that_narrow)
{
    const unsigned N = 100, frames = small_scale() ? 6 : 60;
    for (const auto& code : { codebook_random(10, 8, N, 4),
                              codebook_random(10, 40, N, 4),
                              codebook_random(7, 8, N, 4, 4) }) {
        const auto data =
            random_frames(code, { 0.07, 0.09, 2e-3, code.alphabet() }, frames);
        for (const auto precision : precisions) {
            if (small_scale() && precision != sync_precision::float32) {
                continue;
            }
            auto o = on_the_cpu(data, sync_mode::stream, precision, 5);
            const auto search = make_setup(o).search;
            ASSERT_TRUE(search.may_narrow(search.warmup));
            ASSERT_GE(search.window, 256u);
            // Warm-ups this short leave some links to fail, and not the same ones.
            const auto cpu = decode_all(data, o);
            o.where = backend::cuda;
            EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                      4 * tolerance(precision))
                << "n " << code.n() << " q " << code.q();
        }
    }
}

TEST_F(sync_cuda, likelihoods_in_frames_and_streams_are_those_of_the_cpu)
{
    const unsigned N = small_scale() ? 24 : 100;
    for (const auto& code : { codebook_random(10, 40, N, 4, 4),
                              codebook_random(10, 16, N, 4, 3),
                              codebook_random(4, 20, 2 * N, 4, 4) }) {
        auto data = random_frames(
            code, { 4e-3, 5e-3, 2e-3, code.alphabet() }, small_scale() ? 5 : 40);
        make_likelihoods(data);
        for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
            for (const auto precision : precisions) {
                auto o = on_the_cpu(data, mode, precision, 3);
                if (small_scale() && code.q() == 16 &&
                    precision != sync_precision::float32) {
                    continue;
                }
                const auto cpu = decode_all(data, o);
                o.where = backend::cuda;
                EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                          4 * tolerance(precision))
                    << "n " << code.n() << " q " << code.q();
            }
        }
    }
}

// Whether their items lie in the slot or elsewhere, and whatever is known of their ends.
TEST_F(sync_cuda, placed_frames_are_decoded_as_whole_ones)
{
    const unsigned frames = small_scale() ? 5 : 60;
    auto data = random_frames(codebook_random(10, 8, 24, 4), { 1e-2, 1e-2 }, frames);
    data.received[1].assign(700, 0); // not to be decoded
    for (const bool soft : { false, true }) {
        for (const bool end_known : { false, true }) {
            auto o = data.options;
            o.output = sync_output::posteriors;
            o.precision = sync_precision::float32;
            o.soft_input = soft;
            o.end = end_known ? drift_prior{ -4, std::vector<double>(9, 1) } : o.end;
            data.soft.clear();
            for (const auto& items : data.received) {
                data.soft.emplace_back();
                for (const auto item : items) {
                    data.soft.back().push_back(item ? 0.9f : 0.2f);
                }
            }
            const auto whole = decode_frames(data, o, [](const setup& s, auto n) {
                return room::make_cuda(s, n, 1, 0);
            });
            const auto setup = make_setup(o);
            ASSERT_TRUE(setup.placed);
            const auto decoder = room::make_cuda(setup, frames, 1, 0);
            ASSERT_TRUE(decoder->take_raw());
            const auto limits = decoder->limits();
            const auto layout = setup.placed_input(frames);
            const auto size = setup.item_bytes();
            const host_memory in(limits.input_bytes), out(limits.output_bytes),
                status(limits.status_bytes), lent(limits.raw_bytes);
            auto* const places = reinterpret_cast<placed_frame*>(in.data());
            std::size_t at = 0;
            for (unsigned f = 0; f < frames; ++f) {
                const auto count = data.received[f].size();
                const auto length = length_of_frame(setup, count);
                places[f] = { length, std::uint32_t(at) };
                if (length > 0) {
                    const void* items =
                        soft ? static_cast<const void*>(data.soft[f].data())
                             : data.received[f].data();
                    std::memcpy(
                        in.data() + layout.items_at + at * size, items, count * size);
                    std::memcpy(lent.data() + at * size, items, count * size);
                    at += count;
                }
            }
            for (const bool lend : { false, true }) {
                job j{ frames };
                j.placed = true;
                j.lent = lend;
                j.items = at;
                if (lend) {
                    std::memset(in.data() + layout.items_at, 77, at * size);
                }
                std::memset(out.data(), 0, out.size());
                decoder->submit(0,
                                j,
                                { lend ? lent.data() : in.data(),
                                  out.data(),
                                  status.data(),
                                  in.data() });
                while (!decoder->finished(0)) {
                }
                for (unsigned f = 0; f < frames; ++f) {
                    const auto& s = reinterpret_cast<sync_status*>(status.data())[f];
                    const auto mine =
                        read_output(setup, out.data() + f * setup.output_bytes(), s);
                    EXPECT_EQ(mine.values, whole[f].values) << f << soft << end_known;
                    EXPECT_EQ(s.valid, whole[f].status.valid);
                    // Its window may end where more was deleted than the prior expects.
                    const bool reached =
                        !end_known || data.received[f].size() + 4 >= o.code.frame_bits();
                    EXPECT_EQ(s.valid, f != 1 && reached)
                        << f << ": " << data.received[f].size();
                }
            }
        }
    }
}

// To the last bit, so that it does not matter where a batch begins. Frames that warm up
// for too short a time differ.
TEST_F(sync_cuda, links_are_compared_as_on_the_host)
{
    const unsigned frames = small_scale() ? 12 : 150;
    const auto data =
        random_frames(codebook_random(10, 8, 24, 4), { 1e-2, 1e-2, 1e-3 }, frames);
    for (const auto precision : precisions) {
        auto o = data.options;
        o.mode = sync_mode::stream;
        o.precision = precision;
        o.drifts = false;
        const auto setup = make_setup(o);
        ASSERT_TRUE(bool(setup.search));
        const auto decoder = room::make_cuda(setup, frames, 1, 0);
        const auto limits = decoder->limits();
        const auto layout = setup.stream_input(frames);
        const host_memory in(limits.input_bytes), out(limits.output_bytes),
            status(limits.status_bytes);
        std::size_t at = 0;
        for (unsigned f = 0; f < frames; ++f) {
            reinterpret_cast<stream_piece*>(in.data())[f] = { -1, std::int32_t(at) };
            const auto& items = data.received[f];
            std::memcpy(in.data() + layout.items_at + at, items.data(), items.size());
            at += items.size();
        }
        for (const unsigned warmup : { 1u, 3u, setup.search.warmup }) {
            decoder->submit(
                0, { frames, 0, at, warmup }, { in.data(), out.data(), status.data() });
            while (!decoder->finished(0)) {
            }
            unsigned different = 0;
            for (unsigned f = 0; f < frames; ++f) {
                const auto* const mine = out.data() + f * setup.output_bytes();
                link_header header;
                std::memcpy(&header, mine + setup.links_at(), sizeof(header));
                ASSERT_EQ(header.compared, f > 0);
                if (f == 0) {
                    continue;
                }
                const auto* const other = mine - setup.output_bytes();
                link_header before;
                std::memcpy(&before, other + setup.links_at(), sizeof(before));
                const auto l = compare(setup,
                                       { other + setup.metrics_at(), before.origin },
                                       { mine + setup.metrics_at(), header.origin });
                EXPECT_EQ(header.to_previous.difference, l.difference) << f;
                EXPECT_EQ(header.to_previous.start_bound, l.start_bound) << f;
                EXPECT_EQ(header.to_previous.end_bound, l.end_bound) << f;
                // The first have too little before them, the last too little behind.
                different += f > 2 && f + 2 < frames && l.difference > 1e-5;
            }
            if (warmup == 1) {
                EXPECT_GT(different, frames / 4);
            } else if (warmup == setup.search.warmup) {
                EXPECT_EQ(different, 0u);
            }
        }
    }
}

// Words of ten bits by each of their kernels, whatever the size of batches: as tries, in
// segments, and a frame per block.
enum class kernels { tries, segments, frames };

class sync_cuda_ten_bits : public sync_cuda, public testing::WithParamInterface<kernels>
{
protected:
    void SetUp() override
    {
        sync_cuda::SetUp();
        const auto set = [](const char* name, bool all) {
            setenv(name, all ? "1000000" : "0", true);
        };
        set("GPUFEC_SYNC_TRIES_FROM", GetParam() != kernels::tries);
        set("GPUFEC_SYNC_SEGMENTS_TO", GetParam() == kernels::segments);
    }
    void TearDown() override
    {
        unsetenv("GPUFEC_SYNC_TRIES_FROM");
        unsetenv("GPUFEC_SYNC_SEGMENTS_TO");
    }

    // So many frames; fewer where that would take minutes.
    static unsigned count(unsigned frames, unsigned least)
    {
        return small_scale() && GetParam() == kernels::segments ? least : frames;
    }

    // Tries have their sums in the precision of their lattices.
    static std::vector<sync_precision> own_precisions()
    {
        std::vector<sync_precision> all{ sync_precision::float64,
                                         sync_precision::float32 };
        if (GetParam() != kernels::tries) {
            all.push_back(sync_precision::mixed);
        }
        return all;
    }
};

INSTANTIATE_TEST_SUITE_P(by,
                         sync_cuda_ten_bits,
                         testing::Values(kernels::tries,
                                         kernels::segments,
                                         kernels::frames),
                         [](const auto& info) {
                             return info.param == kernels::tries      ? "tries"
                                    : info.param == kernels::segments ? "segments"
                                                                      : "frames";
                         });

TEST_P(sync_cuda_ten_bits, meet_the_vectors)
{
    auto all = vectors();
    all.erase(std::remove_if(all.begin(),
                             all.end(),
                             [](const test_vector& v) { return v.code.n() != 10; }),
              all.end());
    if (all.empty()) {
        GTEST_SKIP() << "no vectors: set GPUFEC_TEST_DATA";
    }
    for (const auto& v : all) {
        for (const auto precision : own_precisions()) {
            check_vector(v,
                         options_of(v, precision),
                         make,
                         tolerance(precision),
                         small_scale() ? 2 : 47);
        }
    }
}

// Windows of one lane and of many; every way in which insertions reach the next lane; and
// channels that are for the other kernels.
TEST_P(sync_cuda_ten_bits, codes_and_channels_of_any_kind)
{
    const bsid_model channels[] = {
        { 1e-3, 1e-3, 0 },    { 1e-4, 1e-3, 0.01 }, { 0.012, 0.02, 0 },
        { 0.05, 0.02, 0.03 }, { 0.1, 0.1, 0.01 },   { 0.2, 0.15, 0.02 },
        { 0, 0.1, 0.02 },     { 0.1, 0, 0.02 },     { 0.01, 0.03, 1 },
        { 0.01, 0.03, 0.5 },  { 0, 0, 0.1 },        { 0.02, 1e-5, 0.01 },
    };
    for (const auto& channel : channels) {
        for (const unsigned q : { 2u, 23u, 32u, 33u, 300u, 1024u }) {
            if (small_scale() && q > 33) {
                continue;
            }
            const unsigned N = small_scale() ? 5 : 12;
            const auto code = q == 32 ? codebook_davey_mackay(10, q, N, 4)
                                      : codebook_random(10, q, N, 4);
            auto data = random_frames(code,
                                      channel,
                                      count(small_scale() ? 3
                                            : q > 33      ? 4
                                                          : 20,
                                            1));
            for (const auto precision : own_precisions()) {
                data.options.precision = precision;
                // Codes without much redundancy make more of what floats round: the CPU's
                // float decoder differs by up to 4e-6.
                const bool rounds = q > 100 && precision == sync_precision::float32;
                check_against_reference(
                    data, data.options, make, rounds ? 4e-6 : tolerance(precision));
            }
        }
    }
}

TEST_P(sync_cuda_ten_bits, erasures_bursts_and_boundary_priors)
{
    auto data =
        random_frames(codebook_random(10, 40, 9, 4), { 0.01, 0.02, 0.01 }, count(21, 7));
    auto& o = data.options;
    // Items erased, inserted, lost, all of them unknown, and frames of the extreme
    // lengths.
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        for (std::size_t k = f; f % 3 == 0 && k < r.size(); k += 7) {
            r[k] = 2 + f;
        }
        if (f % 5 == 1) {
            r.insert(r.begin() + 40, 5, f % 2);
        }
        if (f % 5 == 2) {
            r.erase(r.begin() + 30, r.begin() + 35);
        }
    }
    std::fill(data.received[4].begin(), data.received[4].end(), 9);
    // At the very end of the window the kernels see a few drifts more than the reference.
    const auto window = decoder_window(o);
    data.received[5].resize(o.code.frame_bits() + window.first + 6);
    data.received[6].resize(o.code.frame_bits() + window.last - 6, 1);
    for (const auto precision : own_precisions()) {
        o.precision = precision;
        check_against_reference(data, o, make, tolerance(precision));
        o.start = { 0, { 0.5, 0.3, 0.2 } };
        o.end = { -3, { 1, 2, 4, 8, 8, 3, 1 } };
        check_against_reference(data, o, make, tolerance(precision));
        o.start = {};
        o.end = { 0, {} };
    }
}

// A frame per warp, and windows too wide for that.
TEST_P(sync_cuda_ten_bits, windows_of_many_drifts)
{
    auto data =
        random_frames(codebook_random(10, 12, 4, 4), { 0.03, 0.05, 0.01 }, count(9, 1));
    for (const std::size_t wide : { 200u, 260u, 360u, 430u }) {
        if (small_scale() && GetParam() == kernels::segments && wide != 200) {
            continue;
        }
        data.options.start = { -int(wide / 2), std::vector<double>(wide, 1) };
        for (const auto precision : own_precisions()) {
            data.options.precision = precision;
            check_against_reference(data, data.options, make, tolerance(precision));
        }
    }
}

TEST_P(sync_cuda_ten_bits, outputs_follow_the_posteriors)
{
    auto data =
        random_frames(codebook_random(10, 64, 8, 4), { 0.02, 0.03, 0.01 }, count(30, 4));
    auto& o = data.options;
    data.received[0].resize(5);
    const auto with = [&](sync_output output) {
        o.output = output;
        return decode_frames(data, o, make);
    };
    const auto q = o.code.q();
    const auto exact = with(sync_output::posteriors64);
    const auto floats = with(sync_output::posteriors);
    const auto symbols = with(sync_output::symbols);
    const auto extrinsics = with(sync_output::extrinsics);
    const auto llrs = with(sync_output::llr);
    o.positive_bit = 1;
    const auto others = with(sync_output::llr);
    for (std::size_t f = 0; f < llrs.size(); ++f) {
        std::vector<double> negated;
        for (const auto llr : llrs[f].values) {
            negated.push_back(-llr);
        }
        EXPECT_EQ(others[f].values, negated);
    }
    EXPECT_FALSE(exact[0].status.valid);
    EXPECT_EQ(exact[0].values, std::vector<double>(exact[0].values.size(), 1.0 / q));
    for (std::size_t f = 0; f < exact.size(); ++f) {
        EXPECT_LE(largest_difference(exact[f].values, floats[f].values), 1e-7);
        EXPECT_EQ(floats[f].values, extrinsics[f].values);
        for (unsigned i = 0; i < o.code.frame_symbols(); ++i) {
            const auto* L = &exact[f].values[i * q];
            EXPECT_EQ(symbols[f].values[i], std::max_element(L, L + q) - L);
            for (unsigned b = 0; b < 6; ++b) {
                double zero = 0, one = 0;
                for (unsigned D = 0; D < q; ++D) {
                    (D >> (5 - b) & 1 ? one : zero) += L[D];
                }
                const double llr = std::clamp(8 * std::log(zero / one), -127.0, 127.0);
                EXPECT_NEAR(llrs[f].values[i * 6 + b], llr, 0.51);
            }
        }
    }
}

TEST_P(sync_cuda_ten_bits, frames_and_streams_are_those_of_the_cpu)
{
    const unsigned frames = small_scale() ? 6 : 40;
    const auto data =
        random_frames(codebook_davey_mackay(10, 32, small_scale() ? 8 : 20, 4),
                      { 0.01, 0.01, 0 },
                      frames);
    for (const auto mode : { sync_mode::framed, sync_mode::stream }) {
        for (const auto precision : own_precisions()) {
            auto o = data.options;
            o.mode = mode;
            o.precision = precision;
            o.drifts = false;
            o.batch = 3;
            o.where = backend::cpu;
            const auto cpu = decode_all(data, o);
            o.where = backend::cuda;
            o.devices = { 0, 0 };
            EXPECT_LE(largest_difference(cpu, decode_all(data, o)),
                      2 * tolerance(precision));
        }
    }
}

// Tries in a band of 16 drifts that follows a frame's path.
class sync_cuda_band : public sync_cuda
{
protected:
    void SetUp() override
    {
        sync_cuda::SetUp();
        setenv("GPUFEC_SYNC_BAND_FROM", "0", true);
    }
    void TearDown() override
    {
        unsetenv("GPUFEC_SYNC_BAND_FROM");
        unsetenv("GPUFEC_SYNC_BAND_ALONE");
    }

    // Frames in float, with more drifts than the band has.
    static test_frames
    frames_of(const sync_code& code, const bsid_model& channel, unsigned count)
    {
        auto data = random_frames(code, channel, count);
        data.options.precision = sync_precision::float32;
        data.options.exclusion = 1e-14;
        EXPECT_GE(decoder_window(data.options).size(), 24u);
        return data;
    }

    // Of each frame, whether the band was enough; those are compared.
    static std::vector<bool> kept(const test_frames& data)
    {
        setenv("GPUFEC_SYNC_BAND_ALONE", "1", true);
        const auto decoded = decode_frames(data, data.options, make);
        unsetenv("GPUFEC_SYNC_BAND_ALONE");
        std::vector<bool> all;
        for (std::size_t f = 0; f < decoded.size(); ++f) {
            all.push_back(decoded[f].status.valid);
            if (all.back()) {
                const auto r = reference_of(data, data.options, f);
                EXPECT_LE(largest_difference(decoded[f].values, r.posteriors), 1e-6) << f;
            }
        }
        return all;
    }
};

TEST_F(sync_cuda_band, frames_of_few_events_need_no_more)
{
    for (const auto& code :
         { codebook_random(10, 16, 90, 4), codebook_davey_mackay(10, 32, 90, 4) }) {
        for (const auto& channel :
             { bsid_model(1e-3, 1e-3, 0), bsid_model(5e-4, 1.5e-3, 1e-3) }) {
            const auto data = frames_of(code, channel, small_scale() ? 40 : 400);
            const auto all = kept(data);
            EXPECT_GT(std::count(all.begin(), all.end(), true), 0.97 * all.size());
            check_against_reference(data, data.options, make, 1e-6);
        }
    }
}

// Some frames need more drifts: none is kept that is not right.
TEST_F(sync_cuda_band, no_frame_is_kept_that_loses_something)
{
    const auto code = codebook_random(10, 16, 40, 4);
    unsigned enough = 0, frames = 0;
    for (const auto& channel : { bsid_model(1e-2, 1e-2, 0),
                                 bsid_model(1e-2, 1e-2, 2e-2),
                                 bsid_model(2e-4, 2e-2, 0),
                                 bsid_model(3e-2, 2e-4, 0) }) {
        auto data = frames_of(code, channel, small_scale() ? 40 : 500);
        for (const bool open : { false, true }) {
            if (open) {
                data.options.end = { -12, std::vector<double>(25, 1) };
            }
            const auto all = kept(data);
            enough += std::count(all.begin(), all.end(), true);
            frames += all.size();
            check_against_reference(data, data.options, make, 1e-6);
        }
    }
    EXPECT_GT(enough, frames / 4);
    EXPECT_LT(enough, frames);
}

// Paths that leave the band at once and come back, also in the same word; that leave
// it for good; erased items; nothing but noise; frames too long, too short and empty.
TEST_F(sync_cuda_band, bursts_are_decoded_with_all_drifts)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 40);
    std::mt19937_64 random(3);
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        const auto insert = [&](std::size_t at, unsigned count) {
            for (unsigned k = 0; k < count; ++k) {
                r.insert(r.begin() + at, random() & 1);
            }
        };
        const auto lose = [&](std::size_t at, unsigned count) {
            r.erase(r.begin() + at, r.begin() + at + count);
        };
        const std::size_t at = 200 + 13 * f, back = at + 5 + 8 * (f / 8);
        switch (f % 8) {
        case 1:
            lose(back, 10);
            insert(at, 10);
            break;
        case 2:
            insert(back, 11);
            lose(at, 11);
            break;
        case 3:
            insert(at, 11);
            break;
        case 4:
            lose(at, 11);
            break;
        case 5:
            std::fill(r.begin() + at, r.begin() + at + 30, 7);
            break;
        }
    }
    data.received[0].clear();
    std::generate(
        data.received[6].begin(), data.received[6].end(), [&] { return random() & 1; });
    data.received[7].resize(2000, 1);
    data.received[8].resize(880);
    const auto all = kept(data);
    for (std::size_t f = 0; f < all.size(); ++f) {
        const bool comes_back = f % 8 == 1 || f % 8 == 2;
        if ((comes_back && f > 24) || f % 8 == 3 || f % 8 == 4 || f == 0 ||
            (f > 5 && f < 9)) {
            EXPECT_FALSE(all[f]) << f;
        } else if (!comes_back && f % 8 != 5) {
            EXPECT_TRUE(all[f]) << f;
        }
    }
    // Of noise, kernels and reference make the same only where no path meets the ends of
    // the window.
    data.received[6] = data.received[14];
    check_against_reference(data, data.options, make, 1e-6);
}

TEST_F(sync_cuda_band, ends_that_are_known_in_part)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 12);
    auto& o = data.options;
    o.start = { -2, { 1, 2, 4, 2, 1 } };
    o.end = { -4, { 1, 1, 2, 4, 8, 4, 2, 1, 1 } };
    auto all = kept(data);
    EXPECT_GT(std::count(all.begin(), all.end(), true), 6);
    check_against_reference(data, o, make, 1e-6);
    // More than the band holds, at either end.
    for (const bool at_start : { true, false }) {
        const drift_prior wide{ -12, std::vector<double>(25, 1) };
        o.start = at_start ? wide : drift_prior{};
        o.end = at_start ? drift_prior{ 0, {} } : wide;
        all = kept(data);
        check_against_reference(data, o, make, 1e-6);
    }
}

// What has left the band for good need not come back there; near the end it is found too.
TEST_F(sync_cuda_band, bursts_before_open_ends_are_decoded_with_all_drifts)
{
    auto data = frames_of(codebook_random(10, 16, 90, 4), { 1e-3, 1e-3, 0 }, 24);
    auto& o = data.options;
    o.end = { -14, std::vector<double>(29, 1) };
    std::mt19937_64 random(5);
    for (std::size_t f = 0; f < data.received.size(); ++f) {
        auto& r = data.received[f];
        const auto at = r.begin() + 20 + 36 * f;
        if (f % 2) {
            r.erase(at, at + 11);
        } else {
            const std::uint64_t items = random();
            for (unsigned k = 0; k < 11; ++k) {
                r.insert(r.begin() + 20 + 36 * f, items >> k & 1);
            }
        }
    }
    const auto all = kept(data);
    EXPECT_EQ(std::count(all.begin(), all.end(), true), 0);
    check_against_reference(data, o, make, 1e-6);
}

TEST(band_bound, allows_more_events_than_most_frames_have)
{
    const double likely = 0.998 / 1e-3;
    const auto allowed = [&](unsigned drifts) {
        return band_bound(1e-3, likely, 10, drifts).events_allowed(210, 1e-8, likely);
    };
    EXPECT_GT(allowed(16), 8); // of which 4.2 are expected
    EXPECT_LT(allowed(14), allowed(16) - 1);
    EXPECT_LT(allowed(8), 2);
}

// β of all drifts is taken for the last indices.
TEST_F(sync_cuda_band, open_ends_need_no_more_for_most_frames)
{
    for (const int reach : { 5, 8, 11 }) {
        auto data = frames_of(codebook_davey_mackay(10, 32, 210, 4),
                              { 1e-3, 1e-3, 0 },
                              small_scale() ? 32 : 200);
        auto& o = data.options;
        o.end = { -reach, std::vector<double>(2 * reach + 1, 1) };
        for (auto& r : data.received) { // what comes behind the frame
            r.resize(r.size() + 8, std::uint8_t(r.size() % 2));
        }
        const auto all = kept(data);
        EXPECT_GT(std::count(all.begin(), all.end(), true), 0.9 * all.size());
    }
}

TEST_F(sync_cuda_band, what_is_put_out_follows_the_posteriors)
{
    auto data = frames_of(codebook_random(10, 64, 90, 4), { 1e-3, 1e-3, 0 }, 6);
    auto& o = data.options;
    const auto with = [&](sync_output output) {
        o.output = output;
        return decode_frames(data, o, make);
    };
    const auto exact = with(sync_output::posteriors64);
    const auto symbols = with(sync_output::symbols);
    const auto llrs = with(sync_output::llr);
    for (std::size_t f = 0; f < exact.size(); ++f) {
        for (unsigned i = 0; i < o.code.frame_symbols(); ++i) {
            const auto* const L = &exact[f].values[i * 64];
            EXPECT_EQ(symbols[f].values[i], std::max_element(L, L + 64) - L);
            for (unsigned b = 0; b < 6; ++b) {
                double zero = 0, one = 0;
                for (unsigned D = 0; D < 64; ++D) {
                    (D >> (5 - b) & 1 ? one : zero) += L[D];
                }
                const double llr = std::clamp(8 * std::log(zero / one), -127.0, 127.0);
                EXPECT_NEAR(llrs[f].values[i * 6 + b], llr, 0.51);
            }
        }
    }
}

// Afterwards memory that it is to write may be gone, or have other pages.
TEST_F(sync_cuda, what_waits_for_its_turn_is_decoded_before_a_device_is_at_rest)
{
    const auto data = random_frames(codebook_random(10, 16, 8, 4), { 0.01, 0.01, 0 }, 1);
    const auto setup = make_setup(data.options);
    const auto decoder = make(setup, 1);
    decoder->on_completion([] {});
    const auto limits = decoder->limits();
    const host_memory in(limits.input_bytes), out(limits.output_bytes),
        status(limits.status_bytes);
    const auto& received = data.received.front();
    write_framed(setup, received.data(), received.size(), nullptr, in.data());
    const auto submit = [&] {
        std::memset(status.data(), 0, limits.status_bytes);
        decoder->submit(0, { 1 }, { in.data(), out.data(), status.data() });
        EXPECT_FALSE(decoder->finished(0));
    };
    const auto valid = [&] {
        return reinterpret_cast<const sync_status*>(status.data())->valid;
    };
    const auto turns = cuda::device_turns::of(0);
    cuda::device_turns::place other(turns, true, [] {});
    for (unsigned k = 0; k < cuda::device_turns::long_batches; ++k) {
        ASSERT_TRUE(other.begin());
    }
    submit();
    EXPECT_TRUE(decoder->quiet(std::chrono::seconds(10)));
    EXPECT_TRUE(decoder->finished(0));
    EXPECT_TRUE(valid());
    // But not what nobody wants any more.
    submit();
    decoder->drop();
    EXPECT_TRUE(decoder->quiet(std::chrono::seconds(10)));
    EXPECT_FALSE(valid());
}

TEST_F(sync_cuda, what_the_cpu_alone_has_is_refused)
{
    auto data = random_frames(codebook_random(4, 4, 5, 4), { 0.1, 0.1, 0 }, 1);
    data.options.form = sync_form::corridor;
    data.options.receiver = sync_receiver::trellis;
    EXPECT_THROW(decode_frames(data, data.options, make), std::runtime_error);
    auto soft = random_frames(codebook_random(4, 4, 5, 4, 4), { 0.1, 0.1, 0, 4 }, 1);
    make_likelihoods(soft);
    soft.options.form = sync_form::corridor;
    EXPECT_THROW(decode_frames(soft, soft.options, make), std::runtime_error);
}

} // namespace
} // namespace gr::gpufec::sync_map
