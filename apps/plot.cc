// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "trait.h"
#include <filesystem>

#include <boost/process.hpp>

namespace gr::gpufec {

namespace {

std::string plot_script()
{
    namespace fs = std::filesystem;
    const auto beside = fs::read_symlink("/proc/self/exe").parent_path();
    for (const auto& candidate :
         { beside / "plot_ber.py", beside / ".." / GPUFEC_DATA_DIR / "plot_ber.py" }) {
        if (fs::exists(candidate)) {
            return candidate;
        }
    }
    throw std::runtime_error(
        "--plot: plot_ber.py is neither beside the program nor in ../" +
        std::string(GPUFEC_DATA_DIR));
}

} // namespace

void plot(const json& report, const std::string& png)
{
    namespace process = boost::process;
    const auto script = plot_script();
    process::opstream input;
    process::child child(
        GPUFEC_PYTHON, script, "/dev/stdin", png, process::std_in < input);
    input << report.to_string() << std::flush;
    input.pipe().close();
    child.wait();
    if (child.exit_code() != 0) {
        throw std::runtime_error("--plot: " GPUFEC_PYTHON " " + script + " failed for " +
                                 png + "; it needs matplotlib");
    }
}

} // namespace gr::gpufec
