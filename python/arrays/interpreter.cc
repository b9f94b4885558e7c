// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements interpreter.h: releases the GIL, handles signals, and makes the interpreter
 * wait for threads before it ends. */

#include "interpreter.h"
#include <pthread.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <thread>

namespace py = pybind11;

namespace gr::gpufec {

namespace {

// Global state, because a process has one main interpreter. The variables are trivially
// destructible, because sleeping threads use them until the process ends. `working` is
// the number of threads that have released the GIL and will request the GIL again.
std::atomic<unsigned> working{ 0 };
std::atomic<bool> ending{ false };
std::thread::id last; // the thread that ends the interpreter; valid if `ending`

// Returns whether Python would end the calling thread if it requested the GIL.
bool must_sleep() { return ending && std::this_thread::get_id() != last; }

void end()
{
    if (PyThreadState_Get()->interp != PyInterpreterState_Main()) {
        return; // a sub-interpreter ends; other threads continue
    }
    last = std::this_thread::get_id();
    ending = true;
    // Waits for the other threads. The interpreter ends after this function returns.
    py::gil_scoped_release unlocked;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (working > 0 && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

without_gil::without_gil() : d_state((++working, PyEval_SaveThread())) {}

without_gil::~without_gil()
{
    if (must_sleep()) {
        --working;
        for (;;) {
            pause();
        }
    }
    PyEval_RestoreThread(d_state);
    --working;
}

void check_signals()
{
    if (must_sleep()) {
        throw interrupted();
    }
    const auto state = PyGILState_Ensure();
    const bool raised = PyErr_CheckSignals() != 0;
    PyGILState_Release(state);
    if (raised) {
        throw interrupted();
    }
}

void watch_interpreter()
{
    // The child process of a fork has none of the parent's other threads.
    pthread_atfork(nullptr, nullptr, [] { working = 0; });
    py::module_::import("atexit").attr("register")(py::cpp_function(end));
}

} // namespace gr::gpufec
