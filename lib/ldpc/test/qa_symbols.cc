// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests symbol input on a device, real or emulated: quantised LLRs equal those of the
 * reference demapper, and decoded bytes equal those of the CPU. Also tests that frames
 * with strong outliers decode. */

#include "cuda/devices.h"
#include "demap/demapper.h"
#include "demap/qa_support.h"
#include "ldpc/cuda/input/symbols.h"
#include "ldpc/stream/input_format.h"
#include "pipeline/test/memory_of.h"
#include "qa_support.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;
using demap::complexes;
using demap::method;
using demap::symbol_format;
using demap::transmit;

namespace {

#define SKIP_WITHOUT_CUDA()                                                \
    if (find_cuda_devices().devices.empty()) {                             \
        GTEST_SKIP() << "no CUDA device: " << find_cuda_devices().missing; \
    }

#ifdef GPUFEC_EMULATED
constexpr bool emulated = true;
#else
constexpr bool emulated = false;
#endif

struct sent_frame {
    unsigned constellation;
    int level;
    std::uint32_t bits;
    std::vector<std::uint8_t> bytes; // the frame's symbols in the input format
};

template <class Part>
std::vector<std::uint8_t> bytes_of(const complexes& symbols, double scale)
{
    std::vector<Part> parts;
    for (const auto& s : symbols) {
        for (const auto x : { s.real(), s.imag() }) {
            if (std::is_integral<Part>::value) {
                const double most = std::numeric_limits<Part>::max();
                parts.push_back(Part(std::clamp(x * scale, -most - 1, most)));
            } else {
                parts.push_back(Part(x));
            }
        }
    }
    const auto* const from = reinterpret_cast<const std::uint8_t*>(parts.data());
    return { from, from + parts.size() * sizeof(Part) };
}

std::vector<std::uint8_t>
in_format(symbol_format format, const complexes& symbols, double scale)
{
    switch (format) {
    case symbol_format::float32:
        return bytes_of<float>(symbols, 1);
    case symbol_format::int16:
        return bytes_of<std::int16_t>(symbols, 40 * scale);
    default:
        return bytes_of<std::int8_t>(symbols, scale);
    }
}

setup setup_of(const std::vector<std::pair<std::string, std::string>>& constellations,
               symbol_format format,
               method how,
               ldpc_precision precision = ldpc_precision::int8)
{
    setup s;
    s.precision = precision;
    s.symbols = format;
    s.demapper = how;
    for (const auto& [name, rate] : constellations) {
        s.constellations.push_back(demap::make_constellation(name, rate));
    }
    return s;
}

// Compares the device's output with that of the reference demapper: levels, passes,
// quantised LLRs, and the memory between the frames, which must not change.
void compare(const setup& s,
             const std::vector<sent_frame>& frames,
             device::symbol_demapper& demapper)
{
    const auto size = demap::symbol_bytes(*s.symbols);
    const auto value_bytes = s.value_bytes();
    constexpr float factor = 0.6f, limit = 60;
    std::vector<std::uint8_t> caller_format(size); // the first frame is not aligned
    std::vector<caller_frame> table;
    std::size_t to = 0;
    for (const auto& f : frames) {
        table.push_back({ std::uint32_t(caller_format.size()),
                          std::uint32_t(to),
                          f.bits,
                          factor,
                          limit,
                          f.constellation,
                          f.level });
        caller_format.insert(caller_format.end(), f.bytes.begin(), f.bytes.end());
        to += (f.bits * value_bytes + 15) / 16 * 16;
    }
    const auto caller_values_there = cuda::uploaded(caller_format, "copy");
    const auto table_there = cuda::uploaded(table, "copy");
    const auto input = cuda::uploaded(std::vector<std::uint8_t>(to + 16, 0x55), "copy");
    const cuda::stream stream;
    demapper.launch(table_there.get(),
                    table.size(),
                    caller_values_there.get(),
                    input.get(),
                    stream.get());
    cuda::check(cudaStreamSynchronize(stream.get()), "demapping");
    std::vector<std::uint8_t> found(input.bytes());
    cuda::check(
        cudaMemcpy(found.data(), input.get(), found.size(), cudaMemcpyDeviceToHost),
        "copy");
    std::vector<std::uint8_t> expected(found.size(), 0x55);
    for (std::size_t f = 0; f < frames.size(); ++f) {
        const auto m = demap::make_model(s.constellations[frames[f].constellation]);
        std::vector<std::int8_t> llr(frames[f].bits);
        const auto plain = demap::reference_demap(m,
                                                  s.demapper,
                                                  *s.symbols,
                                                  frames[f].bytes.data(),
                                                  frames[f].bits,
                                                  frames[f].level,
                                                  llr.data());
        auto* const here = expected.data() + table[f].to;
        input_format(s.precision, llr_format::int8, factor, limit)
            .convert(llr.data(), 0, llr.size(), reinterpret_cast<std::byte*>(here));
        const auto outcome = demapper.of(f);
        EXPECT_EQ(outcome.level, plain.level) << f;
        EXPECT_EQ(outcome.passes, plain.passes) << f;
        EXPECT_EQ(std::memcmp(here, found.data() + table[f].to, llr.size() * value_bytes),
                  0)
            << f;
    }
    EXPECT_TRUE(found == expected) << "memory outside the frames was written";
}

const std::vector<symbol_format> formats = { symbol_format::float32,
                                             symbol_format::int16,
                                             symbol_format::int8 };

} // namespace

