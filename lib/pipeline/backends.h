// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Creates the batch decoders of a setup on the selected CUDA devices or on the CPU. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BACKENDS_H
#define INCLUDED_GPUFEC_PIPELINE_BACKENDS_H

#include "batch_decoder.h"
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

/* Traits of a decoder:
 *   options, setup, job              types; options derive from run_options
 *   work_items_name                  plural name of the work items, for messages
 *   max_work_items                   upper limit of run_options::batch
 *   batch_granularity(setup)         batch sizes are multiples of this number
 *   describe(setup)                  the code and its parameters, for the log
 *   cpu_batch(setup, threads)        a batch size that keeps the CPU busy
 *   make_cpu(setup, work_items, threads)
 *   cuda_batch(setup, run, device)   a batch size that keeps the device busy
 *   make_cuda(setup, work_items, slots, device)
 *                                    throws device_memory_error if the batch is too large
 *                                    for the device's memory */

namespace gr::gpufec {

template <class Traits>
using batch_decoder_of = std::unique_ptr<batch_decoder<typename Traits::job>>;

template <class Traits>
struct made_decoders {
    std::vector<batch_decoder_of<Traits>> decoders; //!< decoders with equal limits
    std::string missing; //!< reason why CUDA is not used although it was tried, or ""
    bool failed = false; //!< whether a device exists but failed
};

//! Makes a decoder on a device. If the device lacks memory, halves the batch, down to
//! Traits::batch_granularity(). If \p caller_format is set, also reserves buffers for
//! input in the caller's format.
template <class Traits>
batch_decoder_of<Traits> make_cuda_within_memory(const typename Traits::setup& setup,
                                                 std::size_t work_items,
                                                 unsigned slots,
                                                 int device,
                                                 bool caller_format = false)
{
    const auto batch_granularity = Traits::batch_granularity(setup);
    return with_back_off([&] {
        for (auto fewer = work_items;;
             fewer = std::max(batch_granularity,
                              fewer / 2 / batch_granularity * batch_granularity)) {
            try {
                auto made = Traits::make_cuda(setup, fewer, slots, device);
                if (caller_format && !made->reserve_conversion_buffers()) {
                    throw device_memory_error(
                        "CUDA: not enough memory to convert the input");
                }
                return made;
            } catch (const device_memory_error&) {
                if (fewer <= batch_granularity) {
                    throw;
                }
            }
        }
    });
}

//! Makes one decoder for each device. Makes one decoder on the CPU instead if the backend
//! is cpu, or if it is auto and any of the devices cannot be used.
//! \throws std::exception if the backend is cuda and a device cannot be used
template <class Traits>
made_decoders<Traits> make_decoders(const typename Traits::setup& setup,
                                    const run_options& run)
{
    made_decoders<Traits> made;
    auto& decoders = made.decoders;
    const auto batch_granularity = Traits::batch_granularity(setup);
    const auto whole = [batch_granularity](std::size_t work_items) {
        return (work_items + batch_granularity - 1) / batch_granularity *
               batch_granularity;
    };
    const auto asked = whole(run.batch);
    const auto at_most = [&](std::size_t chosen) {
        return run.max_batch ? std::min(chosen, whole(run.max_batch)) : chosen;
    };
    if (run.backend != backend::cpu) {
        try {
            auto least = asked;
            for (const int device : run.devices) {
                const auto chosen = asked ? asked : at_most(with_back_off([&] {
                    return Traits::cuda_batch(setup, run, device);
                }));
                decoders.push_back(
                    make_cuda_within_memory<Traits>(setup, chosen, run.slots, device));
                const auto got = decoders.back()->limits().work_items;
                least = least ? std::min(least, got) : got;
            }
            // Devices receive batches in rotation, so all of them use the smallest
            // batch size.
            for (std::size_t i = 0; i < decoders.size(); ++i) {
                if (decoders[i]->limits().work_items != least) {
                    decoders[i].reset();
                    decoders[i] = with_back_off([&] {
                        return Traits::make_cuda(setup, least, run.slots, run.devices[i]);
                    });
                }
            }
            return made;
        } catch (const std::exception& error) {
            if (run.backend == backend::cuda) {
                throw;
            }
            made.missing = error.what();
            made.failed = dynamic_cast<const device_error*>(&error) != nullptr;
            decoders.clear();
        }
    }
    const auto work_items =
        asked ? asked : at_most(Traits::cpu_batch(setup, run.threads));
    decoders.push_back(Traits::make_cpu(setup, work_items, run.threads));
    return made;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BACKENDS_H */
