// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of decoding batches that are filled with given soft values. */

#ifndef INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H

#include "lab/slot_rates.h"
#include "viterbi/stream/traits.h"

namespace gr::gpufec::viterbi {

class slot_benchmark : public slot_rates<traits>
{
public:
    //! Fills the slots with repetitions of \p items: soft values in the format of
    //! \p options, int8 or packed4.
    slot_benchmark(const viterbi_options& options, const std::vector<std::byte>& items);

    //! Returns the number of decoded bits per batch.
    double bits() const { return d_bits; }
    //! Returns decoded bits per second, measured for \p duration seconds. The time
    //! includes the copies between slots and device, but not filling and emptying slots.
    double host_to_host(double duration) { return batches_per_second(duration) * d_bits; }

private:
    double d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H */