TEST(Symbols, EveryConstellation_DemapsAsReference)
{
    SKIP_WITHOUT_CUDA();
    unsigned seed = 0;
    for (const auto format : formats) {
        // With integers, on emulated devices, and for QPSK, 128APSK and 256APSK, only one
        // constellation of each name is tested.
        std::vector<std::pair<std::string, std::string>> all;
        for (const auto& m : demap::modcods()) {
            const bool alike = emulated || m.name == "qpsk" || m.name == "128apsk" ||
                               m.name == "256apsk" || format != symbol_format::float32;
            const bool is_there =
                alike && std::any_of(all.begin(), all.end(), [&](const auto& other) {
                    return other.first == m.name;
                });
            if (m.frame_size == "normal" && !is_there) {
                all.emplace_back(m.name, m.rate);
            }
        }
        const auto how =
            format == symbol_format::int16 ? method::log_map : method::max_log;
        const auto s = setup_of(all, format, how);
        std::vector<sent_frame> frames;
        for (unsigned i = 0; i < all.size(); ++i) {
            const auto& c = s.constellations[i];
            const double esn0_db = c.bits == 2 ? 2 : 3.0 * c.bits - 1;
            // Only the first of these numbers of symbols is a multiple of the vector
            // length.
            for (const auto count : { 400u, 301u + i % 3 }) {
                const auto sent = transmit(c, count, esn0_db, 0.7, ++seed).symbols;
                frames.push_back(
                    { i,
                      seed % 3 ? demap::estimated : demap::level_of(esn0_db - 1),
                      count * c.bits - (c.bits == 7 ? 6 : 0),
                      in_format(format, sent, 60) });
            }
        }
        device::symbol_demapper demapper(s, frames.size());
        compare(s, frames, demapper);
        std::reverse(frames.begin(), frames.end());
        compare(s, frames, demapper); // reuses tables of the first call
    }
}

