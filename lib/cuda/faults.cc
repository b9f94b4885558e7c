// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "faults.h"
#include <array>
#include <limits>
#include <mutex>

namespace gr::gpufec {
namespace cuda {
namespace faults {

namespace {

constexpr auto never = std::numeric_limits<std::size_t>::max();

// Of this process, as the runtime is; in tests alone. Allocates nothing, for memory is
// refused there as well.
struct {
    std::mutex mutex;
    std::array<const char*, 1 << 20> names;
    std::size_t calls = 0;
    const char* failed = "";
    std::size_t failing = never, hanging = never;
    cudaError_t error = cudaSuccess;
    bool for_good = false;
    bool hangs = false;
    bool waited = false;
} state;

} // namespace

void forget_errors(); // of the layer below

void begin()
{
    forget_errors();
    std::lock_guard<std::mutex> lock(state.mutex);
    state.calls = 0;
    state.failed = "";
    state.failing = state.hanging = never;
    state.waited = false;
}

void fail(std::size_t call, cudaError_t error, bool for_good)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.failing = call;
    state.error = error;
    state.for_good = for_good;
}

void hang(std::size_t call)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.hanging = call;
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
    const auto number = state.calls;
    state.names[state.calls++ % state.names.size()] = name;
    state.hangs |= number >= state.hanging;
    const bool fails =
        number == state.failing || (state.for_good && number > state.failing);
    if (!fails) {
        return cudaSuccess;
    }
    if (!*state.failed) {
        state.failed = name;
    }
    return state.error;
}

bool hanging(bool waits)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.waited |= state.hangs && waits;
    return state.hangs;
}

void stop_hanging()
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.hanging = never;
    state.hangs = false;
}

} // namespace faults
} // namespace cuda
} // namespace gr::gpufec
