// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec ber sync: symbol error rates behind a channel that inserts, deletes and flips.
 */

#include "command.h"
#include "lab/sync_map/simulation.h"
#include "plot.h"
#include "sync_options.h"
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace gr::gpufec {

namespace po = boost::program_options;

namespace {

// Of --range: probabilities, or A:STEP:B, comma separated.
std::vector<double> parse_probabilities(const std::string& range)
{
    std::vector<double> points;
    std::istringstream list(range);
    for (std::string part; std::getline(list, part, ',');) {
        try {
            const auto more = parse_range(part);
            points.insert(points.end(), more.begin(), more.end());
        } catch (const usage_error&) {
            points.clear();
            break;
        }
    }
    bool good = !points.empty();
    for (const double p : points) {
        good = good && p >= 0 && p < 0.5;
    }
    if (!good) {
        throw usage_error("--range is \"" + range +
                          "\": values from 0 to below 0.5, or A:STEP:B with STEP above 0 "
                          "and A up to B, comma separated, are allowed");
    }
    return points;
}

json to_json(const sync_map::error_counts& c)
{
    return json::object({ { "frames", c.frames },
                          { "frame_errors", c.frame_errors },
                          { "fer", c.frame_error_rate() },
                          { "symbols", c.symbols },
                          { "errors", c.errors },
                          { "ser", c.symbol_error_rate() },
                          { "ser_deviation", c.deviation() },
                          { "invalid", c.invalid },
                          { "unlocked", c.unlocked } });
}

void row(double p, const sync_map::error_counts& c)
{
    std::cout << std::setw(10) << p << std::setw(9) << c.frames << std::setw(9)
              << c.errors << std::scientific << std::setprecision(3) << std::setw(12)
              << c.symbol_error_rate() << std::setw(11) << 1.96 * c.deviation()
              << std::setw(12) << c.frame_error_rate() << std::defaultfloat
              << std::setprecision(6) << std::setw(9) << c.invalid << std::setw(9)
              << c.unlocked << std::endl;
}

po::options_description ber_options()
{
    po::options_description own("Simulation options");
    // clang-format off
    own.add_options()
        ("range", po::value<std::string>(),
         "probability of an insertion, and of a deletion, in place of p-insert and "
         "p-delete: values or A:STEP:B, comma separated")
        ("min-errors", po::value<double>()->default_value(2000),
         "a point ends with this many wrong symbols; 0: with --max-frames only")
        ("max-frames", po::value<double>()->default_value(3000, "3000"),
         "or with this many frames")
        ("seed", po::value<std::uint64_t>()->default_value(1), "of symbols and channel")
        ("json", po::value<std::string>(), "write results to this file, - for stdout")
        ("plot", po::value<std::string>(), "draw the results to this PNG file");
    // clang-format on
    return own;
}

sync_map::simulation_result simulate_point(const sync_map::simulation_options& options)
{
    progress_line progress;
    return naming_options([&] {
        return simulate_sync(options, [&](const sync_map::error_counts& c) {
            std::ostringstream text;
            text << "p " << options.decoder.channel.p_insert() << ": " << c.frames
                 << " frames, " << c.errors << " wrong symbols";
            progress.show(text.str());
        });
    });
}

} // namespace

int ber_sync(const arguments& args)
{
    command_line line{
        "gpufec ber sync",
        "[code options] --range P,P... [options]",
        "Encodes random symbols, inserts, drops and flips what is sent, decodes, and "
        "counts\n"
        "wrong symbols and frames. The decoder knows the channel's probabilities. Errors "
        "come\n"
        "in bursts, so that intervals (95 %) are from frame to frame. The same seed "
        "gives\n"
        "the same figures with any batch and any number of threads.",
        {},
        {}
    };
    line.options.add(ber_options()).add(sync_option_descriptions());
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    sync_map::simulation_options options{ parse_sync_options(values) };
    options.seed = values["seed"].as<std::uint64_t>();
    options.min_errors = count_of(values, "min-errors");
    options.max_frames = count_of(values, "max-frames");
    const auto json_file = values.count("json") ? text(values, "json") : "";
    const bool quiet = json_file == "-";
    std::vector<bsid_model> channels = { options.decoder.channel };
    if (values.count("range")) {
        channels.clear();
        for (const double p : parse_probabilities(text(values, "range"))) {
            const auto& c = options.decoder.channel;
            channels.emplace_back(p, p, c.p_substitute(), c.alphabet());
        }
    }
    auto points = json::array();
    auto decoder = json::object();
    for (std::size_t i = 0; i < channels.size(); ++i) {
        options.decoder.channel = channels[i];
        const auto r = simulate_point(options);
        if (i == 0) {
            decoder.add("backend", r.backend).add("device", r.device);
        }
        if (i == 0 && !quiet) {
            std::cout << to_string(options.decoder) << "; " << r.backend << " ("
                      << r.device << ")\n"
                      << "  p insert   frames    wrong         SER      ±95 %         "
                         "FER  invalid     lost\n";
        }
        if (!quiet) {
            row(channels[i].p_insert(), r.decoded);
        }
        auto point = to_json(r.decoded);
        point.add("p_insert", channels[i].p_insert());
        point.add("p_delete", channels[i].p_delete());
        point.add("p_substitute", channels[i].p_substitute());
        points.add(point);
    }
    const auto report = json::object({ { "command", line.name },
                                       { "environment", environment() },
                                       { "options", to_json(values, options.decoder) },
                                       { "decoder", decoder },
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
