// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes a given amount of fixed input on the CPU. To count the instructions of kernels,
 * count_instructions.py runs this program under emulation with two amounts of input; the
 * difference excludes the start of the program. */

#include "demap/demapper.h"
#include "lab/ldpc/slot_benchmark.h"
#include "lab/sync_map/slot_benchmark.h"
#include "lab/viterbi/slot_benchmark.h"
#include "ldpc/cpu/input_kernels.h"
#include <gnuradio/gpufec/bch.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>

using namespace gr::gpufec;

namespace {

// Returns random values of type T within ±limit.
template <class T = std::int8_t>
std::vector<std::byte> random_values(std::size_t count, int limit)
{
    std::mt19937 random(1);
    std::vector<std::byte> bytes(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = T(int(random() % (2 * limit + 1)) - limit);
        std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
    return bytes;
}

void set_up(run_options& o, unsigned batch)
{
    o.backend = backend::cpu;
    o.batch = batch;
    o.slots = 1;
}

// Each of the following functions performs `amount` units of work, and returns the number
// of decoded bits, soft values or channel bits in a unit.

// One unit is a batch of sixteen parallel blocks.
double viterbi(const std::string& puncturing, unsigned amount)
{
    viterbi_options o(conv_code(7, { 0171, 0133 }, puncturing));
    set_up(o, 16);
    viterbi::slot_benchmark decoder(o, random_values(1 << 16, 40));
    for (unsigned i = 1; i < amount; ++i) {
        decoder.latency();
    }
    return decoder.bits();
}

// One unit is one iteration of eight frames.
double ldpc_decoding(ldpc_precision precision, bool soft, unsigned amount)
{
    ldpc_options o;
    o.codes = { ldpc_code::dvbs2("short", "1/2") };
    set_up(o, 8);
    o.precision = precision;
    o.early_stop = false;
    o.max_iterations = amount;
    o.soft = soft ? ldpc_soft_output::posterior : ldpc_soft_output::none;
    const auto n = o.codes[0].n();
    return double(n) * ldpc::slot_benchmark(o, random_values(n, 20)).frames();
}

template <class From>
double
convert(ldpc::input::converter<From, std::int8_t> to_int8, float factor, unsigned amount)
{
    constexpr std::size_t count = 4096;
    const auto from = random_values<From>(count, 100);
    std::vector<std::int8_t> to(count);
    for (unsigned i = 0; i < amount; ++i) {
        to_int8(
            reinterpret_cast<const From*>(from.data()), count, factor, 127, to.data());
    }
    return count;
}

double demapping(unsigned amount)
{
    constexpr std::uint32_t bits = 16200;
    demap::cell_tables tables(demap::make_constellation("8psk", "3/5", "short"),
                              demap::method::log_map);
    demap::demapper demapper(demap::symbol_format::int16);
    const auto symbols = random_values<std::int16_t>(2 * bits / 3, 1000);
    std::vector<std::int8_t> llr(bits);
    for (unsigned i = 0; i < amount; ++i) {
        demapper.demap(tables, symbols.data(), bits, 40, llr.data());
    }
    return bits;
}

double bch(unsigned amount)
{
    const auto code = bch_code::standard("dvbs2", "normal", "1/2");
    const bch_decoder_kernel decoder(code);
    std::vector<std::uint8_t> codeword((code.n() + 7) /
                                       8); // the all-zero codeword, without errors
    for (unsigned i = 0; i < amount; ++i) {
        decoder.decode(codeword.data());
    }
    return code.n();
}

// One unit is a batch of eight frames.
double sync(sync_precision precision, unsigned amount)
{
    sync_options o(codebook_davey_mackay(6, 8, 20, 1), bsid_model(0.01, 0.01, 0.01));
    set_up(o, 8);
    o.precision = precision;
    const auto frame = sync_map::frame_source(o, 1).make(0);
    sync_map::slot_benchmark decoder(o, { frame });
    for (unsigned i = 1; i < amount; ++i) {
        decoder.latency();
    }
    return double(decoder.frames()) * o.code.frame_bits();
}

const std::map<std::string, std::function<double(unsigned)>> kinds = {
    { "viterbi", [](unsigned n) { return viterbi("", n); } },
    { "viterbi-3/4", [](unsigned n) { return viterbi("101,110", n); } },
    { "ldpc-int8",
      [](unsigned n) { return ldpc_decoding(ldpc_precision::int8, false, n); } },
    { "ldpc-int8-soft",
      [](unsigned n) { return ldpc_decoding(ldpc_precision::int8, true, n); } },
    { "ldpc-float",
      [](unsigned n) { return ldpc_decoding(ldpc_precision::float32, false, n); } },
    { "input-int8",
      [](unsigned n) {
          return convert(ldpc::input::variants().of("").bytes.to_int8, 0.5f, n);
      } },
    { "input-float",
      [](unsigned n) {
          return convert(ldpc::input::variants().of("").floats.to_int8, 0.7f, n);
      } },
    { "demapper", demapping },
    { "bch", bch },
    { "sync-float", [](unsigned n) { return sync(sync_precision::float32, n); } },
    { "sync-double", [](unsigned n) { return sync(sync_precision::float64, n); } },
};

} // namespace

// Usage: kernel_work KIND AMOUNT
int main(int argc, char** argv)
{
    const auto kind = kinds.find(argc == 3 ? argv[1] : "");
    if (kind == kinds.end()) {
        for (const auto& [name, work] : kinds) {
            std::printf("%s\n", name.c_str());
        }
        return argc == 1 ? 0 : 2;
    }
    std::printf("%.0f\n", kind->second(unsigned(std::atoi(argv[2]))));
}
