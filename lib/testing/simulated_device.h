// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A device that fails, for tests without one. */

#ifndef INCLUDED_GPUFEC_PIPELINE_SIMULATED_DEVICE_H
#define INCLUDED_GPUFEC_PIPELINE_SIMULATED_DEVICE_H

#include "batch_decoder.h"
#include "packed_bits.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <thread>

namespace gr::gpufec {

//! \throws std::runtime_error if there is no such simulated device
inline void select_simulated(int device)
{
    if (device < 0 || device > 3) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed are 0 to 3, the simulated devices");
    }
}

//! \throws device_memory_error beyond what the environment's GPUFEC_SIMULATED_MEMORY, a
//! number of pieces, allows
inline void allow_simulated(std::size_t pieces)
{
    const char* const most = std::getenv("GPUFEC_SIMULATED_MEMORY");
    if (most && pieces > std::strtoull(most, nullptr, 10)) {
        throw device_memory_error("the simulated device holds " + std::string(most) +
                                  " pieces");
    }
}

/*!
 * \brief Another decoder, which calls itself a CUDA device and fails when told to: the
 * environment's GPUFEC_SIMULATED_FAILURE is DEVICE:BATCHES, how many batches which device
 * takes before it fails.
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
    bool take_raw() noexcept override { return d_decoder->take_raw(); }
    bool take_bits() noexcept override { return true; }
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
    // As a real device does: without a word to who waits, and what it was at is lost.
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

    // Puts the output where it is lent for.
    static void give(const batch_memory& memory)
    {
        const auto& [to, rows] = memory.lent;
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
    std::map<unsigned, batch_memory> d_running; // by slot
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_SIMULATED_DEVICE_H */
