// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the layer that all decoders share, on the CPU and on simulated devices: order,
 * latency, hooks, options, copies and conversion of input, output in place, failing
 * devices, lack of memory and of threads, restarts, changes of a synchronisation channel.
 * Most tests run with each kind of decoder. */

#include "decoder_kinds.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <thread>

namespace gr::gpufec {
namespace {

using namespace qa;

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

TYPED_TEST_SUITE(decoders, kinds);

TYPED_TEST(decoders, BatchesSlotsAndDevices_DoNotChangeOutput)
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
                    << "batch " << batch << " slots " << slots << " devices "
                    << devices.size();
                EXPECT_EQ(o.backend, "cuda");
            }
        }
    }
}

TYPED_TEST(decoders, DeviceFailure_LosesNoData)
{
    const auto expected = this->decode(this->run(backend::cpu));
    // Number of batches that the device accepts before it fails.
    for (const unsigned batches : { 0u, 1u, 3u, 5u }) {
        const failing_device fails(0, batches);
        const auto o = this->decode(this->run());
        EXPECT_EQ(o.output, expected.output) << batches;
        EXPECT_EQ(o.backend, "cpu") << batches;
        ASSERT_EQ(o.errors.size(), 1u) << batches;
        EXPECT_NE(o.errors[0].find("simulated device 0 failed"), std::string::npos);
        EXPECT_NE(o.errors[0].find("on the CPU without loss of data"), std::string::npos);
    }
}

// Whether a kind of decoder can write its output in place. A decoder that post-processes
// its output cannot.
template <class Kind>
constexpr bool fills_rings = true;
template <>
constexpr bool fills_rings<viterbi_frames> = false;
template <class Item>
constexpr bool fills_rings<sync_borrowed<sync_mode::stream, Item>> = false;
template <>
constexpr bool fills_rings<sync_frames<sync_mode::stream>> = false;

TYPED_TEST(decoders, OutputInPlace_EqualsPulledOutput)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const unsigned batch : { 1u, 3u, 64u }) {
        for (const auto& devices : { std::vector<int>{ 0 }, { 2, 0, 1 } }) {
            for (const unsigned slots : { 1u, 3u }) {
                for (const std::size_t first : { 0u, 1000u, 4001u }) {
                    auto r = this->run();
                    r.batch = batch;
                    r.slots = slots;
                    r.devices = devices;
                    const auto o = this->decode_to_ring(r, first);
                    EXPECT_EQ(o.output, expected.output)
                        << "batch " << batch << " slots " << slots << " devices "
                        << devices.size() << " first byte " << first;
                    if (batch == 1) {
                        EXPECT_EQ(o.ring->in_place > 0, fills_rings<TypeParam>) << first;
                    }
                }
            }
        }
    }
}

TYPED_TEST(decoders, RingTooSmallForNextBatch_IsNotBorrowed)
{
    auto r = this->run();
    r.batch = 1;
    auto u = TypeParam::make(r, {});
    bytes ring(1 << 16), some(1 << 16);
    pinned_output memory(*u.engine, ring.data(), ring.size());
    if (!memory.pinned()) {
        EXPECT_FALSE(fills_rings<TypeParam>);
        return;
    }
    const auto has_capacity = [&](std::size_t n) {
        return memory.borrow(ring.data(), n);
    };
    // All earlier output has been pulled, so even 0 bytes of free space are accepted.
    EXPECT_TRUE(has_capacity(0));
    unsigned f = 0;
    for (std::size_t first = 0; f < 2; first = first < u.portion ? first : (++f, 0)) {
        first += u.push(f, first);
    }
    EXPECT_FALSE(has_capacity(0));
    EXPECT_TRUE(has_capacity(ring.size()));
    u.engine->finish();
    while (!u.engine->done()) {
        u.engine->wait(std::chrono::milliseconds(1000));
        u.pull(some.data(), some.size());
    }
    EXPECT_TRUE(has_capacity(0));
}

TYPED_TEST(decoders, DeviceFailure_LeavesRingIntact)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const unsigned batches : { 0u, 1u, 3u, 5u }) {
        const failing_device fails(0, batches);
        auto r = this->run();
        r.batch = 2;
        for (const auto& devices : { std::vector<int>{ 0 }, { 1, 0 } }) {
            r.devices = devices;
            const auto o = this->decode_to_ring(r, 4000);
            EXPECT_EQ(o.output, expected.output)
                << "batches " << batches << " devices " << devices.size();
            EXPECT_EQ(o.errors.size(), 1u);
            EXPECT_FALSE(o.ring->replaced()); // a failed device does not write any more
        }
    }
}

