// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec bench viterbi: how fast soft values in host memory become bits in host memory,
 * through the stream decoder, from slot to slot, and on the device alone. */

#include "bench.h"
#include "channel/awgn.h"
#include "lab/viterbi/slot_benchmark.h"
#include "viterbi_options.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>

namespace gr::gpufec {

using namespace viterbi;

namespace {

// Noisy soft values of a few megabits, a whole number of frames or puncturing periods.
struct recording {
    std::vector<std::byte> items;
    std::size_t bits = 0;
};

std::vector<std::byte> as_items(const viterbi_options& options,
                                const awgn_channel& channel,
                                std::uint64_t first,
                                const std::vector<std::uint8_t>& coded)
{
    const auto n = coded.size();
    std::vector<std::byte> items(options.format == soft_format::packed4 ? (n + 1) / 2
                                                                        : n);
    if (options.format == soft_format::packed4) {
        channel.packed4(
            first, coded.data(), n, reinterpret_cast<std::uint8_t*>(items.data()));
    } else if (options.format == soft_format::int8) {
        channel.int8(
            first, coded.data(), n, reinterpret_cast<std::int8_t*>(items.data()));
    } else {
        std::vector<float> values(n);
        channel.float32(first, coded.data(), n, values.data());
        items.resize(n * sizeof(float));
        std::memcpy(items.data(), values.data(), items.size());
    }
    return items;
}

recording record(const viterbi_options& options)
{
    constexpr std::size_t wanted = 1u << 22;
    const std::size_t unit =
        options.frame_bits ? options.frame_bits : 8 * options.code.period();
    const std::size_t pieces = (wanted + unit - 1) / unit;
    const counter_random data(1);
    const awgn_channel channel(5, options.code.rate(), 2);
    conv_encoder_kernel encoder(options.code, options.ends, options.frame_bits);

    recording r;
    std::vector<std::uint8_t> bits(unit);
    std::uint64_t first = 0;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        data.bits(piece * unit, unit, bits.data());
        std::vector<std::uint8_t> coded(encoder.coded_bits(unit));
        options.frame_bits ? encoder.encode_frame(bits.data(), coded.data())
                           : encoder.encode(bits.data(), unit, coded.data());
        const auto items = as_items(options, channel, first, coded);
        r.items.insert(r.items.end(), items.begin(), items.end());
        first += coded.size();
    }
    r.bits = pieces * unit;
    return r;
}

// Pushes the recording again and again, and counts what comes back.
class host_to_host
{
public:
    host_to_host(const viterbi_options& options, const recording& source)
        : d_decoder(options),
          d_source(source),
          d_item_bytes(options.format == soft_format::float32 ? sizeof(float) : 1),
          d_out(1u << 22)
    {
    }

    const viterbi_decoder& decoder() const { return d_decoder; }

    //! Decoded bits a second over \p duration seconds.
    double run(double duration)
    {
        const double begin = seconds();
        std::uint64_t bytes = 0;
        double now = begin;
        while (now < begin + duration) {
            const auto taken = push();
            const auto pulled = d_decoder.pull_packed(d_out.data(), d_out.size());
            bytes += pulled;
            if (taken == 0 && pulled == 0) {
                d_decoder.wait(std::chrono::milliseconds(100));
            }
            now = seconds();
        }
        return bytes * bits_per_byte() / (now - begin);
    }

private:
    std::size_t push()
    {
        const auto count = d_source.items.size() / d_item_bytes;
        // Small enough that pulls come in between.
        const auto n = std::min<std::size_t>(count - d_position, 1u << 20);
        const auto taken = d_decoder.push(&d_source.items[d_position * d_item_bytes], n);
        d_position = (d_position + taken) % count;
        return taken;
    }

    // Frames are padded to whole bytes.
    double bits_per_byte() const
    {
        const double items = d_source.items.size() / d_item_bytes;
        if (d_decoder.items_per_frame() <= 1) {
            return 8;
        }
        const double frames = items / d_decoder.items_per_frame();
        const double frame_bits = d_source.bits / frames;
        return frame_bits / std::ceil(frame_bits / 8);
    }

    viterbi_decoder d_decoder;
    const recording& d_source;
    std::size_t d_item_bytes;
    std::vector<std::uint8_t> d_out;
    std::size_t d_position = 0;
};

// Medians of what a batch decoder does by itself.
struct slot_rates {
    std::vector<double> host_to_host; // bits a second
    double latency = 0;               // seconds a batch
    double bits = 0;                  // a batch
    bool on_cuda = false;
    std::vector<viterbi::cuda_times> times; // of each device

