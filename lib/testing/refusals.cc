// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces the allocation functions and pthread_create() by functions that can fail. */

#include "refusals.h"
#include <dlfcn.h>
#include <pthread.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace gr::gpufec::qa::refusals {

std::atomic<long> allocations_left{ -1 }, threads_left{ -1 };
std::atomic<bool> all_fail{ false };
std::atomic<long> allocations{ 0 }, threads{ 0 };

} // namespace gr::gpufec::qa::refusals

namespace {

using namespace gr::gpufec::qa::refusals;

// Counts an allocation and returns whether it must fail.
bool refused()
{
    ++allocations;
    if (allocations_left < 0) {
        return false;
    }
    const auto left = allocations_left--;
    if (left == 0 && all_fail) {
        allocations_left = 0;
    }
    return left == 0;
}

} // namespace

// The replacements must be visible, regardless of the compiler's options, so that shared
// libraries such as libstdc++ call them too.
#pragma GCC visibility push(default)

// Replaces the function of the system, which std::thread calls.
extern "C" int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*begin)(void*),
                              void* argument)
{
    static const auto real =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    ++threads;
    if (threads_left >= 0) {
        const auto left = threads_left--;
        if (left == 0) {
            if (all_fail) {
                threads_left = 0;
            }
            return EAGAIN;
        }
    }
    return real(thread, attributes, begin, argument);
}

#if defined(GPUFEC_EMULATED) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

// The C library's allocation, for the replacements below.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes)
{
    return refused() ? errno = ENOMEM, nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes)
{
    return memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes)
{
    void* const memory = memalign(alignment, bytes);
    if (memory) {
        *to = memory;
    }
    return memory ? 0 : ENOMEM;
}
}

#else

// Operator new and operator delete are replaced, but not malloc(): sanitizers replace
// malloc() too, and the threads of the CUDA driver need the system's malloc().

namespace {

void* allocate(std::size_t bytes, std::size_t alignment)
{
    void* memory = nullptr;
    if (!refused()) {
        memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment,
                                          (bytes + alignment - 1) / alignment * alignment)
                     : std::malloc(std::max<std::size_t>(1, bytes));
    }
    if (!memory) {
        throw std::bad_alloc();
    }
    return memory;
}

// GCC would warn of a free() without a matching malloc() if this function were inlined.
[[gnu::noinline]] void deallocate(void* memory) { std::free(memory); }

} // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocate(bytes, std::size_t(alignment));
}
// The nothrow version is replaced too, because the sanitizers' version would not match
// the operator delete below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    try {
        return allocate(bytes, 0);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    deallocate(memory);
}

#endif

#pragma GCC visibility pop
