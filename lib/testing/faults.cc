// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts the calls of the CUDA runtime and decides which of them fail or hang. */

#include "faults.h"
#include <array>
#include <cstring>
#include <limits>
#include <mutex>

namespace gr::gpufec {
namespace cuda {
namespace faults {

namespace {

constexpr auto never = std::numeric_limits<std::size_t>::max();

// The call at which a fault begins.
struct place {
    std::size_t at = never;
    const char* name = nullptr; // only calls of this name are counted; null: all calls
    std::size_t counted = 0;

    // Counts a call and returns whether the fault applies to it: to call number \c at
    // and, if \p after is true, to all later calls.
    bool reached(const char* call, bool after)
    {
        if (name && std::strcmp(name, call) != 0) {
            return false;
        }
        const auto number = counted++;
        return number == at || (after && number > at);
    }
};

// The state is global, like that of the CUDA runtime, and allocates no memory, because
// tests also make allocations fail.
struct {
    std::mutex mutex;
    std::array<const char*, 1 << 20> names;
    std::size_t calls = 0;
    const char* failed = "";
    place failing, hanging;
    cudaError_t error = cudaSuccess;
    bool for_good = false;
    bool hangs = false;
    bool waited = false;
} state;

} // namespace

// Defined in emulation/runtime.cc or in intercepted_runtime.cu, whichever the test links.
void forget_errors();

void begin()
{
    forget_errors();
    std::lock_guard<std::mutex> lock(state.mutex);
    state.calls = 0;
    state.failed = "";
    state.failing = state.hanging = {};
    state.waited = false;
}

void fail(std::size_t call, cudaError_t error, bool for_good)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.failing = { call, nullptr, state.calls };
    state.error = error;
    state.for_good = for_good;
}

void fail(const char* name, std::size_t call, cudaError_t error, bool for_good)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.failing = { call, name };
    state.error = error;
    state.for_good = for_good;
}

void hang(std::size_t call)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.hanging = { call, nullptr, state.calls };
}

void hang(const char* name, std::size_t call)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.hanging = { call, name };
}

std::vector<std::string> calls()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    return { state.names.begin(), state.names.begin() + state.calls };
}

std::string failed()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    return state.failed;
}

bool waited_for_ever()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    return state.waited;
}

cudaError_t next(const char* name)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.names[state.calls++ % state.names.size()] = name;
    state.hangs |= state.hanging.reached(name, true);
    if (!state.failing.reached(name, state.for_good)) {
        return cudaSuccess;
    }
    if (!*state.failed) {
        state.failed = name;
    }
    return state.error;
}

bool hanging()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    return state.hangs;
}

void wait_for_ever()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.waited = true;
}

void stop_hanging()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.hanging = {};
    state.hangs = false;
}

} // namespace faults
} // namespace cuda
} // namespace gr::gpufec
