// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec ber: simulates error rates, prints and reports them, and resumes an earlier
 * simulation. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <utility>

#include <unistd.h>

#include <boost/format.hpp>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
scheduler  text  -  address of a Dask scheduler, tcp://HOST:PORT, whose workers run the simulation; for the same seed, the counts differ from those without this option, but they do not depend on the number of workers
seed    seed  1  seed of the data and the channel
json    file  -  write the results as JSON to this file, or to standard output if it is -
resume  file  -  continue from this earlier report, whose options, seed and version must be the same, and keep its complete points
plot    file  -  draw the results to this PNG file
)";

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

std::string head(const std::vector<column>& columns)
{
    std::string text;
    for (const auto& c : columns) {
        text += padded(c.title, c);
    }
    return text;
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
    //! Reads a report.
    //! \throws std::runtime_error if the file cannot be read
    //! \throws usage_error unless the file is a report of at most 16 MiB that has the
    //!         command, version, options and seed of \p header, and numbers or null in
    //!         \p columns
    earlier_report(const std::string& path,
                   const json& header,
                   const std::vector<column>& columns)
    {
        const auto refuse = [&](const std::string& reason) {
            refuse_option("resume", path, "reports of gpufec ber, but " + reason);
        };
        auto in = file::to_read(path);
        std::string text;
        std::vector<char> some(1u << 16);
        while (const auto n = in.read(some.data(), some.size())) {
            text.append(some.data(), n);
            if (text.size() > max_bytes) {
                refuse("this file is longer than 16 MiB");
            }
        }
        try {
            d_report = json::parse(text);
        } catch (const std::runtime_error& error) {
            refuse(error.what());
        }
        for (const char* member :
             { "command", "environment.version", "options", "seed" }) {
            const auto is = d_report.at(member);
            const auto wanted = header.at(member);
            if (is.to_string() != wanted.to_string()) {
                const auto values =
                    is.scalar() ? ": " + is.to_string() + ", not " + wanted.to_string()
                                : std::string();
                refuse_option("resume",
                              path,
                              std::string("reports of the same call and version, but its "
                                          "\"") +
                                  member + "\" is different" + values +
                                  ". Repeat the earlier call, or omit --resume");
            }
        }
        for (const auto& p : d_report.at("points").items()) {
            for (const auto& c : columns) {
                const auto value = p.at(c.member);
                if (!value.null() && std::isnan(value.number())) {
                    refuse("its \"" + c.member + "\" is " + value.to_string() +
                           ", not a number");
                }
            }
            if (p.at("complete").null()) {
                d_points.push_back(p);
            }
        }
    }

    json decoder() const { return d_report.at("decoder"); }
    //! Returns the complete points that take() has not returned.
    const std::vector<json>& points() const { return d_points; }
    //! Removes and returns the complete point whose \p member is \p value; null if there
    //! is none.
    json take(const std::string& member, double value)
    {
        const auto there =
            std::find_if(d_points.begin(), d_points.end(), [&](const json& p) {
                return std::abs(p.at(member).number() - value) <
                       1e-9 * (1 + std::abs(value));
            });
        if (there == d_points.end()) {
            return {};
        }
        const auto found = *there;
        d_points.erase(there);
        return found;
    }

private:
    static constexpr std::size_t max_bytes = 1u << 24;

    json d_report = json::object();
    std::vector<json> d_points;
};

// A run over the points of --range. Copies points from the earlier report if it has them,
// simulates the other points, and prints each point when it ends.
class sweep
{
public:
    //! The sweep calls \p save after each point that it completes.
    sweep(simulation& s,
          bool quiet,
          earlier_report earlier,
          std::function<void(const sweep&)> save)
        : d_simulation(s),
          d_quiet(quiet),
          d_earlier(std::move(earlier)),
          d_save(std::move(save))
    {
    }

    //! Runs all points.
    //! \throws interruption if a signal ends the simulation
    void run()
    {
        for (const double at : d_simulation.range) {
            signal_watch::check();
            const auto known = d_earlier.take(range_member(), at);
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
            d_save(*this);
            if (d_simulation.range_is_done()) {
                return;
            }
        }
    }

