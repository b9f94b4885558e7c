// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of decoding batches of given input. */

#ifndef INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H

#include "lab/slot_rates.h"
#include "viterbi/stream/traits.h"

namespace gr::gpufec::viterbi {

class slot_benchmark : public slot_rates<traits>
{
public:
    //! Fills the slots with \p items, int8 or packed4 values that are repeated.
    slot_benchmark(const viterbi_options& options, const std::vector<std::byte>& items);

    //! Returns the number of decoded bits per batch.
    double bits() const { return d_bits; }
    //! Returns the rate in decoded bits per second; see batches_per_second().
    double host_to_host(double duration) { return batches_per_second(duration) * d_bits; }

private:
    double d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_LAB_VITERBI_SLOT_BENCHMARK_H */
