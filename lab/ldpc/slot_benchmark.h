// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The rates of batches that are filled with given input. */

#ifndef INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H

#include "lab/slot_rates.h"
#include "ldpc/room.h"

namespace gr::gpufec::ldpc {

class slot_benchmark : public slot_rates<room>
{
public:
    //! \p items, channel values of some frames of the only code, fill the slots, over and
    //! over. \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    slot_benchmark(const ldpc_options& options, const std::vector<std::byte>& items);

    //! Frames per second, see batches_per_second().
    double host_to_host(double duration)
    {
        return batches_per_second(duration) * pieces();
    }
    //! Mean iterations of the frames that fill a slot.
    double iterations() const { return d_iterations; }
    //! Frames per batch.
    std::size_t frames() const { return pieces(); }

private:
    double d_iterations = 0;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H */
