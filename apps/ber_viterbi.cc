// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec ber viterbi: error rates over a simulated channel, beside theory and beside
 * full maximum likelihood. */

#include "command.h"
#include "lab/viterbi/distance_spectrum.h"
#include "lab/viterbi/simulation.h"
#include "plot.h"
#include "viterbi_options.h"
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>

namespace gr::gpufec {

using namespace viterbi;

namespace po = boost::program_options;

namespace {

json to_json(const error_counter& c)
{
    return json::object({ { "bits", c.bits() },
                          { "errors", c.errors() },
                          { "ber", c.rate() },
                          { "confidence", c.confidence() },
                          { "events", c.events() },
                          { "frames", c.frames() },
                          { "frame_errors", c.frame_errors() } });
}

json to_json(const position_test& t)
{
    auto events = json::array(), expected = json::array();
    for (std::size_t b = 0; b < t.events.size(); ++b) {
        events.add(t.events[b]);
        expected.add(t.expected[b]);
    }
    return json::object({ { "events", events },
                          { "expected", expected },
                          { "chi_square", t.chi_square },
                          { "degrees", t.degrees },
                          { "p_value", t.p_value } });
}

struct point {
    double ebn0_db;
    std::optional<double> theory;
    simulation_result result;
};

json to_json(const point& p, const simulation_options& options, bool positions)
{
    auto j = to_json(p.result.decoded);
    j.add("ebn0_db", p.ebn0_db); // null without noise
    j.add("theory", p.theory ? json(*p.theory) : json());
    auto tenths = json::array();
    for (const auto errors : p.result.errors_by_tenth) {
        tenths.add(errors);
    }
    j.add("errors_by_tenth", tenths);
    if (options.reference) {
        j.add("reference", to_json(p.result.reference));
        j.add("ratio", p.result.ratio);
        j.add("ratio_confidence", p.result.ratio_confidence);
    }
    if (positions) {
        const auto frame_bits = options.decoder.frame_bits;
        j.add("positions", to_json(test_positions(p.result.decoded, frame_bits)));
        if (options.reference) {
            j.add("reference_positions",
                  to_json(test_positions(p.result.reference, frame_bits)));
        }
    }
    return j;
}

class table
{
public:
    table(const simulation_options& options, bool positions)
        : d_options(options), d_positions(positions)
    {
    }

    void head() const
    {
        std::cout << " Eb/N0        BER   ±95 %     theory       bits   errors";
        if (d_options.decoder.frame_bits) {
            std::cout << "        FER";
        }
        if (d_options.reference) {
            std::cout << "     ML BER  BER/ML   ±95 %";
        }
        std::cout << "\n";
    }

