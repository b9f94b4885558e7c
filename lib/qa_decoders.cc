// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The layer that all decoders share, tested with each of them on simulated devices:
 * order, latency, failing devices, memory that is short, restarts. */

#include "channel/awgn.h"
#include "lab/sync_map/simulation.h"
#include "ldpc/qa_support.h"
#include "viterbi/qa_support.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

namespace gr::gpufec {
namespace {

using bytes = std::vector<std::uint8_t>;

class environment_variable
{
public:
    environment_variable(const char* name, const std::string& value) : d_name(name)
    {
        setenv(name, value.c_str(), 1);
    }
    environment_variable(const environment_variable&) = delete;
    ~environment_variable() { unsetenv(d_name); }

private:
    const char* const d_name;
};

class failing_device : public environment_variable
{
public:
    failing_device(int device, unsigned batches)
        : environment_variable("GPUFEC_SIMULATED_FAILURE",
                               std::to_string(device) + ":" + std::to_string(batches))
    {
    }
};

//! A decoder of some kind with input for it, cut into portions that are a piece or more.
struct user {
    std::unique_ptr<decoder> engine;
    //! Pushes what is taken of portion number f from item \p first on; says how many
    //! items.
    std::function<std::size_t(unsigned f, std::size_t first)> push;
    std::function<bytes()> pull; // what there is
    std::size_t portion;         // items
};

struct viterbi_streams {
    static constexpr unsigned portions = 24;
    static user make(const run_options& run, decoder_hooks hooks)
    {
        constexpr unsigned D = 128;
        viterbi_options o(conv_code(7, { 0171, 0133 }));
        static_cast<run_options&>(o) = run;
        o.decode_length = D;
        o.overlap = 48;
        auto d = std::make_unique<viterbi_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(1);
        auto items = std::make_shared<std::vector<std::int8_t>>(2 * D * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 200 - 100);
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     return decoder->push(items->data() + 2 * D * f + first,
                                          2 * D - first);
                 },
                 [=] {
                     bytes out(1 << 12);
                     out.resize(decoder->pull_packed(out.data(), out.size()));
                     return out;
                 },
                 2 * D };
    }
};

struct viterbi_frames {
    static constexpr unsigned portions = 24;
    static user make(const run_options& run, decoder_hooks hooks)
    {
        viterbi_options o(conv_code(5, { 023, 033 }));
        static_cast<run_options&>(o) = run;
        o.ends = termination::terminated;
        o.frame_bits = 100;
        auto d = std::make_unique<viterbi_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        const auto n = decoder->items_per_frame();
        std::mt19937 random(2);
        auto items = std::make_shared<std::vector<std::int8_t>>(n * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 200 - 100);
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     return decoder->push(items->data() + n * f + first, n - first);
                 },
                 [=] {
                     bytes out(1 << 12);
                     out.resize(decoder->pull_bits(out.data(), out.size()));
                     return out;
                 },
                 n };
    }
};

struct ldpc_frames {
    static constexpr unsigned portions = 24;
    static user make(const run_options& run, decoder_hooks hooks)
    {
        ldpc_options o;
        static_cast<run_options&>(o) = run;
        // Two codes in one batch, as with ACM.
        o.codes = { ldpc::qa::regular_code(120, 60, 1),
                    ldpc::qa::regular_code(96, 32, 2) };
        o.max_iterations = 6;
        auto d = std::make_unique<ldpc_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        std::mt19937 random(3);
        auto items = std::make_shared<std::vector<std::int8_t>>(120 * portions);
        for (auto& x : *items) {
            x = std::int8_t(random() % 21 - 10);
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     const unsigned code = f % 3 == 2;
                     const std::size_t n = code ? 96 : 120;
                     if (first == 0) {
                         decoder->select(code);
                     }
                     const auto taken =
                         decoder->push(items->data() + 120 * f + first, n - first);
                     return first + taken == n ? 120 - first : taken;
                 },
                 [=] {
                     bytes out(1 << 10);
                     out.resize(decoder->pull_packed(out.data(), out.size()));
                     return out;
                 },
                 120 };
    }
};

