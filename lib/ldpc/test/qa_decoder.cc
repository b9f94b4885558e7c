// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder: chunks, batches, codes that change, messages of any code. */

#include "input_format.h"
#include "pipeline/cpu_variant.h"
#include "qa_support.h"
#include "reference.h"
#include "sent_values.h"

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;

namespace {

struct sent_frame {
    unsigned code;
    std::vector<std::uint8_t> bits; // expected, one per byte
    std::vector<float> llr;
};

std::vector<sent_frame>
send(const std::vector<ldpc_code>& codes, unsigned count, bool codeword, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned c = random() % codes.size();
        const auto t = qa::transmit(codes[c], 9, random);
        frames.push_back({ c, codeword ? t.codeword : t.message, t.llr });
    }
    return frames;
}

std::vector<std::int8_t> as_bytes(const std::vector<float>& llr, float scale)
{
    std::vector<std::int8_t> bytes;
    for (const auto x : llr) {
        const float steps = x == x ? std::clamp(x * scale, -128.0f, 127.0f) : 0;
        bytes.push_back(std::int8_t(std::rint(steps)));
    }
    return bytes;
}

struct outcome {
    std::vector<std::uint8_t> items;
    std::vector<std::int8_t> kept; // with keep_soft
    std::vector<ldpc_decoder::report> reports;
};

std::size_t pull_from(ldpc_decoder& decoder,
                      const ldpc_options& options,
                      bool packed,
                      std::vector<std::uint8_t>& room)
{
    if (options.soft != ldpc_soft_output::none) {
        return decoder.pull_llrs(reinterpret_cast<std::int8_t*>(room.data()),
                                 room.size());
    }
    return packed ? decoder.pull_packed(room.data(), room.size())
                  : decoder.pull_bits(room.data(), room.size());
}

