// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Counts the batches on a device, refuses long batches beyond the limit, and wakes the
 * decoders whose batches were refused. */

#include "device_admission.h"
#include <algorithm>
#include <map>
#include <utility>

namespace gr::gpufec {
namespace cuda {

// device_admission::d_mutex guards all members except waking and wake.
struct device_admission::place::state {
    explicit state(bool long_ones) : is_long(long_ones) {}

    const bool is_long;
    unsigned running = 0; // admitted batches that have not ended
    clock::time_point last_begin = {};
    // Times of the first call of begin() for the waiting batch and of the latest
    // wake-up.
    clock::time_point waiting_since = {}, woken = {};
    bool waits = false; // whether the decoder is in d_waiting

    std::mutex waking; // held while wake() runs, so that ~place() waits for its end
    std::function<void()> wake;
};

std::shared_ptr<device_admission> device_admission::of(int device)
{
    static std::mutex mutex;
    static std::map<int, std::shared_ptr<device_admission>> all;
    std::lock_guard<std::mutex> lock(mutex);
    auto& admission = all[device];
    if (!admission) {
        admission = std::make_shared<device_admission>();
    }
    return admission;
}

device_admission::place::place(std::shared_ptr<device_admission> admission,
                               bool long_ones,
                               std::function<void()> wake)
    : d_admission(std::move(admission)), d_state(std::make_shared<state>(long_ones))
{
    d_state->wake = std::move(wake);
    std::lock_guard<std::mutex> lock(d_admission->d_mutex);
    // begin() must not allocate memory, so its space in d_waiting is reserved here.
    d_admission->d_waiting.reserve(d_admission->d_members.size() + 1);
    d_admission->d_members.push_back(d_state);
}

device_admission::place::~place()
{
    {
        std::lock_guard<std::mutex> lock(d_state->waking);
        d_state->wake = nullptr;
    }
    {
        std::lock_guard<std::mutex> lock(d_admission->d_mutex);
        for (auto* const places : { &d_admission->d_members, &d_admission->d_waiting }) {
            places->erase(std::remove(places->begin(), places->end(), d_state),
                          places->end());
        }
    }
    leave_queue();
}

bool device_admission::place::begin(clock::time_point now)
{
    auto& m = *d_state;
    std::lock_guard<std::mutex> lock(d_admission->d_mutex);
    m.last_begin = now;
    const auto running = d_admission->d_long_running;
    // A decoder is refused only while a long batch runs, because only the end of a long
    // batch is sure to wake the decoder.
    const bool no_place = running >= long_batches ||
                          (running > 0 && d_admission->reserved_for_others(m, now));
    if (m.is_long && no_place && d_admission->others_active(m, now)) {
        if (m.waiting_since == clock::time_point()) {
            m.waiting_since = now;
        }
        if (!std::exchange(m.waits, true)) {
            d_admission->d_waiting.push_back(d_state);
        }
        return false;
    }
    begins();
    return true;
}

void device_admission::place::take()
{
    std::lock_guard<std::mutex> lock(d_admission->d_mutex);
    begins();
}

void device_admission::place::begins()
{
    d_state->waiting_since = d_state->woken = {};
    ++d_state->running;
    d_admission->d_long_running += d_state->is_long;
}

void device_admission::place::end(clock::time_point now) noexcept
{
    {
        std::lock_guard<std::mutex> lock(d_admission->d_mutex);
        if (d_state->running == 0) {
            return; // leave_queue() has ended this batch already
        }
        --d_state->running;
        if (!d_state->is_long) {
            return; // decoders wait only for the end of long batches
        }
        --d_admission->d_long_running;
    }
    d_admission->wake_waiting(now);
}

void device_admission::place::leave_queue() noexcept
{
    {
        std::lock_guard<std::mutex> lock(d_admission->d_mutex);
        const auto running = std::exchange(d_state->running, 0);
        d_admission->d_long_running -= d_state->is_long ? running : 0;
    }
    d_admission->wake_waiting(clock::now());
}

bool device_admission::others_active(const place::state& m, clock::time_point now) const
{
    return std::any_of(d_members.begin(), d_members.end(), [&](const auto& other) {
        return other.get() != &m &&
               (other->running > 0 || now - other->last_begin < active_time);
    });
}

bool device_admission::reserved_for_others(const place::state& m,
                                           clock::time_point now) const
{
    const auto since = m.waiting_since == clock::time_point() ? now : m.waiting_since;
    return std::any_of(d_members.begin(), d_members.end(), [&](const auto& other) {
        return now - other->woken < precedence_time && other->waiting_since < since;
    });
}

// Wakes each waiting decoder once, even if the callback makes the decoder wait again.
void device_admission::wake_waiting(clock::time_point now) noexcept
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