template <sync_mode Mode>
struct sync_frames {
    static constexpr unsigned portions = 24;
    static user make(const run_options& run, decoder_hooks hooks)
    {
        sync_options o(codebook_random(6, 8, 15, 4), { 0.02, 0.02, 0.01 });
        static_cast<run_options&>(o) = run;
        o.mode = Mode;
        o.output = sync_output::posteriors;
        auto d = std::make_unique<sync_decoder>(o, std::move(hooks));
        auto* const decoder = d.get();
        const sync_map::frame_source source(o, 3);
        auto frames = std::make_shared<std::vector<bytes>>();
        std::size_t most = 0;
        for (unsigned f = 0; f < portions; ++f) {
            const auto frame = source.make(f);
            frames->emplace_back();
            for (const auto item : frame.items) {
                frames->back().push_back(std::uint8_t(item));
            }
            frames->back().resize(frame.count);
            most = std::max(most, frame.count);
        }
        return { std::move(d),
                 [=](unsigned f, std::size_t first) {
                     const auto& frame = (*frames)[f];
                     if (Mode == sync_mode::framed) {
                         return decoder->push_frame(frame.data(), frame.size()) * most;
                     }
                     const auto taken =
                         decoder->push(frame.data() + first, frame.size() - first);
                     return first + taken == frame.size() ? most - first : taken;
                 },
                 [=] {
                     bytes out;
                     for (sync_decoder::frame f; decoder->pull(f);) {
                         const auto* const from =
                             static_cast<const std::uint8_t*>(f.output);
                         out.insert(out.end(), from, from + f.output_bytes);
                     }
                     return out;
                 },
                 most };
    }
};

struct outcome {
    bytes output;
    std::vector<std::string> errors, warnings, infos;
    std::string backend; // at the end
};

template <class Kind>
class decoders : public testing::Test
{
protected:
    decoder_hooks hooks_to(outcome& o)
    {
        decoder_hooks hooks;
        hooks.log = [&o](log_level level, const std::string& text) {
            (level == log_level::error     ? o.errors
             : level == log_level::warning ? o.warnings
                                           : o.infos)
                .push_back(text);
        };
        return hooks;
    }

    static void take(user& u, outcome& o)
    {
        for (;;) {
            const auto some = u.pull();
            if (some.empty()) {
                return;
            }
            o.output.insert(o.output.end(), some.begin(), some.end());
        }
    }

    static void push_all(user& u, outcome& o, unsigned portions)
    {
        for (unsigned f = 0; f < portions; ++f) {
            for (std::size_t first = 0; first < u.portion;) {
                const auto n = u.push(f, first);
                take(u, o);
                first += n;
                if (n == 0) {
                    u.engine->wait(std::chrono::milliseconds(10));
                }
            }
        }
    }

    static void finish(user& u, outcome& o)
    {
        u.engine->finish();
        while (!u.engine->done()) {
            take(u, o);
            u.engine->wait(std::chrono::milliseconds(10));
        }
        o.backend = u.engine->active_backend();
    }

    outcome decode(const run_options& run)
    {
        outcome o;
        auto u = Kind::make(run, hooks_to(o));
        push_all(u, o, Kind::portions);
        finish(u, o);
        return o;
    }

    static run_options run(backend where = backend::automatic)
    {
        run_options r;
        r.where = where;
        r.batch = 4;
        r.max_latency_ms = 1e9;
        return r;
    }
};

using kinds = testing::Types<viterbi_streams,
                             viterbi_frames,
                             ldpc_frames,
                             sync_frames<sync_mode::framed>,
                             sync_frames<sync_mode::stream>>;
TYPED_TEST_SUITE(decoders, kinds);

