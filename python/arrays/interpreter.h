// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Runs long computations without Python's global interpreter lock (GIL), handles signals
 * during the work, and makes the interpreter wait for such work at its end. */

#ifndef INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H
#define INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H

#include <pybind11/pybind11.h>
#include <algorithm>
#include <chrono>
#include <cstddef>

namespace gr::gpufec {

/*!
 * \brief A guard that releases the GIL in its scope.
 *
 * Unlike pybind11::gil_scoped_release, the guard is safe in daemon threads. After the end
 * of the interpreter, Python before 3.14 unwinds the stack of a thread that requests the
 * GIL, which aborts the process if a destructor makes the request. With this guard, such
 * a thread sleeps until the process ends.
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
 * \brief Runs Python's handlers of pending signals. The caller must not hold the GIL.
 * \throws interrupted if a handler raised an exception, or the interpreter is ending
 */
void check_signals();

//! An exception with which check_signals() ends the work of its caller.
class interrupted
{
};

//! Runs \p work without the GIL and returns its result. \p work may call check_signals().
//! \throws pybind11::error_already_set with the exception of a signal handler
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

//! A rate limiter: check() calls check_signals() at most once every 50 ms.
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

//! Runs \p part(first, n) without the GIL for successive parts of \p count items. Signals
//! are handled between the parts.
template <class Part>
void released_in_parts(std::size_t count, Part&& part)
{
    // A multiple of 8, so that each part of packed bits begins with a whole byte.
    constexpr std::size_t items = 1 << 20;
    released([&] {
        paced_signals signals;
        for (std::size_t first = 0; first < count; first += items) {
            signals.check();
            part(first, std::min(items, count - first));
        }
    });
}

//! Makes the interpreter wait at its end, for up to two seconds, until no thread works
//! without the GIL.
void watch_interpreter();

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H */
