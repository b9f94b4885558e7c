// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec bench: how fast soft values in host memory become bits in host memory, through
 * the stream decoder, from slot to slot, and on the device alone. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <iomanip>
#include <iostream>

#include <boost/algorithm/string.hpp>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
seconds  real  5  for all runs together
runs     int   9  1 to 1000
json     file  -  write results to this file, - for standard output
)";

struct settings {
    double duration; // of a run
    int runs;
};

settings parse_settings(const option_values& values)
{
    const int runs = values.integer("runs", 1, 1000);
    const double duration = values.real("seconds");
    if (!(duration > 0)) {
        refuse_option("seconds", std::to_string(duration), "values above 0");
    }
    return { duration / runs, runs };
}

// Pushes a recording again and again, and counts what comes back.
class stream_bench
{
public:
    stream_bench(byte_decoder& decoder, const std::vector<std::byte>& items)
        : d_decoder(decoder), d_items(items), d_out(1u << 22)
    {
    }

    //! Information bits per second over \p duration seconds.
    double run(double duration)
    {
        const double begin = seconds();
        std::uint64_t bytes = 0;
        double now = begin;
        while (now < begin + duration) {
            const auto taken = push();
            const auto before = bytes;
            while (const auto n = d_decoder.pull(d_out.data(), d_out.size())) {
                bytes += n;
            }
            if (taken == 0 && bytes == before) {
                d_decoder.wait();
            }
            now = seconds();
        }
        return bytes * d_decoder.rates.bits_per_byte / (now - begin);
    }

private:
    std::size_t push()
    {
        const auto size = d_decoder.rates.item_bytes;
        const auto count = d_items.size() / size;
        // Small enough that pulls come in between.
        const auto n = std::min<std::size_t>(count - d_position, 1u << 20);
        const auto taken = d_decoder.push(&d_items[d_position * size], n);
        d_position = (d_position + taken) % count;
        return taken;
    }

    byte_decoder& d_decoder;
    const std::vector<std::byte>& d_items;
    std::vector<std::uint8_t> d_out;
    std::size_t d_position = 0;
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

struct measurement {
    json state = json::object();
    std::vector<double> stream, host_to_host; // information bits per second
    double stream_work = 0;                   // per bit
    std::unique_ptr<slot_bench> slots;
    double latency = 0;
    std::vector<device_times> devices;