TYPED_TEST(decoders, output_does_not_depend_on_batches_slots_or_devices)
{
    const auto expected = this->decode(this->run(backend::cpu));
    ASSERT_FALSE(expected.output.empty());
    for (const unsigned batch : { 1u, 3u, 64u }) {
        for (const unsigned slots : { 1u, 2u, 16u }) {
            for (const auto& devices : { std::vector<int>{ 0 }, { 2, 0, 1 } }) {
                auto r = this->run();
                r.batch = batch;
                r.slots = slots;
                r.devices = devices;
                const auto o = this->decode(r);
                EXPECT_EQ(o.output, expected.output)
                    << batch << " " << slots << " " << devices.size();
                EXPECT_EQ(o.backend, "cuda");
            }
        }
    }
}

TYPED_TEST(decoders, failure_in_mid_run_loses_nothing)
{
    const auto expected = this->decode(this->run(backend::cpu));
    // At the first batch, with slots in flight, and at the last.
    for (const unsigned batches : { 0u, 1u, 3u, 5u }) {
        const failing_device fails(0, batches);
        const auto o = this->decode(this->run());
        EXPECT_EQ(o.output, expected.output) << batches;
        EXPECT_EQ(o.backend, "cpu") << batches;
        ASSERT_EQ(o.errors.size(), 1u) << batches;
        EXPECT_NE(o.errors[0].find("simulated device 0 failed"), std::string::npos);
        EXPECT_NE(o.errors[0].find("with the CPU, nothing is lost"), std::string::npos);
    }
}

TYPED_TEST(decoders, one_of_several_devices_may_fail)
{
    const auto expected = this->decode(this->run(backend::cpu));
    auto r = this->run();
    r.batch = 2;
    r.slots = 2;
    r.devices = { 2, 0, 1 };
    const failing_device fails(0, 1);
    const auto o = this->decode(r);
    EXPECT_EQ(o.output, expected.output);
    ASSERT_EQ(o.errors.size(), 1u);
    EXPECT_NE(o.errors[0].find("with the other devices"), std::string::npos);
}

TYPED_TEST(decoders, what_was_asked_for_is_not_replaced)
{
    auto r = this->run(backend::cuda);
    EXPECT_EQ(this->decode(r).backend, "cuda");
    {
        const failing_device fails(0, 2);
        EXPECT_THROW(this->decode(r), device_error);
    }
    r.devices = { 4 };
    EXPECT_THROW(this->decode(r), std::runtime_error);
    r.where = backend::automatic;
    const auto o = this->decode(r);
    EXPECT_EQ(o.backend, "cpu");
    ASSERT_EQ(o.infos.size(), 1u);
    EXPECT_NE(o.infos[0].find("no CUDA: device is 4: allowed are 0 to 3"),
              std::string::npos)
        << o.infos[0];
}

TYPED_TEST(decoders, batch_too_large_for_the_memory_is_halved_with_a_warning)
{
    const auto expected = this->decode(this->run(backend::cpu));
    auto r = this->run(backend::cuda);
    r.batch = 64;
    r.devices = { 0, 1 };
    const environment_variable memory("GPUFEC_SIMULATED_MEMORY", "20");
    const auto o = this->decode(r);
    EXPECT_EQ(o.output, expected.output);
    ASSERT_EQ(o.warnings.size(), 1u);
    EXPECT_NE(o.warnings[0].find("batch is 64: the device's memory holds 16"),
              std::string::npos)
        << o.warnings[0];
}

TYPED_TEST(decoders, too_little_memory_for_one_piece_is_an_error_or_the_cpu)
{
    const environment_variable memory("GPUFEC_SIMULATED_MEMORY", "0");
    EXPECT_THROW(this->decode(this->run(backend::cuda)), device_memory_error);
    EXPECT_EQ(this->decode(this->run()).backend, "cpu");
}

