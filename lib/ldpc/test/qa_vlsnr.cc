// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the decoder of symbols of VL-SNR frames, for symbols in chunks of any size. The
 * output must equal the output of an LLR decoder that receives the demapper's LLRs. */

#include "common/packed_bits.h"
#include "cuda/devices.h"
#include "demap/vlsnr.h"
#include "qa_support.h"
#include <gnuradio/gpufec/ldpc.h>
#include <complex>
#include <stdexcept>

namespace gr::gpufec {

namespace {

using bits = std::vector<std::uint8_t>;
using complexes = std::vector<std::complex<float>>;

// Codes, constellations, and frames that use them in rotation.
struct stream {
    ldpc_options options;
    std::vector<complexes> frames;
    std::vector<bits> messages;

    unsigned kind(std::size_t frame) const { return frame % options.codes.size(); }
};

// The Es/N0 of the frames exceeds the codes' thresholds by 1.5 to 3 dB.
stream make_stream(std::size_t frames)
{
    stream s;
    std::mt19937 random(3);
    std::normal_distribution<float> noise(0, std::sqrt(std::pow(10.0f, 0.35f) / 2));
    for (const auto& [size, rate] :
         { std::pair("vl-snr short", "1/5"), std::pair("vl-snr short sf2", "11/45") }) {
        s.options.codes.push_back(ldpc_code::standard("dvbs2x", size, rate));
        s.options.constellations.push_back({ "pi/2-bpsk", rate, size });
    }
    s.options.symbols = ldpc_symbols::float32;
    s.options.backend = backend::cpu;
    for (std::size_t f = 0; f < frames; ++f) {
        const auto& code = s.options.codes[s.kind(f)];
        const auto& c = s.options.constellations[s.kind(f)];
        bits message(code.k()), word(code.n()), sent(code.sent());
        for (auto& bit : message) {
            bit = random() >> 31;
        }
        const ldpc_encoder_kernel encoder(code);
        encoder.encode(message.data(), word.data());
        encoder.send(word.data(), sent.data());
        s.frames.push_back(demap::map_pi2_bpsk(
            demap::make_constellation(c.name, c.rate, c.frame_size), sent));
        for (auto& symbol : s.frames.back()) {
            symbol += std::complex(noise(random), noise(random));
        }
        s.messages.push_back(message);
    }
    return s;
}

struct outcome {
    bits items;
    std::vector<ldpc_decoder::frame_status> statuses;
};

bool pull(ldpc_decoder& decoder, std::size_t bytes, bool soft, outcome& o)
{
    bits some(bytes);
    const auto n =
        soft ? decoder.pull({ reinterpret_cast<std::int8_t*>(some.data()), bytes })
             : decoder.pull({ some.data(), bytes, false });
    o.items.insert(o.items.end(), some.begin(), some.begin() + n);
    if (const auto status = decoder.status()) {
        o.statuses.push_back(*status);
    }
    return n > 0;
}

// Pushes frames of symbols or of LLRs in chunks of random sizes.
template <class Items>
outcome decode(ldpc_decoder& decoder,
               const stream& s,
               const std::vector<Items>& frames,
               unsigned seed)
{
    std::mt19937 random(seed);
    const bool soft = s.options.soft != ldpc_soft_output::none;
    outcome o;
    for (std::size_t f = 0; f < frames.size(); ++f) {
        decoder.select(s.kind(f), s.options.constellations.empty() ? 0 : s.kind(f));
        EXPECT_EQ(decoder.selected(), s.kind(f));
        EXPECT_EQ(decoder.frame_items(), frames[f].size());
        for (std::size_t first = 0; first < frames[f].size();) {
            const auto n =
                std::min<std::size_t>(frames[f].size() - first, 1 + random() % 20000);
            first += decoder.push({ frames[f].data() + first, n });
            EXPECT_EQ(decoder.missing(),
                      first == frames[f].size() ? 0 : frames[f].size() - first);
            while (decoder.ready() && pull(decoder, 1 + random() % 3000, soft, o)) {
            }
        }
    }
    decoder.finish();
    while (!decoder.done()) {
        if (!pull(decoder, 1 + random() % 3000, soft, o)) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
    return o;
}

} // namespace

TEST(VlsnrDecoder, SymbolsInChunks_DecodeToTheirMessages)
{
    auto s = make_stream(9);
    bits all;
    for (const auto& m : s.messages) {
        all.insert(all.end(), m.begin(), m.end());
    }
    for (const unsigned batch : { 1u, 4u }) {
        s.options.batch = batch;
        s.options.slots = batch == 1 ? 1 : 3;
        const auto decoder = ldpc_decoder::make(s.options);
        for (unsigned seed = 0; seed < 2; ++seed) {
            const auto o = decode(*decoder, s, s.frames, seed);
            EXPECT_TRUE(o.items == all);
            EXPECT_EQ(o.statuses.size(), 9u);
            EXPECT_EQ(decoder->verdict(), "");
            decoder->reset();
        }
    }
}

TEST(VlsnrDecoder, SoftOutput_EqualsThatOfLlrDecoder)
{
    auto s = make_stream(4);
    s.options.soft = ldpc_soft_output::extrinsic;
    s.options.max_iterations = 3;
    s.options.positive_bit = 1;
    s.options.llr_scale = 3;
    const auto decoder = ldpc_decoder::make(s.options);
    decoder->set_esn0_db(-4);
    const auto found = decode(*decoder, s, s.frames, 1);

    std::vector<std::vector<float>> llrs;
    for (std::size_t f = 0; f < s.frames.size(); ++f) {
        const auto& c = s.options.constellations[s.kind(f)];
        demap::vlsnr_demapper demapper(
            demap::make_constellation(c.name, c.rate, c.frame_size),
            demap::method::log_map,
            demap::symbol_format::float32);
        std::vector<std::int8_t> steps(s.options.codes[s.kind(f)].sent());
        demapper.demap(s.frames[f].data(), std::uint32_t(steps.size()), -4, steps.data());
        llrs.emplace_back();
        for (const auto x : steps) {
            llrs.back().push_back(float(-x) / demap::steps_per_nat);
        }
    }
    auto plain = s;
    plain.options.symbols = ldpc_symbols::none;
    plain.options.constellations.clear();
    plain.options.format = llr_format::float32;
    const auto other = ldpc_decoder::make(plain.options);
    ldpc::qa::expect_same(found, decode(*other, plain, llrs, 2));
}

TEST(VlsnrDecoder, DroppedFrame_DoesNotAffectOtherFrames)
{
    const auto s = make_stream(3);
    const auto decoder = ldpc_decoder::make(s.options);
    decoder->push({ s.frames[0].data(), 777 });
    decoder->select(1, 1); // applies to the next frame
    EXPECT_EQ(decoder->selected(), 0u);
    EXPECT_EQ(decoder->missing(), s.frames[0].size() - 777);
    decoder->drop_incomplete();
    EXPECT_EQ(decoder->selected(), 1u);
    EXPECT_EQ(decoder->missing(), 0u);
    EXPECT_EQ(decoder->push({ s.frames[1].data(), s.frames[1].size() }),
              s.frames[1].size());
    decoder->push({ s.frames[1].data(), 5 }); // dropped at the end
    decoder->finish();
    outcome o;
    while (!decoder->done()) {
        pull(*decoder, 5000, false, o);
    }
    EXPECT_TRUE(o.items == s.messages[1]);
}

TEST(VlsnrDecoder, CudaBackend_DecodesAsOnCpu)
{
    if (find_cuda_devices().devices.empty()) {
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing;
    }
    auto s = make_stream(12);
    for (auto& frame : s.frames) { // some frames fail
        for (std::size_t i = 0; i < frame.size(); i += 2) {
            frame[i] *= float(&frame - s.frames.data()) / 12;
        }
    }
    const auto expected = decode(*ldpc_decoder::make(s.options), s, s.frames, 1);
    s.options.backend = backend::cuda;
    ldpc::qa::expect_same(decode(*ldpc_decoder::make(s.options), s, s.frames, 2),
                          expected);
}

TEST(VlsnrDecoder, OptionsOutsideVlSnr_AreRefused)
{
    const auto s = make_stream(0);
    const auto refused = [&](auto change) {
        auto options = s.options;
        change(options);
        EXPECT_THROW(ldpc_decoder::make(options), std::invalid_argument);
    };
    refused([](auto& o) { o.constellations[1] = { "qpsk", "11/45", "short" }; });
    refused([](auto& o) { o.constellations[1] = { "qpsk", "1/5", "vl-snr short" }; });
    refused([](auto& o) { o.constellations.clear(); });
    refused([](auto& o) { o.llr_scale = 0; });
    refused([](auto& o) { o.soft_scale = -1; });
    refused([](auto& o) { o.max_iterations = 0; });
    const auto decoder = ldpc_decoder::make(s.options);
    EXPECT_THROW(decoder->select(2, 0), std::out_of_range);
    EXPECT_THROW(decoder->select(0, 2), std::out_of_range);
    EXPECT_THROW(decoder->set_llr_scale(0), std::invalid_argument);
    const std::vector<float> floats(10);
    EXPECT_THROW(decoder->push({ floats.data(), floats.size() }), std::invalid_argument);
}

} // namespace gr::gpufec