    // Information bits per second of the kernels of all devices.
    double kernels() const
    {
        double rate = 0;
        for (const auto& d : devices) {
            rate += slots->bits / (d.kernels_ms * 1e-3);
        }
        return rate;
    }
};

void measure_stream(const bench_subject& subject, const settings& s, measurement& m)
{
    const auto decoder = subject.stream();
    stream_bench bench(*decoder, subject.items);
    progress_line progress;
    bench.run(std::min(0.2, s.duration)); // caches, clocks, a full pipeline
    for (int i = 1; i <= s.runs; ++i) {
        progress.show("run " + std::to_string(i) + " of " + std::to_string(s.runs));
        m.stream.push_back(bench.run(s.duration));
    }
    m.state = decoder->state();
    m.stream_work = decoder->work_per_bit();
}

void measure_slots(const bench_subject& subject, const settings& s, measurement& m)
{
    m.slots = subject.slots();
    if (!m.slots) {
        return;
    }
    std::vector<double> latencies;
    m.slots->host_to_host(std::min(0.2, s.duration));
    for (int i = 0; i < s.runs; ++i) {
        m.host_to_host.push_back(m.slots->host_to_host(s.duration));
        latencies.push_back(m.slots->latency());
    }
    m.latency = median(latencies);
    if (m.slots->measure_devices) {
        m.devices = m.slots->measure_devices();
    }
}

measurement measure(const bench_subject& subject, const settings& s)
{
    measurement m;
    measure_stream(subject, s, m);
    measure_slots(subject, s, m);
    return m;
}

// A trait's own unit of work beside bits, "" for none.
void add_work(json& j, const std::string& prefix, const std::string& unit, double rate)
{
    if (!unit.empty()) {
        j.add(prefix + "G_" + unit + "s_per_s", rate / 1e9);
    }
}

void print_work(const std::string& unit, double rate)
{
    if (!unit.empty()) {
        std::cout << ", " << rate / 1e9 << " G "
                  << boost::replace_all_copy(unit, "_", "-") << "s/s";
    }
    std::cout << "\n";
}

json rates(const std::string& what,
           const std::vector<double>& runs,
           const std::string& unit,
           double work_per_bit)
{
    const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
    auto j = json::object(
        { { "what", what },
          { "median_bits_per_s", median(runs) },
          { "least_bits_per_s", *least },
          { "most_bits_per_s", *most },
          { "runs", json::array(std::vector<json>(runs.begin(), runs.end())) } });
    add_work(j, "", unit, median(runs) * work_per_bit);
    return j;
}

void add(json& j, const measurement& m, const std::string& unit)
{
    j.merge(m.state);
    auto all = json::array({ rates("stream", m.stream, unit, m.stream_work) });
    if (m.slots) {
        const double work = m.slots->work_per_bit;
        all.add(rates("host to host", m.host_to_host, unit, work));
        j.add("batch_bits", m.slots->bits).add("batch_latency_s", m.latency);
        if (!unit.empty()) {
            j.add("latency_ns_per_" + unit, m.latency * 1e9 / (m.slots->bits * work));
        }
        j.merge(m.slots->facts);
    }
    j.add("rates", all);
    if (m.devices.empty()) {
        return;
    }
    j.add("device_ms", m.devices.front().steps_ms);
    j.add("kernels_bits_per_s", m.kernels());
    add_work(j, "kernels_", unit, m.kernels() * m.slots->work_per_bit);
    if (m.devices.size() > 1) {
        auto each = json::array();
        for (const auto& d : m.devices) {
            each.add(d.steps_ms);
        }
        j.add("device_ms_of_each", each);
    }
}

void print(const measurement& m, const std::string& title, const std::string& unit)
{
    const auto [least, most] = std::minmax_element(m.stream.begin(), m.stream.end());
    std::cout << title << "; " << m.state.line() << "\n"
              << std::fixed << std::setprecision(3) << "stream        "
              << median(m.stream) / 1e6 << " Mb/s of information, median of "
              << m.stream.size() << " (" << *least / 1e6 << " to " << *most / 1e6 << ")";
    print_work(unit, median(m.stream) * m.stream_work);
    if (m.slots) {
        const double rate = median(m.host_to_host);
        std::cout << "host to host  " << rate / 1e6
                  << " Mb/s from slot to slot; a batch of " << m.slots->bits / 1e6
                  << " Mbit takes " << m.latency * 1e3 << " ms";
        print_work(unit, rate * m.slots->work_per_bit);
    }
    if (!m.devices.empty()) {
        std::cout << "kernels       " << m.kernels() / 1e6 << " Mb/s, "
                  << m.devices.front().kernels_ms << " ms per batch";
        print_work(unit, m.kernels() * m.slots->work_per_bit);
    }
}

} // namespace

int bench(const decoder_trait& trait, const arguments& args)
{
    const command_line line{
        "gpufec bench " + trait.name,
        "[code options] [--seconds S] [--runs N] [--json FILE]",
        trait.bench.description +
            " Reports medians of several runs, in information bits per second: through "
            "the stream decoder, copies into and out of its slots included; from "
            "page-locked slot to slot; on a GPU also the kernels alone.",
        { { "Benchmark options", trait.bench.options + own_options },
          { "Code options", trait.code_options } }
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    const auto s = parse_settings(*values);
    json_file report(values->text("json"));
    auto code = json::object();
    const auto subject =
        values->naming_options([&] { return trait.make_bench(*values, code); });
    const auto m = values->naming_options([&] { return measure(*subject, s); });
    auto j = json::object(
        { { "command", line.name },
          { "environment", environment() },
          { "options", values->to_json({ "", trait.code_options }, code) } });
    add(j.merge(values->to_json({ "", trait.bench.options }, json::object())),
        m,
        trait.work);
    report.write(j);
    if (!report.standard_output()) {
        print(m, subject->title, trait.work);
    }
    return 0;
}

} // namespace gr::gpufec