TYPED_TEST(decoders, a_batch_that_is_not_full_goes_when_it_is_due)
{
    outcome o;
    auto hooks = this->hooks_to(o);
    std::atomic<int> wakes{ 0 };
    hooks.wake = [&] { ++wakes; };
    auto r = this->run(backend::cpu);
    r.batch = 1000;
    auto u = TypeParam::make(r, hooks);
    this->push_all(u, o, TypeParam::portions / 2);
    ASSERT_TRUE(o.output.empty());
    u.engine->set_max_latency_ms(30);
    // The timer wakes whoever waits: at the deadline, then when the batch is decoded.
    const auto begin = std::chrono::steady_clock::now();
    while (wakes == 0 &&
           std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(u.engine->due());
    u.engine->flush();
    EXPECT_FALSE(u.engine->due());
    while (!u.engine->wait(std::chrono::milliseconds(100))) {
    }
    this->take(u, o);
    EXPECT_FALSE(o.output.empty());
}

TYPED_TEST(decoders, a_waiting_batch_follows_a_new_latency)
{
    outcome o;
    auto r = this->run(backend::cpu);
    r.batch = 1000;
    auto u = TypeParam::make(r, this->hooks_to(o));
    this->push_all(u, o, TypeParam::portions / 2);
    EXPECT_FALSE(u.engine->due());
    u.engine->set_max_latency_ms(0);
    EXPECT_TRUE(u.engine->due());
    u.engine->set_max_latency_ms(1e300); // no clock counts to that
    EXPECT_FALSE(u.engine->due());
    EXPECT_THROW(u.engine->set_max_latency_ms(-1), std::invalid_argument);
}

TYPED_TEST(decoders, after_a_reset_it_is_as_newly_made)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const auto where : { backend::cpu, backend::cuda }) {
        outcome o;
        auto u = TypeParam::make(this->run(where), this->hooks_to(o));
        this->push_all(u, o, TypeParam::portions / 2);
        u.engine->reset();
        EXPECT_FALSE(u.engine->due());
        o.output.clear();
        this->push_all(u, o, TypeParam::portions);
        this->finish(u, o);
        EXPECT_EQ(o.output, expected.output);
        u.engine->reset();
        o.output.clear();
        this->push_all(u, o, TypeParam::portions);
        this->finish(u, o);
        EXPECT_EQ(o.output, expected.output);
    }
}

TYPED_TEST(decoders, options_out_of_range_are_refused_by_name)
{
    const auto refused = [&](auto&& change) -> std::string {
        auto r = this->run(backend::cpu);
        change(r);
        try {
            this->decode(r);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    using r = run_options&;
    EXPECT_EQ(refused([](r o) { o.slots = 17; }), "slots is 17: allowed are 1 to 16");
    EXPECT_EQ(refused([](r o) { o.threads = 0; }), "threads is 0: allowed are 1 to 256");
    EXPECT_EQ(refused([](r o) { o.devices = {}; }),
              "number of devices is 0: allowed are 1 to 16");
    EXPECT_EQ(refused([](r o) { o.max_latency_ms = -1; }),
              "max_latency_ms is -1: allowed are finite values from 0");
    EXPECT_NE(refused([](r o) { o.batch = (1u << 24) + 1; }).find("batch is 16777217"),
              std::string::npos);
}

// A thread that the system does not start must not end the process.
TYPED_TEST(decoders, fewer_threads_than_asked_for_are_enough)
{
    const auto expected = this->decode(this->run(backend::cpu));
    const auto decode_with_few = [&] {
        // Of the user, whoever runs this; root has no limit, so it is lent another one.
        rlimit most{ 3, 3 };
        if (setrlimit(RLIMIT_NPROC, &most) != 0 || setuid(65534) != 0) {
            std::_Exit(77);
        }
        auto r = this->run(backend::cpu);
        r.threads = 64;
        try {
            std::_Exit(this->decode(r).output == expected.output ? 0 : 1);
        } catch (const std::runtime_error& error) {
            const std::string text = error.what();
            std::_Exit(text.find("the system starts no") == 0 ||
                               text.find("threads is 64") == 0
                           ? 0
                           : 2);
        }
    };
    testing::FLAGS_gtest_death_test_style = "fast";
    EXPECT_EXIT(
        decode_with_few(),
        [](int status) {
            return WIFEXITED(status) &&
                   (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
        },
        "");
}

} // namespace
} // namespace gr::gpufec
