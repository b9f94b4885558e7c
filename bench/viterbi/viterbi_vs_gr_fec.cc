// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares the throughput of the CPU backend and of gr-fec's cc_decoder in alternating
 * rounds. Both decode the same noisy terminated frames (K=7, rate 1/2, 8192 bits) in one
 * thread. cc_decoder runs with every SIMD implementation of its VOLK kernel, from the
 * VOLK that gr-fec is linked to and from each --volk library. (VOLK 2.5.2 has no AVX2
 * kernel for K=7; later versions have one.)
 *
 * Usage: viterbi_vs_gr_fec [ROUNDS] [--volk LIBRARY]... [--json] */

#include "channel/awgn.h"
#include "json.h"
#include <gnuradio/fec/cc_decoder.h>
#include <gnuradio/gpufec/viterbi.h>
#include <dlfcn.h>
#include <volk/volk.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <stdexcept>

using namespace gr::gpufec;

namespace {

constexpr unsigned frame_bits = 8192;
constexpr unsigned frames = 2048;
const conv_code code(7, { 0171, 0133 });

// Information bits, and their noisy coded frames in the formats of both decoders.
struct workload {
    std::vector<std::uint8_t> bits;
    std::vector<std::int8_t> values;         // for gr-gpufec, positive for bit 1
    std::vector<std::uint8_t> offset_values; // for gr-fec: 128 + value
};

workload make_workload()
{
    const conv_encoder_kernel encoder(code, termination::terminated, frame_bits);
    const auto coded_bits = encoder.coded_bits(frame_bits);
    const awgn_channel channel(5, double(frame_bits) / coded_bits, 2);
    workload w;
    w.bits.resize(std::size_t(frames) * frame_bits);
    counter_random(1).bits(0, w.bits.size(), w.bits.data());
    w.values.resize(frames * coded_bits);
    std::vector<std::uint8_t> coded(coded_bits);
    for (unsigned f = 0; f < frames; ++f) {
        encoder.encode_frame(&w.bits[std::size_t(f) * frame_bits], coded.data());
        for (auto& bit : coded) {
            bit ^= 1; // awgn_channel sends 0 as a positive value
        }
        channel.int8(f * coded_bits, coded.data(), coded_bits, &w.values[f * coded_bits]);
    }
    w.offset_values.resize(w.values.size());
    std::transform(w.values.begin(),
                   w.values.end(),
                   w.offset_values.begin(),
                   [](std::int8_t v) { return std::uint8_t(128 + v); });
    return w;
}

double seconds(clockid_t clock)
{
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct measured {
    std::string name;
    std::vector<double> rates;     // decoded bits per second of wall-clock time
    std::vector<double> cpu_rates; // decoded bits per second of CPU time, all threads
};

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

void measure(measured& m, const std::function<void()>& decode_all)
{
    const double wall = seconds(CLOCK_MONOTONIC);
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    decode_all();
    const double bits = double(frames) * frame_bits;
    m.rates.push_back(bits / (seconds(CLOCK_MONOTONIC) - wall));
    m.cpu_rates.push_back(bits / (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu));
}

// Throws an exception if more than one bit in 10⁵ is wrong. At Eb/N0 = 5 dB the union
// bound is 4.4e-7, which is seven of the 16.8 million bits.
void check(const std::string& who,
           const std::vector<std::uint8_t>& sent,
           const std::vector<std::uint8_t>& decoded)
{
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        wrong += sent[i] != decoded[i];
    }
    std::cerr << who << ": " << wrong << " wrong bits among " << sent.size() << " bits\n";
    if (wrong > sent.size() / 100000) {
        throw std::runtime_error(who + " decodes too many bits wrongly");
    }
}

// An implementation of the kernel in a VOLK library.
struct kernel {
    std::string library; // name and version, such as "VOLK 3.2.0"
    const char* name;    // name of the implementation, such as "avx2"
    decltype(&volk_8u_x4_conv_k7_r2_8u_manual) call;
};

// Returns the SIMD kernels of a VOLK library that this processor supports. An empty path
// means the library that gr-fec is linked to.
std::vector<kernel> kernels_of(const std::string& path)
{
    // All versions of VOLK have the same symbols; with RTLD_DEEPBIND, each library uses
    // its own symbols.
    void* const library =
        path.empty() ? RTLD_DEFAULT
                     : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!path.empty() && !library) {
        throw std::runtime_error(dlerror());
    }
    const auto find = [&](const char* name, auto& function) {
        function =
            reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        if (!function) {
            throw std::runtime_error(path + " has no symbol " + name);
        }
    };
    const char* (*version)();
    decltype(&volk_8u_x4_conv_k7_r2_8u_manual) call;
    decltype(&volk_8u_x4_conv_k7_r2_8u_get_func_desc) describe;
    find("volk_version", version);
    find("volk_8u_x4_conv_k7_r2_8u_manual", call);
    find("volk_8u_x4_conv_k7_r2_8u_get_func_desc", describe);
    const auto described = describe();
    std::vector<kernel> found;
    for (std::size_t i = 0; i < described.n_impls; ++i) {
        const char* const name = described.impl_names[i];
        if (std::strcmp(name, "generic") != 0) { // The generic kernel uses no SIMD.
            found.push_back({ std::string("VOLK ") + version(), name, call });
        }
    }
    return found;
}

// A cc_decoder that runs a given VOLK kernel. cc_decoder's constructor copies VOLK's
// global function pointer, so the pointer is first set to a function that calls s_kernel.
class gr_fec_side
{
public:
    explicit gr_fec_side(const kernel& with) : d_kernel(with)
    {
        volk_8u_x4_conv_k7_r2_8u = [](auto... arguments) {
            s_kernel.call(arguments..., s_kernel.name);
        };
        // gr-fec expects the generators 171 and 133 (octal) with their bits reversed.
        d_decoder = gr::fec::code::cc_decoder::make(
            frame_bits, 7, 2, { 79, 109 }, 0, -1, CC_TERMINATED);
    }

