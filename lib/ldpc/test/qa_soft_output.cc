// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the soft output of the stream decoder, also after changes of scale, against the
 * reference decoders. */

#include "ldpc/model/reference.h"
#include "ldpc/stream/input_format.h"
#include "ldpc/stream/sent_values.h"
#include "stream_runs.h"

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;
using namespace gr::gpufec::ldpc::qa;

namespace {

// Returns the LLRs of the reference decoder for frames in the options' input format.
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

// Two of the codes have punctured bits, and one has shortened bits. Frames are near the
// thresholds of the codes.
TEST(ldpc_decoder, SoftOutput_EqualsReference)
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
    // The automatic backend is CUDA if there is a device.
    const auto decode = [&](backend where, bool packed, unsigned seed) {
        options.backend = where;
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
                    EXPECT_TRUE(o.kept_llrs ==
                                (extrinsic ? wanted : std::vector<std::int8_t>()));
                    EXPECT_EQ(o.statuses.size(), frames.size());
                }
                if (extrinsic) {
                    continue;
                }
                // Storing posterior LLRs does not change the decoded message bits.
                options.soft = ldpc_soft_output::none;
                options.keep_soft = false;
                const auto messages = decode(backend::cpu, true, 33).items;
                for (const auto where : both) {
                    options.keep_soft = true;
                    const auto o = decode(where, true, 34);
                    EXPECT_TRUE(o.kept_llrs == wanted);
                    EXPECT_TRUE(o.items == messages);
                }
            }
        }
    }
}

TEST(ldpc_decoder, SoftOutputOfBorrowedInput_EqualsReference)
{
    ldpc_options options;
    options.codes = { ldpc_code::dvbs2("short", "8/9"), qa::regular_code(504, 252, 7) };
    options.backend = backend::cpu;
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
        EXPECT_TRUE(run_borrowing<std::int8_t>(options, frames, true, 5, until).items ==
                    wanted);
    }
}

TEST(ldpc_decoder, NewScale_AppliesFromNextFrame)
{
    ldpc_options options;
    options.codes = { qa::regular_code(504, 252, 7) };
    options.backend = backend::cpu;
    options.format = llr_format::float32;
    options.batch = 8;
    options.soft = ldpc_soft_output::posterior;
    const auto frames = send(options.codes, 3, false, 36);
    const auto decoder = ldpc_decoder::make(options);
    std::vector<std::int8_t> wanted;
    for (const float scale : { 2.0f, 1.0f, 0.25f }) {
        const auto& f = frames[scale == 2 ? 0 : scale == 1 ? 1 : 2];
        if (scale == 1) {
            decoder->set_llr_scale(scale);
        } else if (scale < 1) {
            decoder->set_soft_scale(scale);
        }
        EXPECT_EQ(decoder->push(f.llr), 504u);
        options.llr_scale = scale;
        const auto llrs = llrs_by_model(options, { f }, false);
        wanted.insert(wanted.end(), llrs.begin(), llrs.end());
    }
    decoder->finish();
    std::vector<std::int8_t> found(5000);
    std::size_t n = 0;
    while (!decoder->done()) {
        decoder->wait(std::chrono::milliseconds(100));
        n += decoder->pull(span(found).from(n));
    }
    found.resize(n);
    EXPECT_EQ(found, wanted);
    EXPECT_THROW(decoder->pull({ nullptr, 0, true }), std::logic_error);
    EXPECT_THROW(decoder->set_soft_scale(0), std::invalid_argument);
}
