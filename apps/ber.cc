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
seed  seed  1  of data and channel
json  file  -  write results to this file, - for standard output
plot  file  -  draw the results to this PNG file
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

// Simulates the points of the range, and writes each as it is done.
class sweep
{
public:
    sweep(simulation& s, bool quiet) : d_simulation(s), d_quiet(quiet) {}

    //! \throws interruption
    void run()
    {
        for (const double at : d_simulation.range) {
            if (caught) {
                throw interruption();
            }
            try {
                simulate(at);
            } catch (const interruption&) {
                if (d_simulation.any()) {
                    add(d_simulation.point().add("complete", false));
                }
                throw;
            }
            add(d_simulation.point());
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

    void add(const json& point)
    {
        if (d_count++ == 0) {
            d_decoder = d_simulation.decoder();
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
                  << d_simulation.remark() << std::flush;
    }

    simulation& d_simulation;
    const bool d_quiet;
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
    const signal_watch watch;
    sweep points(*subject, file.standard_output());
    bool complete = true;
    try {
        values->naming_options([&] { points.run(); });
    } catch (const interruption&) {
        complete = false;
        std::cerr << "gpufec: interrupted: what follows is not complete\n";
    }
    auto report =
        json::object({ { "command", line.name },
                       { "environment", environment() },
                       { "options", values->to_json({ "", trait.code_options }, code) },
                       { "seed", values->seed("seed") },
                       { "complete", complete } });
    report.merge(points.report());
    file.write(report);
    if (values->has("plot") && !points.empty()) {
        plot(report, values->text("plot"));
    }
    return complete ? 0 : 128 + caught;
}

} // namespace gr::gpufec
