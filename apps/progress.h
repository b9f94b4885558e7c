// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Time: the clock, the progress that is shown, and what goes with a measurement. */

#ifndef INCLUDED_GPUFEC_APPS_PROGRESS_H
#define INCLUDED_GPUFEC_APPS_PROGRESS_H

#include "json.h"
#include <string>

namespace gr::gpufec {

//! Seconds of a steady clock.
double seconds();

//! One line on stderr that is overwritten; nothing if stderr is no terminal.
class progress_line
{
public:
    progress_line();
    ~progress_line();
    //! Whether there is a terminal, and what it shows is old.
    bool due() const;
    //! Shows \p text if it is due.
    void show(const std::string& text);
    void clear();

private:
    bool d_terminal;
    bool d_shown = false;
    double d_last = 0;
};

//! Version of the module, processor and time, as they go with a measurement.
json environment();

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_PROGRESS_H */
