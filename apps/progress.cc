// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Support of long-running commands: clock, progress line, signals, and a description of
 * the machine for reports. */

#include "progress.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include <unistd.h>

namespace gr::gpufec {

progress_line::progress_line() : d_terminal(isatty(STDERR_FILENO)) {}

progress_line::~progress_line() { clear(); }

bool progress_line::due() const { return d_terminal && seconds() - d_last >= 0.2; }

void progress_line::show(const std::string& text)
{
    if (!due()) {
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

namespace {

volatile std::sig_atomic_t noted = 0;
const int watched[] = { SIGINT, SIGTERM, SIGHUP };

// Sets the action for a signal, unless the signal is ignored, as under nohup.
void set_action(int signal, void (*handler)(int))
{
    struct sigaction action = {}, now = {};
    sigaction(signal, nullptr, &now);
    action.sa_handler = handler;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    if (now.sa_handler != SIG_IGN) {
        sigaction(signal, &action, nullptr);
    }
}

} // namespace

signal_watch::signal_watch()
{
    for (const int signal : watched) {
        set_action(signal, [](int caught) { noted = caught; });
    }
}

signal_watch::~signal_watch()
{
    for (const int signal : watched) {
        set_action(signal, SIG_DFL);
    }
}

int signal_watch::caught() { return noted; }

void signal_watch::check()
{
    if (noted) {
        throw interruption();
    }
}

double seconds()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
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

} // namespace gr::gpufec
