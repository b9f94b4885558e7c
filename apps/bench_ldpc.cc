// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec bench ldpc: how fast soft values in host memory become bits in host memory,
 * through the stream decoder, from slot to slot, and on the device alone. */

#include "bench.h"
#include "lab/ldpc/simulation.h"
#include "lab/ldpc/slot_benchmark.h"
#include "ldpc_options.h"
#include <algorithm>
#include <iomanip>
#include <iostream>

namespace gr::gpufec {

namespace po = boost::program_options;

namespace {

// Frames enough that caches do not hold them all; at least one of each codeword.
std::vector<std::byte> record(const ldpc_options& options, double ebn0_db)
{
    const ldpc::frame_source source(options, ebn0_db, 1);
    const auto bytes = source.frame_bytes();
    const std::size_t frames =
        std::max<std::size_t>(ldpc::frame_source::words, (1u << 22) / bytes);
    std::vector<std::byte> items(frames * bytes);
    for (std::size_t f = 0; f < frames; ++f) {
        source.channel_values(f, &items[f * bytes]);
    }
    return items;
}

// Pushes the recording again and again, and counts what comes back.
class stream_benchmark
{
public:
    stream_benchmark(const ldpc_options& options, const std::vector<std::byte>& items)
        : d_decoder(options),
          d_items(items),
          d_item_bytes(bytes_of(options.format)),
          d_out(1u << 20)
    {
    }

    const ldpc_decoder& decoder() const { return d_decoder; }

    //! Mean iterations of all frames so far.
    double iterations() const { return double(d_iterations) / d_frames; }

    //! Frames a second over \p duration seconds.
    double run(double duration)
    {
        const double begin = seconds();
        std::uint64_t frames = 0;
        double now = begin;
        while (now < begin + duration) {
            const auto count = d_items.size() / d_item_bytes;
            // Small enough that pulls come in between.
            const auto n = std::min<std::size_t>(count - d_position, 1u << 20);
            const auto taken = d_decoder.push(&d_items[d_position * d_item_bytes], n);
            d_position = (d_position + taken) % count;
            const auto pulled = pull(frames);
            if (taken == 0 && !pulled) {
                d_decoder.wait(std::chrono::milliseconds(100));
            }
            now = seconds();
        }
        return frames / (now - begin);
    }

private:
    bool pull(std::uint64_t& frames)
    {
        bool any = false;
        ldpc_decoder::report report;
        while (d_decoder.pull_packed(d_out.data(), d_out.size()) > 0) {
            if (d_decoder.take_report(report)) {
                ++frames;
                ++d_frames;
                d_iterations += report.iterations;
            }
            any = true;
        }
        return any;
    }

    ldpc_decoder d_decoder;
    const std::vector<std::byte>& d_items;
    std::size_t d_item_bytes;
    std::vector<std::uint8_t> d_out;
    std::size_t d_position = 0;
    std::uint64_t d_frames = 0, d_iterations = 0;
};

struct measurement {
    std::vector<double> stream, slots; // frames a second
    double stream_iterations = 0;      // a frame
    double batch = 0, latency = 0, iterations = 0;
    bool on_cuda = false;
    ldpc::cuda_times times{};
    std::string backend, device;

