// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine.h"
#include <pthread.h>
#include <atomic>
#include <new>
#include <stdexcept>

namespace gr::gpufec {

namespace {

std::atomic<unsigned> forks{ 0 };

} // namespace

unsigned forks_so_far()
{
    static const bool counted = [] {
        if (pthread_atfork(nullptr, nullptr, [] { ++forks; }) != 0) {
            throw std::bad_alloc();
        }
        return true;
    }();
    return counted ? forks.load(std::memory_order_relaxed) : 0;
}

decoder::decoder(std::unique_ptr<engine> e) : d_engine(std::move(e)) {}

decoder::~decoder()
{
    if (d_engine && !d_engine->of_this_process()) {
        d_engine.release(); // it would wait for threads that fork() did not copy
    }
}

decoder::engine& decoder::inside() const
{
    if (!d_engine->of_this_process()) {
        throw std::runtime_error("this decoder was made before fork(), and works in the "
                                 "process that made it alone: make one in this process");
    }
    return *d_engine;
}

void decoder::finish() { inside().finish(); }
bool decoder::ready() { return inside().ready(); }
bool decoder::due() const { return inside().due(); }
void decoder::flush() { inside().flush(); }
bool decoder::full() const { return inside().full(); }
bool decoder::done() { return inside().done(); }
bool decoder::wait(std::chrono::milliseconds limit) { return inside().wait(limit); }
void decoder::reset() { inside().reset(); }
void decoder::set_max_latency_ms(double ms) { inside().set_max_latency_ms(ms); }
std::size_t decoder::batch() const { return inside().batch(); }
std::string decoder::active_backend() const { return inside().active_backend(); }
std::string decoder::active_device() const { return inside().active_device(); }

std::size_t decoder::input_bytes() const { return inside().input_bytes(); }
bool decoder::can_lend() const { return inside().can_lend(); }
std::size_t decoder::lent() const { return inside().lent(); }
std::size_t decoder::take_back() { return inside().take_back(); }
void decoder::end_lending() { inside().end_lending(); }
void decoder::unlock_lent(void* memory) { inside().unlock_lent(memory); }

std::size_t decoder::lend(const void* items, std::size_t count)
{
    return inside().lend(items, count);
}

bool decoder::lock_lent(void* memory, std::size_t bytes)
{
    return inside().lock_lent(memory, bytes);
}

std::size_t decoder::output_bytes() const { return inside().output_bytes(); }
void decoder::end_lending_output() { inside().end_lending_output(); }
void decoder::unlock_output(void* memory) { inside().unlock_output(memory); }

bool decoder::lock_output(void* memory, std::size_t bytes, std::function<bool()> replace)
{
    return inside().lock_output(memory, bytes, std::move(replace));
}

bool decoder::lend_output(void* next, std::size_t bytes)
{
    return inside().lend_output(next, bytes);
}

} // namespace gr::gpufec
