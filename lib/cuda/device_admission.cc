// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "device_turns.h"
#include <algorithm>
#include <map>
#include <utility>

namespace gr::gpufec {
namespace cuda {

// Guarded by the turns' mutex, but for what wakes.
struct device_turns::place::state {
    explicit state(bool long_ones) : is_long(long_ones) {}

    const bool is_long;
    unsigned running = 0; // on the device
    clock::time_point last_begin = {};
    // For a batch that could not begin: when it first was to, and when its decoder was
    // last woken.
    clock::time_point asked = {}, woken = {};
    bool waits = false; // and will be woken

    std::mutex waking; // held while wake is called: afterwards nobody does
    std::function<void()> wake;
};

std::shared_ptr<device_turns> device_turns::of(int device)
{
    static std::mutex mutex;
    static std::map<int, std::shared_ptr<device_turns>> all;
    std::lock_guard<std::mutex> lock(mutex);
    auto& turns = all[device];
    if (!turns) {
        turns = std::make_shared<device_turns>();
    }
    return turns;
}

device_turns::place::place(std::shared_ptr<device_turns> turns,
                           bool long_ones,
                           std::function<void()> wake)
    : d_turns(std::move(turns)), d_state(std::make_shared<state>(long_ones))
{
    d_state->wake = std::move(wake);
    std::lock_guard<std::mutex> lock(d_turns->d_mutex);
    d_turns->d_waiting.reserve(d_turns->d_members.size() + 1); // begin() takes no memory
    d_turns->d_members.push_back(d_state);
}

device_turns::place::~place()
{
    {
        std::lock_guard<std::mutex> lock(d_state->waking);
        d_state->wake = nullptr;
    }
    {
        std::lock_guard<std::mutex> lock(d_turns->d_mutex);
        for (auto* const places : { &d_turns->d_members, &d_turns->d_waiting }) {
            places->erase(std::remove(places->begin(), places->end(), d_state),
                          places->end());
        }
    }
    rest();
}

bool device_turns::place::begin(clock::time_point now)
{
    auto& m = *d_state;
    std::lock_guard<std::mutex> lock(d_turns->d_mutex);
    m.last_begin = now;
    const auto running = d_turns->d_long_running;
    // While one runs, its end will wake who waits.
    const bool no_place =
        running >= long_batches || (running > 0 && d_turns->kept_for_others(m, now));
    if (m.is_long && no_place && d_turns->others_at_work(m, now)) {
        if (m.asked == clock::time_point()) {
            m.asked = now;
        }
        if (!std::exchange(m.waits, true)) {
            d_turns->d_waiting.push_back(d_state);
        }
        return false;
    }
    begins();
    return true;
}

void device_turns::place::take()
{
    std::lock_guard<std::mutex> lock(d_turns->d_mutex);
    begins();
}

void device_turns::place::begins()
{
    d_state->asked = d_state->woken = {};
    ++d_state->running;
    d_turns->d_long_running += d_state->is_long;
}

void device_turns::place::end(clock::time_point now) noexcept
{
    {
        std::lock_guard<std::mutex> lock(d_turns->d_mutex);
        if (d_state->running == 0) {
            return; // it rests
        }
        --d_state->running;
        if (!d_state->is_long) {
            return; // nobody waits for it
        }
        --d_turns->d_long_running;
    }
    d_turns->wake_waiting(now);
}

void device_turns::place::rest() noexcept
{
    {
        std::lock_guard<std::mutex> lock(d_turns->d_mutex);
        const auto running = std::exchange(d_state->running, 0);
        d_turns->d_long_running -= d_state->is_long ? running : 0;
    }
    d_turns->wake_waiting(clock::now());
}

bool device_turns::others_at_work(const place::state& m, clock::time_point now) const
{
    return std::any_of(d_members.begin(), d_members.end(), [&](const auto& other) {
        return other.get() != &m &&
               (other->running > 0 || now - other->last_begin < at_work);
    });
}

bool device_turns::kept_for_others(const place::state& m, clock::time_point now) const
{
    const auto since = m.asked == clock::time_point() ? now : m.asked;
    return std::any_of(d_members.begin(), d_members.end(), [&](const auto& other) {
        return now - other->woken < kept && other->asked < since;
    });
}

// All that wait, once each; they may wait again at once.
void device_turns::wake_waiting(clock::time_point now) noexcept
{
    std::unique_lock<std::mutex> lock(d_mutex);
    for (auto left = d_waiting.size(); left > 0 && !d_waiting.empty(); --left) {
        const auto m = std::move(d_waiting.front());
        d_waiting.erase(d_waiting.begin());
        m->waits = false;
        m->woken = now;
        lock.unlock();
        {
            std::lock_guard<std::mutex> waking(m->waking);
            if (m->wake) {
                m->wake();
            }
        }
        lock.lock();
    }
}

} // namespace cuda
} // namespace gr::gpufec
