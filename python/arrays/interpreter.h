// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Work without Python's global lock, which notices signals and the interpreter's end. */

#ifndef INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H
#define INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H

#include <pybind11/pybind11.h>
#include <algorithm>
#include <chrono>
#include <cstddef>

namespace gr::gpufec {

/*!
 * \brief Releases the global lock (GIL) while it exists.
 *
 * It takes the place of pybind11::gil_scoped_release, whose destructor aborts the process
 * in a daemon thread that still works when the interpreter ends: before Python 3.14 that
 * unwinds the stack of a thread that asks for the lock. Here such a thread sleeps.
 */
class without_gil
{
public:
    without_gil();
    ~without_gil();
    without_gil(const without_gil&) = delete;

private:
    PyThreadState* const d_state;
};

/*!
 * \brief Runs the handlers of pending signals, without the lock before and after it.
 * \throws interrupted if a handler raised an exception, or the interpreter ends
 */
void check_signals();

class interrupted
{
};

//! Runs \p work without the lock and returns its result; \p work may call
//! check_signals(). \throws pybind11::error_already_set from a signal handler
template <class Work>
auto released(Work&& work)
{
    try {
        without_gil unlocked;
        return work();
    } catch (const interrupted&) {
        throw pybind11::error_already_set();
    }
}

//! Calls check_signals() at most about once every 50 ms.
class paced_signals
{
public:
    void check()
    {
        if (clock::now() >= d_next) {
            check_signals();
            d_next = clock::now() + interval;
        }
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr auto interval = std::chrono::milliseconds(50);
    clock::time_point d_next = clock::now() + interval;
};

//! Calls \p part(first, n) for parts of \p count items in released(), and checks signals
//! between them.
template <class Part>
void released_in_parts(std::size_t count, Part&& part)
{
    constexpr std::size_t items = 1 << 20; // some milliseconds; a multiple of 8
    released([&] {
        paced_signals signals;
        for (std::size_t first = 0; first < count; first += items) {
            signals.check();
            part(first, std::min(items, count - first));
        }
    });
}

//! Makes the end of the interpreter wait up to two seconds for work without the lock.
void watch_interpreter();

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H */
