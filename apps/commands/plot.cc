// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "trait.h"
#include <filesystem>

#include <boost/process.hpp>

namespace gr::gpufec {

namespace {

// A script of ours, beside the program or where it is installed.
std::string script_of(const std::string& option, const std::string& name)
{
    namespace fs = std::filesystem;
    const auto beside = fs::read_symlink("/proc/self/exe").parent_path();
    for (const auto& candidate :
         { beside / name, beside / ".." / GPUFEC_DATA_DIR / name }) {
        if (fs::exists(candidate)) {
            return candidate;
        }
    }
    throw std::runtime_error(option + ": " + name +
                             " is neither beside the program nor in ../" +
                             std::string(GPUFEC_DATA_DIR));
}

} // namespace

void check_plot(const std::string& png)
{
    const auto script = script_of("--plot", "plot_ber.py");
    if (boost::process::system(GPUFEC_PYTHON, script, "--check", png) != 0) {
        throw std::runtime_error("--plot: " + png + " cannot be drawn");
    }
}

void plot(const json& report, const std::string& png)
{
    namespace process = boost::process;
    const auto script = script_of("--plot", "plot_ber.py");
    process::opstream input;
    process::child child(
        GPUFEC_PYTHON, script, "/dev/stdin", png, process::std_in < input);
    input << report.to_string() << std::flush;
    input.pipe().close();
    child.wait();
    if (child.exit_code() != 0) {
        throw std::runtime_error("--plot: " GPUFEC_PYTHON " " + script + " failed for " +
                                 png);
    }
}

int ber_on_cluster(const decoder_trait& trait, const arguments& args)
{
    namespace process = boost::process;
    arguments words{ script_of("--scheduler", "distributed_ber.py"), trait.name };
    words.insert(words.end(), args.begin(), args.end());
    process::child child(process::exe = GPUFEC_PYTHON, process::args = words);
    child.wait();
    return child.exit_code();
}

} // namespace gr::gpufec