TEST(Symbols, ExtremeSymbols_DemapAsReference)
{
    SKIP_WITHOUT_CUDA();
    const auto s = setup_of({ { "qpsk", "1/2" }, { "8psk", "3/5" }, { "16apsk", "3/4" } },
                            symbol_format::float32,
                            method::max_log);
    std::vector<sent_frame> frames;
    for (unsigned i = 0; i < s.constellations.size(); ++i) {
        const auto good = transmit(s.constellations[i], 310, 10, 1, 1).symbols;
        for (const auto& b : demap::bad_symbols(good)) {
            for (const auto level : { int(demap::estimated), 20 }) {
                frames.push_back({ i,
                                   level,
                                   310 * s.constellations[i].bits,
                                   in_format(symbol_format::float32, b, 1) });
            }
        }
    }
    device::symbol_demapper demapper(s, frames.size());
    compare(s, frames, demapper);
    for (const auto format : { symbol_format::int16, symbol_format::int8 }) {
        const auto integers = setup_of({ { "16apsk", "3/4" } }, format, method::max_log);
        device::symbol_demapper other(integers, 1);
        const std::vector<std::uint8_t> extreme(310 * demap::symbol_bytes(format),
                                                std::uint8_t(0x80));
        compare(integers, { { 0, demap::estimated, 4 * 310, extreme } }, other);
    }
}

// The frames have a single symbol of extreme magnitude, 1 % strong symbols, zeros, or
// fading. With fading, each part of a frame has its own scale.
TEST(Symbols, ImpairedFrames_DemapAsReference)
{
    SKIP_WITHOUT_CUDA();
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    for (const auto format : formats) {
        const auto s =
            setup_of({ { "qpsk", "1/4" }, { "8psk", "3/4" }, { "16apsk", "3/4" } },
                     format,
                     method::max_log);
        std::vector<sent_frame> frames;
        for (unsigned i = 0; i < s.constellations.size(); ++i) {
            const auto& c = s.constellations[i];
            // The first number of symbols is a multiple of the vector length, and the
            // scale is computed from all symbols. The second number is not a multiple,
            // and the scale is computed from every second symbol.
            for (const unsigned count : { 1600u, 2503u }) {
                if (count == 2503 && format != symbol_format::float32) {
                    continue; // for integers, only the conversion differs
                }
                const auto good =
                    transmit(c, count, c.bits == 2 ? 0 : 3.0 * c.bits, 1, count + i)
                        .symbols;
                std::vector<complexes> bad(9, good);
                bad[1][count / 2] = 30;
                bad[2][count / 3] = { 0, -1e6f };
                bad[3][7] = { nan, 3e38f };
                std::fill_n(bad[4].begin(), count / 3, 0.0f);
                for (unsigned x = 0; x < count; ++x) {
                    bad[5][x] *= x % 100 == 0 ? 10 : 1;
                    bad[6][x] *= x < count / 2 ? 1 : 0.5f;
                    bad[7][x] *= std::pow(10.0f, -0.3f * float(x) / float(count));
                    bad[8][x] *= x < count / 4 ? 1e-3f : 1; // a weak first quarter
                }
                for (const auto& b : bad) {
                    for (const auto level : { int(demap::estimated), 40 }) {
                        frames.push_back(
                            { i, level, count * c.bits, in_format(format, b, 25) });
                    }
                }
            }
        }
        device::symbol_demapper demapper(s, frames.size());
        compare(s, frames, demapper);
    }
}

TEST(Symbols, EveryPrecision_DemapsAsReference)
{
    SKIP_WITHOUT_CUDA();
    for (const auto precision : { ldpc_precision::int16, ldpc_precision::float32 }) {
        const auto s = setup_of({ { "qpsk", "1/2" }, { "8psk", "2/3" } },
                                symbol_format::float32,
                                method::max_log,
                                precision);
        std::vector<sent_frame> frames;
        for (unsigned i = 0; i < 2; ++i) {
            for (const auto count : { 128u, 131u }) {
                frames.push_back(
                    { i,
                      demap::estimated,
                      count * s.constellations[i].bits,
                      in_format(symbol_format::float32,
                                transmit(s.constellations[i], count, 5, 1, count).symbols,
                                1) });
            }
        }
        device::symbol_demapper demapper(s, frames.size());
        compare(s, frames, demapper);
    }
}