TYPED_TEST(decoders, RingChangedInFlight_LosesNoData)
{
    const auto expected = this->decode(this->run(backend::cpu));
    for (const unsigned until : { 1u, 5u, 12u }) {
        outcome o;
        auto r = this->run();
        r.batch = 2;
        auto u = TypeParam::make(r, this->hooks_to(o));
        u.ring = std::make_shared<output_ring>(*u.engine, 4000, true);
        bytes some(1 << 12);
        for (unsigned f = 0; f < TypeParam::portions; ++f) {
            if (f == until) {
                u.ring->end();
            } else if (f == until + 2) {
                u.ring->begin();
            }
            for (std::size_t first = 0; first < u.portion;) {
                const auto n = u.push(f, first);
                first += n;
                const auto m = u.ring->pull(u, some);
                o.output.insert(o.output.end(), some.begin(), some.begin() + m);
                if (n + m == 0) {
                    u.engine->wait(std::chrono::milliseconds(10));
                }
            }
        }
        this->finish(u, o);
        u.ring->end();
        EXPECT_EQ(o.output, expected.output) << until;
    }
}

TYPED_TEST(decoders, FailureOfOneDevice_OthersContinue)
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
    EXPECT_NE(o.errors[0].find("other devices"), std::string::npos);
}

TYPED_TEST(decoders, RequestedCuda_IsNotReplacedByCpu)
{
    auto r = this->run(backend::cuda);
    r.watch = false; // otherwise a verdict on the random values is logged too
    EXPECT_EQ(this->decode(r).backend, "cuda");
    {
        const failing_device fails(0, 2);
        EXPECT_THROW(this->decode(r), device_error);
    }
    r.devices = { 4 };
    EXPECT_THROW(this->decode(r), std::runtime_error);
    r.backend = backend::automatic;
    const auto o = this->decode(r);
    EXPECT_EQ(o.backend, "cpu");
    ASSERT_EQ(o.infos.size(), 1u);
    EXPECT_NE(o.infos[0].find("no CUDA: device is 4: allowed values are 0 to 3"),
              std::string::npos)
        << o.infos[0];
}

TYPED_TEST(decoders, BatchBeyondMemory_IsHalvedWithWarning)
{
    const auto expected = this->decode(this->run(backend::cpu));
    auto r = this->run(backend::cuda);
    r.watch = false; // otherwise a verdict on the random values is logged too
    r.batch = 64;
    r.devices = { 0, 1 };
    const environment_variable memory("GPUFEC_SIMULATED_MEMORY", "20");
    const auto o = this->decode(r);
    EXPECT_EQ(o.output, expected.output);
    ASSERT_EQ(o.warnings.size(), 1u);
    EXPECT_NE(o.warnings[0].find("batch is 64: device memory suffices only for 16"),
              std::string::npos)
        << o.warnings[0];
}

TYPED_TEST(decoders, MemoryBelowOneWorkItem_ThrowsOrDecodesOnCpu)
{
    const environment_variable memory("GPUFEC_SIMULATED_MEMORY", "0");
    EXPECT_THROW(this->decode(this->run(backend::cuda)), device_memory_error);
    EXPECT_EQ(this->decode(this->run()).backend, "cpu");
}

TYPED_TEST(decoders, PartialBatch_IsSubmittedWhenDue)
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
    // The decoder calls the hook \c wake when the batch is due and when it is decoded.
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

TYPED_TEST(decoders, EmptyOrThrowingHooks_DoNotChangeOutput)
{
    const auto expected = this->decode(this->run(backend::cpu));
    const auto fail = [] { throw std::runtime_error("exception of a hook"); };
    decoder_hooks empty, throwing;
    empty.wake = nullptr;
    empty.log = nullptr;
    throwing.wake = fail;
    throwing.log = [=](log_level, const std::string&) { fail(); };
    for (const auto& hooks : { empty, throwing }) {
        for (const auto where : { backend::cpu, backend::cuda }) {
            auto r = this->run(where);
            r.max_latency_ms = 0; // so that the timer calls the hook too
            outcome o;
            auto u = TypeParam::make(r, hooks);
            this->push_all(u, o, TypeParam::portions);
            this->finish(u, o);
            EXPECT_EQ(o.output, expected.output);
        }
    }
}

