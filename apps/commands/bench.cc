// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec bench: measures the decoding rates of the stream decoder, of batches without the
 * copies into and out of the slots, and of a GPU's kernels alone. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <boost/algorithm/string.hpp>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
seconds  real  5  duration of all runs together, in seconds
runs     int   9  number of runs, 1 to 1000
json     file  -  write the results as JSON to this file, or to standard output if it is -
)";

struct settings {
    double duration; // seconds per run
    int runs;
};

settings parse_settings(const option_values& values)
{
    const int runs = values.integer("runs", 1, 1000);
    const double duration = values.real("seconds");
    if (!(duration > 0)) {
        refuse_option("seconds", std::to_string(duration), "above 0");
    }
    return { duration / runs, runs };
}

// A measurement in which a stream decoder decodes the same input repeatedly.
class stream_bench
{
public:
    stream_bench(byte_coder& decoder, const std::vector<std::byte>& items)
        : d_decoder(decoder), d_items(items), d_out(1u << 22)
    {
    }

    //! Returns the information bits per second over \p duration seconds. Without output
    //! in this time, the run continues until output arrives, for at most ten more
    //! seconds.
    double run(double duration)
    {
        const double begin = seconds();
        std::uint64_t bytes = 0;
        double now = begin;
        while (now < begin + duration || (bytes == 0 && now < begin + duration + 10)) {
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
        // At most 2^20 items are pushed per call, so that output is pulled in between.
        const auto n = std::min<std::size_t>(count - d_position, 1u << 20);
        const auto taken = d_decoder.push(&d_items[d_position * size], n);
        d_position = (d_position + taken) % count;
        return taken;
    }

    byte_coder& d_decoder;
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

// Results of the measurements, as JSON and as text.
class bench_report
{
public:
    explicit bench_report(const std::string& work) : d_work(work)
    {
        text << std::fixed << std::setprecision(3);
    }

    //! Adds the median, minimum and maximum of \p runs, in information bits per second.
    void add_rate(const std::string& what,
                  const std::vector<double>& runs,
                  double work_per_bit)
    {
        const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
        const std::vector<json> all(runs.begin(), runs.end());
        d_rates.push_back(json::object({ { "what", what },
                                         { "median_bits_per_s", median(runs) },
                                         { "least_bits_per_s", *least },
                                         { "most_bits_per_s", *most },
                                         { "runs", json::array(all) } }));
        text << std::left << std::setw(14) << what << median(runs) / 1e6
             << " Mb/s of information, median of " << runs.size() << " (" << *least / 1e6
             << " to " << *most / 1e6 << ")";
        add_work(d_rates.back(), "", median(runs) * work_per_bit);
    }

    void add_latency(double bits, double latency, double work_per_bit)
    {
        facts.add("batch_bits", bits).add("batch_latency_s", latency);
        if (!d_work.empty()) {
            facts.add("latency_ns_per_" + d_work, latency * 1e9 / (bits * work_per_bit));
        }
        text << "from slot to slot, a batch of " << bits / 1e6 << " Mbit takes "
             << latency * 1e3 << " ms\n";
    }

    void add_devices(const std::vector<std::vector<timed_step>>& devices,
                     double bits,
                     double work_per_bit)
    {
        double rate = 0; // bits per second of the kernels, summed over all devices
        std::vector<json> each;
        for (const auto& steps : devices) {
            rate += bits / (step_ms(steps, "kernels") * 1e-3);
            each.push_back(json::object());
            for (const auto& s : steps) {
                each.back().add(s.name, s.ms);
            }
        }
        facts.add("device_ms", each.front());
        facts.add("device_ms_of_each", json::array(each)).add("kernels_bits_per_s", rate);
        text << "kernels       " << rate / 1e6 << " Mb/s, "
             << step_ms(devices.front(), "kernels") << " ms per batch";
        add_work(facts, "kernels_", rate * work_per_bit);
    }

    json to_json() const { return json(facts).add("rates", json::array(d_rates)); }

    json facts = json::object();
    std::ostringstream text;

private:
    // Adds \p rate, the work per second, if the decoder counts work (d_work, such as edge
    // iterations). Ends the line of text.
    void add_work(json& j, const std::string& prefix, double rate)
    {
        if (!d_work.empty()) {
            j.add(prefix + "G_" + d_work + "s_per_s", rate / 1e9);
            text << ", " << rate / 1e9 << " G "
                 << boost::replace_all_copy(d_work, "_", "-") << "s/s";
        }
        text << "\n";
    }

    const std::string d_work;
    std::vector<json> d_rates;
};

void measure_stream(const bench_subject& subject, const settings& s, bench_report& to)
{
    const auto decoder = subject.stream();
    stream_bench bench(*decoder, subject.items);
    progress_line progress;
    std::vector<double> rates;
    bench.run(std::min(0.2, s.duration)); // warms up caches, clocks and the pipeline
    for (int i = 1; i <= s.runs; ++i) {
        progress.show("run " + std::to_string(i) + " of " + std::to_string(s.runs));
        rates.push_back(bench.run(s.duration));
    }
    to.text << subject.title << "; " << decoder->state().line() << "\n";
    to.facts.merge(decoder->state());
    to.add_rate("stream", rates, decoder->work_per_bit());
}

void measure_slots(const bench_subject& subject, const settings& s, bench_report& to)
{
    const auto slots = subject.slots();
    if (!slots) {
        return;
    }
    std::vector<double> rates, latencies;
    slots->host_to_host(std::min(0.2, s.duration));
    for (int i = 0; i < s.runs; ++i) {
        rates.push_back(slots->host_to_host(s.duration));
        latencies.push_back(slots->latency());
    }
    to.add_rate("host to host", rates, slots->work_per_bit);
    to.add_latency(slots->bits, median(latencies), slots->work_per_bit);
    if (slots->measure_devices) {
        to.add_devices(slots->measure_devices(), slots->bits, slots->work_per_bit);
    }
    to.facts.merge(slots->facts);
}

} // namespace

int bench(const decoder_trait& trait, const arguments& args)
{
    const command_line line{
        "gpufec bench " + trait.name,
        "[code options] [--seconds S] [--runs N] [--json FILE]",
        trait.bench.description +
            " Reports the median rate of several runs in information bits per second, "
            "for the stream decoder with the copies into and out of its slots, for "
            "batches between pinned slots without these copies and, on a GPU, for the "
            "kernels alone.",
        { { "Benchmark options", trait.bench.options + own_options },
          { "Code options", trait.all_options() } },
        {},
        trait.bench.examples
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    const auto s = parse_settings(*values);
    json_file report(*values);
    auto code = json::object();
    const auto subject =
        values->naming_options([&] { return trait.make_bench(*values, code); });
    bench_report measured(trait.work);
    values->naming_options([&] {
        measure_stream(*subject, s, measured);
        measure_slots(*subject, s, measured);
    });
    auto j = json::object(
        { { "command", line.name },
          { "environment", environment() },
          { "options", values->to_json({ "", trait.all_options() }, code) } });
    j.merge(values->to_json({ "", trait.bench.options }, json::object()));
    report.write(j.merge(measured.to_json()));
    if (!report.standard_output()) {
        std::cout << measured.text.str();
    }
    return 0;
}

} // namespace gr::gpufec