// Each batch needs more tables than the demapper has.
TEST(Symbols, MoreLevelsThanTables_DemapAsReference)
{
    SKIP_WITHOUT_CUDA();
    const auto s = setup_of({ { "qpsk", "1/2" }, { "16apsk", "2/3" } },
                            symbol_format::float32,
                            method::log_map);
    device::symbol_demapper demapper(s, 16, 2);
    for (const unsigned step : { 1, 2, 5 }) {
        std::vector<sent_frame> frames;
        for (unsigned f = 0; f < 8; ++f) {
            const auto& c = s.constellations[f % 2];
            const auto db = 4.0 + f / step;
            frames.push_back({ f % 2,
                               f < 6 ? demap::level_of(db) : demap::estimated,
                               100 * c.bits,
                               in_format(symbol_format::float32,
                                         transmit(c, 100, db, 2, 10 * step + f).symbols,
                                         1) });
        }
        compare(s, frames, demapper);
    }
}

// Asserts that a device decodes frames of several MODCODs to the bytes, iterations and
// violated checks of the CPU, both from pushed chunks and in place.
TEST(Symbols, SeveralModcods_DecodeAsOnCpu)
{
    SKIP_WITHOUT_CUDA();
    struct kind {
        const char *name, *rate;
        double esn0_db;
    };
    const std::vector<kind> kinds = { { "qpsk", "1/2", 2.2 },
                                      { "8psk", "3/5", 7 },
                                      { "16apsk", "3/4", 11.5 } };
    ldpc_options o;
    for (const auto& k : kinds) {
        o.codes.push_back(ldpc_code::dvbs2("short", k.rate));
        o.constellations.push_back({ k.name, k.rate, "short" });
    }
    o.symbols = ldpc_symbols::float32;
    o.max_iterations = 20;
    o.batch = 4;
    o.max_latency_ms = 1e9;
    complexes symbols;
    std::vector<unsigned> of_frame;
    for (unsigned f = 0; f < 10; ++f) {
        const auto index = f * 7 % 3;
        const auto& code = o.codes[index];
        const auto c =
            demap::make_constellation(kinds[index].name, kinds[index].rate, "short");
        std::mt19937 random(f);
        std::normal_distribution<double> noise(
            0, std::sqrt(std::pow(10, -kinds[index].esn0_db / 10) / 2));
        std::vector<std::uint8_t> message(code.k()), bits(code.n());
        std::generate(message.begin(), message.end(), [&] { return random() & 1; });
        ldpc_encoder_kernel(code).encode(message.data(), bits.data());
        const auto m = demap::make_model(c);
        const auto count = m.symbols(code.n());
        for (unsigned s = 0; s < count; ++s) {
            unsigned label = 0;
            for (unsigned b = 0; b < c.bits; ++b) {
                label = 2 * label + bits[m.place(s, b, count)];
            }
            const std::complex<double> n(noise(random), noise(random));
            symbols.emplace_back((f + 0.1) * (c.points[label] + n));
        }
        of_frame.push_back(index);
    }
    struct result {
        std::vector<std::uint8_t> bytes;
        std::vector<unsigned> iterations, unsatisfied;
    };
    const auto decode = [&](backend where, std::size_t piece) {
        o.backend = where;
        const auto d = ldpc_decoder::make(o);
        result r;
        const auto pull = [&] {
            std::vector<std::uint8_t> some(5000);
            while (const auto n = d->pull(packed_bits(some))) {
                r.bytes.insert(r.bytes.end(), some.begin(), some.begin() + n);
                if (const auto status = d->status()) {
                    r.iterations.push_back(status->iterations);
                    r.unsatisfied.push_back(status->unsatisfied);
                }
            }
        };
        std::size_t begin = 0, back = 0;
        for (std::size_t f = 0; f < of_frame.size(); ++f) {
            d->select(of_frame[f], of_frame[f]);
            d->set_esn0_db(f == 4 ? 9 : std::nan(""));
            const auto n = d->frame_items();
            for (std::size_t first = 0; first < n;) {
                const auto most = std::min(piece, n - first);
                if (piece < n) {
                    first += d->push({ symbols.data() + begin + first, most });
                } else {
                    const auto borrowed = memory_of(*d).borrowed();
                    first +=
                        memory_of(*d).borrow(symbols.data() + back, borrowed + n - first);
                    back += memory_of(*d).release_borrowed();
                }
                pull();
                d->wait(std::chrono::milliseconds(1));
            }
            begin += n;
        }
        d->finish();
        while (!d->done()) {
            d->wait(std::chrono::milliseconds(10));
            pull();
        }
        return r;
    };
    const auto cpu = decode(backend::cpu, 777);
    ASSERT_EQ(cpu.iterations.size(), of_frame.size());
    EXPECT_GE(std::count(cpu.unsatisfied.begin(), cpu.unsatisfied.end(), 0), 9);
    for (const std::size_t piece : { std::size_t(1000), std::size_t(1) << 20 }) {
        const auto cuda = decode(backend::cuda, piece);
        EXPECT_TRUE(cuda.bytes == cpu.bytes);
        EXPECT_EQ(cuda.iterations, cpu.iterations);
        EXPECT_EQ(cuda.unsatisfied, cpu.unsatisfied);
    }
}

