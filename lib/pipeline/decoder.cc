// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine.h"

namespace gr::gpufec {

decoder::decoder(std::unique_ptr<engine> e) : d_engine(std::move(e)) {}
decoder::~decoder() = default;

void decoder::finish() { d_engine->finish(); }
bool decoder::ready() { return d_engine->ready(); }
bool decoder::due() const { return d_engine->due(); }
void decoder::flush() { d_engine->flush(); }
bool decoder::full() const { return d_engine->full(); }
bool decoder::done() { return d_engine->done(); }
bool decoder::wait(std::chrono::milliseconds limit) { return d_engine->wait(limit); }
void decoder::reset() { d_engine->reset(); }
void decoder::set_max_latency_ms(double ms) { d_engine->set_max_latency_ms(ms); }
std::size_t decoder::batch() const { return d_engine->batch(); }
std::string decoder::active_backend() const { return d_engine->active_backend(); }
std::string decoder::active_device() const { return d_engine->active_device(); }

std::size_t decoder::input_bytes() const { return d_engine->input_bytes(); }
bool decoder::can_lend() const { return d_engine->can_lend(); }
std::size_t decoder::lent() const { return d_engine->lent(); }
std::size_t decoder::take_back() { return d_engine->take_back(); }
void decoder::end_lending() { d_engine->end_lending(); }
void decoder::unlock_lent(void* memory) { d_engine->unlock_lent(memory); }

std::size_t decoder::lend(const void* items, std::size_t count)
{
    return d_engine->lend(items, count);
}

bool decoder::lock_lent(void* memory, std::size_t bytes)
{
    return d_engine->lock_lent(memory, bytes);
}

} // namespace gr::gpufec