    bool empty() const { return d_count == 0; }
    //! Returns a report of the points simulated so far and the complete points of the
    //! earlier report.
    json report() const
    {
        auto points = d_points;
        const auto& earlier = d_earlier.points();
        if (!earlier.empty()) {
            points.insert(points.end(), earlier.begin(), earlier.end());
            std::stable_sort(
                points.begin(), points.end(), [&](const json& a, const json& b) {
                    return a.at(range_member()).number() < b.at(range_member()).number();
                });
        }
        auto j = json::object({ { "decoder", d_decoder } });
        return j.merge(d_simulation.facts).add("points", json::array(points));
    }

private:
    // Returns the name of the member of a point with the point's value of --range: the
    // member in the first column.
    const std::string& range_member() const
    {
        return d_simulation.columns.front().member;
    }

    void simulate(double at)
    {
        progress_line progress;
        d_simulation.run(at, [&] {
            signal_watch::check();
            if (progress.due()) {
                print_header(d_simulation.decoder());
                progress.show(row(d_simulation.columns, d_simulation.point()));
            }
        });
    }

    // Prints the header of the table once to stdout, unless d_quiet. Also prints it once
    // to stderr if stderr is a terminal that does not show stdout.
    void print_header(const json& decoder)
    {
        const auto text = d_simulation.title + "; " + decoder.line() + "\n" +
                          head(d_simulation.columns) + "\n";
        if (!d_quiet && !std::exchange(d_header_printed, true)) {
            std::cout << text << std::flush;
        }
        if (!std::exchange(d_header_shown, true) && isatty(STDERR_FILENO) &&
            (d_quiet || !isatty(STDOUT_FILENO))) {
            std::cerr << text;
        }
    }

    void add(const json& point, const json& decoder)
    {
        if (d_count++ == 0) {
            d_decoder = decoder;
        }
        d_points.push_back(point);
        if (d_quiet) {
            return;
        }
        print_header(decoder);
        std::cout << row(d_simulation.columns, point) << "\n"
                  << (d_simulation.any() ? d_simulation.remark() : "") << std::flush;
    }

    simulation& d_simulation;
    const bool d_quiet;
    earlier_report d_earlier;
    const std::function<void(const sweep&)> d_save;
    bool d_header_printed = false, d_header_shown = false;
    std::size_t d_count = 0;
    std::vector<json> d_points;
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
                               { "Code options", trait.all_options() } },
                             {},
                             trait.ber.examples };
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
    json_file file(*values, { "resume" }); // --resume may name the same file
    std::optional<output_file> png;
    if (values->has("plot")) {
        if (values->text("plot") == "-") {
            refuse_option("plot", "-", "files");
        }
        png.emplace("--plot", values->text("plot"));
        png->require_own(*values, { "plot" });
    }
    auto code = json::object();
    const auto subject =
        values->naming_options([&] { return trait.make_simulation(*values, code); });
    if (png) {
        check_plot(values->text("plot"));
    }
    const auto header =
        json::object({ { "command", line.name },
                       { "environment", environment() },
                       { "options", values->to_json({ "", trait.all_options() }, code) },
                       { "seed", values->seed("seed") } });
    auto earlier = values->has("resume")
                       ? earlier_report(values->text("resume"), header, subject->columns)
                       : earlier_report();
    const auto report = [&](const sweep& points, bool complete) {
        return json(header).add("complete", complete).merge(points.report());
    };
    const auto save = [&](const sweep& points) {
        if (file.target() && file.target()->replaceable()) {
            try {
                file.write(report(points, false));
            } catch (const std::runtime_error& error) {
                std::cerr << "gpufec: WARNING: " << error.what()
                          << ": the program tries to write the report again after the "
                             "next point\n";
            }
        }
    };
    const signal_watch watch;
    sweep points(*subject, file.standard_output(), std::move(earlier), save);
    bool complete = true;
    try {
        values->naming_options([&] { points.run(); });
    } catch (const interruption&) {
        complete = false;
        std::cerr
            << "gpufec: the simulation was interrupted, and its results are incomplete\n";
    }
    file.write(report(points, complete));
    if (png && !points.empty()) {
        plot(report(points, complete), *png);
    }
    return complete ? 0 : 128 + signal_watch::caught();
}

} // namespace gr::gpufec
