// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Replaces device_ring.cc: the memory of simulated devices is memory of the host. */

#include "cuda/device_ring.h"
#include "testing/simulated_device.h"
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

namespace gr::gpufec {

namespace {

// The memory of all simulated devices: maps the beginning of each ring to its end.
std::mutex mutex;
std::map<const std::byte*, const std::byte*> memory;

class simulated_ring : public device_ring
{
public:
    simulated_ring(std::size_t bytes, std::size_t item_bytes)
    {
        const auto unit = std::lcm(std::size_t(sysconf(_SC_PAGESIZE)), item_bytes);
        d_size = (bytes + unit - 1) / unit * unit;
        const int file = memfd_create("simulated device", 0);
        void* const both =
            mmap(nullptr, 2 * d_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        d_data = static_cast<std::byte*>(both);
        bool mapped = ftruncate(file, d_size) == 0 && both != MAP_FAILED;
        for (auto* at = d_data; mapped && at != d_data + 2 * d_size; at += d_size) {
            mapped = mmap(at,
                          d_size,
                          PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED,
                          file,
                          0) == at;
        }
        close(file);
        if (!mapped) {
            throw std::system_error(errno, std::generic_category(), "simulated ring");
        }
        std::lock_guard<std::mutex> lock(mutex);
        memory[d_data] = d_data + 2 * d_size;
    }
    ~simulated_ring() override
    {
        std::lock_guard<std::mutex> lock(mutex);
        memory.erase(d_data);
        munmap(d_data, 2 * d_size);
    }
};

class simulated_copies : public device_copies
{
public:
    void start(void* to, const void* from, std::size_t bytes) override
    {
        std::memcpy(to, from, bytes);
    }
    void wait() override {}
    void* stream() const override { return nullptr; }
};

} // namespace

bool in_simulated_memory(const void* address)
{
    std::lock_guard<std::mutex> lock(mutex);
    const auto* const a = static_cast<const std::byte*>(address);
    const auto next = memory.upper_bound(a);
    return next != memory.begin() && a < std::prev(next)->second;
}

std::unique_ptr<device_ring>
device_ring::make(int device, std::size_t bytes, std::size_t item_bytes)
{
    select_simulated(device);
    return std::make_unique<simulated_ring>(bytes, item_bytes);
}

std::unique_ptr<device_copies> device_copies::make(int device)
{
    select_simulated(device);
    return std::make_unique<simulated_copies>();
}

} // namespace gr::gpufec
