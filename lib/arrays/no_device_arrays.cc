// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Memory of arrays in a build without CUDA. Functions that need a device throw. */

#include "device_arrays.h"
#include <cstring>

namespace gr::gpufec {

namespace {

[[noreturn]] void no_cuda()
{
    throw std::runtime_error("this build of gr-gpufec has no CUDA");
}

} // namespace

memory_place place_of(const void*) { return {}; }

void wait_for_stream(int, std::uintptr_t) { no_cuda(); }

void copy_memory(void* to, const void* from, std::size_t bytes)
{
    std::memcpy(to, from, bytes);
}

std::shared_ptr<array_memory> array_memory::page_locked(std::size_t bytes)
{
    return std::make_shared<ordinary_array_memory>(bytes);
}

std::shared_ptr<array_memory> array_memory::on_device(std::size_t, int) { no_cuda(); }

std::unique_ptr<device_viterbi> make_device_viterbi(const viterbi_options&, bool, int)
{
    no_cuda();
}

std::unique_ptr<device_ldpc> make_device_ldpc(const ldpc_options&, bool, int)
{
    no_cuda();
}

std::unique_ptr<device_sync> make_device_sync(const sync_options&, int) { no_cuda(); }

} // namespace gr::gpufec
