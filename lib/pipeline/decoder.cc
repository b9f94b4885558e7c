// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The class decoder, which forwards calls to its engine, and functions that all decoders
 * share. */

#include "common/refuse.h"
#include "engine.h"
#include <gnuradio/gpufec/backend.h>
#include <pthread.h>
#include <atomic>
#include <new>
#include <stdexcept>
#include <utility>

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

backend backend_from_string(const std::string& name)
{
    return choose<backend>("backend",
                           name,
                           { { "auto", backend::automatic },
                             { "cuda", backend::cuda },
                             { "cpu", backend::cpu } });
}

decoder_hooks without_exceptions(decoder_hooks hooks)
{
    const auto guarded = [](auto hook) {
        return [hook = std::move(hook)](auto&&... values) {
            try {
                if (hook) {
                    hook(values...);
                }
            } catch (...) {
                // No caller could catch the exception, and decoding does not depend on
                // the hook.
            }
        };
    };
    return { guarded(std::move(hooks.wake)), guarded(std::move(hooks.log)) };
}

decoder::decoder(std::unique_ptr<engine> e) : d_engine(std::move(e)) {}

decoder::~decoder()
{
    if (d_engine && !d_engine->of_this_process()) {
        (void)d_engine
            .release(); // the destructor would wait for threads of the parent process
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
bool decoder::done()
{
    const bool is = inside().done();
    if (is && inside().judge) {
        inside().judge->conclude();
    }
    return is;
}
bool decoder::wait(std::chrono::milliseconds limit) { return inside().wait(limit); }
void decoder::reset()
{
    inside().reset();
    if (inside().judge) {
        inside().judge->reset();
    }
}
std::string decoder::verdict() const
{
    return inside().judge ? inside().judge->verdict() : std::string();
}
void decoder::set_max_latency_ms(double ms) { inside().set_max_latency_ms(ms); }
std::size_t decoder::batch() const { return inside().batch(); }
std::string decoder::active_backend() const { return inside().active_backend(); }
std::string decoder::active_device() const { return inside().active_device(); }

std::size_t decoder::input_bytes() const { return inside().input_bytes(); }
bool decoder::can_borrow() const { return inside().can_borrow(); }
std::size_t decoder::borrowed() const { return inside().borrowed(); }
std::size_t decoder::release_borrowed() { return inside().release_borrowed(); }
void decoder::copy_borrowed() { inside().copy_borrowed(); }
void decoder::unpin_input(void* memory) { inside().unpin_input(memory); }

std::size_t decoder::borrow(const void* items, std::size_t count)
{
    auto& e = inside();
    const auto before = e.borrowed();
    const auto n = e.borrow(items, count);
    if (e.judge) {
        e.judge->look_at(items, before, n);
    }
    return n;
}

bool decoder::pin_input(void* memory, std::size_t bytes)
{
    return inside().pin_input(memory, bytes);
}

std::size_t decoder::output_bytes() const { return inside().output_bytes(); }
void decoder::release_output() { inside().release_output(); }
void decoder::unpin_output(void* memory) { inside().unpin_output(memory); }

bool decoder::pin_output(void* memory,
                         std::size_t bytes,
                         const std::function<bool()>& replace)
{
    return inside().pin_output(memory, bytes, replace);
}

bool decoder::borrow_output(void* next, std::size_t bytes)
{
    return inside().borrow_output(next, bytes);
}

} // namespace gr::gpufec
