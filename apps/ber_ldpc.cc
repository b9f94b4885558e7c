// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec ber ldpc: error rates over a simulated channel, beside those of sum-product. */

#include "command.h"
#include "lab/ldpc/simulation.h"
#include "ldpc_options.h"
#include "plot.h"
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace gr::gpufec {

namespace po = boost::program_options;

namespace {

// Half of a 95 % interval of a rate of independent events.
double confidence(std::uint64_t events, std::uint64_t trials)
{
    if (trials == 0) {
        return 0;
    }
    const double p = double(events) / trials;
    return 1.96 * std::sqrt(p * (1 - p) / trials);
}

json to_json(const ldpc::error_counts& c)
{
    return json::object(
        { { "frames", c.frames },
          { "frame_errors", c.frame_errors },
          { "fer", c.frame_error_rate() },
          { "fer_confidence", confidence(c.frame_errors, c.frames) },
          { "bits", c.bits },
          { "errors", c.errors },
          { "ber", c.bit_error_rate() },
          { "undetected", c.undetected },
          { "mean_iterations", c.frames ? double(c.iterations) / c.frames : 0. } });
}

// Eb/N0 to Es/N0 of QPSK.
double qpsk_db(const ldpc_code& code)
{
    return 10 * std::log10(2.0 * code.k() / code.n());
}

po::options_description ber_options()
{
    po::options_description own("Simulation options");
    // clang-format off
    own.add_options()
        ("range", po::value<std::string>()->default_value("1:0.1:1.3"),
         "Eb/N0 in dB: A:STEP:B, one value, or inf for no noise")
        ("es-n0", "the range is Es/N0 of QPSK instead")
        ("min-frame-errors", po::value<double>()->default_value(20),
         "a point ends with this many wrong frames; 0: with --max-frames only")
        ("max-frames", po::value<double>()->default_value(1e4, "1e4"),
         "or with this many frames")
        ("until-clean", "stop after the first point at which no frame is wrong")
        ("seed", po::value<std::uint64_t>()->default_value(1), "of data and noise")
        ("reference", "decode the same noise by sum-product in double too; slow")
        ("sim-threads", po::value<int>()->default_value(0),
         "make noise and run the reference; 0: as --threads")
        ("json", po::value<std::string>(), "write results to this file, - for stdout")
        ("plot", po::value<std::string>(), "draw the results to this PNG file");
    // clang-format on
    return own;
}

ldpc::simulation_options parse_simulation(const po::variables_map& values)
{
    ldpc::simulation_options options;
    options.decoder = parse_ldpc_options(values);
    options.seed = values["seed"].as<std::uint64_t>();
    options.min_frame_errors = count_of(values, "min-frame-errors");
    options.max_frames = count_of(values, "max-frames");
    options.reference = values.count("reference");
    const int threads = values["sim-threads"].as<int>();
    if (threads < 0 || threads > 1024) {
        throw usage_error("--sim-threads is " + std::to_string(threads) +
                          ": 0 to 1024 is allowed");
    }
    options.threads = threads ? threads : options.decoder.threads;
    return options;
}

void head(bool reference)
{
    std::cout << " Eb/N0  Es/N0     frames  wrong        FER   ±95 %        BER  "
                 "iterations";
    if (reference) {
        std::cout << "     SP FER     SP BER";
    }
    std::cout << "\n";
}

void row(double ebn0_db, double esn0_db, const ldpc::simulation_result& r, bool reference)
{
    const auto& d = r.decoded;
    const double half = confidence(d.frame_errors, d.frames);
    std::cout << std::fixed << std::setprecision(2) << std::setw(6) << ebn0_db
              << std::setw(7) << esn0_db << std::setw(11) << d.frames << std::setw(7)
              << d.frame_errors << std::scientific << std::setw(11)
              << d.frame_error_rate() << std::fixed << std::setprecision(1)
              << std::setw(6) << (d.frame_errors ? 100 * half / d.frame_error_rate() : 0)
              << " %" << std::scientific << std::setprecision(2) << std::setw(11)
              << d.bit_error_rate() << std::fixed << std::setw(12)
              << double(d.iterations) / std::max<std::uint64_t>(1, d.frames);
    if (reference) {
        std::cout << std::scientific << std::setw(11) << r.reference.frame_error_rate()
                  << std::setw(11) << r.reference.bit_error_rate();
    }
    std::cout << std::endl;
}

ldpc::simulation_result simulate_point(const ldpc::simulation_options& options)
{
    progress_line progress;
    return naming_options([&] {
        return simulate_ldpc(options, [&](const ldpc::simulation_result& r) {
            std::ostringstream text;
            text << options.ebn0_db << " dB: " << r.decoded.frames << " frames, "
                 << r.decoded.frame_errors << " wrong";
            progress.show(text.str());
        });
    });
}

} // namespace

int ber_ldpc(const arguments& args)
{
    command_line line{
        "gpufec ber ldpc",
        "[code options] --range A:STEP:B [options]",
        "Encodes random data, sends it as QPSK over an AWGN channel, decodes, and "
        "counts\n"
        "wrong bits and frames. Eb/N0 counts the code's information bits. The same seed\n"
        "gives the same figures on every backend and with any number of threads.",
        {},
        {}
    };
    line.options.add(ber_options()).add(ldpc_option_descriptions());
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    auto options = parse_simulation(values);
    const auto range = parse_range(text(values, "range"));
    const auto json_file = values.count("json") ? text(values, "json") : "";
    const bool quiet = json_file == "-";
    const double to_es = qpsk_db(options.decoder.codes[0]);
    auto points = json::array();
    json first = json::object();
    for (std::size_t i = 0; i < range.size(); ++i) {
        options.ebn0_db = values.count("es-n0") ? range[i] - to_es : range[i];
        const auto r = simulate_point(options);
        if (i == 0) {
            first = json::object({ { "backend", r.backend }, { "device", r.device } });
            if (!quiet) {
                std::cout << options.decoder.codes[0].name() << ", "
                          << to_string(options.decoder.schedule) << " "
                          << to_string(options.decoder.algorithm) << ", "
                          << to_string(options.decoder.precision) << "; " << r.backend
                          << " (" << r.device << ")\n";
                head(options.reference);
            }
        }
        if (!quiet) {
            row(options.ebn0_db, options.ebn0_db + to_es, r, options.reference);
        }
        auto point = to_json(r.decoded);
        point.add("ebn0_db", options.ebn0_db); // null without noise
        point.add("esn0_db", options.ebn0_db + to_es);
        if (options.reference) {
            point.add("sum_product", to_json(r.reference));
        }
        points.add(point);
        if (values.count("until-clean") && r.decoded.frame_errors == 0) {
            break;
        }
    }
    const auto report = json::object({ { "command", line.name },
                                       { "environment", environment() },
                                       { "options", to_json(options.decoder) },
                                       { "decoder", first },
                                       { "seed", options.seed },
                                       { "points", points } });
    if (!json_file.empty()) {
        write_json(report, json_file);
    }
    if (values.count("plot")) {
        plot(report, text(values, "plot"));
    }
    return 0;
}

} // namespace gr::gpufec