// Pushes frames in chunks of any size, pulls whenever there is something.
outcome run(const ldpc_options& options,
            const std::vector<sent_frame>& frames,
            bool packed,
            unsigned seed)
{
    ldpc_decoder decoder(options);
    std::mt19937 random(seed);
    outcome o;
    const auto pull = [&] {
        std::vector<std::uint8_t> room(1 + random() % 5000);
        const auto n = pull_from(decoder, options, packed, room);
        o.items.insert(o.items.end(), room.begin(), room.begin() + n);
        ldpc_decoder::report r;
        if (decoder.take_report(r)) {
            o.reports.push_back(r);
            o.kept.insert(o.kept.end(), decoder.llrs().begin(), decoder.llrs().end());
        }
        return n;
    };
    for (const auto& f : frames) {
        decoder.select(f.code);
        const auto bytes = as_bytes(f.llr, options.llr_scale);
        for (std::size_t first = 0; first < f.llr.size();) {
            const auto n = std::min<std::size_t>(
                f.llr.size() - first, random() % 4 ? random() % 9000 : f.llr.size());
            const auto taken = options.format == llr_format::int8
                                   ? decoder.push(bytes.data() + first, n)
                                   : decoder.push(f.llr.data() + first, n);
            first += taken;
            EXPECT_EQ(decoder.missing(),
                      first == f.llr.size() ? 0
                      : first == 0          ? 0
                                            : f.llr.size() - first);
            while (decoder.ready() && pull() > 0) {
            }
            if (taken == 0) {
                decoder.wait(std::chrono::milliseconds(100));
            }
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        if (pull() == 0) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
    return o;
}

// The same with input that is lent and overwritten once it is taken back, with items
// between frames that are skipped, and frames that are broken off. From frame number
// `until` on it is pushed.
template <class Item>
outcome run_lending(ldpc_options options,
                    const std::vector<sent_frame>& frames,
                    bool packed,
                    unsigned seed,
                    std::size_t until)
{
    constexpr Item junk = Item(77);
    ldpc_decoder decoder(options);
    std::mt19937 random(seed);
    outcome o;
    std::vector<Item> ring;
    const auto append = [&](const sent_frame& f) {
        if constexpr (sizeof(Item) == 1) {
            const auto bytes = as_bytes(f.llr, options.llr_scale);
            ring.insert(ring.end(), bytes.begin(), bytes.end());
        } else {
            ring.insert(ring.end(), f.llr.begin(), f.llr.end());
        }
    };
    std::vector<std::size_t> junk_before, begin, broken;
    for (const auto& f : frames) {
        junk_before.push_back(random() % 3 ? 0 : random() % 3000);
        ring.insert(ring.end(), junk_before.back(), junk);
        broken.push_back(random() % 4 ? 0 : 1 + random() % (f.llr.size() - 1));
        ring.insert(ring.end(), broken.back(), junk);
        begin.push_back(ring.size());
        append(f);
    }
    EXPECT_TRUE(decoder.can_lend());
    bool lending = true;
    std::size_t kept = 0, taken = 0;
    const auto take_back = [&] {
        const auto n = decoder.take_back();
        std::fill_n(ring.begin() + kept, n, junk);
        kept += n;
    };
    const auto pull = [&] {
        std::vector<std::uint8_t> room(1 + random() % 5000);
        const auto n = pull_from(decoder, options, packed, room);
        o.items.insert(o.items.end(), room.begin(), room.begin() + n);
        ldpc_decoder::report r;
        if (decoder.take_report(r)) {
            o.reports.push_back(r);
            o.kept.insert(o.kept.end(), decoder.llrs().begin(), decoder.llrs().end());
        }
        return n;
    };
    const auto pass = [&](std::size_t end, bool skip) {
        while (taken < end) {
            const auto n = std::min<std::size_t>(
                end - taken, random() % 4 ? 1 + random() % 9000 : end - taken);
            std::size_t some = 0;
            if (lending) {
                decoder.lend(ring.data() + kept, taken - kept);
                some = skip ? decoder.skip(n)
                            : decoder.lend(ring.data() + kept, taken + n - kept);
                EXPECT_EQ(decoder.lent(), taken + some - kept);
            } else {
                some = skip ? decoder.skip(n) : decoder.push(ring.data() + taken, n);
            }
            taken += some;
            if (random() % 50 == 0) {
                decoder.flush();
            }
            while (decoder.ready() && pull() > 0) {
            }
            if (lending) {
                take_back();
            }
            if (some == 0) {
                decoder.wait(std::chrono::milliseconds(100));
            }
        }
    };
    for (std::size_t i = 0; i < frames.size(); ++i) {
        pass(taken + junk_before[i], true);
        decoder.select(frames[i].code);
        pass(taken + broken[i], false);
        decoder.drop_incomplete();
        EXPECT_EQ(taken, begin[i]);
        const auto n = frames[i].llr.size();
        if (i == until) {
            pass(taken + n / 3, false); // lending ends within a frame
            decoder.end_lending();
            lending = false;
            EXPECT_EQ(decoder.lent(), 0u);
            std::fill_n(ring.begin(), taken, junk);
        }
        pass(begin[i] + n, false);
    }
    decoder.finish();
    while (!decoder.done()) {
        if (pull() == 0) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
    if (lending) {
        take_back();
        EXPECT_EQ(kept, ring.size());
    }
    return o;
}

void expect_all(const outcome& o, const std::vector<sent_frame>& frames, bool packed)
{
    std::vector<std::uint8_t> wanted;
    for (const auto& f : frames) {
        const auto items = packed ? qa::pack(f.bits, f.bits.size()) : f.bits;
        wanted.insert(wanted.end(), items.begin(), items.end());
    }
    EXPECT_EQ(o.items.size(), wanted.size());
    EXPECT_TRUE(o.items == wanted);
    ASSERT_EQ(o.reports.size(), frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(o.reports[i].frame, i);
        EXPECT_EQ(o.reports[i].code, frames[i].code);
        EXPECT_EQ(o.reports[i].unsatisfied, 0u);
        EXPECT_GE(o.reports[i].iterations, 1u);
    }
}

std::vector<ldpc_code> mixed_codes()
{
    return { ldpc_code::dvbs2("short", "3/4"),
             ldpc_code::dvbs2("short", "8/9"),
             qa::regular_code(504, 252, 7),
             ldpc_code::dvbs2("normal", "9/10") };
}

std::string refusal(const ldpc_options& options)
{
    try {
        ldpc_decoder decoder(options);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(ldpc_decoder, codes_change_from_frame_to_frame)
{
    ldpc_options options;
    options.codes = mixed_codes();
    options.where = backend::cpu;
    options.threads = 2;
    for (const bool packed : { true, false }) {
        for (const bool codeword : { true, false }) {
            for (const unsigned batch : { 1u, 5u, 0u }) {
                options.codeword = codeword;
                options.batch = batch;
                const auto frames = send(options.codes, 23, codeword, batch);
                expect_all(run(options, frames, packed, 3), frames, packed);
            }
        }
    }
}

TEST(ldpc_decoder, formats_and_precisions)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "2/3"), qa::regular_code(504, 252, 7) };
    options.where = backend::cpu;
    const auto frames = send(options.codes, 8, false, 4);
    for (const auto format : { llr_format::int8, llr_format::float32 }) {
        for (const auto precision :
             { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
            for (const float scale : { 1.0f, 2.0f, 7.5f }) {
                options.format = format;
                options.precision = precision;
                options.llr_scale = scale;
                expect_all(run(options, frames, true, 5), frames, true);
            }
        }
    }
}

// Near the threshold, with erasures, so that ties and frames that fail count too.
TEST(ldpc_decoder, positive_bit_says_what_a_positive_value_means)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "1/2"), qa::regular_code(504, 252, 7) };
    options.where = backend::cpu;
    options.codeword = true;
    std::mt19937 random(16);
    std::vector<sent_frame> frames, others;
    for (unsigned i = 0; i < 12; ++i) {
        const unsigned c = i % 3 == 0 ? 0 : 1;
        const auto t = qa::transmit(options.codes[c], 1.2 + 0.1 * i, random);
        frames.push_back({ c, t.codeword, t.llr });
        for (std::size_t k = 5; k < t.llr.size(); k += 20) {
            frames.back().llr[k] = k % 3 == 0 ? std::nanf("") : k % 3 == 1 ? 0 : -0.0f;
        }
        others.push_back(frames.back());
        for (auto& x : others.back().llr) {
            x = -x;
        }
    }
    for (const auto format : { llr_format::float32, llr_format::int8 }) {
        for (const auto precision :
             { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
            options.format = format;
            options.precision = precision;
            if (format == llr_format::int8) { // which has no NaN
                for (auto* const list : { &frames, &others }) {
                    for (auto& f : *list) {
                        for (auto& x : f.llr) {
                            x = x == x ? x : 0;
                        }
                    }
                }
            }
            options.positive_bit = 0;
            const auto expected = run(options, frames, true, 17);
            options.positive_bit = 1;
            const auto found = run(options, others, true, 18);
            EXPECT_EQ(found.items, expected.items);
            ASSERT_EQ(found.reports.size(), expected.reports.size());
            unsigned valid = 0;
            for (std::size_t i = 0; i < expected.reports.size(); ++i) {
                const auto& a = expected.reports[i];
                const auto& b = found.reports[i];
                EXPECT_EQ(b.iterations, a.iterations);
                EXPECT_EQ(b.unsatisfied, a.unsatisfied);
                valid += a.unsatisfied == 0;
            }
            EXPECT_GT(valid, 0u);
            EXPECT_LT(valid, expected.reports.size());
        }
    }
}

namespace {

// The LLRs of frames by the model, from what is pushed.
std::vector<std::int8_t> llrs_by_model(const ldpc_options& o,
                                       const std::vector<sent_frame>& frames,
                                       bool extrinsic)
{
    const auto setup = make_setup(o);
    std::vector<std::int8_t> all;
    for (const auto& f : frames) {
        const auto& code = o.codes[f.code];
        const auto rule = setup.rule(code);
        const auto bytes = as_bytes(f.llr, o.llr_scale);
        std::vector<std::byte> values(code.sent() * setup.value_bytes()),
            spread(code.n() * setup.value_bytes());
        input_format(rule, o.format, o.llr_scale, o.positive_bit)
            .convert(o.format == llr_format::int8 ? (const void*)bytes.data()
                                                  : f.llr.data(),
                     0,
                     code.sent(),
                     values.data());
        spread_sent(code, setup, values.data(), spread.data());
        std::vector<float> channel;
        for (unsigned i = 0; i < code.n(); ++i) {
            const auto* const at = spread.data() + i * setup.value_bytes();
            channel.push_back(setup.value_bytes() == 1   ? *(const std::int8_t*)at
                              : setup.value_bytes() == 2 ? *(const std::int16_t*)at
                                                         : *(const float*)at);
        }
        const auto r = reference::layered(
            code, make_layer_plan(code), rule, channel, o.max_iterations, o.early_stop);
        const float scale = o.soft_scale > 0 ? o.soft_scale : o.llr_scale;
        const auto llrs = reference::soft_output(
            r, channel, extrinsic, (o.positive_bit ? -scale : scale) / rule.scale);
        all.insert(all.end(), llrs.begin(), llrs.end());
    }
    return all;
}

std::vector<std::uint8_t> as_items(const std::vector<std::int8_t>& llrs)
{
    return { llrs.begin(), llrs.end() };
}

} // namespace

// Codes with and without positions that are not sent, near their thresholds.
TEST(ldpc_decoder, llrs_are_those_of_the_model)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "3/5"),
                      qa::regular_code(504, 252, 7),
                      ldpc_code::standard("ccsds_ar4ja", "1024", "1/2"),
                      ldpc_code::standard("wifi", "648", "3/4")
                          .with_positions({ 100, 3, 511 }, { 0, 1, 2, 30 }) };
    options.max_iterations = 5;
    std::mt19937 random(31);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < 16; ++i) {
        const unsigned c = i % 4;
        const auto& code = options.codes[c];
        const double limit =
            10 * std::log10(std::pow(2, 2.0 * code.k() / code.sent()) - 1);
        const auto t = qa::transmit(code, limit + 0.7 + 0.3 * (i / 4), random);
        frames.push_back({ c, t.message, {} });
        const auto& sent = code.sent_positions();
        for (unsigned k = 0; k < code.sent(); ++k) {
            const auto at = sent.empty() ? k : sent[k];
            frames.back().llr.push_back(at == ldpc_code::fill ? 0 : t.llr[at]);
        }
    }
    struct {
        llr_format format;
        ldpc_precision precision;
        float llr_scale, soft_scale;
        unsigned positive_bit;
    } const cases[] = {
        { llr_format::int8, ldpc_precision::int8, 2, 0, 0 },
        { llr_format::int8, ldpc_precision::int8, 1, 0, 1 },
        { llr_format::int8, ldpc_precision::int16, 7.5f, 0, 0 },
        { llr_format::float32, ldpc_precision::int8, 3, 0, 1 },
        { llr_format::float32, ldpc_precision::float32, 4, 0, 0 },
        { llr_format::int8, ldpc_precision::float32, 2, 12.3f, 1 },
    };
    // CUDA where there is a device.
    const auto decode = [&](backend where, bool packed, unsigned seed) {
        options.where = where;
        return run(options, frames, packed, seed);
    };
    const backend both[] = { backend::cpu, backend::automatic };
    for (const auto& c : cases) {
        options.format = c.format;
        options.precision = c.precision;
        options.llr_scale = c.llr_scale;
        options.soft_scale = c.soft_scale;
        options.positive_bit = c.positive_bit;
        for (const bool early : { true, false }) {
            options.early_stop = early;
            options.batch = early ? 5 : 1;
            for (const bool extrinsic : { false, true }) {
                options.soft =
                    extrinsic ? ldpc_soft_output::extrinsic : ldpc_soft_output::posterior;
                const auto wanted = llrs_by_model(options, frames, extrinsic);
                for (const auto where : both) {
                    options.keep_soft = extrinsic;
                    const auto o = decode(where, false, 32);
                    EXPECT_TRUE(o.items == as_items(wanted));
                    EXPECT_TRUE(o.kept ==
                                (extrinsic ? wanted : std::vector<std::int8_t>()));
                    EXPECT_EQ(o.reports.size(), frames.size());
                }
                if (extrinsic) {
                    continue;
                }
                // Beside messages, the posterior ones.
                options.soft = ldpc_soft_output::none;
                options.keep_soft = false;
                const auto messages = decode(backend::cpu, true, 33).items;
                for (const auto where : both) {
                    options.keep_soft = true;
                    const auto o = decode(where, true, 34);
                    EXPECT_TRUE(o.kept == wanted);
                    EXPECT_TRUE(o.items == messages);
                }
            }
        }
    }
}