// Asserts that QPSK 1/2 frames at 10 dB decode although some symbols are up to 10⁶ times
// as large as the others. A demapper that mistakes these symbols for noise would lose the
// frames.
TEST(Symbols, FrameWithStrongSymbols_Decodes)
{
    const auto code = ldpc_code::dvbs2("short", "1/2");
    const auto c = demap::make_constellation("qpsk", "1/2", "short");
    ldpc_options o;
    o.codes = { code };
    o.constellations = { { "qpsk", "1/2", "short" } };
    o.symbols = ldpc_symbols::float32;
    o.max_latency_ms = 1e9;
    const auto d = ldpc_decoder::make(o);
    std::mt19937 random(8);
    std::normal_distribution<double> noise(0, std::sqrt(0.05));
    std::vector<std::uint8_t> sent, found, some(5000);
    const auto pull = [&] {
        while (const auto n = d->pull(packed_bits(some))) {
            found.insert(found.end(), some.begin(), some.begin() + n);
        }
    };
    struct {
        unsigned count;
        float magnitude;
    } const outliers[] = { { 1, 10 }, { 1, 30 }, { 1, 1e6f }, { 80, 5 } };
    for (const auto& strong : outliers) {
        std::vector<std::uint8_t> message(code.k()), bits(code.n());
        std::generate(message.begin(), message.end(), [&] { return random() & 1; });
        ldpc_encoder_kernel(code).encode(message.data(), bits.data());
        for (std::size_t at = 0; at < code.k(); at += 8) {
            sent.push_back(std::accumulate(
                message.begin() + at, message.begin() + at + 8, 0u, [](auto a, auto b) {
                    return 2 * a + b;
                }));
        }
        complexes symbols;
        for (std::size_t s = 0; s < code.n() / 2; ++s) {
            const std::complex<double> n(noise(random), noise(random));
            symbols.emplace_back(c.points[2 * bits[2 * s] + bits[2 * s + 1]] + n);
        }
        for (unsigned n = 0; n < strong.count; ++n) {
            symbols[random() % symbols.size()] =
                std::polar(strong.magnitude, float(random() % 628) / 100);
        }
        for (std::size_t first = 0; first < symbols.size(); pull()) {
            first += d->push(span(symbols).from(first));
            d->wait(std::chrono::milliseconds(1));
        }
    }
    d->finish();
    for (; !d->done(); pull()) {
        d->wait(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(found == sent);
}
