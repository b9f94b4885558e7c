// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Functions that all decoders share: the choice of a backend, wrappers that discard the
 * exceptions of callbacks, and the detection of fork(). */

#include "common/refuse.h"
#include "guards.h"
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/spans.h>
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

void require_same_process(unsigned forks)
{
    if (forks != forks_so_far()) {
        throw std::runtime_error("this decoder was created before fork() and works only "
                                 "in the parent process: create one in the child");
    }
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

void refuse_items(item_type type, item_type expected)
{
    static constexpr const char* names[] = {
        "unknown", "int8",         "uint8",         "uint16",       "float",
        "double",  "complex int8", "complex int16", "complex float"
    };
    refuse("type of items",
           names[int(type)],
           std::string("the options of this decoder require ") +
               (expected == item_type::group ? "groups of float" : names[int(expected)]));
}

decoder::~decoder() = default;

} // namespace gr::gpufec