TYPED_TEST(decoders, BufferShorterThanBorrowedItems_IsNotBorrowed)
{
    auto u = TypeParam::make(this->run(), {});
    const bytes items(1 << 12);
    const auto take = [&](std::size_t n) {
        return n < 50 || memory_of(*u.engine).can_borrow()
                   ? memory_of(*u.engine).borrow(items.data(), n)
                   : 0;
    };
    if (const auto taken = take(50)) {
        EXPECT_EQ(take(taken / 2), 0u);
        u.engine->reset();
    }
}

TYPED_TEST(decoders, NewLatency_AppliesToWaitingBatch)
{
    outcome o;
    auto r = this->run(backend::cpu);
    r.batch = 1000;
    auto u = TypeParam::make(r, this->hooks_to(o));
    this->push_all(u, o, TypeParam::portions / 2);
    EXPECT_FALSE(u.engine->due());
    u.engine->set_max_latency_ms(0);
    EXPECT_TRUE(u.engine->due());
    u.engine->set_max_latency_ms(1e300); // beyond the range of the clock
    EXPECT_FALSE(u.engine->due());
    EXPECT_THROW(u.engine->set_max_latency_ms(-1), std::invalid_argument);
}

TYPED_TEST(decoders, ResetDecoder_DecodesAsNew)
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

TYPED_TEST(decoders, InvalidOptions_ErrorNamesParameter)
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
    EXPECT_EQ(refused([](r o) { o.slots = 17; }),
              "slots is 17: allowed values are 1 to 16");
    EXPECT_EQ(refused([](r o) { o.threads = 0; }),
              "threads is 0: allowed values are 1 to 256");
    EXPECT_EQ(refused([](r o) { o.copy_threads = 257; }),
              "copy_threads is 257: allowed values are 0 to 256");
    EXPECT_EQ(refused([](r o) { o.devices = {}; }),
              "number of devices is 0: allowed values are 1 to 16");
    EXPECT_EQ(refused([](r o) { o.max_latency_ms = -1; }),
              "max_latency_ms is -1: allowed values are finite values of 0 or more");
    EXPECT_NE(refused([](r o) { o.batch = (1u << 24) + 1; }).find("batch is 16777217"),
              std::string::npos);
}

TYPED_TEST(decoders, NegatedInputWithOtherPositiveBit_GivesSameOutput)
{
    const auto expected = this->decode(this->run(backend::cpu), 0);
    for (const auto where : { backend::cpu, backend::cuda }) {
        EXPECT_EQ(this->decode(this->run(where), 1).output, expected.output);
    }
    try {
        this->decode(this->run(backend::cpu), 2);
        ADD_FAILURE() << "positive_bit 2 was accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "positive_bit is 2: allowed values are 0 and 1");
    }
}