TEST(ldpc_decoder, llrs_of_lent_input)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9"), qa::regular_code(504, 252, 7) };
    options.where = backend::cpu;
    options.max_latency_ms = 1e9;
    options.max_iterations = 3;
    options.soft = ldpc_soft_output::extrinsic;
    options.batch = 7;
    std::mt19937 random(35);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < 20; ++i) {
        const unsigned c = random() % 2;
        const auto t = qa::transmit(options.codes[c], c ? 2 : 6.5, random);
        frames.push_back({ c, t.message, t.llr });
    }
    const auto wanted = as_items(llrs_by_model(options, frames, true));
    for (const std::size_t until : { 0u, 11u, 99u }) {
        EXPECT_TRUE(run_lending<std::int8_t>(options, frames, true, 5, until).items ==
                    wanted);
    }
}

TEST(ldpc_decoder, a_new_scale_holds_from_the_next_frame_on)
{
    ldpc_options options;
    options.codes = { qa::regular_code(504, 252, 7) };
    options.where = backend::cpu;
    options.format = llr_format::float32;
    options.batch = 8;
    options.soft = ldpc_soft_output::posterior;
    const auto frames = send(options.codes, 3, false, 36);
    ldpc_decoder decoder(options);
    std::vector<std::int8_t> wanted;
    for (const float scale : { 2.0f, 1.0f, 0.25f }) {
        const auto& f = frames[scale == 2 ? 0 : scale == 1 ? 1 : 2];
        if (scale == 1) {
            decoder.set_llr_scale(scale);
        } else if (scale < 1) {
            decoder.set_soft_scale(scale);
        }
        EXPECT_EQ(decoder.push(f.llr.data(), f.llr.size()), 504u);
        options.llr_scale = scale;
        const auto llrs = llrs_by_model(options, { f }, false);
        wanted.insert(wanted.end(), llrs.begin(), llrs.end());
    }
    decoder.finish();
    std::vector<std::int8_t> found(5000);
    std::size_t n = 0;
    while (!decoder.done()) {
        decoder.wait(std::chrono::milliseconds(100));
        n += decoder.pull_llrs(found.data() + n, found.size() - n);
    }
    found.resize(n);
    EXPECT_EQ(found, wanted);
    EXPECT_THROW(decoder.pull_packed(nullptr, 0), std::logic_error);
    EXPECT_THROW(decoder.set_soft_scale(0), std::invalid_argument);
}

