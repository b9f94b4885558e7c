// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "command.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace gr::gpufec {

namespace po = boost::program_options;

bool command_line::parse(const arguments& args, po::variables_map& values)
{
    options.add_options()("help,h", "this text");
    po::positional_options_description order;
    po::options_description all;
    all.add(options);
    for (const auto& p : positional) {
        order.add(p.c_str(), 1);
        all.add_options()(p.c_str(), po::value<std::string>());
    }
    try {
        po::store(po::command_line_parser(args).options(all).positional(order).run(),
                  values);
        po::notify(values);
    } catch (const po::error& error) {
        throw usage_error(error.what());
    }
    if (values.count("help")) {
        std::cout << "Usage: " << name << " " << synopsis << "\n\n"
                  << description << "\n\n"
                  << options << "\nExit status: 0 done, 1 failed, 2 wrong usage.\n";
        return false;
    }
    for (const auto& p : positional) {
        if (!values.count(p)) {
            throw usage_error(p + " is missing: see " + name + " --help");
        }
    }
    return true;
}

std::vector<int> parse_list(const std::string& option, const std::string& text, int base)
{
    std::vector<int> numbers;
    std::istringstream list(text);
    for (std::string item; std::getline(list, item, ',');) {
        std::size_t used = 0;
        try {
            numbers.push_back(std::stoi(item, &used, base));
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != item.size()) {
            throw usage_error("--" + option + " is \"" + text +
                              "\": comma separated numbers" +
                              (base == 8 ? " of octal digits" : "") + " are allowed");
        }
    }
    return numbers;
}

unsigned at_least_zero(const po::variables_map& values, const std::string& option)
{
    const int value = values[option].as<int>();
    if (value < 0) {
        throw usage_error("--" + option + " is " + std::to_string(value) +
                          ": 0 and above is allowed");
    }
    return value;
}

std::string text(const po::variables_map& values, const std::string& option)
{
    return values[option].as<std::string>();
}

std::vector<double> parse_range(const std::string& text)
{
    std::vector<double> parts;
    std::istringstream list(text);
    for (std::string item; std::getline(list, item, ':');) {
        std::size_t used = 0;
        try {
            parts.push_back(std::stod(item, &used));
        } catch (const std::exception&) {
            used = 0;
        }
        if (used == 0 || used != item.size()) {
            parts.clear();
            break;
        }
    }
    const bool one = parts.size() == 1 && !std::isnan(parts[0]);
    const bool three = parts.size() == 3 && parts[1] > 0 && parts[2] >= parts[0] &&
                       (parts[2] - parts[0]) / parts[1] < 1000;
    if (!one && !three) {
        throw usage_error("--range is \"" + text +
                          "\": A:STEP:B with STEP above 0 and A up to B, a single value, "
                          "or inf (no noise) is allowed, in dB");
    }
    if (one) {
        return parts;
    }
    std::vector<double> points;
    for (int i = 0; parts[0] + i * parts[1] <= parts[2] + 1e-9; ++i) {
        points.push_back(parts[0] + i * parts[1]);
    }
    return points;
}

std::uint64_t count_of(const po::variables_map& values, const std::string& option)
{
    const double value = values[option].as<double>();
    if (!(value >= 0 && value <= 1e15)) {
        std::ostringstream text;
        text << "--" << option << " is " << value << ": 0 to 1e15 is allowed";
        throw usage_error(text.str());
    }
    return std::uint64_t(value);
}

progress_line::progress_line() : d_terminal(isatty(STDERR_FILENO)) {}

progress_line::~progress_line() { clear(); }

void progress_line::show(const std::string& text)
{
    if (!d_terminal || seconds() - d_last < 0.2) {
        return;
    }
    d_last = seconds();
    d_shown = true;
    std::cerr << "\r\033[K" << text << std::flush;
}

void progress_line::clear()
{
    if (d_shown) {
        std::cerr << "\r\033[K" << std::flush;
        d_shown = false;
    }
}

double seconds()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

double pace_of(const po::variables_map& values)
{
    const double pace = values["pace"].as<double>();
    if (!(pace >= 0)) {
        throw usage_error("--pace is " + std::to_string(pace) +
                          ": 0 and above is allowed");
    }
    return pace;
}

void add_bench_options(po::options_description& to)
{
    to.add_options()(
        "seconds", po::value<double>()->default_value(5), "for all runs together")(
        "runs", po::value<int>()->default_value(9), "1 to 1000")("json", "for machines");
}

bench_settings parse_bench_options(const po::variables_map& values)
{
    const int runs = values["runs"].as<int>();
    if (runs < 1 || runs > 1000) {
        throw usage_error("--runs is " + std::to_string(runs) + ": 1 to 1000 is allowed");
    }
    const double duration = values["seconds"].as<double>();
    if (!(duration > 0)) {
        throw usage_error("--seconds is " + std::to_string(duration) +
                          ": more than 0 is allowed");
    }
    return { duration, runs };
}

json rates(const std::string& what, const std::vector<double>& runs, double unit)
{
    auto all = json::array();
    for (const double r : runs) {
        all.add(r * unit);
    }
    return json::object(
        { { "what", what },
          { "median_bits_per_s", median(runs) * unit },
          { "least_bits_per_s", *std::min_element(runs.begin(), runs.end()) * unit },
          { "most_bits_per_s", *std::max_element(runs.begin(), runs.end()) * unit },
          { "runs", all } });
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

namespace {

std::string processor()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("model name", 0) == 0) {
            return line.substr(std::min(line.size(), line.find(':') + 2));
        }
    }
    return "unknown";
}

} // namespace

json environment()
{
    const auto now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json::object({ { "version", GPUFEC_VERSION },
                          { "date", date },
                          { "processor", processor() },
                          { "cores", std::thread::hardware_concurrency() } });
}

void write_json(const json& value, const std::string& path)
{
    if (path == "-") {
        std::cout << value.to_string() << std::endl;
        return;
    }
    std::ofstream file(path);
    file << value.to_string() << "\n";
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

} // namespace gr::gpufec
