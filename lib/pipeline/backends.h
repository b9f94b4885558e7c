// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoders of a room: on the CUDA devices asked for, or on the CPU. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BACKENDS_H
#define INCLUDED_GPUFEC_PIPELINE_BACKENDS_H

#include "back_off.h"
#include "batch_decoder.h"
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

/* A Room says what is decoded:
 *   options, setup, job             options derive from run_options
 *   piece                           what a batch has many of, for messages
 *   most_pieces                     the largest batch that can be asked for
 *   unit(setup)                     pieces that only go together
 *   describe(setup)                 what is decoded, for the log
 *   cpu_batch(setup, threads)       a batch that keeps the CPU busy
 *   make_cpu(setup, pieces, threads)
 *   cuda_batch(setup, slots, device)           a batch that keeps the device busy
 *   make_cuda(setup, pieces, slots, device)    throws device_memory_error if the device
 *                                              does not hold so many */

namespace gr::gpufec {

template <class Room>
using batch_decoder_of = std::unique_ptr<batch_decoder<typename Room::job>>;

template <class Room>
struct made_decoders {
    std::vector<batch_decoder_of<Room>> decoders; //!< of the same limits
    std::string missing; //!< why CUDA could not be had where it was tried
    bool failed = false; //!< a device is there, and failed
};

//! A batch that the device's memory does not hold is halved until it does; with memory
//! for input as the caller has it, if \p raw.
template <class Room>
batch_decoder_of<Room> make_cuda_within_memory(const typename Room::setup& setup,
                                               std::size_t pieces,
                                               unsigned slots,
                                               int device,
                                               bool raw = false)
{
    const auto unit = Room::unit(setup);
    return with_back_off([&] {
        for (auto fewer = pieces;; fewer = std::max(unit, fewer / 2 / unit * unit)) {
            try {
                auto made = Room::make_cuda(setup, fewer, slots, device);
                if (raw && !made->take_raw()) {
                    throw device_memory_error("CUDA: no memory for input as it comes");
                }
                return made;
            } catch (const device_memory_error&) {
                if (fewer <= unit) {
                    throw;
                }
            }
        }
    });
}

/*!
 * \brief One decoder for each device, or where that fails and the options allow it, one
 * on the CPU.
 */
template <class Room>
made_decoders<Room> make_decoders(const typename Room::setup& setup,
                                  const run_options& run)
{
    made_decoders<Room> made;
    auto& decoders = made.decoders;
    const auto unit = Room::unit(setup);
    const auto whole = [unit](std::size_t pieces) {
        return (pieces + unit - 1) / unit * unit;
    };
    const auto asked = whole(run.batch);
    const auto at_most = [&](std::size_t chosen) {
        return run.most ? std::min(chosen, whole(run.most)) : chosen;
    };
    if (run.where != backend::cpu) {
        try {
            auto least = asked;
            for (const int device : run.devices) {
                const auto chosen = asked ? asked : at_most(with_back_off([&] {
                    return Room::cuda_batch(setup, run.slots, device);
                }));
                decoders.push_back(
                    make_cuda_within_memory<Room>(setup, chosen, run.slots, device));
                const auto got = decoders.back()->limits().pieces;
                least = least ? std::min(least, got) : got;
            }
            // They take batches in turn, so all take the smallest one's.
            for (std::size_t i = 0; i < decoders.size(); ++i) {
                if (decoders[i]->limits().pieces != least) {
                    decoders[i].reset();
                    decoders[i] = with_back_off([&] {
                        return Room::make_cuda(setup, least, run.slots, run.devices[i]);
                    });
                }
            }
            return made;
        } catch (const std::exception& error) {
            if (run.where == backend::cuda) {
                throw;
            }
            made.missing = error.what();
            made.failed = dynamic_cast<const device_error*>(&error) != nullptr;
            decoders.clear();
        }
    }
    const auto pieces = asked ? asked : at_most(Room::cpu_batch(setup, run.threads));
    decoders.push_back(Room::make_cpu(setup, pieces, run.threads));
    return made;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BACKENDS_H */