TEST(ldpc_decoder, a_wrong_sign_makes_no_valid_frame)
{
    for (const auto& rate : ldpc_code::dvbs2_rates("short")) {
        ldpc_options options;
        options.codes = { ldpc_code::dvbs2("short", rate) };
        options.where = backend::cpu;
        options.positive_bit = 1;
        for (const auto& r :
             run(options, send(options.codes, 2, false, 19), true, 20).reports) {
            EXPECT_GT(r.unsatisfied, 0u) << rate;
        }
    }
}

TEST(ldpc_decoder, lent_input_is_decoded_where_it_lies)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9"),
                      qa::regular_code(504, 252, 7),
                      qa::regular_code(303, 101, 3),
                      ldpc_code::dvbs2("short", "1/2") };
    options.where = backend::cpu;
    options.max_latency_ms = 1e9;
    options.max_iterations = 3;
    // Near the threshold, so that decoding depends on every value.
    std::mt19937 random(6);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < 40; ++i) {
        const unsigned c = random() % options.codes.size();
        const auto t = qa::transmit(options.codes[c], c ? 2 : 4, random);
        frames.push_back({ c, t.message, t.llr });
        frames.back().llr[i] = i % 2 ? std::nanf("") : -1e9f;
    }
    for (const auto format : { llr_format::float32, llr_format::int8 }) {
        for (const auto precision :
             { ldpc_precision::int8, ldpc_precision::int16, ldpc_precision::float32 }) {
            options.format = format;
            options.precision = precision;
            if (format == llr_format::int8) { // which has no NaN
                for (auto& f : frames) {
                    for (auto& x : f.llr) {
                        x = x == x ? x : 0;
                    }
                }
            }
            for (const unsigned batch : { 1u, 7u }) {
                options.batch = batch;
                options.positive_bit = batch == 7;
                options.slots = batch == 1 ? 1 : 3;
                const auto expected = run(options, frames, true, 1);
                for (const std::size_t until : { 0u, 11u, 30u, 99u }) {
                    const auto found =
                        format == llr_format::int8
                            ? run_lending<std::int8_t>(options, frames, true, 5, until)
                            : run_lending<float>(options, frames, true, 6, until);
                    ASSERT_EQ(found.items, expected.items) << batch << " " << until;
                    ASSERT_EQ(found.reports.size(), expected.reports.size());
                    for (std::size_t i = 0; i < frames.size(); ++i) {
                        EXPECT_EQ(found.reports[i].iterations,
                                  expected.reports[i].iterations);
                        EXPECT_EQ(found.reports[i].unsatisfied,
                                  expected.reports[i].unsatisfied);
                    }
                }
            }
        }
    }
}