    double kernels() const { return batch / (times.kernels_ms * 1e-3); }
};

measurement measure(const ldpc_options& options,
                    const std::vector<std::byte>& items,
                    const bench_settings& settings)
{
    measurement m;
    {
        stream_benchmark bench(options, items);
        m.stream = measure_runs(bench, settings);
        m.stream_iterations = bench.iterations();
        m.backend = bench.decoder().active_backend();
        m.device = bench.decoder().active_device();
    }
    ldpc::slot_benchmark bench(options, items);
    const auto slots = measure_slots(bench, settings);
    m.slots = slots.rates;
    m.latency = slots.latency;
    m.batch = bench.frames();
    m.iterations = bench.iterations();
    m.on_cuda = bench.on_cuda();
    if (m.on_cuda) {
        m.times = bench.device_times(21);
    }
    return m;
}

json rates(const std::string& what,
           const std::vector<double>& frames,
           unsigned bits,
           double edge_iterations)
{
    auto j = gpufec::rates(what, frames, bits);
    j.add("G_edge_iterations_per_s", median(frames) * edge_iterations / 1e9);
    return j;
}

void add(json& j, const measurement& m, const ldpc_options& options)
{
    const auto bits = options.codes[0].k();
    const double edges = options.codes[0].edges();
    const double edge_iterations = m.iterations * edges;
    j.add("backend", m.backend);
    j.add("device", m.device);
    j.add("threads", options.threads);
    j.add("batch", m.batch);
    j.add("mean_iterations", m.iterations);
    j.add("rates",
          json::array({ rates("stream", m.stream, bits, m.stream_iterations * edges),
                        rates("host to host", m.slots, bits, edge_iterations) }));
    j.add("batch_latency_s", m.latency);
    j.add("latency_ns_per_edge_iteration", m.latency * 1e9 / (m.batch * edge_iterations));
    if (m.on_cuda) {
        j.add("device_ms",
              json::object({ { "copy_in", m.times.copy_in_ms },
                             { "kernels", m.times.kernels_ms },
                             { "copy_out", m.times.copy_out_ms } }));
        j.add("kernels_bits_per_s", m.kernels() * bits);
        j.add("kernels_G_edge_iterations_per_s", m.kernels() * edge_iterations / 1e9);
    }
}

void print(const measurement& m, const ldpc_options& options, int runs)
{
    const auto& code = options.codes[0];
    const double bits = code.k() / 1e6, edges = m.iterations * code.edges() / 1e9;
    std::cout << code.name() << ", " << to_string(options.schedule) << " "
              << to_string(options.algorithm) << ", " << to_string(options.precision)
              << "; " << m.backend << " (" << m.device << "), batch "
              << std::size_t(m.batch) << std::fixed << std::setprecision(1) << ", "
              << m.iterations << " iterations a frame\n"
              << "stream        " << median(m.stream) * bits
              << " Mb/s of information, median of " << runs << " ("
              << *std::min_element(m.stream.begin(), m.stream.end()) * bits << " to "
              << *std::max_element(m.stream.begin(), m.stream.end()) * bits << "), "
              << median(m.stream) * m.stream_iterations * code.edges() / 1e9
              << " G edge-iterations/s\n"
              << "host to host  " << median(m.slots) * bits << " Mb/s from slot to slot, "
              << median(m.slots) * edges << " G edge-iterations/s; a batch takes "
              << m.latency * 1e6 << " us\n";
    if (m.on_cuda) {
        std::cout << "kernels       " << m.kernels() * bits << " Mb/s, "
                  << m.kernels() * edges << " G edge-iterations/s, "
                  << std::setprecision(3) << m.times.kernels_ms << " ms a batch\n";
    }
}

} // namespace

int bench_ldpc(const arguments& args)
{
    command_line line{
        "gpufec bench ldpc",
        "[code options] [--eb-n0 DB] [--seconds S] [--runs N] [--json]",
        "Decodes noisy frames in several runs, and reports medians of information bits "
        "and\n"
        "of edge-iterations (edges of the code times iterations made) a second: through "
        "the\n"
        "stream decoder, copies into and out of its slots included; from page-locked "
        "slot\n"
        "to slot; on a GPU also the kernels alone. With --early-stop false every frame\n"
        "takes all iterations, and the noise does not matter.",
        ldpc_option_descriptions(),
        {}
    };
    po::options_description own("Benchmark options");
    own.add_options()(
        "eb-n0", po::value<double>()->default_value(3), "of the frames, dB");
    add_bench_options(own);
    line.options.add(own);
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    const auto settings = parse_bench_options(values);
    const double ebn0_db = values["eb-n0"].as<double>();
    const auto options = parse_ldpc_options(values);
    const auto m = naming_options([&] {
        const auto items = record(options, ebn0_db);
        return measure(options, items, settings);
    });
    if (values.count("json")) {
        auto j = json::object({ { "command", line.name },
                                { "environment", environment() },
                                { "options", to_json(options) },
                                { "ebn0_db", ebn0_db } });
        add(j, m, options);
        write_json(j, "-");
    } else {
        print(m, options, settings.runs);
    }
    return 0;
}

} // namespace gr::gpufec
