// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The batch decoders of a pipeline: on the CUDA devices asked for, or on the CPU. */

#ifndef INCLUDED_GPUFEC_PIPELINE_MAKE_DECODERS_H
#define INCLUDED_GPUFEC_PIPELINE_MAKE_DECODERS_H

#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/batch_decoder.h>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

template <class Job>
struct made_decoders {
    std::vector<std::unique_ptr<batch_decoder<Job>>> decoders; //!< of the same limits
    std::string missing; //!< why CUDA could not be had where it was tried
};

/*!
 * \brief One decoder for each of the \p devices, or where that fails and \p where allows
 * it, one on the CPU.
 *
 * \param batch pieces a batch, 0: chosen
 * \param cuda makes a decoder for batches of so many pieces (0: chosen) on a device
 * \param cpu makes one on the CPU
 */
template <class Job, class Cuda, class Cpu>
made_decoders<Job> make_decoders(backend where,
                                 const std::vector<int>& devices,
                                 std::size_t batch,
                                 Cuda&& cuda,
                                 Cpu&& cpu)
{
    made_decoders<Job> made;
    auto& decoders = made.decoders;
    if (where != backend::cpu) {
        try {
            for (const int device : devices) {
                decoders.push_back(cuda(batch, device));
            }
            // They take batches in turn, so all take the smallest one's.
            std::size_t least = decoders.front()->limits().pieces;
            for (const auto& d : decoders) {
                least = std::min(least, d->limits().pieces);
            }
            for (std::size_t i = 0; i < decoders.size(); ++i) {
                if (decoders[i]->limits().pieces != least) {
                    decoders[i] = cuda(least, devices[i]);
                }
            }
            return made;
        } catch (const std::exception& error) {
            if (where == backend::cuda) {
                throw;
            }
            made.missing = error.what();
            decoders.clear();
        }
    }
    decoders.push_back(cpu());
    return made;
}

//! What the log says of a device that failed, where \p devices others are left.
inline std::string failed_over_text(const std::string& failure, std::size_t devices)
{
    return failure + "; decoding goes on with the " +
           (devices > 0 ? "other devices" : "CPU") + ", nothing is lost";
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_MAKE_DECODERS_H */
