/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* For flowgraph tests without a GPU: CUDA devices 0 to 3 that are the CPU backend, and
 * fail when told to. GPUFEC_SIMULATED_FAILURE is DEVICE:BATCHES, how many a device
 * decodes before it fails. */

#include "job.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <thread>

namespace gr {
namespace gpufec {

namespace {

constexpr int simulated_devices = 4;
constexpr std::size_t chosen_batch = 8;

class simulated_cuda : public viterbi_batch_decoder
{
public:
    simulated_cuda(const viterbi_setup& setup, std::size_t blocks, int device)
        : d_cpu(make_cpu_viterbi(setup, blocks, 1)), d_device(device)
    {
        int failing = -1;
        unsigned batches = 0;
        const char* const failure = std::getenv("GPUFEC_SIMULATED_FAILURE");
        if (failure && std::sscanf(failure, "%d:%u", &failing, &batches) == 2 &&
            failing == device) {
            d_left = batches;
        }
    }

    batch_limits limits() const override { return d_cpu->limits(); }
    std::string backend() const override { return "cuda"; }
    std::string device() const override
    {
        return "simulated " + std::to_string(d_device);
    }
    bool page_lock(void*, std::size_t) override { return true; }
    void on_completion(std::function<void()> notify) override
    {
        d_cpu->on_completion(std::move(notify));
    }
    void submit(unsigned slot, const viterbi_job& job, const buffers& memory) override
    {
        if (d_left == 0) {
            fail();
        }
        if (!d_failed) {
            --d_left;
            d_running[slot] = memory.output;
            d_cpu->submit(slot, job, memory);
        }
    }
    bool finished(unsigned slot) override
    {
        if (d_failed) {
            throw device_error("simulated device " + std::to_string(d_device) +
                               " failed");
        }
        const bool done = d_cpu->finished(slot);
        if (done) {
            d_running.erase(slot);
        }
        return done;
    }

private:
    // As a real device does: without a word to who waits, and what it was at is lost.
    void fail()
    {
        d_failed = true;
        for (const auto& [slot, output] : d_running) {
            while (!d_cpu->finished(slot)) {
                std::this_thread::yield();
            }
            std::memset(output, 0x55, limits().output_bytes);
        }
    }

    const std::unique_ptr<viterbi_batch_decoder> d_cpu;
    const int d_device;
    std::size_t d_left = std::numeric_limits<std::size_t>::max();
    bool d_failed = false;
    std::map<unsigned, std::byte*> d_running; // output of each slot
};

} // namespace

std::unique_ptr<viterbi_batch_decoder> make_cuda_viterbi(const viterbi_setup& setup,
                                                         std::size_t blocks,
                                                         unsigned /*slots*/,
                                                         int device,
                                                         const std::string& /*kernel*/)
{
    if (device >= simulated_devices) {
        throw std::runtime_error("device is " + std::to_string(device) +
                                 ": allowed are 0 to 3, the simulated devices");
    }
    const std::size_t unit = setup.plan.blocks_per_frame;
    return std::make_unique<simulated_cuda>(
        setup, blocks ? blocks : chosen_batch * unit, device);
}

std::vector<cuda_viterbi_times>
measure_cuda_viterbi(const viterbi_setup&,
                     const viterbi_job&,
                     const viterbi_batch_decoder::buffers&,
                     const std::vector<int>&,
                     const std::string&,
                     unsigned)
{
    throw std::runtime_error("simulated devices are not measured");
}

} // namespace gpufec
} // namespace gr
