// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec bench sync: how fast received items in host memory become symbols in host
 * memory, through the stream decoder, from slot to slot, and on the device alone. */

#include "bench.h"
#include "lab/sync_map/slot_benchmark.h"
#include "sync_options.h"
#include <algorithm>
#include <iomanip>
#include <iostream>

namespace gr::gpufec {

namespace po = boost::program_options;

namespace {

using frames = std::vector<sync_map::frame_source::frame>;

// All take the same time, so a few will do.
frames record(const sync_options& options)
{
    const sync_map::frame_source source(options, 1);
    frames made;
    for (unsigned f = 0; f < 64; ++f) {
        made.push_back(source.make(f));
    }
    return made;
}

// Pushes the frames again and again, and counts what comes back.
class stream_benchmark
{
public:
    stream_benchmark(const sync_options& options, const frames& given)
        : d_decoder(options), d_given(given), d_item_size(options.soft_input ? 4 : 1)
    {
    }

    const sync_decoder& decoder() const { return d_decoder; }

    //! Frames a second over \p duration seconds.
    double run(double duration)
    {
        const double begin = seconds();
        std::uint64_t pulled = 0;
        double now = begin;
        while (now < begin + duration) {
            const bool pushed = push();
            const auto before = pulled;
            for (sync_decoder::frame f; d_decoder.pull(f);) {
                ++pulled;
            }
            if (!pushed && pulled == before) {
                d_decoder.wait(std::chrono::milliseconds(100));
            }
            now = seconds();
        }
        return pulled / (now - begin);
    }

private:
    bool push()
    {
        const auto& frame = d_given[d_next];
        const auto* const items = frame.items.data() + d_taken * d_item_size;
        if (d_decoder.options().mode == sync_mode::framed) {
            const bool taken = d_decoder.push_frame(items, frame.count);
            d_next = (d_next + taken) % d_given.size();
            return taken;
        }
        const auto taken = d_decoder.push(items, frame.count - d_taken);
        d_taken += taken;
        if (d_taken == frame.count) {
            d_taken = 0;
            d_next = (d_next + 1) % d_given.size();
        }
        return taken > 0;
    }

    sync_decoder d_decoder;
    const frames& d_given;
    const std::size_t d_item_size;
    std::size_t d_next = 0, d_taken = 0;
};

struct measurement {
    std::vector<double> stream, slots; // frames a second
    double batch = 0, latency = 0;
    unsigned window = 0;
    bool on_cuda = false;
    sync_map::cuda_times times{};
    std::string backend, device;

    double kernels() const { return batch / (times.kernels_ms * 1e-3); }
};

measurement measure(const sync_options& options, const bench_settings& settings)
{
    const auto given = record(options);
    measurement m;
    {
        stream_benchmark bench(options, given);
        m.stream = measure_runs(bench, settings);
        m.backend = bench.decoder().active_backend();
        m.device = bench.decoder().active_device();
    }
    sync_map::slot_benchmark bench(options, given);
    const auto slots = measure_slots(bench, settings);
    m.slots = slots.rates;
    m.latency = slots.latency;
    m.batch = bench.frames();
    m.window = bench.window();
    m.on_cuda = bench.on_cuda();
    if (m.on_cuda) {
        m.times = bench.device_times(21);
    }
    return m;
}

void add(json& j, const measurement& m, const sync_options& options)
{
    const double bits = information_bits(options.code);
    j.add("backend", m.backend);
    j.add("device", m.device);
    j.add("threads", options.threads);
    j.add("batch", m.batch);
    j.add("drifts", m.window);
    j.add("rates",
          json::array(
              { rates("stream", m.stream, bits), rates("host to host", m.slots, bits) }));
    j.add("batch_latency_s", m.latency);
    if (m.on_cuda) {
        j.add("device_ms",
              json::object({ { "copy_in", m.times.copy_in_ms },
                             { "kernels", m.times.kernels_ms },
                             { "copy_out", m.times.copy_out_ms } }));
        j.add("device_bytes_per_slot", m.times.device_bytes);
        j.add("kernels_bits_per_s", m.kernels() * bits);
    }
}

void print(const measurement& m, const sync_options& options, int runs)
{
    const double bits = information_bits(options.code) / 1e6;
    std::cout << to_string(options) << ", " << m.window << " drifts; " << m.backend
              << " (" << m.device << "), batch " << std::size_t(m.batch) << "\n"
              << std::fixed << std::setprecision(3) << "stream        "
              << median(m.stream) * bits << " Mb/s of information, median of " << runs
              << " (" << *std::min_element(m.stream.begin(), m.stream.end()) * bits
              << " to " << *std::max_element(m.stream.begin(), m.stream.end()) * bits
              << ")\nhost to host  " << median(m.slots) * bits
              << " Mb/s from slot to slot; a batch takes " << m.latency * 1e3 << " ms\n";
    if (m.on_cuda) {
        std::cout << "kernels       " << m.kernels() * bits << " Mb/s, "
                  << m.times.kernels_ms << " ms a batch\n";
    }
}

} // namespace

int bench_sync(const arguments& args)
{
    command_line line{
        "gpufec bench sync",
        "[code options] [--seconds S] [--runs N] [--json]",
        "Decodes frames of random symbols behind the channel of the options in several\n"
        "runs, and reports medians of information bits a second: through the decoder "
        "that\n"
        "the block uses, copies into and out of its slots included; from page-locked "
        "slot\n"
        "to slot, in frames; on a GPU also the kernels alone.",
        sync_option_descriptions(),
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
    const auto options = parse_sync_options(values);
    const auto m = naming_options([&] { return measure(options, settings); });
    if (values.count("json")) {
        auto j = json::object({ { "command", line.name },
                                { "environment", environment() },
                                { "options", to_json(values, options) } });
        add(j, m, options);
        write_json(j, "-");
    } else {
        print(m, options, settings.runs);
    }
    return 0;
}

} // namespace gr::gpufec
