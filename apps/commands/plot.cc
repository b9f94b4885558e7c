// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs the Python scripts that draw error rates and that simulate on a cluster. */

#include "trait.h"
#include <filesystem>

#include <boost/algorithm/string.hpp>
#include <boost/process.hpp>

namespace gr::gpufec {

namespace {

namespace fs = std::filesystem;

// Returns the path of the script \p name, which is beside the program in the build tree,
// or installed.
// \throws std::runtime_error, which names \p option, if there is no such file
std::string script_of(const std::string& option, const std::string& name)
{
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

// Returns the extension of the file name \p name in lower case, which is the format of
// the picture; "png" without an extension.
std::string format_of(const std::string& name)
{
    const auto extension = fs::path(name).extension().string();
    return extension.size() < 2 ? "png" : boost::to_lower_copy(extension.substr(1));
}

} // namespace

void check_plot(const std::string& png)
{
    const auto script = script_of("--plot", "plot_ber.py");
    if (boost::process::system(GPUFEC_PYTHON, script, "--check", png) != 0) {
        throw std::runtime_error("--plot: " + png + " cannot be drawn");
    }
}

void plot(const json& report, output_file& png)
{
    namespace process = boost::process;
    const auto script = script_of("--plot", "plot_ber.py");
    process::opstream input;
    process::ipstream output;
    process::child child(process::exe = GPUFEC_PYTHON,
                         process::args = { script,
                                           "/dev/stdin",
                                           "/dev/stdout",
                                           "--format",
                                           format_of(png.name()) },
                         process::std_in<input, process::std_out> output);
    input << report.to_string() << std::flush;
    input.pipe().close();
    const std::string picture(std::istreambuf_iterator<char>(output), {});
    child.wait();
    if (child.exit_code() != 0 || picture.empty()) {
        throw std::runtime_error("--plot: " GPUFEC_PYTHON " " + script + " failed for " +
                                 png.name());
    }
    png.replace(picture);
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