    //! Decoded bits a second of the kernels of all devices.
    double kernels() const
    {
        double rate = 0;
        for (const auto& t : times) {
            rate += bits / (t.kernels_ms() * 1e-3);
        }
        return rate;
    }
};

slot_rates measure_slots(const viterbi_options& options,
                         const recording& source,
                         const bench_settings& settings)
{
    slot_benchmark bench(options, source.items);
    slot_rates r;
    r.bits = bench.bits();
    r.on_cuda = bench.on_cuda();
    const auto slots = measure_slots(bench, settings);
    r.host_to_host = slots.rates;
    r.latency = slots.latency;
    if (r.on_cuda) {
        r.times = bench.device_times(21);
    }
    return r;
}

json to_json(const viterbi::cuda_times& t)
{
    return json::object({ { "copy_in", t.copy_in_ms },
                          { "prepare", t.prepare_ms },
                          { "forward", t.forward_ms },
                          { "traceback", t.traceback_ms },
                          { "copy_out", t.copy_out_ms } });
}

} // namespace

int bench_viterbi(const arguments& args)
{
    namespace po = boost::program_options;
    command_line line{
        "gpufec bench viterbi",
        "[code options] [--seconds S] [--runs N] [--json]",
        "Decodes noisy data (Eb/N0 5 dB) in several runs, and reports medians of "
        "decoded\n"
        "bits a second: through the stream decoder, copies into and out of its slots\n"
        "included; from page-locked slot to slot; on a GPU also the kernels alone.",
        viterbi_option_descriptions(),
        {}
    };
    po::options_description own("Benchmark options");
    add_bench_options(own);
    line.options.add(own);
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    const auto settings = parse_bench_options(values);

    const auto options = parse_viterbi_options(values);
    const auto source = naming_options([&] { return record(options); });
    auto bench =
        naming_options([&] { return std::make_unique<host_to_host>(options, source); });
    const auto measured = measure_runs(*bench, settings);
    slot_rates slots;
    const bool has_slots = options.format != soft_format::float32; // converted to int8
    if (has_slots) {
        slots = measure_slots(options, source, settings);
    }

    const auto& decoder = bench->decoder();
    if (values.count("json")) {
        auto j = json::object({ { "command", line.name },
                                { "environment", environment() },
                                { "options", to_json(options) },
                                { "backend", decoder.active_backend() },
                                { "device", decoder.active_device() },
                                { "threads", options.threads },
                                { "decode_length", decoder.decode_length() },
                                { "overlap", decoder.overlap() },
                                { "batch", decoder.batch() } });
        auto all = json::array({ rates("stream", measured) });
        if (has_slots) {
            all.add(rates("host to host", slots.host_to_host));
        }
        j.add("rates", all);
        if (has_slots) {
            j.add("batch_bits", slots.bits);
            j.add("batch_latency_s", slots.latency);
        }
        if (slots.on_cuda) {
            j.add("device_ms", to_json(slots.times.front()));
            j.add("kernels_bits_per_s", slots.kernels());
            if (slots.times.size() > 1) {
                auto each = json::array();
                for (const auto& t : slots.times) {
                    each.add(to_json(t));
                }
                j.add("device_ms_of_each", each);
            }
        }
        write_json(j, "-");
        return 0;
    }
    std::cout << options.code.to_string() << ", " << to_string(options.ends) << ", "
              << to_string(options.format) << "; " << decoder.active_backend() << " ("
              << decoder.active_device() << "), D=" << decoder.decode_length()
              << ", L=" << decoder.overlap() << ", batch " << decoder.batch() << "\n"
              << std::fixed << std::setprecision(1) << "stream        "
              << median(measured) / 1e6 << " Mb/s decoded, median of " << settings.runs
              << " (" << *std::min_element(measured.begin(), measured.end()) / 1e6
              << " to " << *std::max_element(measured.begin(), measured.end()) / 1e6
              << ")\n";
    if (has_slots) {
        std::cout << "host to host  " << median(slots.host_to_host) / 1e6
                  << " Mb/s from slot to slot, a batch of " << slots.bits / 1e6
                  << " Mbit takes " << slots.latency * 1e6 << " us\n";
    }
    if (slots.on_cuda) {
        std::cout << "kernels       " << slots.kernels() / 1e6 << " Mb/s, "
                  << std::setprecision(3) << slots.times.front().kernels_ms()
                  << " ms a batch\n";
    }
    return 0;
}

} // namespace gr::gpufec