// Failure to start a thread must not terminate the process.
TYPED_TEST(decoders, TooFewThreads_DecodeOrThrow)
{
    const auto expected = this->decode(this->run(backend::cpu));
    const auto decode_with_few = [&] {
        // The limit on threads does not apply to root, so the process changes its user.
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
            std::_Exit(text.find("the system cannot start a thread") == 0 ||
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

// Decodes enough input for several copying threads. The first push is a single item, so
// that the large second push does not begin at the beginning of a batch.
template <class Decoder, class Options>
std::vector<std::uint8_t>
decoded_with_threads(Options o, unsigned threads, unsigned copy_threads = 0)
{
    o.backend = backend::cuda;
    o.threads = threads;
    o.copy_threads = copy_threads;
    o.batch = 1000;
    std::mt19937 random(1);
    std::vector<float> values(700000);
    for (auto& v : values) {
        v = float(random() % 255) - 127;
    }
    const auto made = Decoder::make(o);
    auto& decoder = *made;
    std::vector<std::uint8_t> out, bits(1 << 20);
    for (std::size_t at = 0; at < values.size() || !decoder.done();) {
        at += decoder.push({ &values[std::min(at, values.size() - 1)],
                             at == 0 ? 1 : values.size() - at });
        if (at == values.size()) {
            decoder.finish();
        }
        const auto n = decoder.pull(packed_bits(bits));
        out.insert(out.end(), bits.begin(), bits.begin() + n);
        decoder.wait(std::chrono::milliseconds(n ? 0 : 10));
    }
    return out;
}

TEST(decoders_copying, SeveralCopyThreads_DoNotChangeOutput)
{
    viterbi_options viterbi(conv_code(7, { 0171, 0133 }));
    viterbi.format = soft_format::float32;
    ldpc_options ldpc;
    ldpc.codes = { ldpc_code::dvbs2("short", "8/9") };
    ldpc.format = llr_format::float32;
    ldpc.max_iterations = 1;
    const auto bits = decoded_with_threads<viterbi_decoder>(viterbi, 1);
    EXPECT_GT(bits.size(), 40000u);
    EXPECT_EQ(decoded_with_threads<viterbi_decoder>(viterbi, 4), bits);
    EXPECT_EQ(decoded_with_threads<viterbi_decoder>(viterbi, 1, 4), bits);
    const auto messages = decoded_with_threads<ldpc_decoder>(ldpc, 1);
    EXPECT_EQ(messages.size(), 700000 / 16200 * 14400u / 8);
    EXPECT_EQ(decoded_with_threads<ldpc_decoder>(ldpc, 4), messages);
    EXPECT_EQ(decoded_with_threads<ldpc_decoder>(ldpc, 1, 4), messages);
}

template <cut_frames Form>
class cut_decoder : public decoders<viterbi_cut_frames<Form>>
{
public:
    bytes output(backend where, unsigned batch)
    {
        auto r = this->run(where);
        r.batch = batch;
        return this->decode(r).output;
    }
    void TestBody() override {}
};

TEST(decoders_dropping, IncompleteFrames_DoNotChangeOutput)
{
    const auto expected = cut_decoder<cut_frames::left_out>().output(backend::cpu, 4);
    EXPECT_EQ(expected.size(), 24 * 12u);
    for (const auto where : { backend::cpu, backend::automatic }) {
        for (const unsigned batch : { 1u, 3u, 64u }) {
            EXPECT_EQ(cut_decoder<cut_frames::copied>().output(where, batch), expected);
            EXPECT_EQ(cut_decoder<cut_frames::in_place>().output(where, batch), expected);
        }
    }
}

// Decodes frames of several codes. The sizes of pushes vary, and the scale changes.
std::vector<std::uint8_t>
decoded_in_pieces(ldpc_options o, backend where, unsigned threads)
{
    o.backend = where;
    o.threads = threads;
    const auto decoder = ldpc_decoder::make(o);
    EXPECT_EQ(decoder->active_backend(), where == backend::cuda ? "cuda" : "cpu");
    std::mt19937 random(2);
    std::vector<std::uint8_t> out, bits(1 << 20);
    const auto pull = [&] {
        const auto n = decoder->pull(packed_bits(bits));
        out.insert(out.end(), bits.begin(), bits.begin() + n);
        if (n == 0) {
            decoder->wait(std::chrono::milliseconds(10));
        }
    };
    for (unsigned pushes = 0; pushes < 60; ++pushes) {
        if (decoder->missing() == 0) {
            decoder->select(random() % o.codes.size());
        }
        decoder->set_llr_scale(1 << random() % 3);
        const std::size_t count = pushes % 3
                                      ? random() % 9000
                                      : decoder->missing() + 5 * decoder->frame_items();
        // The values are random, not codewords, so that the output depends on the scale.
        std::vector<std::int8_t> bytes(count);
        std::vector<float> floats(count);
        for (std::size_t i = 0; i < count; ++i) {
            bytes[i] = std::int8_t(random() % 256);
            floats[i] = bytes[i] / 9.0f;
        }
        for (std::size_t at = 0; at < count;) {
            const auto* const from = o.format == llr_format::float32
                                         ? static_cast<const void*>(&floats[at])
                                         : &bytes[at];
            const auto n = decoder->push({ from, count - at });
            at += n;
            if (n == 0) {
                pull();
            }
        }
    }
    decoder->drop_incomplete();
    decoder->finish();
    while (!decoder->done()) {
        pull();
    }
    return out;
}

TEST(decoders_copying, QuantisationOnDevice_EqualsCpu)
{
    ldpc_options o;
    o.codes = { ldpc_code::dvbs2("short", "8/9"), ldpc_code::dvbs2("short", "1/4") };
    o.max_iterations = 2;
    o.codeword = true;
    for (const auto format :
         { llr_format::int8, llr_format::uint8, llr_format::float32 }) {
        for (const auto precision :
             { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
            for (const unsigned batch : { 1u, 7u }) {
                o.format = format;
                o.precision = precision;
                o.batch = batch;
                const auto bits = decoded_in_pieces(o, backend::cpu, 1);
                EXPECT_GT(bits.size(), 100 * 16200u / 8);
                EXPECT_EQ(decoded_in_pieces(o, backend::cuda, 1), bits);
                EXPECT_EQ(decoded_in_pieces(o, backend::cuda, 3), bits);
            }
        }
    }
}

// Checks that output in place has one format, bits or packed: a pull in the other format
// must throw.
template <class Decoder>
void check_single_form(Decoder& decoder, bool bits, const std::vector<std::int8_t>& items)
{
    bytes ring(1 << 15), out(1 << 15);
    pinned_output memory(decoder, ring.data(), ring.size());
    ASSERT_TRUE(memory.pinned());
    ASSERT_TRUE(memory.borrow(ring.data(), ring.size()));
    EXPECT_EQ(decoder.push(items), items.size());
    decoder.finish();
    ASSERT_TRUE(decoder.wait(std::chrono::seconds(60)));
    const auto pull = [&](bool as_bits) { return decoder.pull({ out, !as_bits }); };
    EXPECT_THROW(pull(!bits), std::logic_error);
    EXPECT_GT(pull(bits), 0u);
}

TEST(borrowed_output, PullInOtherFormat_Throws)
{
    for (const bool bits : { false, true }) {
        viterbi_options v(conv_code(7, { 0171, 0133 }));
        v.backend = backend::cuda;
        v.batch = 1;
        v.bits_in_place = bits;
        const auto viterbi = viterbi_decoder::make(v);
        check_single_form(*viterbi, bits, std::vector<std::int8_t>(4096));
        ldpc_options l;
        l.backend = backend::cuda;
        l.batch = 1;
        l.codes = { ldpc::qa::regular_code(120, 60, 1) };
        l.codeword = true; // decoders of messages may not support output in place
        l.bits_in_place = bits;
        const auto ldpc = ldpc_decoder::make(l);
        check_single_form(*ldpc, bits, std::vector<std::int8_t>(120));
    }
}

// A new channel applies only after the frames in flight have finished. Until then the
// decoder cannot accept borrowed frames, and full() must return true.
TEST(sync_decoder_channel, NewChannelWithFramesInFlight_BorrowsNoInput)
{
    run_options run;
    run.backend = backend::cuda;
    run.batch = 2;
    run.slots = 3;
    const auto decoder = sync_decoder::make(sync_kind(run, sync_mode::framed, 0));
    const std::vector<std::uint8_t> items(4 * 90);
    bytes out(1 << 12);
    EXPECT_EQ(memory_of(*decoder).borrow(items.data(), 90), 90u);
    EXPECT_TRUE(decoder->end_frame());
    decoder->set_channel({ 0.03, 0.01 });
    EXPECT_TRUE(decoder->full());
    EXPECT_EQ(memory_of(*decoder).borrow(items.data(), 180), 0u);
    EXPECT_FALSE(decoder->end_frame());
    ASSERT_TRUE(decoder->wait(std::chrono::seconds(60)));
    EXPECT_GT(pull_frame(*decoder, out.data(), out.size()), 0u);
    EXPECT_EQ(memory_of(*decoder).borrow(items.data(), 180), 90u);
    EXPECT_FALSE(decoder->full());
}

// The device lacks memory for the decoder of the new channel, and then also for the
// decoder of the old channel. Once memory is free, reset() must make the decoder usable.
TEST(sync_decoder_channel, NewChannelWithoutMemory_DecodesAfterReset)
{
    run_options run;
    run.backend = backend::cuda;
    run.batch = 2;
    const auto decoder = sync_decoder::make(sync_kind(run, sync_mode::framed, 0));
    std::vector<std::uint8_t> items(90);
    bytes out(1 << 12);
    EXPECT_EQ(memory_of(*decoder).borrow(items.data(), 60), 60u);
    {
        const environment_variable memory("GPUFEC_SIMULATED_MEMORY", "0");
        EXPECT_THROW(decoder->set_channel({ 0.03, 0.01 }), device_memory_error);
        memory_of(*decoder).copy_borrowed();
        EXPECT_THROW(decoder->reset(), device_memory_error);
    }
    decoder->reset();
    EXPECT_FALSE(decoder->full());
    EXPECT_TRUE(decoder->push_frame(items));
    decoder->flush();
    ASSERT_TRUE(decoder->wait(std::chrono::seconds(60)));
    EXPECT_GT(pull_frame(*decoder, out.data(), out.size()), 0u);
}

} // namespace
} // namespace gr::gpufec
