// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend beside gr-fec's cc_decoder, in turns within one run: K=7, rate 1/2, the
 * same noisy terminated frames of 8192 bits, one thread that decodes.
 *
 * Usage: viterbi_vs_gr_fec [ROUNDS] [--json] */

#include "channel/awgn.h"
#include "json.h"
#include <gnuradio/fec/cc_decoder.h>
#include <gnuradio/gpufec/viterbi.h>
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

// Frames as both sides take them, and the bits they hold.
struct workload {
    std::vector<std::uint8_t> bits;
    std::vector<std::int8_t> values;         // ours: positive is bit 1
    std::vector<std::uint8_t> offset_values; // gr-fec's: 128 + value
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
            bit ^= 1; // the channel sends 0 as a positive value
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
    std::vector<double> rates; // decoded bits per second of time
    std::vector<double>
        cpu_rates; // decoded bits per second of processor time, all threads
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

// Both must have decoded, and as well: at 5 dB some ten bits of these are wrong.
void check(const std::string& who,
           const std::vector<std::uint8_t>& sent,
           const std::vector<std::uint8_t>& decoded)
{
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        wrong += sent[i] != decoded[i];
    }
    std::cerr << who << ": " << wrong << " wrong bits of " << sent.size() << "\n";
    if (wrong > sent.size() / 100000) {
        throw std::runtime_error(who + " does not decode");
    }
}

class gr_fec_side
{
public:
    gr_fec_side()
        : d_decoder(gr::fec::code::cc_decoder::make(frame_bits,
                                                    7,
                                                    2,
                                                    { 79, 109 }, // 171, 133 reversed
                                                    0,
                                                    -1,
                                                    CC_TERMINATED))
    {
    }

    void decode(workload& w, std::vector<std::uint8_t>& out)
    {
        const std::size_t in_size = w.offset_values.size() / frames;
        for (unsigned f = 0; f < frames; ++f) {
            d_decoder->generic_work(&w.offset_values[f * in_size],
                                    &out[std::size_t(f) * frame_bits]);
        }
    }

private:
    gr::fec::generic_decoder::sptr d_decoder;
};

viterbi_options our_options(termination ends)
{
    viterbi_options options{ code };
    options.ends = ends;
    options.frame_bits = ends == termination::streaming ? 0 : frame_bits;
    options.where = backend::cpu;
    return options;
}

// A stream or frames of the same values; bits as gr-fec gives them, one per byte.
void decode(viterbi_decoder& decoder,
            const std::vector<std::int8_t>& values,
            std::vector<std::uint8_t>& out)
{
    decoder.reset();
    std::size_t pushed = 0, pulled = 0;
    while (!decoder.done()) {
        if (pushed < values.size()) {
            pushed += decoder.push(&values[pushed], values.size() - pushed);
            if (pushed == values.size()) {
                decoder.finish();
            }
        }
        const auto n = decoder.pull_bits(&out[pulled], out.size() - pulled);
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
    for (const auto& a : arguments) {
        if (a == "--json") {
            as_json = true;
        } else {
            rounds = std::max(1, std::stoi(a));
        }
    }
    auto w = make_workload();
    gr_fec_side gr_fec;
    viterbi_decoder terminated(our_options(termination::terminated));
    viterbi_decoder streaming(our_options(termination::streaming));

    // What was sent in the stream: the frames with their tails.
    std::vector<std::uint8_t> out(w.bits.size());
    std::vector<std::uint8_t> stream_out(w.values.size() / 2);
    gr_fec.decode(w, out);
    check("gr-fec", w.bits, out);
    decode(terminated, w.values, out);
    check("gpufec terminated", w.bits, out);
    decode(streaming, w.values, stream_out);
    for (unsigned f = 0; f < frames; ++f) {
        std::memcpy(&out[std::size_t(f) * frame_bits],
                    &stream_out[f * (stream_out.size() / frames)],
                    frame_bits);
    }
    check("gpufec streaming", w.bits, out);

    measured theirs{ "gr-fec cc_decoder, terminated", {}, {} };
    measured ours{ "gpufec cpu, terminated", {}, {} };
    measured stream{ "gpufec cpu, streaming", {}, {} };
    for (int round = 0; round < rounds; ++round) {
        measure(theirs, [&] { gr_fec.decode(w, out); });
        measure(ours, [&] { decode(terminated, w.values, out); });
        measure(stream, [&] { decode(streaming, w.values, stream_out); });
    }
    auto results = json::array();
    for (const auto* m : { &theirs, &ours, &stream }) {
        results.add(report(*m, theirs));
        if (!as_json) {
            std::cout << m->name << ": " << median(m->rates) / 1e6 << " Mb/s, "
                      << median(m->rates) / median(theirs.rates) << " x gr-fec ("
                      << median(m->cpu_rates) / median(theirs.cpu_rates)
                      << " x by processor time)\n";
        }
    }
    if (as_json) {
        std::cout << json::object(
                         { { "what", "K=7 rate 1/2, terminated frames of 8192 bits" },
                           { "rounds", rounds },
                           { "device", streaming.active_device() },
                           { "decode_length", streaming.decode_length() },
                           { "overlap", streaming.overlap() },
                           { "results", results } })
                         .to_string()
                  << "\n";
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "viterbi_vs_gr_fec: " << error.what() << "\n";
    return 1;
}
