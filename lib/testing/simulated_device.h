// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulated CUDA devices for tests without a GPU, which decode on the CPU and can be made
 * to fail. */

#ifndef INCLUDED_GPUFEC_TESTING_SIMULATED_DEVICE_H
#define INCLUDED_GPUFEC_TESTING_SIMULATED_DEVICE_H

#include "common/packed_bits.h"
#include "pipeline/batch_decoder.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <thread>

namespace gr::gpufec {

//! Throws std::runtime_error unless \p device is the number of a simulated device.
inline void select_simulated(int device)
{
    if (device < 0 || device > 3) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed values are 0 to 3, the simulated devices");
    }
}

//! Throws device_memory_error if a batch does not fit into the simulated memory. The
//! environment variable GPUFEC_SIMULATED_MEMORY sets the size of that memory in work
//! items. Without the variable, every batch fits.
inline void allow_simulated(std::size_t work_items)
{
    const char* const most = std::getenv("GPUFEC_SIMULATED_MEMORY");
    if (most && work_items > std::strtoull(most, nullptr, 10)) {
        throw device_memory_error("simulated memory suffices only for " +
                                  std::string(most) + " work items");
    }
}

//! Returns whether an address is in the memory of a simulated device.
bool in_simulated_memory(const void* address);

/*!
 * \brief Decoder that wraps another one and reports itself as a CUDA device.
 *
 * The environment variable GPUFEC_SIMULATED_FAILURE has the form DEVICE:BATCHES: the
 * number of the device that fails, and the number of batches that the device accepts
 * before it fails.
 */
template <class Job>
class simulated_device : public batch_decoder<Job>
{
public:
    simulated_device(std::unique_ptr<batch_decoder<Job>> decoder, int number)
        : d_decoder(std::move(decoder)), d_number(number)
    {
        int failing = -1;
        unsigned batches = 0;
        const char* const failure = std::getenv("GPUFEC_SIMULATED_FAILURE");
        if (failure && std::sscanf(failure, "%d:%u", &failing, &batches) == 2 &&
            failing == number) {
            d_left = batches;
        }
    }

    batch_limits limits() const override { return d_decoder->limits(); }
    std::string backend() const override { return "cuda"; }
    std::string device() const override
    {
        return "simulated " + std::to_string(d_number);
    }
    bool page_lock(void*, std::size_t) noexcept override { return true; }
    bool has(const void* memory) const noexcept override
    {
        return in_simulated_memory(memory);
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes) const override
    {
        std::memcpy(to, from, bytes);
    }
    bool reserve_conversion_buffers() noexcept override
    {
        return d_decoder->reserve_conversion_buffers();
    }
    bool reserve_unpacked_output() noexcept override { return true; }
    void on_completion(std::function<void()> notify) override
    {
        d_decoder->on_completion(std::move(notify));
    }
    void submit(unsigned slot, const Job& job, const batch_memory& memory) override
    {
        if (d_left == 0) {
            fail();
        }
        if (!d_failed) {
            --d_left;
            d_running[slot] = memory;
            d_decoder->submit(slot, job, memory);
        }
    }
    bool finished(unsigned slot) override
    {
        if (d_failed) {
            throw device_error("simulated device " + std::to_string(d_number) +
                               " failed");
        }
        const bool done = d_decoder->finished(slot);
        if (const auto it = d_running.find(slot); done && it != d_running.end()) {
            give(it->second);
            d_running.erase(it);
        }
        return done;
    }

private:
    // Fails like a real device: the output of the batches in flight is lost, and
    // finished() throws device_error from now on.
    void fail()
    {
        d_failed = true;
        for (const auto& [slot, memory] : d_running) {
            while (!d_decoder->finished(slot)) {
                std::this_thread::yield();
            }
            std::memset(memory.output, 0x55, limits().output_bytes);
            give(memory);
        }
    }

    // Copies the output to the memory that the decoder has borrowed from its caller for
    // output in place, if any. Unpacks the bits if that memory holds one bit per byte.
    static void give(const batch_memory& memory)
    {
        const auto& [to, rows] = memory.borrowed;
        for (std::size_t i = 0; to && i < rows.rows; ++i) {
            const auto* const from = memory.output + rows.first + i * rows.pitch;
            auto* const there = to + i * rows.given();
            if (rows.bits > 0) {
                unpack_bits(reinterpret_cast<const std::uint8_t*>(from),
                            0,
                            rows.bits,
                            reinterpret_cast<std::uint8_t*>(there));
            } else {
                std::memcpy(there, from, rows.bytes);
            }
        }
    }

    const std::unique_ptr<batch_decoder<Job>> d_decoder;
    const int d_number;
    std::size_t d_left = std::numeric_limits<std::size_t>::max();
    bool d_failed = false;
    std::map<unsigned, batch_memory> d_running; // memory of batches in flight, by slot
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_SIMULATED_DEVICE_H */
