// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Long work without Python's global interpreter lock (GIL), during which signals are
 * handled and the interpreter may end. */

#ifndef INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H
#define INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H

#include <pybind11/pybind11.h>
#include <algorithm>
#include <chrono>
#include <cstddef>

namespace gr::gpufec {

/*!
 * \brief Guard that releases the GIL.
 *
 * It replaces pybind11::gil_scoped_release, whose destructor requests the lock. Before
 * Python 3.14, an interpreter that has ended unwinds the stack of a daemon thread that
 * requests the lock, and a destructor that is unwound aborts the process. Here such a
 * thread sleeps until the process ends.
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
 * \brief Runs the handlers of pending signals. The caller does not hold the GIL.
 * \throws interrupted if a handler raised an exception, or the interpreter ends
 */
void check_signals();

//! Exception that ends work; Python's own exception is already set.
class interrupted
{
};

//! Runs \p work without the GIL and returns its result; \p work may call check_signals().
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

//! A rate limiter that calls check_signals() at most about once every 50 ms.
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

//! Runs \p part(first, n) for successive parts of \p count items by released(), and
//! checks signals between the parts.
template <class Part>
void released_in_parts(std::size_t count, Part&& part)
{
    constexpr std::size_t items = 1 << 20; // a few milliseconds of work; a multiple of 8
    released([&] {
        paced_signals signals;
        for (std::size_t first = 0; first < count; first += items) {
            signals.check();
            part(first, std::min(items, count - first));
        }
    });
}

//! Makes the interpreter wait at its end, up to two seconds, for work without the GIL.
void watch_interpreter();

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_INTERPRETER_H */