    std::string name() const
    {
        return "gr-fec cc_decoder, " + d_kernel.library + ", " + d_kernel.name;
    }

    void decode(workload& w, std::vector<std::uint8_t>& out)
    {
        s_kernel = d_kernel;
        const std::size_t in_size = w.offset_values.size() / frames;
        for (unsigned f = 0; f < frames; ++f) {
            d_decoder->generic_work(&w.offset_values[f * in_size],
                                    &out[std::size_t(f) * frame_bits]);
        }
    }

private:
    inline static kernel s_kernel;
    const kernel d_kernel;
    gr::fec::generic_decoder::sptr d_decoder;
};

viterbi_options our_options(termination ends)
{
    viterbi_options options{ code };
    options.termination = ends;
    options.frame_bits = ends == termination::streaming ? 0 : frame_bits;
    options.backend = backend::cpu;
    return options;
}

// Decodes all values; the decoder's options select stream or frames. The output has one
// bit per byte, like gr-fec's.
void decode(viterbi_decoder& decoder,
            const std::vector<std::int8_t>& values,
            std::vector<std::uint8_t>& out)
{
    decoder.reset();
    std::size_t pushed = 0, pulled = 0;
    while (!decoder.done()) {
        if (pushed < values.size()) {
            pushed += decoder.push(span(values).from(pushed));
            if (pushed == values.size()) {
                decoder.finish();
            }
        }
        const auto n = decoder.pull(unpacked_bits(span(out).from(pulled)));
        pulled += n;
        if (n == 0) {
            decoder.wait(std::chrono::milliseconds(100));
        }
    }
}

json report(const measured& m, const measured& reference)
{
    auto runs = json::array();
    for (const double r : m.rates) {
        runs.add(r);
    }
    return json::object({ { "decoder", m.name },
                          { "median_bits_per_s", median(m.rates) },
                          { "median_bits_per_cpu_s", median(m.cpu_rates) },
                          { "times_gr_fec", median(m.rates) / median(reference.rates) },
                          { "times_gr_fec_by_cpu_time",
                            median(m.cpu_rates) / median(reference.cpu_rates) },
                          { "runs_bits_per_s", runs } });
}

} // namespace

int main(int argc, char** argv)
try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    int rounds = 9;
    bool as_json = false;
    std::vector<std::string> libraries{ "" };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--json") {
            as_json = true;
        } else if (arguments[i] == "--volk") {
            libraries.push_back(arguments.at(++i));
        } else {
            rounds = std::max(1, std::stoi(arguments[i]));
        }
    }
    auto w = make_workload();
    std::vector<gr_fec_side> gr_fec;
    for (const auto& library : libraries) {
        for (const auto& kernel : kernels_of(library)) {
            gr_fec.emplace_back(kernel);
        }
    }
    const auto terminated = viterbi_decoder::make(our_options(termination::terminated));
    const auto streaming = viterbi_decoder::make(our_options(termination::streaming));

    std::vector<std::uint8_t> out(w.bits.size());
    // Larger than `out`, because the streaming decoder also outputs each frame's tail
    // bits.
    std::vector<std::uint8_t> stream_out(w.values.size() / 2);
    for (auto& side : gr_fec) {
        side.decode(w, out);
        check(side.name(), w.bits, out);
    }
    decode(*terminated, w.values, out);
    check("gpufec terminated", w.bits, out);
    decode(*streaming, w.values, stream_out);
    for (unsigned f = 0; f < frames; ++f) {
        std::memcpy(&out[std::size_t(f) * frame_bits],
                    &stream_out[f * (stream_out.size() / frames)],
                    frame_bits);
    }
    check("gpufec streaming", w.bits, out);

    std::vector<measured> theirs;
    for (const auto& side : gr_fec) {
        theirs.push_back({ side.name(), {}, {} });
    }
    measured ours{ "gpufec cpu, terminated", {}, {} };
    measured stream{ "gpufec cpu, streaming", {}, {} };
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < gr_fec.size(); ++i) {
            measure(theirs[i], [&] { gr_fec[i].decode(w, out); });
        }
        measure(ours, [&] { decode(*terminated, w.values, out); });
        measure(stream, [&] { decode(*streaming, w.values, stream_out); });
    }
    const auto fastest = *std::max_element(
        theirs.begin(), theirs.end(), [](const measured& a, const measured& b) {
            return median(a.rates) < median(b.rates);
        });
    auto all = theirs;
    all.insert(all.end(), { ours, stream });
    auto results = json::array();
    for (const auto& m : all) {
        results.add(report(m, fastest));
        if (!as_json) {
            std::cout << m.name << ": " << median(m.rates) / 1e6 << " Mb/s, "
                      << median(m.rates) / median(fastest.rates)
                      << " times the rate of the fastest gr-fec kernel ("
                      << median(m.cpu_rates) / median(fastest.cpu_rates)
                      << " times by processor time)\n";
        }
    }
    if (as_json) {
        std::cout << json::object(
                         { { "what", "K=7 rate 1/2, terminated frames of 8192 bits" },
                           { "rounds", rounds },
                           { "device", streaming->active_device() },
                           { "decode_length", streaming->decode_length() },
                           { "overlap", streaming->overlap() },
                           { "results", results } })
                         .to_string()
                  << "\n";
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "viterbi_vs_gr_fec: " << error.what() << "\n";
    return 1;
}