TEST(ldpc_decoder, a_partial_batch_leaves_when_due)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9") };
    options.where = backend::cpu;
    options.batch = 64;
    options.max_latency_ms = 1e9;
    const auto frames = send(options.codes, 1, false, 6);
    ldpc_decoder decoder(options);
    const auto bytes = as_bytes(frames[0].llr, 2);
    EXPECT_EQ(decoder.push(bytes.data(), bytes.size()), bytes.size());
    std::vector<std::uint8_t> out(decoder.output_bits(0) / 8);
    decoder.set_max_latency_ms(20);
    for (int i = 0; i < 100 && !decoder.due(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(decoder.due());
    decoder.push(nullptr, 0);
    EXPECT_TRUE(decoder.wait(std::chrono::seconds(10)));
    EXPECT_EQ(decoder.pull_packed(out.data(), out.size()), out.size());
    EXPECT_EQ(out, qa::pack(frames[0].bits, frames[0].bits.size()));
}

// Codewords that a thread decodes one at a time need not wait for others.
TEST(ldpc_decoder, a_batch_that_is_chosen_is_short_where_lanes_do_not_wait)
{
    const auto batch = [](auto&& change) {
        ldpc_options o;
        o.codes = { ldpc_code::dvbs2("short", "1/2") };
        o.where = backend::cpu;
        change(o);
        return ldpc_decoder(o).batch();
    };
    const auto chosen = batch([](auto&) {});
    EXPECT_EQ(batch([](auto& o) { o.threads = 3; }), 3 * chosen);
#ifdef __x86_64__
    // LLRs come from the kernel of lanes, of which AVX2 has 16.
    EXPECT_LT(chosen, 16u);
    EXPECT_GE(batch([](auto& o) { o.soft = ldpc_soft_output::posterior; }),
              cpu_variant() == "baseline" ? 8u : 16u);
#endif
}

TEST(ldpc_decoder, garbage_and_what_comes_after)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "1/2") };
    options.where = backend::cpu;
    options.format = llr_format::float32;
    options.batch = 4;
    std::mt19937 random(8);
    auto frames = send(options.codes, 6, false, 9);
    const float worst[] = { std::nanf(""), HUGE_VALF, -HUGE_VALF, 0.0f, -0.0f, 1e-40f };
    for (const unsigned bad : { 0u, 2u, 3u }) {
        for (auto& x : frames[bad].llr) {
            x = bad == 3 ? std::nanf("") : worst[random() % 6];
        }
    }
    const auto o = run(options, frames, false, 10);
    const auto k = options.codes[0].k();
    ASSERT_EQ(o.items.size(), 6u * k);
    for (const unsigned good : { 1u, 4u, 5u }) {
        EXPECT_TRUE(std::equal(frames[good].bits.begin(),
                               frames[good].bits.end(),
                               o.items.begin() + good * k));
        EXPECT_EQ(o.reports[good].unsatisfied, 0u);
    }
    EXPECT_GT(o.reports[0].unsatisfied, 0u);
    EXPECT_EQ(o.reports[0].iterations, 25u);
}