    void row(const point& p) const
    {
        const auto& d = p.result.decoded;
        const double relative = d.errors() ? 100 * d.confidence() / d.rate() : 0;
        std::cout << std::fixed << std::setprecision(2) << std::setw(6) << p.ebn0_db
                  << std::scientific << std::setw(11) << d.rate() << std::fixed
                  << std::setprecision(1) << std::setw(6) << relative << " %"
                  << std::scientific << std::setprecision(2) << std::setw(11)
                  << p.theory.value_or(std::nan("")) << std::setw(11) << double(d.bits())
                  << std::setw(9) << d.errors();
        if (d_options.decoder.frame_bits) {
            std::cout << std::setw(11) << double(d.frame_errors()) / d.frames();
        }
        if (d_options.reference) {
            std::cout << std::setw(11) << p.result.reference.rate() << std::fixed
                      << std::setprecision(4) << std::setw(8) << p.result.ratio
                      << std::setw(8) << p.result.ratio_confidence;
        }
        std::cout << std::endl;
        if (d_positions) {
            const auto t = test_positions(d, d_options.decoder.frame_bits);
            std::cout << "        events by position in a parallel block:";
            for (const auto events : t.events) {
                std::cout << " " << events;
            }
            std::cout << "\n        chi-square " << std::fixed << std::setprecision(1)
                      << t.chi_square << " with " << t.degrees
                      << " degrees of freedom, p = " << std::setprecision(4) << t.p_value
                      << std::endl;
        }
    }

private:
    const simulation_options& d_options;
    bool d_positions;
};

std::optional<double> theory_at(const std::optional<distance_spectrum>& spectrum,
                                double ebn0_db)
{
    if (!spectrum) {
        return {};
    }
    return spectrum->bit_error_bound(ebn0_db);
}

std::optional<distance_spectrum> spectrum_of(const conv_code& code)
{
    try {
        return distance_spectrum(code);
    } catch (const std::invalid_argument&) {
        std::cerr << "gpufec: no theory beside: " << code.to_string()
                  << " is catastrophic\n";
        return {};
    }
}

po::options_description ber_options()
{
    po::options_description own("Simulation options");
    // clang-format off
    own.add_options()
        ("range", po::value<std::string>()->default_value("2:0.5:4"),
         "Eb/N0 in dB: A:STEP:B, one value, or inf for no noise")
        ("min-errors", po::value<double>()->default_value(100, "100"),
         "a point ends with this many wrong bits; 0: with --max-bits only")
        ("max-bits", po::value<double>()->default_value(1e8, "1e8"),
         "or with this many information bits")
        ("seed", po::value<std::uint64_t>()->default_value(1), "of data and noise")
        ("amplitude", po::value<double>()->default_value(32),
         "int8 steps of a noiseless value; 32 are 4.4 of packed4")
        ("reference", "decode the same noise by full maximum likelihood too")
        ("positions", "count error events by position in a parallel block")
        ("sim-threads", po::value<int>()->default_value(0),
         "make noise and decode the reference; 0: as --threads")
        ("json", po::value<std::string>(), "write results to this file, - for stdout")
        ("plot", po::value<std::string>(), "draw the results to this PNG file");
    // clang-format on
    return own;
}

simulation_options parse_simulation(const po::variables_map& values)
{
    simulation_options options{ parse_viterbi_options(values) };
    options.seed = values["seed"].as<std::uint64_t>();
    options.amplitude = values["amplitude"].as<double>();
    options.min_errors = count_of(values, "min-errors");
    options.max_bits = count_of(values, "max-bits");
    options.reference = values.count("reference");
    const int threads = values["sim-threads"].as<int>();
    if (threads < 0 || threads > 1024) {
        throw usage_error("--sim-threads is " + std::to_string(threads) +
                          ": 0 to 1024 is allowed");
    }
    options.threads = threads ? threads : options.decoder.threads;
    return options;
}

point simulate_point(simulation_options& options,
                     double ebn0_db,
                     const std::optional<distance_spectrum>& spectrum)
{
    progress_line progress;
    options.ebn0_db = ebn0_db;
    const auto result = naming_options([&] {
        return simulate(options, [&](const simulation_result& r) {
            std::ostringstream text;
            text << ebn0_db << " dB: " << double(r.decoded.bits()) << " bits, "
                 << r.decoded.errors() << " errors";
            progress.show(text.str());
        });
    });
    return { ebn0_db, theory_at(spectrum, ebn0_db), result };
}

} // namespace

int ber_viterbi(const arguments& args)
{
    command_line line{
        "gpufec ber viterbi",
        "[code options] --range A:STEP:B [options]",
        "Encodes random data, sends it as BPSK over an AWGN channel, decodes, and "
        "counts\n"
        "wrong bits and frames. Eb/N0 counts information bits: puncturing and the tails "
        "of\n"
        "frames are paid for. Theory is the union bound on maximum likelihood from the\n"
        "code's distance spectrum. The 95 % intervals take into account that a Viterbi\n"
        "decoder errs in bursts. The same seed gives the same figures on every backend "
        "and\n"
        "with any number of threads.",
        {},
        {}
    };
    line.options.add(ber_options()).add(viterbi_option_descriptions());
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    auto options = parse_simulation(values);
    const auto range = parse_range(values["range"].as<std::string>());
    const bool positions = values.count("positions");
    const auto json_file = values.count("json") ? values["json"].as<std::string>() : "";
    const bool quiet = json_file == "-";

    const auto spectrum = spectrum_of(options.decoder.code);
    const table text(options, positions);
    auto points = json::array();
    json first = json::object();
    for (std::size_t i = 0; i < range.size(); ++i) {
        const auto p = simulate_point(options, range[i], spectrum);
        if (i == 0) {
            first = json::object({ { "backend", p.result.backend },
                                   { "device", p.result.device },
                                   { "decode_length", p.result.decode_length },
                                   { "overlap", p.result.overlap } });
            if (!quiet) {
                std::cout << options.decoder.code.to_string() << ", "
                          << to_string(options.decoder.ends)
                          << ", D=" << p.result.decode_length
                          << ", L=" << p.result.overlap << "; " << p.result.backend
                          << " (" << p.result.device << ")\n";
                text.head();
            }
        }
        if (!quiet) {
            text.row(p);
        }
        points.add(to_json(p, options, positions));
    }

    const auto report = json::object({ { "command", line.name },
                                       { "environment", environment() },
                                       { "options", to_json(options.decoder) },
                                       { "decoder", first },
                                       { "seed", options.seed },
                                       { "amplitude", options.amplitude },
                                       { "points", points } });
    if (!json_file.empty()) {
        write_json(report, json_file);
    }
    if (values.count("plot")) {
        plot(report, values["plot"].as<std::string>());
    }
    return 0;
}

} // namespace gr::gpufec
