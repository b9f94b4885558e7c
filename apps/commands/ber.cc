// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec ber: error rates over a simulated channel. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>

#include <boost/format.hpp>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
scheduler  text  -  address of a scheduler of Dask, tcp://HOST:PORT: its workers simulate, with a seed's own figures, which do not depend on how many they are
seed    seed  1  of data and channel
json    file  -  write results to this file, - for standard output
resume  file  -  go on from this report of the same call: its complete points stay
plot    file  -  draw the results to this PNG file
)";

volatile std::sig_atomic_t caught = 0;

// Thrown out of a simulation.
struct interruption {
};

// While it lives, the first SIGINT or SIGTERM is noted; a second one ends the program.
class signal_watch
{
public:
    signal_watch()
    {
        struct sigaction action = {};
        action.sa_handler = [](int signal) { caught = signal; };
        action.sa_flags = SA_RESETHAND | SA_RESTART;
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
    }
    ~signal_watch()
    {
        std::signal(SIGINT, SIG_DFL);
        std::signal(SIGTERM, SIG_DFL);
    }
};

std::size_t width_of(const std::string& utf8)
{
    return std::count_if(
        utf8.begin(), utf8.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; });
}

std::string padded(const std::string& text, const column& c)
{
    const auto width = (boost::format(c.format) % 0.).str().size();
    return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

void print_head(const std::vector<column>& columns)
{
    for (const auto& c : columns) {
        std::cout << padded(c.title, c);
    }
    std::cout << "\n";
}

std::string row(const std::vector<column>& columns, const json& point)
{
    std::string text;
    for (const auto& c : columns) {
        const double value = point.at(c.member).number();
        text += (std::isnan(value) ? padded("-", c)
                                   : (boost::format(c.format) % value).str());
    }
    return text;
}

// The report of an earlier run, for --resume.
class earlier_report
{
public:
    earlier_report() = default;
    //! \throws usage_error if it is none of the same call
    earlier_report(const std::string& path, const json& header)
    {
        auto in = file::to_read(path);
        std::string text;
        std::vector<char> some(1u << 16);
        while (const auto n = in.read(some.data(), some.size())) {
            text.append(some.data(), n);
        }
        try {
            d_report = json::parse(text);
        } catch (const std::runtime_error& error) {
            refuse_option("resume",
                          path,
                          std::string("reports of gpufec ber, and ") + error.what());
        }
        for (const char* member : { "command", "options", "seed" }) {
            if (d_report.at(member).to_string() != header.at(member).to_string()) {
                refuse_option("resume",
                              path,
                              std::string("reports of the same call, and its \"") +
                                  member +
                                  "\" is another: give the options of then, or leave "
                                  "--resume away");
            }
        }
    }

    json decoder() const { return d_report.at("decoder"); }
    //! The complete point at \p value of \p member; null: there is none.
    json point(const std::string& member, double value) const
    {
        for (const auto& p : d_report.at("points").items()) {
            const double at = p.at(member).number();
            if (p.at("complete").null() &&
                std::abs(at - value) < 1e-9 * (1 + std::abs(value))) {
                return p;
            }
        }
        return {};
    }

private:
    json d_report = json::object();
};

// Simulates the points of the range, and writes each as it is done.
class sweep
{
public:
    sweep(simulation& s, bool quiet, const earlier_report& earlier)
        : d_simulation(s), d_quiet(quiet), d_earlier(earlier)
    {
    }

    //! \throws interruption
    void run()
    {
        for (const double at : d_simulation.range) {
            if (caught) {
                throw interruption();
            }
            // A range's member is the first column.
            const auto known = d_earlier.point(d_simulation.columns.front().member, at);
            if (!known.null()) {
                add(known, d_earlier.decoder());
                continue;
            }
            try {
                simulate(at);
            } catch (const interruption&) {
                if (d_simulation.any()) {
                    add(d_simulation.point().add("complete", false),
                        d_simulation.decoder());
                }
                throw;
            }
            add(d_simulation.point(), d_simulation.decoder());
            if (d_simulation.enough()) {
                return;
            }
        }
    }

    bool empty() const { return d_count == 0; }
    json report() const
    {
        auto j = json::object({ { "decoder", d_decoder } });
        return j.merge(d_simulation.facts).add("points", d_points);
    }

private:
    void simulate(double at)
    {
        progress_line progress;
        d_simulation.run(at, [&] {
            if (caught) {
                throw interruption();
            }
            if (progress.due()) {
                progress.show(row(d_simulation.columns, d_simulation.point()));
            }
        });
    }

    void add(const json& point, const json& decoder)
    {
        if (d_count++ == 0) {
            d_decoder = decoder;
        }
        d_points.add(point);
        if (d_quiet) {
            return;
        }
        if (d_count == 1) {
            std::cout << d_simulation.title << "; " << d_decoder.line() << "\n";
            print_head(d_simulation.columns);
        }
        std::cout << row(d_simulation.columns, point) << "\n"
                  << (d_simulation.any() ? d_simulation.remark() : "") << std::flush;
    }

    simulation& d_simulation;
    const bool d_quiet;
    const earlier_report& d_earlier;
    std::size_t d_count = 0; // of points
    json d_points = json::array();
    json d_decoder = json::object();
};

} // namespace

int ber(const decoder_trait& trait, const arguments& args)
{
    const command_line line{ "gpufec ber " + trait.name,
                             "[code options] --range RANGE [options]",
                             trait.ber.description +
                                 " The same seed gives the same figures on every backend "
                                 "and with any number of threads.",
                             { { "Simulation options", trait.ber.options + own_options },
                               { "Code options", trait.code_options } } };
    const auto cluster = [](const std::string& word) {
        return word.rfind("--scheduler", 0) == 0;
    };
    if (std::any_of(args.begin(), args.end(), cluster)) {
        return ber_on_cluster(trait, args);
    }
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    json_file file(values->text("json"));
    auto code = json::object();
    const auto subject =
        values->naming_options([&] { return trait.make_simulation(*values, code); });
    if (values->has("plot")) {
        check_plot(values->text("plot"));
    }
    const auto header =
        json::object({ { "command", line.name },
                       { "environment", environment() },
                       { "options", values->to_json({ "", trait.code_options }, code) },
                       { "seed", values->seed("seed") } });
    const auto earlier = values->has("resume")
                             ? earlier_report(values->text("resume"), header)
                             : earlier_report();
    const signal_watch watch;
    sweep points(*subject, file.standard_output(), earlier);
    bool complete = true;
    try {
        values->naming_options([&] { points.run(); });
    } catch (const interruption&) {
        complete = false;
        std::cerr << "gpufec: interrupted: what follows is not complete\n";
    }
    auto report = header;
    report.add("complete", complete);
    report.merge(points.report());
    file.write(report);
    if (values->has("plot") && !points.empty()) {
        plot(report, values->text("plot"));
    }
    return complete ? 0 : 128 + caught;
}

} // namespace gr::gpufec