TEST(ldpc_decoder, incomplete_frames_are_dropped)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9") };
    options.where = backend::cpu;
    const auto frames = send(options.codes, 1, false, 6);
    const auto bytes = as_bytes(frames[0].llr, 2);
    ldpc_decoder decoder(options);
    decoder.push(bytes.data(), 1000);
    EXPECT_EQ(decoder.missing(), 15200u);
    decoder.drop_incomplete();
    EXPECT_EQ(decoder.missing(), 0u);
    decoder.push(bytes.data(), bytes.size());
    decoder.push(bytes.data(), 77);
    decoder.finish();
    std::vector<std::uint8_t> out(5000);
    std::size_t n = 0;
    while (!decoder.done()) {
        decoder.wait(std::chrono::milliseconds(100));
        n += decoder.pull_packed(out.data() + n, out.size() - n);
    }
    EXPECT_EQ(n, 1800u);
    out.resize(n);
    EXPECT_EQ(out, qa::pack(frames[0].bits, frames[0].bits.size()));
}

TEST(ldpc_decoder, options_out_of_range_are_refused)
{
    ldpc_options good;
    good.codes = { ldpc_code::dvbs2("short", "8/9") };
    good.where = backend::cpu;
    EXPECT_EQ(refusal(good), "");
    const auto with = [&good](auto&& change) {
        auto options = good;
        change(options);
        return refusal(options);
    };
    EXPECT_NE(with([](auto& o) { o.codes.clear(); }), "");
    EXPECT_NE(with([](auto& o) { o.max_iterations = 0; }).find("max_iterations is 0"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.llr_scale = 0; }).find("llr_scale"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.llr_scale = std::nanf(""); }), "");
    EXPECT_NE(with([](auto& o) { o.soft_scale = -1; }).find("soft_scale is -1"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.slots = 0; }), "");
    EXPECT_NE(with([](auto& o) { o.threads = 0; }), "");
    EXPECT_NE(with([](auto& o) { o.batch = 1 << 20; }), "");
    EXPECT_NE(with([](auto& o) { o.max_latency_ms = -1; }), "");
    EXPECT_NE(with([](auto& o) { o.offset = 1000; }).find("offset is 1000"),
              std::string::npos);
    EXPECT_NE(with([](auto& o) { o.normalization = 2; }), "");
    EXPECT_EQ(with([](auto& o) { o.positive_bit = 2; }),
              "positive_bit is 2: allowed are 0 and 1");
}

