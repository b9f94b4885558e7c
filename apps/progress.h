// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Support of long-running commands: clock, progress line, signals, and a description of
 * the machine for reports. */

#ifndef INCLUDED_GPUFEC_APPS_PROGRESS_H
#define INCLUDED_GPUFEC_APPS_PROGRESS_H

#include "json.h"
#include <string>

namespace gr::gpufec {

//! Returns the time of a steady clock in seconds.
double seconds();

//! A line on stderr that shows progress and is overwritten. Nothing is shown unless
//! stderr is a terminal.
class progress_line
{
public:
    progress_line();
    ~progress_line();
    //! Returns whether there is a terminal, and 0.2 s have passed since the last update.
    bool due() const;
    //! Shows \p text if due().
    void show(const std::string& text);
    void clear();

private:
    bool d_terminal;
    bool d_shown = false;
    double d_last = 0;
};

//! An exception that ends a simulation or conversion after a signal.
struct interruption {
};

//! A guard that records SIGINT, SIGTERM and SIGHUP, unless they are ignored. A signal
//! that arrives a second time ends the program.
class signal_watch
{
public:
    signal_watch();
    ~signal_watch();
    //! Returns the signal that was caught, or 0 if none was caught.
    static int caught();
    //! Throws interruption if a signal was caught.
    static void check();
};

//! Returns the version of the module, the time (UTC), the processor and the number of its
//! cores, to record with results.
json environment();

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_PROGRESS_H */
