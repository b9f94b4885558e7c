// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of decoding batches that are filled with given input. */

#ifndef INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H

#include "lab/slot_rates.h"
#include "ldpc/stream/traits.h"

namespace gr::gpufec::ldpc {

class slot_benchmark : public slot_rates<traits>
{
public:
    //! Fills the slots with repetitions of \p items: channel values of one or more
    //! frames, in the format of \p options, which must have one code.
    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is requested and not available
    slot_benchmark(const ldpc_options& options, const std::vector<std::byte>& items);

    //! Returns frames per second, measured for \p duration seconds. The time includes the
    //! copies between slots and device, but not filling and emptying the slots.
    double host_to_host(double duration)
    {
        return batches_per_second(duration) * work_items();
    }
    //! Returns the mean number of iterations of the frames in a slot.
    double iterations() const { return d_iterations; }
    //! Returns the number of frames per batch.
    std::size_t frames() const { return work_items(); }

private:
    double d_iterations = 0;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LAB_LDPC_SLOT_BENCHMARK_H */