TEST(ldpc_decoder, codes_without_message_bits_give_codewords_only)
{
    std::istringstream text("2 2\n1 1\n1 1\n1 1\n1\n2\n1\n2\n");
    ldpc_options options;
    options.codes = { ldpc_code::from_alist(text, "full rank") };
    options.where = backend::cpu;
    EXPECT_EQ(refusal(options),
              "output is message: full rank has no message bits (K = 0), allowed is "
              "codeword");
    options.codeword = true;
    ldpc_decoder decoder(options);
    const std::int8_t values[] = { 3, 1 };
    EXPECT_EQ(decoder.push(values, 2), 2u);
    decoder.finish();
    std::uint8_t bits[] = { 7, 7 };
    while (!decoder.done()) {
        decoder.wait(std::chrono::milliseconds(100));
        decoder.pull_bits(bits, 2);
    }
    EXPECT_EQ(bits[0] + bits[1], 0);
}

TEST(ldpc_decoder, cuda_gives_the_same_as_the_cpu)
{
    ldpc_options options;
    options.codes = mixed_codes();
    options.where = backend::cuda;
    const auto frames = send(options.codes, 40, false, 14);
    try {
        for (const unsigned batch : { 1u, 7u, 0u }) {
            options.batch = batch;
            expect_all(run(options, frames, true, 15), frames, true);
        }
    } catch (const std::runtime_error& error) {
        GTEST_SKIP() << error.what();
    }
}
