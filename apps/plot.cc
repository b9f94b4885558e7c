// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "command.h"
#include "plot.h"
#include <cstdlib>
#include <filesystem>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

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

void run_script(const std::string& json_file, const std::string& png)
{
    std::vector<std::string> words{ GPUFEC_PYTHON, plot_script(), json_file, png };
    std::vector<char*> argv;
    for (auto& w : words) {
        argv.push_back(w.data());
    }
    argv.push_back(nullptr);
    pid_t child;
    int status = 0;
    if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0 ||
        waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        throw std::runtime_error("--plot: " + words[0] + " " + words[1] +
                                 " failed; it needs matplotlib");
    }
}

// A file that is gone at the end.
class temporary_file
{
public:
    temporary_file()
    {
        const int file = mkstemp(d_path.data());
        if (file < 0) {
            throw std::runtime_error("cannot make a temporary file in " +
                                     std::filesystem::temp_directory_path().string());
        }
        close(file);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { unlink(d_path.c_str()); }
    const std::string& path() const { return d_path; }

private:
    std::string d_path = std::filesystem::temp_directory_path() / "gpufec-ber-XXXXXX";
};

} // namespace

void plot(const json& report, const std::string& png)
{
    const temporary_file scratch;
    write_json(report, scratch.path());
    run_script(scratch.path(), png);
}

} // namespace gr::gpufec
